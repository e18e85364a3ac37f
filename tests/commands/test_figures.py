"""The commands of Figures A1, A2 and A3 as one types them: on the digits, and on images in the layout of ImageNet.

Networks, images and trainings are small; tables, configs and options are those of the figures.
"""

import json
import re

import cv2
import pytest
from support.imagenet_folder import write_imagenet

from openmix_dm.commands.analyze import main as analyze
from openmix_dm.commands.table import main as table

SMALL = (
    'train_cfg.max_epochs=1', 'global_batch_size=4', 'model.backbone.name=resnet18',
    'train_dataloader.num_workers=0', 'val_dataloader.num_workers=0', 'train_dataloader.dataset.transforms.0.size=64',
    'val_dataloader.dataset.transforms.0.size=72', 'val_dataloader.dataset.transforms.1.size=64',
)  # fmt: skip


@pytest.fixture(scope='module')
def imagenet(tmp_path_factory):
    return write_imagenet(tmp_path_factory.mktemp('data'), train=8, val=75)


def run_cells(name, cells, work, options):
    for pattern in cells:
        arguments = ['run', name, '--cells', pattern, '--trials', '1', '--work-dirs', str(work)]
        assert table([*arguments, '--cfg-options', *options]) == 0
    out = work / f'{name}.svg'
    collected = ['collect', name, '--trials', '1', '--work-dirs', str(work)]
    assert table([*collected, '--format', 'svg', '--out', str(out)]) == 0
    assert table([*collected, '--format', 'json', '--out', str(work / 'cells.json')]) == 0
    found = {cell['cell']: cell for cell in json.loads((work / 'cells.json').read_text())['cells']}
    return out.read_text(), {name: cell for name, cell in found.items() if cell['mean'] is not None}


@pytest.mark.slow
def test_figure_a2_eta_and_a1_on_imagenet(imagenet, tmp_path, monkeypatch):
    monkeypatch.setenv('OPENMIX_DM_DATA', imagenet)
    svg, cells = run_cells('figure_a2_eta', ['1/[!m]*', '0.1/mixup'], tmp_path, SMALL)
    printed = {'1/cutmix': None, '1/puzzlemix': 74.51, '1/automix': 74.77, '0.1/mixup': 74.26}
    assert {name: cell['paper'] for name, cell in cells.items()} == printed
    assert all('1 epochs instead of 100' in cell['below_protocol'] for cell in cells.values())
    assert svg.count('class="curve"') == 4
    assert all(f'>{word}</text>' in svg for word in ('Mixup', 'AutoMix', "the paper's tables", '0.01', '2'))
    runs = [str(tmp_path / 'imagenet' / name / 'seed0') for name in ('r34_mixup_dm', 'r34_automix_dm')]
    out = tmp_path / 'a1.png'
    mixing = ['--mixers', 'Mixup', 'CutMix', 'AutoMix', '--mix-block', runs[1], '--lams', '0.3', '0.5']
    assert analyze(['mixed-accuracy', *runs, *mixing, '--out', str(out)]) == 0
    record = json.loads(out.with_suffix('.json').read_text())
    assert record['mix_blocks']['AutoMix']['name'] == 'r34_automix_dm/seed0'
    assert all(0 <= run['mixers'][name]['top2_mean'] <= 100 for run in record['runs'] for name in run['mixers'])
    assert cv2.imread(str(out)).std() > 10


@pytest.mark.slow
@pytest.mark.parametrize(
    ('name', 'pattern', 'runs'),
    [('figure_a2_xi', '0.8/{automix,manifoldmix}*', 2), ('figure_a2_t', '0.3/mixup*', 1)],
)
def test_figure_a2_of_dm_bce_on_imagenet(imagenet, tmp_path, monkeypatch, name, pattern, runs):
    monkeypatch.setenv('OPENMIX_DM_DATA', imagenet)
    warmed_up = ('train_cfg.max_epochs=6', 'train_cfg.val_interval=6')
    svg, found = run_cells(name, [pattern], tmp_path, [*SMALL, *warmed_up])
    assert len(found) == svg.count('class="curve"') == runs
    assert 'paper' not in re.sub(r'<defs>.*?</defs>', '', svg, flags=re.DOTALL)
    logs = [json.loads(line) for run in tmp_path.glob('imagenet/*/seed0/metrics.jsonl') for line in run.open()]
    assert {record['kind'] for record in logs} == {'train', 'val'}


@pytest.mark.slow
@pytest.mark.parametrize(('axis', 'pattern'), [('eta', '0.5/*'), ('xi', '0.8/*'), ('t', '0.5/*')])
def test_the_sweeps_on_the_digits(tmp_path, axis, pattern):
    svg, cells = run_cells(f'ablation_{axis}', [pattern], tmp_path, ['train_cfg.max_epochs=1'])
    assert len(cells) == svg.count('class="curve"') == 2
    assert all(0 < cell['mean'] < 100 for cell in cells.values())
    assert f'>{axis} (bars' in svg

"""What the README shows works."""

import re

import pytest
from conftest import ROOT

README = (ROOT / 'README.md').read_text()


def blocks(language):
    return re.findall(rf'```{language}\n(.*?)```', README, flags=re.DOTALL)


def test_the_loop_of_your_own_runs():
    (code,) = [block for block in blocks('python') if 'criterion' in block]
    space = {}
    exec(code, space)
    assert space['loss'].isfinite()
    assert space['model'][1].weight.grad.abs().sum() > 0


@pytest.mark.slow
def test_the_config_of_your_own_trains(tmp_path):
    from openmix_dm.commands.train import main
    from openmix_dm.runs.folder import RunFolder

    (code,) = [block for block in blocks('python') if '_base_' in block]
    assert len([line for line in code.splitlines() if not line.startswith('#')]) == 5
    path = tmp_path / 'digits' / 'my_experiment.py'
    path.parent.mkdir()
    path.write_text(code.replace("'../", f"'{ROOT}/configs/"))
    options = ['--work-dir', str(tmp_path / 'run'), '--cfg-options', 'train_cfg.max_epochs=2']
    assert main([str(path), *options]) == 0
    assert len(RunFolder(tmp_path / 'run').records('val')) == 2


def test_everything_named_exists():
    from openmix_dm.registry import BACKBONES, DATASETS, LOSSES, MIXERS

    for registry in (MIXERS, LOSSES, BACKBONES, DATASETS):
        registry.import_from_location()
    table = README.split('| what | what there is |')[1].split('\n## ')[0]
    rows = {
        line.split('|')[1].strip(): re.findall(r'`(\w+)`', line) for line in table.splitlines() if line.count('|') > 2
    }
    for kind, registry in (('mixers', MIXERS), ('losses', LOSSES), ('backbones', BACKBONES), ('data sets', DATASETS)):
        own = {name for name, cls in registry.module_dict.items() if cls.__module__.startswith('openmix_dm.')}
        assert set(rows[kind]) == own, kind
    for path in re.findall(r'(?:python |\]\()((?:tools|configs|docs|tests)/[\w/.]+)', README):
        assert (ROOT / path).exists(), path

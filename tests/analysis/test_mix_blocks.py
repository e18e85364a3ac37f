"""Masks of learned mixers for all models: whose block it is, what it mixes, and which blocks are refused."""

import shutil

import matplotlib
import pytest
import torch
from conftest import ROOT
from reference.mixed import slow_hits
from support.study_calls import study
from support.trained_runs import digits_run, vit_run

from openmix_dm.analysis.mix_blocks import load_blocks
from openmix_dm.analysis.mixed_images import draw_pairs, mix_pixels
from openmix_dm.analysis.models import ModelSelection
from openmix_dm.commands.analyze import main
from openmix_dm.commands.export import main as export
from openmix_dm.commands.train import main as train
from openmix_dm.datasets.digits import Digits
from openmix_dm.runs.model import open_trained

MEAN, STD = 78.0, 81.4  # of the digits' recipe


def automix():
    return digits_run('r8_automix', epochs=1)


def refused(capsys, tmp_path, *arguments):
    code = main(['mixed-accuracy', str(digits_run()), *map(str, arguments), '--out', str(tmp_path / 'a.png')])
    assert code == 2
    return capsys.readouterr().err


def test_by_hand(tmp_path):
    """Images that the block's own model has mixed, normalised as it trains on them, shown to both models."""
    arguments = ('--mixers', 'AutoMix', '--lams', 0.2, 0.5, '--mix-block', automix(), '--batch-size', 70)
    with matplotlib.rc_context({'svg.fonttype': 'none'}):  # letters stay letters
        record = study('mixed-accuracy', tmp_path / 'a.svg', digits_run(), vit_run(), *arguments)
    assert (tmp_path / 'a.svg').read_text().count('mix block of r8_automix/seed0') == 2  # above both panels
    data, owner = Digits('test'), open_trained(automix()).model
    pairs = draw_pairs(data.labels, range(360))
    own, partner = ((data.images[places].float() - MEAN) / STD for places in (pairs.own, pairs.partner))
    y_a, y_b = data.labels[pairs.own], data.labels[pairs.partner]
    for place, lam in enumerate((0.2, 0.5)):
        with torch.no_grad():
            mixed = owner.mixer.pair(own, partner, torch.full((len(own),), lam)).inputs
        for row, run in zip(record['runs'], (digits_run(), vit_run()), strict=True):
            with torch.no_grad():
                hits = slow_hits(open_trained(run).model(mixed), y_a, y_b)
            for kind, expected in zip(('top1', 'top2'), hits, strict=True):
                found = row['mixers']['AutoMix'][kind][place]
                assert found == pytest.approx(100 * sum(expected) / len(expected), abs=0.6)  # two images
            assert row['mixers']['AutoMix']['images'][place] == len(y_a)  # by the lam that was asked for
    assert record['mix_blocks']['AutoMix']['name'] == 'r8_automix/seed0'
    assert record['mix_blocks']['AutoMix']['checkpoint'].startswith(str(automix()))
    assert record['bins'].endswith('one of AutoMix for the lam that its mask was asked for')


@pytest.mark.slow
def test_a_block_for_each_of_two_mixers(tmp_path):
    arguments = ('--mixers', 'Mixup', 'SAMix', 'AutoMix', '--lams', 0.5, '--limit', 100)
    blocks = ('--mix-block', automix(), digits_run('r8_samix', epochs=1))
    record = study('mixed-accuracy', tmp_path / 'a.png', digits_run(), *arguments, *blocks)
    assert {name: block['name'] for name, block in record['mix_blocks'].items()} == {
        'AutoMix': 'r8_automix/seed0', 'SAMix': 'r8_samix/seed0',
    }  # fmt: skip
    one = record['runs'][0]['mixers']
    assert len({(one[name]['top1'][0], one[name]['top2'][0]) for name in one}) > 1
    assert study('mixed-accuracy', tmp_path / 'b.png', digits_run(), *arguments, *blocks) == record


def test_the_owner_sees_the_pixels_through_its_own_normalisation():
    selection = ModelSelection([str(digits_run())])
    (block,) = load_blocks([str(automix())], ['AutoMix'], selection).values()
    images = Digits('test').images[:20].float() / 255
    mixed = mix_pixels(block, images, 0.4, 0)
    model = open_trained(automix()).model
    seen = (images * 255 - MEAN) / STD
    with torch.no_grad():
        expected = model.mixer.pair(seen[:10], seen[10:], torch.full((10,), 0.4)).inputs
    torch.testing.assert_close((mixed.inputs * 255 - MEAN) / STD, expected, rtol=0, atol=1e-4)
    assert 0 <= mixed.inputs.min() < mixed.inputs.max() <= 1


def test_a_block_inside_a_mixture(tmp_path):
    mixture = tmp_path / 'mixture.py'
    mixture.write_text(
        f'_base_ = {str(ROOT / "configs/digits/r8.py")!r}\n'
        "model = dict(mixer=dict(_delete_=True, type='RandomMixer', mixers=[\n"
        "    dict(type='Mixup', alpha=1.0), dict(type='AutoMix', stage='stage2')]))\n"
    )
    options = ('train_cfg.max_epochs=1', 'global_batch_size=400')
    assert train([str(mixture), '--work-dir', str(tmp_path / 'run'), '--cfg-options', *options]) == 0
    (block,) = load_blocks([str(tmp_path / 'run')], ['AutoMix'], ModelSelection([])).values()
    weights = torch.load(tmp_path / 'run' / 'epoch_1.pth', weights_only=False)['state_dict']
    own = block.mixer.state_dict()
    assert all(torch.equal(own[key], weights[f'mixer.mixers.1.{key}']) for key in own)
    assert block.owner.name == 'run'


def test_what_is_missing_or_of_another_kind_is_named(tmp_path, capsys):
    said = refused(capsys, tmp_path, '--mixers', 'Mixup', 'AutoMix')
    assert 'AutoMix: masks are learned along with a model; name the run' in said
    assert '--mix-block RUN' in said
    said = refused(capsys, tmp_path, '--mixers', 'AutoMix', '--mix-block', digits_run())
    assert f'--mix-block {digits_run() / "epoch_3.pth"}: its mixer is Mixup, not AutoMix' in said
    said = refused(capsys, tmp_path, '--mixers', 'AutoMix', 'SAMix', '--mix-block', automix())
    assert '--mix-block names no run of SAMix, but of AutoMix' in said
    said = refused(capsys, tmp_path, '--mixers', 'AutoMix', '--mix-block', automix(), automix())
    assert 'two runs of AutoMix' in said
    assert 'has nothing to do' in refused(capsys, tmp_path, '--mix-block', automix())
    assert main(['cam', str(digits_run()), '--mixer', 'AutoMix', '--out', str(tmp_path / 'a.png')]) == 2
    assert 'AutoMix learns its masks along with a model' in capsys.readouterr().err


@pytest.mark.parametrize(('change', 'said'), [("'train'", "'split': 'train'"), ("'test', 'size': 32", "'size': 32")])
def test_blocks_of_other_images_are_refused(tmp_path, capsys, change, said):
    shutil.copytree(automix(), tmp_path / 'r8_automix' / 'seed3')
    config = tmp_path / 'r8_automix' / 'seed3' / 'config.py'
    text = config.read_text()
    config.write_text(text.replace("'split': 'test'", f"'split': {change}"))
    told = refused(capsys, tmp_path, '--mixers', 'AutoMix', '--mix-block', config.parent)
    assert '--mix-block r8_automix/seed3 is of other data or transforms than those that r8_mixup is tested on' in told
    assert said in told
    config.write_text(text.replace("'batch_size': 100", "'batch_size': 50"))  # not a matter of the images
    arguments = (digits_run(), '--mixers', 'AutoMix', '--mix-block', config.parent, '--lams', 0.5, '--limit', 40)
    study('mixed-accuracy', tmp_path / 'a.png', *arguments)


def test_published_weights_have_no_block(tmp_path, capsys):
    assert export(['publish', str(automix()), '--out', str(tmp_path / 'published')]) == 0
    code = main(['mixed-accuracy', str(digits_run()), '--mixers', 'AutoMix', '--mix-block',
                 str(tmp_path / 'published'), '--out', str(tmp_path / 'a.png')])  # fmt: skip
    said = capsys.readouterr().err
    assert code != 0
    assert 'has no weights of the mix block' in said
    assert 'name the folder of a run itself' in said

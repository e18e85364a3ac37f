import cv2
import numpy as np
import pytest
import torch
from support.mixer_examples import registered
from support.short_runs import train

from openmix_dm.commands.browse_mix import main
from openmix_dm.losses import DecoupledBCE, MixedBCE
from openmix_dm.mixers import CutMix
from openmix_dm.structures import MixTarget
from openmix_dm.visualization import mix_panels as browse
from openmix_dm.visualization import sample_images as sources
from openmix_dm.visualization import transform_panels
from openmix_dm.visualization.transform_examples import known_names


@pytest.mark.parametrize('name', registered())
def test_every_mixer_can_be_looked_at(name, tmp_path):
    out = tmp_path / 'mix.png'
    assert main([name, '--out', str(out), '--n', '4']) == 0
    assert cv2.imread(str(out)).std() > 10


def test_panels_show_the_right_sides():
    images, labels, names = sources.digits(6)
    batch = CutMix(alpha=1.0, partner='permutation')(images, labels)
    for i, panel in enumerate(browse.panels(images, batch, names=names)):
        own, partner = images[i].permute(1, 2, 0).numpy(), images[batch.index[i]].permute(1, 2, 0).numpy()
        assert np.array_equal(panel.own, own)
        assert np.array_equal(panel.partner, partner)
        mask = panel.mask[..., None]
        np.testing.assert_allclose(panel.mixed, mask * own + (1 - mask) * partner, atol=1e-6)
        assert f'{names[int(labels[i])]}\n' in panel.caption


def test_captions_tell_what_the_loss_makes_of_lam():
    target = MixTarget(torch.tensor([3]), torch.tensor([7]), torch.tensor([0.4]))
    assert browse.caption(target, 0) == '0.40 3\n0.60 7'
    assert browse.caption(target, 0, DecoupledBCE(t=1.0, xi=0.8)).endswith('BCE 0.50 / 0.75')
    assert browse.caption(target, 0, MixedBCE(two_hot=True)).endswith('BCE 1 / 1')


def test_configs_and_folders(root, tmp_path):
    for name in ('cats', 'dogs'):
        (tmp_path / 'pictures' / name).mkdir(parents=True)
        cv2.imwrite(str(tmp_path / 'pictures' / name / 'a.png'), np.full((50, 70, 3), 90, np.uint8))
    images, labels, names = sources.folder(tmp_path / 'pictures', 8, size=32)
    assert images.shape == (2, 3, 32, 32)
    assert (labels.tolist(), names) == ([0, 1], ['cats', 'dogs'])
    config = str(root / 'configs/digits/r8_cutmix_dmbce.py')
    for i, arguments in enumerate(([config], ['Mixup', '--images', str(tmp_path / 'pictures'), '--n', '2'])):
        assert main([*arguments, '--out', str(tmp_path / f'{i}.png'), '--lam', '0.5']) == 0
        assert (tmp_path / f'{i}.png').stat().st_size > 2000


@pytest.mark.slow
def test_all_at_once(tmp_path):
    assert main(['all', '--images', 'photos', '--out', str(tmp_path / 'all.png'), '--lam', '0.5']) == 0
    assert (tmp_path / 'all.png').stat().st_size > 2000


@pytest.mark.slow
def test_transforms_are_shown_on_one_image(tmp_path):
    assert main(['transforms', '--out', str(tmp_path / 'transforms.png')]) == 0
    page = cv2.imread(str(tmp_path / 'transforms.png'))
    assert page.shape[1] > 1000
    assert page.std() > 10


def test_each_transform_has_a_panel_that_shows_its_effect():
    photograph = transform_panels.read_photograph(None)
    shown = {panel.config['type']: panel.image for panel in transform_panels.panels(photograph, seed=0)}
    nothing = {
        'Identity',
        'RGB',
        'ToImage',
        'ToPureTensor',
        'PILToTensor',
        'ToPILImage',
        'ToDtype',
        'ConvertImageDtype',
    }
    assert set(known_names()) - set(shown) == {f'torchvision/{name}' for name in nothing}
    unseen = {name for name, image in shown.items() if np.array_equal(image, photograph)}
    assert not unseen
    flipped = shown['RandomFlip'], shown['BatchRandomFlip'], shown['torchvision/RandomHorizontalFlip']
    assert all(np.array_equal(image, photograph[:, ::-1]) for image in flipped)


def test_mistakes_with_transforms_are_refused(tmp_path, capsys):
    out = ['--out', str(tmp_path / 'a.png')]
    for option, value in (('--n', '3'), ('--lam', '0.5'), ('--checkpoint', 'a.pth')):
        assert main(['transforms', option, value, *out]) == 2
        assert f'{option} belongs to mixers' in capsys.readouterr().err
    assert main(['transforms', '--images', str(tmp_path / 'nothing'), *out]) == 3


@pytest.mark.parametrize('what', ['Mixup', 'all', 'transforms'])
def test_a_place_that_cannot_be_written_is_refused_before_any_work(tmp_path, capsys, monkeypatch, what):
    monkeypatch.setattr('openmix_dm.commands.browse_mix.load_images', None)  # not even that
    monkeypatch.setattr('openmix_dm.visualization.transform_panels.read_photograph', None)
    assert main([what, '--out', str(tmp_path / 'missing' / 'a.png')]) == 2
    assert f'there is no folder {tmp_path}/missing' in capsys.readouterr().err
    assert main([what, '--out', str(tmp_path / 'a.gif')]) == 2
    assert 'must end in .png, .svg, .pdf' in capsys.readouterr().err


def test_mistakes_are_refused(tmp_path, capsys):
    out = ['--out', str(tmp_path / 'a.png')]
    assert main(['CutMixx', *out]) == 2
    assert 'did you mean CutMix' in capsys.readouterr().err
    assert main(['CutMix', '--n', '1', *out]) == 2
    assert main(['CutMix', '--lam', '2', *out]) == 2
    (tmp_path / 'empty').mkdir()
    assert main(['CutMix', '--images', str(tmp_path / 'empty'), *out]) == 3


def test_the_hook_sends_pictures_and_does_not_touch_the_run(tmp_path):
    from support.short_runs import final, same
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    assert train(tmp_path / 'plain') == 0
    assert train(tmp_path / 'shown', "default_hooks.pictures={'type': 'PictureHook', 'every_epochs': 1, 'n': 4}") == 0
    assert same(final(tmp_path / 'plain')['state_dict'], final(tmp_path / 'shown')['state_dict'])
    board = EventAccumulator(str(tmp_path / 'shown' / 'tensorboard'))
    board.Reload()
    assert len(board.Images('mixed samples')) == 2

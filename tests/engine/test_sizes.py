"""Images whose size a mixer was not set up for are refused when the run is built, before it has a folder."""

import pytest
import torch
from conftest import ROOT
from support import short_runs as runs

from openmix_dm.engine.build import check_sizes
from openmix_dm.errors import ConfigError
from openmix_dm.mixers import Mixer, Mixup, PuzzleMix, TokenMix

SIZE = 'train_dataloader.dataset.size={}'
REFUSED = {
    'a grid': ('r8_puzzlemix', [SIZE.format(12)], 'a grid of 8 x 8 blocks does not divide images of 12 x 12'),
    'a grid of a policy': ('r8_puzzlemix-rsb', [SIZE.format(12)], 'a grid of 8 x 8 blocks does not divide'),
    'blocks to move': (
        'r8_puzzlemix',
        [SIZE.format(16), 'model.mixer.t_size=3'],
        't_size=3 does not divide blocks of 8 pixels',
    ),
    'one place': (
        'r8_automix',
        [SIZE.format(4), 'model.mixer.stage=stage3'],
        'an image of 4 x 4 has 1 x 1; choose an earlier stage',
    ),
}


@pytest.mark.parametrize(('config', 'options', 'said'), REFUSED.values(), ids=list(REFUSED))
def test_a_size_that_does_not_fit_is_refused_before_the_run_has_a_folder(tmp_path, capfd, config, options, said):
    code = runs.train(tmp_path / 'run', *options, config=ROOT / 'configs' / 'digits' / f'{config}.py')
    assert code == ConfigError.exit_code
    assert said in capfd.readouterr().err
    assert not (tmp_path / 'run').exists()


@pytest.mark.parametrize('config', ['r8_puzzlemix', 'r8_automix', 'r8_puzzlemix-rsb'])
def test_a_size_that_fits_trains(tmp_path, config):
    assert (
        runs.train(tmp_path / 'run', 'train_cfg.max_epochs=1', config=ROOT / 'configs' / 'digits' / f'{config}.py') == 0
    )


def test_blocks_that_are_smaller_than_t_size_are_moved_whole():
    PuzzleMix(alpha=1.0, t_size=8).check_size(16, 16)


def test_patches_have_to_divide_the_image():
    mixer = TokenMix(alpha=1.0, patch_size=16)
    mixer.check_size(224, 32)
    for size in ((224, 40), (40, 224)):
        with pytest.raises(ValueError, match=f'16 pixels do not divide images of {size[0]} x {size[1]}'):
            mixer.check_size(*size)


def test_no_image_is_read_for_a_mixer_that_takes_any_size():
    class Unreadable:
        @property
        def dataset(self):
            raise AssertionError('read')

    model = torch.nn.Sequential(Mixup(alpha=1.0))
    check_sizes(model, Unreadable())
    model.append(TokenMix(alpha=1.0))
    with pytest.raises(AssertionError, match='read'):
        check_sizes(model, Unreadable())
    assert type(model[0]).check_size is Mixer.check_size

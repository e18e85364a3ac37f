"""A mixer of a package outside of the repository: its file, its line in `__init__`, its test, and nothing else."""

import os
import subprocess
import sys

import pytest
from conftest import ROOT
from support.short_runs import same

from openmix_dm.runs.checkpoints import load_file

STOP = """
import os, runpy, signal, sys
from openmix_dm.engine.train_loops import EpochTrainLoop
run_iter = EpochTrainLoop.run_iter
def signalled(loop, idx, batch):
    if loop._iter == 4:
        os.kill(os.getpid(), signal.SIGUSR1)
    run_iter(loop, idx, batch)
EpochTrainLoop.run_iter = signalled
sys.argv[0] = '{train}'
runpy.run_path('{train}', run_name='__main__')
"""

MIXER = """
import torch
from torch import Tensor

from openmix_dm.mixers import MaskMixer
from openmix_dm.mixers.base import Lam
from openmix_dm.registry import MIXERS


@MIXERS.register_module()
class CurtainMix(MaskMixer):
    '''Show the own image left of a vertical edge and the partner right of it.'''

    example = {'flipped': True}

    def __init__(self, alpha: float, flipped: bool, per_sample: bool = False, partner: str = 'shift') -> None:
        super().__init__(alpha, per_sample, partner)
        self.flipped = flipped

    def draw_mask(self, lam: Lam, height: int, width: int, device: torch.device) -> tuple[Tensor, Lam]:
        columns = torch.arange(width, device=device)
        columns = columns.flip(0) if self.flipped else columns
        edge = torch.as_tensor(lam, device=device).reshape(-1, 1, 1, 1).mul(width).round()
        mask = (columns < edge).float().expand(-1, 1, height, width)
        share = edge.flatten().float() / width
        return mask, share if isinstance(lam, Tensor) else round(lam * width) / width
"""
ECHO = (ROOT / 'tests' / 'support' / 'echo_mixer.py').read_text()  # own head, callback, history, labels beyond pairs
CONFIG = """
_base_ = '{root}/configs/digits/r8.py'

custom_imports = dict(imports=['lab_mixers'])
model = dict(mixer=dict(type='CurtainMix', alpha=1.0, flipped=False), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
train_cfg = dict(max_epochs=1)
global_batch_size = 400
"""


@pytest.fixture
def lab(tmp_path):
    """A folder with the package, a config that names it, and a way to run a command of the repository there."""
    (tmp_path / 'lab_mixers').mkdir()
    (tmp_path / 'lab_mixers' / 'curtainmix.py').write_text(MIXER)
    (tmp_path / 'lab_mixers' / 'echomix.py').write_text(ECHO)
    exported = 'from lab_mixers.curtainmix import CurtainMix\nfrom lab_mixers.echomix import EchoMix\n'
    (tmp_path / 'lab_mixers' / '__init__.py').write_text(exported)
    (tmp_path / 'curtain.py').write_text(CONFIG.format(root=ROOT))
    echo = "_base_ = 'curtain.py'\nmodel = dict(mixer=dict(_delete_=True, type='EchoMix'), head=dict(loss=dict({})))\n"
    (tmp_path / 'echo.py').write_text(echo.format("_delete_=True, type='MixedCE'"))
    (tmp_path / 'echo_dm.py').write_text(echo.format("type='DecoupledCE', eta=0.1"))

    def run(*command, code=0):
        environment = {**os.environ, 'PYTHONPATH': f'{tmp_path}:{ROOT}'}
        done = subprocess.run([sys.executable, *command], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    run.folder = tmp_path
    return run


@pytest.mark.slow
def test_it_trains(lab):
    assert 'done: top-1' in lab(ROOT / 'tools' / 'train.py', 'curtain.py', '--work-dir', 'run')


@pytest.mark.slow
def test_one_with_a_head_and_a_history_of_its_own_goes_on_bit_for_bit(lab):
    train = ROOT / 'tools' / 'train.py'
    options = ['--cfg-options', 'global_batch_size=200', 'default_hooks.checkpoint.save_every_iters=2']
    lab(train, 'echo.py', '--work-dir', 'whole', *options)
    stop = ['-c', STOP.format(train=str(train))]
    lab(*stop, 'echo.py', '--work-dir', 'cut', *options, code=75)
    lab(train, 'echo.py', '--work-dir', 'cut', '--resume', *options)
    whole, cut = (load_file(lab.folder / name / 'epoch_1.pth') for name in ('whole', 'cut'))
    assert any(key.startswith('mixer.own_head') for key in whole['state_dict'])
    assert same(whole['state_dict'], cut['state_dict'])
    assert same(whole['mixer_history'], cut['mixer_history'])
    said = lab(train, 'echo_dm.py', '--work-dir', 'refused', code=2)
    assert 'are of more than two classes (rows_b), which DecoupledCE has no use for; take MixedCE' in said


@pytest.mark.slow
def test_it_is_shown_and_analysed(lab):
    lab(ROOT / 'tools' / 'browse_mix.py', 'curtain.py', '--out', 'curtain.png')
    assert (lab.folder / 'curtain.png').stat().st_size > 10_000
    shown = 'import lab_mixers; from openmix_dm.visualization.lone_mixers import *; print(named_mixer("CurtainMix"))'
    assert 'CurtainMix(' in lab('-c', shown)


@pytest.mark.slow
def test_it_keeps_the_promises_of_all_mixers(lab):
    """The tests over the registry find it as soon as it is imported, by the example that it gives."""
    promises = str(ROOT / 'tests' / 'mixers' / 'test_promises.py')
    said = lab('-m', 'pytest', '-q', '-n', '0', '-p', 'lab_mixers', '-p', 'no:cacheprovider', '--rootdir', str(ROOT),
               '-c', str(ROOT / 'pyproject.toml'), promises, '-k', 'CurtainMix')  # fmt: skip
    passed = int(said.split(' passed')[0].split()[-1])
    assert passed > 60
    assert 'failed' not in said

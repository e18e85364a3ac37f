"""Faults that only a GPU would show, planted into a copy of the package: the tests of training steps find each of them.

Without these, a pretended GPU that sees nothing would pass for a program that does nothing wrong.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass

import pytest
from conftest import ROOT

pytestmark = pytest.mark.slow
STEPS = 'test_mixers and (Mixup or CutMix or SmoothMix) and not RandomMixer'


@dataclass(frozen=True)
class Fault:
    file: str  # in the package
    before: str  # what stands there
    after: str  # what a programmer without a GPU might write
    seen: str  # how the pretended GPU calls it


FAULTS = {
    'lam on the CPU in a mixer': Fault(
        'mixers/base.py',
        'torch.full((len(inputs),), lam, device=inputs.device)',
        'torch.full((len(inputs),), lam)',
        'mixed devices: aten::',
    ),
    'index by a mask': Fault(
        'losses/base.py',
        'return losses.mean() if len(losses)',
        'return losses[losses > -1].mean() if len(losses)',
        'wait: aten::index by a mask at openmix_dm/losses/base.py',
    ),
    'item() in a loss': Fault(
        'losses/base.py',
        'losses = self.per_sample(logits, target)',
        'losses = self.per_sample(logits, target) / max(1.0, target.lam.max().item())',
        'wait: aten::_local_scalar_dense at openmix_dm/losses/base.py',
    ),
    'blocking copy': Fault(
        'utils/transfers.py',
        '.pin_memory().to(device, non_blocking=True)',
        '.pin_memory().to(device)',
        'wait: blocking copy to the device at openmix_dm/utils/transfers.py',
    ),
    'numpy round trip': Fault(
        'heads/linear_head.py',
        'self.fc(features)',
        'self.fc(features + 0 * features.new_tensor(features.detach().cpu().numpy()))',
        'wait: copy to the host at openmix_dm/heads/linear_head.py',
    ),
}


@pytest.fixture
def copied(tmp_path):
    """A copy of the package and its tests; the folder is all that the copied tests know."""
    for name in ('openmix_dm', 'tests', 'configs'):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns('__pycache__'))
    shutil.copy(ROOT / 'pyproject.toml', tmp_path)
    return tmp_path


def run_tests(folder):
    """Return the exit code and the output of the tests of training steps in a folder."""
    # -vv: all that is found, not only the first of it
    command = ['-m', 'pytest', '-vv', '-n', '0', '-p', 'no:cacheprovider', '-k', STEPS]
    environment = {**os.environ, 'PYTHONPATH': str(folder), 'COLUMNS': '1000', 'PYTHONDONTWRITEBYTECODE': '1'}
    ended = subprocess.run(
        [sys.executable, *command, 'tests/gpu/test_training_steps.py'],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    return ended.returncode, ended.stdout


def test_the_copy_itself_has_no_fault(copied):
    code, output = run_tests(copied)
    assert code == 0, output
    assert ' passed' in output


# Planted together, each is told by its kind and its place. But a lam on the CPU would hide the item() that asks it.
TOGETHER = [['lam on the CPU in a mixer'], [name for name in FAULTS if name != 'lam on the CPU in a mixer']]


@pytest.mark.parametrize('names', TOGETHER, ids=', '.join)
def test_faults_are_found(names, copied):
    for name in names:
        plant(FAULTS[name], copied)
    code, output = run_tests(copied)
    assert code == 1, output
    assert [name for name in names if FAULTS[name].seen not in output] == []


def plant(fault, folder):
    file = folder / 'openmix_dm' / fault.file
    text = file.read_text()
    assert text.count(fault.before) == 1
    file.write_text(text.replace(fault.before, fault.after))

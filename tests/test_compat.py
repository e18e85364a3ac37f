"""Other packages import after ours, in a process of its own."""

import subprocess
import sys


def run(code):
    return subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=120)


def test_torchvision_and_timm_import_after_ours():
    done = run('import openmix_dm, torchvision, timm; from torchvision.transforms import v2; print(v2.MixUp)')
    assert done.returncode == 0, done.stderr


def test_the_mixers_and_losses_load_nothing_heavy():
    code = (
        'import sys; import openmix_dm.mixers, openmix_dm.losses;'
        "heavy = ('mmengine.runner', 'torchvision', 'timm', 'cv2', 'sklearn', 'matplotlib');"
        'print([name for name in heavy if name in sys.modules])'
    )
    assert run(code).stdout.strip() == '[]'


def test_the_shim_is_only_for_a_library_that_does_not_load(monkeypatch):
    from openmix_dm import compat

    monkeypatch.setattr(compat, '_loads', lambda library: True)
    assert compat.define_missing_torchvision_operators() is None

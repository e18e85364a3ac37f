"""Other packages import after ours, in a process of its own."""

import subprocess
import sys

import pytest


def run(code):
    return subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=120)


def test_torchvision_and_timm_import_after_ours():
    done = run('import openmix_dm, torchvision, timm; from torchvision.transforms import v2; print(v2.MixUp)')
    assert done.returncode == 0, done.stderr


def test_ours_imports_nothing_that_takes_time():
    """So that signals are answered from the first line of a command on."""
    light = ('openmix_dm', 'openmix_dm.launch.early_signals', 'openmix_dm.commands.dist_ranks')
    heavy = 'print([n for n in ("torch", "mmengine", "numpy") if n in sys.modules])'
    assert run(f'import sys, {", ".join(light)}; {heavy}').stdout.strip() == '[]'
    assert run(f'import sys, openmix_dm; assert openmix_dm.list_configs("digits/*"); {heavy}').stdout.strip() == '[]'


def test_looking_at_a_table_waits_for_neither_torch_nor_charts(tmp_path):
    """What is asked again and again, over thousands of runs, answers at once."""
    look = (
        f"import sys; from openmix_dm.commands.table import main; where = ['--work-dirs', {str(tmp_path)!r}];"
        "codes = [main([word, 'digits', *where]) for word in ('list', 'status', 'collect')];"
        'print(codes, [n for n in ("torch", "mmengine.runner", "matplotlib", "scipy") if n in sys.modules])'
    )
    done = run(look)
    assert done.stdout.splitlines()[-1] == '[0, 0, 0] []', done.stderr


def test_the_repair_waits_for_whoever_imports_torchvision_first():
    code = (
        'import sys, openmix_dm; from openmix_dm import compat; before = len(sys.meta_path);'
        'compat.define_missing_torchvision_operators = lambda: print("repaired");'
        'import json, torch; print("torch is here"); import timm; print(len(sys.meta_path) < before)'
    )
    assert run(code).stdout.split('\n')[:2] == ['torch is here', 'repaired']


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


@pytest.mark.parametrize(('bits', 'expected'), [(0, 0), (-1, 0), (1, 128), (3, 192), (8, 201), (9, 201)])
def test_posterize_takes_any_number_of_bits(bits, expected):
    from PIL import Image

    from openmix_dm import compat

    image = compat.posterize(Image.new('RGB', (2, 2), (201, 201, 201)), bits, fillcolor=(1, 2, 3))
    assert image.getpixel((0, 0)) == (expected,) * 3

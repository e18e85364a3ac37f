import errno
import os
from types import SimpleNamespace

import pytest
import torch
from conftest import ROOT
from mmengine.config import Config

from openmix_dm.config import load as configs
from openmix_dm.errors import ConfigError, ResourceError


@pytest.fixture
def chain(tmp_path):
    (tmp_path / 'base.py').write_text("model = dict(mixer=dict(type='Mixup', alpha=1.0))\n")
    (tmp_path / 'leaf.py').write_text("_base_ = 'base.py'\nmodel = dict(mixer=dict(alpha=0.2))\n")
    return tmp_path / 'leaf.py'


def test_inherits_and_overrides(chain):
    config = configs.load_config(chain, ['model.mixer.alpha=0.5', 'model.mixer.partner=permutation'])
    assert config.model.mixer.to_dict() == {'type': 'Mixup', 'alpha': 0.5, 'partner': 'permutation'}


@pytest.mark.parametrize(
    ('text', 'value'),
    [('1', 1), ('0.5', 0.5), ('1e-3', 1e-3), ('True', True), ('false', False), ('None', None), ('none', None),
     ('[1, 2]', [1, 2]), ('(1,)', (1,)), ("'a=b'", 'a=b'), ('cutmix', 'cutmix'), ("{'a': 1}", {'a': 1}), ('', ''),
     ("dict(type='EmaHook', decay=0.9)", {'type': 'EmaHook', 'decay': 0.9}), ('[dict(a=dict(b=1))]', [{'a': {'b': 1}}]),
     ('print(1)', 'print(1)'), ('dict(1)', 'dict(1)'), ('dict(**a)', 'dict(**a)')],
)  # fmt: skip
def test_option_values(text, value):
    assert configs.parse_value(text) == value


def test_plain_imports_are_allowed_in_a_config(tmp_path):
    path = tmp_path / 'c.py'
    path.write_text('import math\n_half = math.sqrt(0.25)\nglobal_batch_size = int(4 * _half)\n')
    assert configs.load_config(path).global_batch_size == 2


def test_missing_files_get_the_nearest_name(chain):
    with pytest.raises(ConfigError, match=r'did you mean leaf\.py'):
        configs.load_config(chain.with_name('leef.py'))


def test_broken_files_say_what_is_wrong(tmp_path):
    (tmp_path / 'broken.py').write_text('model = dict(\n')
    with pytest.raises(ConfigError, match=r"broken\.py:1 is no Python: '\(' was never closed"):
        configs.load_config(tmp_path / 'broken.py')


def test_cycles_are_named(tmp_path):
    (tmp_path / 'a.py').write_text("_base_ = 'b.py'\n")
    (tmp_path / 'b.py').write_text("_base_ = 'a.py'\n")
    with pytest.raises(ConfigError, match='inherits itself'):
        configs.load_config(tmp_path / 'a.py')


@pytest.mark.parametrize('option', ['alpha', '=3', 'model.mixer.alpha.deep=1'])
def test_options_that_cannot_be_applied(chain, option):
    with pytest.raises(ConfigError, match='cfg-options'):
        configs.load_config(chain, [option])


def test_text_reads_back(chain, tmp_path):
    config = configs.load_config(chain)
    config.work_dir = 'somewhere'
    (tmp_path / 'again.py').write_text(configs.to_text(config))
    again = Config.fromfile(tmp_path / 'again.py')
    assert again.to_dict() == {'model': {'mixer': {'type': 'Mixup', 'alpha': 0.2}}}
    assert configs.fingerprint(again) == configs.fingerprint(config)


def test_fingerprint_sees_every_value(chain):
    one, other = configs.load_config(chain), configs.load_config(chain, ['model.mixer.alpha=0.3'])
    assert configs.fingerprint(one) != configs.fingerprint(other)


def test_work_dir_is_dataset_config_and_seed(root):
    config = configs.load_config(root / 'configs/digits/r8_mixup_dm.py')
    assert configs.default_work_dir(config, 3).as_posix() == 'work_dirs/digits/r8_mixup_dm/seed3'


def test_modules_of_ones_own_are_imported_by_the_config_that_names_them(tmp_path, monkeypatch):
    from openmix_dm.config.check import validate
    from openmix_dm.registry import MIXERS

    (tmp_path / 'module_of_my_own.py').write_text(
        'from openmix_dm.mixers import Mixup\nfrom openmix_dm.registry import MIXERS\n\n\n'
        '@MIXERS.register_module()\nclass MixOfMyOwn(Mixup):\n    pass\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / 'mine.py'
    path.write_text(
        f'_base_ = {str(ROOT / "configs/digits/r8_mixup.py")!r}\n'
        "custom_imports = dict(imports=['module_of_my_own'])\nmodel = dict(mixer=dict(type='MixOfMyOwn'))\n"
    )
    try:
        validate(configs.load_config(path))
        path.write_text(path.read_text().replace('module_of_my_own', 'no_such_module'))
        with pytest.raises(ConfigError, match='no_such_module'):
            configs.load_config(path)
    finally:
        MIXERS.module_dict.pop('MixOfMyOwn', None)  # other tests go over the whole registry


@pytest.mark.parametrize(
    ('available', 'major', 'chosen'),
    [(False, 0, 'bf16'), (True, 7, 'fp16'), (True, 8, 'bf16')],
    ids=['no GPU', 'V100 or T4', 'A100'],
)
def test_the_precision_of_amp_is_one_that_the_gpu_has(monkeypatch, available, major, chosen):
    """torch itself counts bf16 as supported on a V100, which emulates it."""
    monkeypatch.setattr(torch.cuda, 'is_available', lambda: available)
    monkeypatch.setattr(torch.cuda, 'current_device', lambda: 0)
    monkeypatch.setattr(torch.cuda, 'get_device_properties', lambda device: SimpleNamespace(major=major))
    monkeypatch.setattr(torch.cuda, '_check_bf16_tensor_supported', lambda device: True)
    path = ROOT / 'configs/digits/r8_mixup_dm.py'
    assert configs.load_run_config(path, amp=True).optim_wrapper.amp == chosen
    assert torch.cuda.is_bf16_supported() == available  # by emulation


@pytest.mark.parametrize(
    ('number', 'said'),
    [(errno.EMFILE, 'Too many open files.*ulimit -n'), (errno.ENOSPC, 'No space left.*TMPDIR')],
)
def test_what_the_machine_lacks_is_no_fault_of_the_config(chain, number, said, monkeypatch):
    def lacking(*arguments, **options):
        raise OSError(number, os.strerror(number), '/tmp/copy')

    monkeypatch.setattr('tempfile.NamedTemporaryFile', lacking)
    with pytest.raises(ResourceError, match=said):
        configs.load_config(chain)

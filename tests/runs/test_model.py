"""Folders of unknown origin are read, never run."""

import shutil

import pytest
import torch
from commands.test_malicious import PAYLOADS
from support.trained_runs import digits_run, vit_run

from openmix_dm.config.plain import read_plain_config
from openmix_dm.errors import CheckpointError, ConfigError
from openmix_dm.runs.model import open_trained


@pytest.fixture
def copy(tmp_path):
    return shutil.copytree(digits_run(), tmp_path / 'run')


def test_the_random_numbers_of_the_caller_stay():
    run = digits_run()
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    open_trained(run)
    assert torch.equal(torch.rand(3), expected)


def test_a_config_that_is_code_is_refused_and_not_run(copy, tmp_path):
    marker = tmp_path / 'marker'
    good = (copy / 'config.py').read_text()
    for code in (
        f'import os\nos.system("touch {marker}")\n',
        f'x = __import__("os").system("touch {marker}")\n',
        f'x = (lambda: open({str(marker)!r}, "w"))()\n',
        'def f():\n    pass\n',
        'x: int = 3\n',
        'x =\n',
    ):
        (copy / 'config.py').write_text(code + good)
        with pytest.raises(ConfigError, match='not run as code'):
            open_trained(copy)
    dotted = good.replace("'type': 'MixClassifier'", f"'type': 'os.system', 'command': 'touch {marker}'")
    assert dotted != good
    (copy / 'config.py').write_text(dotted)
    with pytest.raises(ConfigError, match='only names of registered classes'):
        open_trained(copy)
    assert not marker.exists()


@pytest.mark.parametrize('name', PAYLOADS)
def test_a_checkpoint_that_is_code_is_refused_and_not_run(name, copy, tmp_path):
    PAYLOADS[name](tmp_path / 'marker', copy / 'epoch_3.pth')
    with pytest.raises(CheckpointError):
        open_trained(copy / 'epoch_3.pth')
    assert open_trained(copy).checkpoint.name == 'epoch_2.pth'  # the one before
    assert not (tmp_path / 'marker').exists()


def test_what_does_not_fit_or_is_not_there_is_said(copy, tmp_path):
    with pytest.raises(CheckpointError, match='does not fit'):
        open_trained(vit_run() / 'epoch_1.pth', config=copy / 'config.py')
    with pytest.raises(CheckpointError, match='no EMA weights'):
        open_trained(copy, ema=True)
    (copy / 'config.py').unlink()
    with pytest.raises(ConfigError, match=r'no config\.py beside'):
        open_trained(copy)
    with pytest.raises(CheckpointError, match='holds no checkpoint'):
        open_trained(tmp_path)
    (tmp_path / 'bad.safetensors').write_bytes(b'nothing')
    with pytest.raises(CheckpointError, match='damaged'):
        open_trained(tmp_path / 'bad.safetensors', config='configs/digits/r8.py')


def test_the_config_of_a_run_comes_back_as_it_was():
    from mmengine.config import Config

    path = digits_run() / 'config.py'
    assert read_plain_config(path).to_dict() == Config.fromfile(path).to_dict()


def test_modules_that_a_config_names_are_not_imported_from_a_folder(copy, tmp_path, monkeypatch):
    (tmp_path / 'their_module.py').write_text(f'open({str(tmp_path / "marker")!r}, "w")\n')
    monkeypatch.syspath_prepend(tmp_path)
    text = (copy / 'config.py').read_text().replace("'ThinResNet'", "'TheirNet'")
    (copy / 'config.py').write_text(text + "custom_imports = {'imports': ['their_module']}\n")
    with pytest.raises(ConfigError, match=r'their_module.*if you trust that.*--import their_module'):
        open_trained(copy)
    assert not (tmp_path / 'marker').exists()


def test_a_loss_of_ones_own_says_how_it_is_found(copy):
    """Where the config says nothing of a package: it was registered by the config file itself, or beside it."""
    text = (copy / 'config.py').read_text().replace("'MixedCE'", "'MyLoss'")
    (copy / 'config.py').write_text(text)
    with pytest.raises(ConfigError, match=r'MyLoss is not in .*--import MODULE .*--config CONFIG'):
        open_trained(copy)

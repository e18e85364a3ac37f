"""A checkpoint that would run code when unpickled is refused everywhere, and does not run."""

import os
import pickle
import shutil

import pytest
import torch
from support.short_runs import CONFIG, train

from openmix_dm.commands.test import main as evaluate


class System:
    """os.system, named directly."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.system, (f'touch {self.marker}',)


class Eval(System):
    def __reduce__(self):
        return eval, (f'open({str(self.marker)!r}, "w")',)


def write_getattr(marker, path):
    """A hand-written pickle: getattr(import_module('os'), 'system')('touch marker')."""
    text = f'touch {marker}'
    path.write_bytes(
        b'\x80\x02c__builtin__\ngetattr\n(cimportlib\nimport_module\nX\x02\x00\x00\x00os\x85RX\x06\x00\x00\x00system'
        b'tRX' + len(text).to_bytes(4, 'little') + text.encode() + b'\x85R.'
    )


PAYLOADS = {
    'os.system': lambda marker, path: torch.save({'state_dict': {}, 'meta': System(marker)}, path),
    'eval': lambda marker, path: torch.save({'state_dict': {}, 'meta': Eval(marker)}, path),
    'getattr': write_getattr,
}


@pytest.fixture(scope='module')
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp('good') / 'run'
    assert train(folder, 'train_cfg.max_epochs=1') == 0
    return folder


@pytest.mark.parametrize('name', PAYLOADS)
def test_the_payload_is_real(name, tmp_path):
    """Without protection the marker appears: otherwise the tests below would prove nothing."""
    PAYLOADS[name](tmp_path / 'marker', tmp_path / 'bad.pth')
    if name == 'getattr':
        pickle.loads((tmp_path / 'bad.pth').read_bytes())
    else:
        torch.load(tmp_path / 'bad.pth', weights_only=False)
    assert (tmp_path / 'marker').exists()


@pytest.mark.parametrize('name', PAYLOADS)
def test_refused_and_not_run(name, tmp_path, finished, capsys):
    marker, bad = tmp_path / 'marker', tmp_path / 'bad.pth'
    PAYLOADS[name](marker, bad)
    assert evaluate([str(CONFIG), str(bad)]) == 4
    assert train(tmp_path / 'a', f'load_from={bad}') == 4
    assert not (tmp_path / 'a').exists()
    assert train(tmp_path / 'b', arguments=('--resume', str(bad))) == 4
    assert capsys.readouterr().err.count('cause=checkpoint') == 3

    folder = tmp_path / 'run'  # the newest of a folder: passed over, the one before goes on
    shutil.copytree(finished, folder)
    shutil.copy(bad, folder / 'epoch_9.pth')
    allowed = ('--resume', '--allow-change', 'train_cfg.max_epochs')
    assert train(folder, 'train_cfg.max_epochs=2', arguments=allowed) == 0
    assert not marker.exists()

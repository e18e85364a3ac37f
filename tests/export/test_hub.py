"""Models on the Hub, by a stand-in for it on this machine (tests/support/hub_stand_in.py)."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import yaml
from conftest import ROOT
from support.hub_stand_in import READER, WRITER, running_hub, use_hub
from support.trained_runs import digits_run, published_copy

import openmix_dm
from openmix_dm.commands.export import main
from openmix_dm.errors import CheckpointError, ConfigError, ResourceError
from openmix_dm.evaluation.pixels import logits_of
from openmix_dm.runs.records import read_records, to_line

NAME = 'jane/resnet8-digits'
FILES = {'model.safetensors', 'config.py', 'model.json', 'training_curve.png', 'README.md', 'SHA256SUMS'}


@pytest.fixture
def hub(monkeypatch, tmp_path):
    with running_hub() as hub:
        use_hub(monkeypatch, hub, tmp_path / 'cache')
        yield hub


@pytest.fixture
def pushed(hub, tmp_path):
    """A Hub that has the model."""
    files = {path.name: path.read_bytes() for path in published_copy(tmp_path / 'pushed').iterdir()}
    hub.create(NAME)
    hub.commit(NAME, files)
    weights = files['model.safetensors']
    hub.large[hashlib.sha256(weights).hexdigest()] = weights
    return hub


def test_a_model_is_pushed_and_loaded_by_its_address(hub, tmp_path, capsys):
    out = tmp_path / 'published'
    assert main(['publish', str(digits_run()), '--out', str(out), '--push', NAME]) == 0
    said = capsys.readouterr().out
    (address,) = re.findall(r"openmix_dm\.load\('(hf://.*)'\)", said)
    assert 'pushed as jane, licence apache-2.0' in said
    assert address == f'hf://{NAME}@{hub.repos[NAME]["main"]}'
    assert set(hub.files(NAME)) == {*FILES, '.gitattributes'}
    assert all(hub.files(NAME)[name] == (out / name).read_bytes() for name in FILES)
    images = torch.rand(3, 3, 16, 16)
    expected = logits_of(openmix_dm.load(digits_run(), device='cpu').model, images)
    for place in (f'hf://{NAME}', f'hf://{NAME}@main', address, Path(f'hf://{NAME}')):
        model, _, classes = openmix_dm.load(place, device='cpu')
        assert torch.equal(logits_of(model, images), expected)
        assert classes == list('0123456789')
    assert f"openmix_dm.load('hf://{NAME}')" in (out / 'README.md').read_text()


def test_only_plain_files_are_downloaded_and_once(pushed, tmp_path):
    pushed.commit(NAME, {'setup.py': b'raise SystemExit', 'weights.pkl': b'code'})
    openmix_dm.load(f'hf://{NAME}', device='cpu')
    fetched = {line.rpartition('/')[2] for line in pushed.asked if line.startswith('GET') and '/resolve/' in line}
    assert fetched == {'model.safetensors', 'config.py', 'model.json', 'SHA256SUMS'}
    there = {path.name for path in tmp_path.glob('cache/models--*/snapshots/*/*')}
    assert there == fetched
    pushed.asked.clear()
    openmix_dm.load(f'hf://{NAME}', device='cpu')
    assert not [line for line in pushed.asked if line.startswith('GET') and '/resolve/' in line]


def test_a_card_that_is_edited_on_the_hub_changes_nothing(pushed):
    pushed.commit(NAME, {'README.md': b'My model.', 'extra.onnx': b'...'})
    openmix_dm.load(f'hf://{NAME}', device='cpu')


@pytest.mark.parametrize(
    ('change', 'said'),
    [
        ({'config.py': b'model = 1'}, 'config.py is not the file that was published'),
        ({'model.json': b'{}'}, 'model.json is not the file that was published'),
        ({'SHA256SUMS': b''}, 'not listed in SHA256SUMS'),
        ({'SHA256SUMS': None}, 'was not published by openmix_dm'),
        ({'model.safetensors': None}, 'has no model.safetensors'),
    ],
)
def test_files_that_were_changed_on_the_hub_are_refused(change, said, pushed):
    pushed.commit(NAME, change)
    with pytest.raises(CheckpointError, match=said):
        openmix_dm.load(f'hf://{NAME}', device='cpu')


def test_an_older_commit_can_be_loaded(pushed):
    older = pushed.repos[NAME]['main']
    pushed.commit(NAME, {'config.py': b'model = 1'})
    openmix_dm.load(f'hf://{NAME}@{older}', device='cpu')


def test_code_in_the_config_of_a_model_is_not_run(pushed, tmp_path):
    """Somebody who makes the sums fit his config: it is still data."""
    evil = f'import pathlib\npathlib.Path({str(tmp_path / "ran")!r}).touch()\n'.encode()
    sums = pushed.files(NAME)['SHA256SUMS'].decode()
    sums = re.sub(r'\w+  config.py', f'{hashlib.sha256(evil).hexdigest()}  config.py', sums)
    pushed.commit(NAME, {'config.py': evil, 'SHA256SUMS': sums.encode()})
    with pytest.raises(ConfigError, match='not run as code'):
        openmix_dm.load(f'hf://{NAME}', device='cpu')
    assert not (tmp_path / 'ran').exists()


def test_without_a_network_the_cache_is_enough(pushed, monkeypatch):
    from huggingface_hub import constants

    openmix_dm.load(f'hf://{NAME}', device='cpu')
    pushed.asked.clear()
    monkeypatch.setattr(constants, 'HF_HUB_OFFLINE', True)
    assert openmix_dm.load(f'hf://{NAME}', device='cpu').classes == list('0123456789')
    assert not pushed.asked
    with pytest.raises(ResourceError, match='HF_HUB_OFFLINE=1 forbids'):
        openmix_dm.load('hf://jane/another', device='cpu')


@pytest.mark.parametrize(
    ('place', 'failure', 'said'),
    [
        ('hf://jane/nothing', CheckpointError, 'there is no model http.*/jane/nothing, or it is private'),
        (f'hf://{NAME}@v2', CheckpointError, "no branch, tag or commit 'v2'"),
        (f'hf://{NAME}@', ConfigError, 'after the @'),
        ('hf://jane', ConfigError, 'OWNER/NAME'),
        ('hf://jane/a/b', ConfigError, 'OWNER/NAME'),
        ('hf://jane/--a', ConfigError, 'cannot be the name'),
    ],
)
def test_wrong_addresses_are_told(place, failure, said, pushed):
    with pytest.raises(failure, match=said):
        openmix_dm.load(place, device='cpu')


def test_a_private_model_needs_a_login(hub, monkeypatch, tmp_path):
    source = published_copy(tmp_path / 'published')
    assert main(['publish', str(source), '--push', NAME, '--private']) == 0
    assert hub.repos[NAME]['private']
    openmix_dm.load(f'hf://{NAME}', device='cpu')
    use_hub(monkeypatch, hub, tmp_path / 'of a stranger', token=None)
    with pytest.raises(CheckpointError, match='hf auth login'):
        openmix_dm.load(f'hf://{NAME}', device='cpu')


def uploads(hub):
    return [line for line in hub.asked if line.startswith('PUT') or '/commit/' in line or 'batch' in line]


@pytest.mark.parametrize(
    ('token', 'arguments', 'code', 'said'),
    [
        (None, ['--push', NAME], 2, 'nobody is logged in'),
        ('hf_wrong', ['--push', NAME], 2, 'does not know this login'),
        (READER, ['--push', NAME], 2, 'needs a token that can write'),
        (WRITER, ['--push', 'company/model'], 2, 'the right to write for company'),
        (WRITER, ['--push', 'resnet8'], 2, 'OWNER/NAME'),
        (WRITER, ['--push', 'jane/no spaces'], 2, 'cannot be the name'),
        (WRITER, ['--push', NAME, '--license', 'nonsense'], 2, '"license" must be one of'),
        (WRITER, [], 2, '--out FOLDER, --push OWNER/NAME, or both'),
        (WRITER, ['--private', '--out', 'x'], 2, 'needs --push'),
    ],
)
def test_a_push_that_cannot_be_is_refused_before_the_upload(
    token, arguments, code, said, hub, tmp_path, monkeypatch, capsys
):
    use_hub(monkeypatch, hub, tmp_path / 'cache', token)
    monkeypatch.chdir(tmp_path)
    assert main(['publish', str(published_copy(tmp_path / 'published')), *arguments]) == code
    assert said in capsys.readouterr().err
    assert not uploads(hub)
    assert not (tmp_path / 'x').exists()


def test_a_hub_that_is_not_there_or_busy_is_told_before_any_work(hub, tmp_path, monkeypatch, capsys):
    from huggingface_hub import constants

    hub.broken = 503
    assert main(['publish', str(digits_run()), '--out', str(tmp_path / 'x'), '--push', NAME]) == 7
    assert 'try again later' in capsys.readouterr().err
    monkeypatch.setattr(constants, 'ENDPOINT', 'http://127.0.0.1:9')
    assert main(['publish', str(digits_run()), '--out', str(tmp_path / 'x'), '--push', NAME]) == 7
    assert 'http://127.0.0.1:9/jane/resnet8-digits cannot be reached' in capsys.readouterr().err
    assert not (tmp_path / 'x').exists()


def test_what_is_private_is_not_pushed_to_a_public_model(pushed, tmp_path, capsys):
    assert main(['publish', str(tmp_path / 'pushed'), '--push', NAME, '--private']) == 2
    assert 'is there already, and public' in capsys.readouterr().err
    assert not uploads(pushed)


def test_a_model_of_the_hub_can_be_published_again_with_its_numbers(pushed, tmp_path):
    assert main(['publish', f'hf://{NAME}', '--out', str(tmp_path / 'again')]) == 0
    facts = json.loads((tmp_path / 'again' / 'model.json').read_text())
    assert facts['metrics'] == json.loads(pushed.files(NAME)['model.json'])['metrics']


def test_the_card_says_what_the_model_is(tmp_path):
    out = tmp_path / 'published'
    assert main(['publish', str(digits_run()), '--out', str(out), '--license', 'mit']) == 0
    _, head, text = (out / 'README.md').read_text().split('---\n', 2)
    head = yaml.safe_load(head)
    final = json.loads((out / 'model.json').read_text())['metrics']['final']
    assert head['license'] == 'mit'
    assert head['library_name'] == 'openmix_dm'
    assert head['datasets'] == ['digits']
    assert head['metrics'] == ['accuracy']
    assert {'openmix_dm', 'mixup'} <= set(head['tags'])
    told = {each['name']: each['value'] for each in head['model-index'][0]['results'][0]['metrics']}
    assert told == {'top-1 (%), last': round(final['last'], 2), 'top-1 (%), best': round(final['best'], 2)}
    assert f'| last | {final["last"]:.2f} |' in text
    assert 'median' not in text  # three validations are too few for it
    assert "openmix_dm.load('published')" in text
    assert '![loss and top-1 over epochs](training_curve.png)' in text
    assert (out / 'config.py').read_text() in text
    assert 'The weights: mit.' in text
    assert str(tmp_path) not in text
    assert (out / 'training_curve.png').read_bytes().startswith(b'\x89PNG')


def test_the_median_is_told_of_runs_that_are_long_enough(tmp_path):
    run = shutil.copytree(digits_run(), tmp_path / 'run')
    (last,) = read_records(run / 'metrics.jsonl', 'val')[-1:]
    with (run / 'metrics.jsonl').open('a') as file:
        file.writelines(
            to_line({**{k: v for k, v in last.items() if k != 'crc'}, 'epoch': 3 + n}) for n in range(1, 18)
        )
    assert main(['publish', str(run), '--out', str(tmp_path / 'published')]) == 0
    assert '| median of the last 10 validations |' in (tmp_path / 'published' / 'README.md').read_text()


def test_a_lone_checkpoint_has_a_card_without_numbers(tmp_path):
    shutil.copy(digits_run() / 'epoch_3.pth', tmp_path)
    shutil.copy(digits_run() / 'config.py', tmp_path)
    assert main(['publish', str(tmp_path / 'epoch_3.pth'), '--out', str(tmp_path / 'published')]) == 0
    assert 'Nothing is known of its accuracy' in (tmp_path / 'published' / 'README.md').read_text()
    assert not (tmp_path / 'published' / 'training_curve.png').exists()
    openmix_dm.load(tmp_path / 'published')


@pytest.mark.slow
def test_as_a_user_does_it_by_the_variables_of_the_environment(tmp_path):
    """The library reads them itself: HF_ENDPOINT, HF_HOME, HF_TOKEN, HF_HUB_OFFLINE."""
    with running_hub() as hub:
        variables = {**os.environ, 'HF_ENDPOINT': hub.url, 'HF_HOME': str(tmp_path), 'HF_HUB_DISABLE_XET': '1'}
        variables |= {'PYTHONPATH': str(ROOT), 'HF_TOKEN': WRITER}

        def python(*arguments, **more):
            done = subprocess.run(
                [sys.executable, *arguments], env={**variables, **more}, capture_output=True, text=True
            )
            assert done.returncode == 0, done.stderr
            return done.stdout

        python('-m', 'openmix_dm', 'export', 'publish', str(digits_run()), '--push', NAME)
        show = f"import openmix_dm; print(openmix_dm.load('hf://{NAME}', device='cpu').classes)"
        assert python('-c', show) == python('-c', show, HF_HUB_OFFLINE='1') == f'{list("0123456789")}\n'

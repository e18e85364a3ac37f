"""tools/export.py: predict, publish and onnx."""

import importlib.util
import json
import shutil
import subprocess

import cv2
import numpy as np
import pytest
import torch
from export.test_loaded_model import write_digit
from PIL import Image
from support.trained_runs import digits_run, published_copy, vit_run

import openmix_dm
from openmix_dm.commands.export import main
from openmix_dm.datasets.digits import Digits
from openmix_dm.errors import CheckpointError, NumericError
from openmix_dm.evaluation.pixels import logits_of
from openmix_dm.export import onnx as onnx_export


@pytest.fixture
def pictures(tmp_path):
    folder = tmp_path / 'pictures' / 'inner'
    folder.mkdir(parents=True)
    for place in range(5):
        write_digit(folder / f'{place}.png', place)
    return folder.parent


def test_predict_folders_and_files(pictures, tmp_path, capsys):
    out = tmp_path / 'answers.json'
    single = str(pictures / 'inner' / '3.png')
    assert main(['predict', str(digits_run()), str(pictures), single, '--topk', '2', '--out', str(out)]) == 0
    rows = json.loads(out.read_text())
    assert [row['file'] for row in rows] == [*(str(pictures / 'inner' / f'{i}.png') for i in range(5)), single]
    model = openmix_dm.load(digits_run(), device='cpu').model
    p = logits_of(model, Digits('test').images[:5].float() / 255).softmax(1)
    for row, expected in zip(rows, p, strict=False):
        best = expected.topk(2)
        assert row['labels'] == best.indices.tolist()
        assert row['p'] == pytest.approx(best.values.tolist(), abs=1e-4)
        assert row['classes'] == [str(label) for label in row['labels']]
    assert f'{single}: {rows[3]["classes"][0]} ' in capsys.readouterr().out


def test_publish_is_whole_and_safe(tmp_path, capsys):
    out = tmp_path / 'published'
    assert main(['publish', str(digits_run()), '--out', str(out)]) == 0
    files = {'model.safetensors', 'config.py', 'model.json', 'README.md', 'training_curve.png', 'SHA256SUMS'}
    assert {path.name for path in out.iterdir()} == files
    subprocess.run(['sha256sum', '-c', 'SHA256SUMS'], cwd=out, check=True, capture_output=True)
    assert len({path.stat().st_mode for path in out.iterdir()}) == 1  # those of a library are read by all who read ours
    card = json.loads((out / 'model.json').read_text())
    assert card['classes'] == list('0123456789')
    assert card['metrics']['final']['last'] > 20
    assert str(digits_run()) not in (out / 'config.py').read_text()
    images = torch.rand(3, 3, 16, 16)
    one, other = (openmix_dm.load(place, device='cpu').model for place in (digits_run(), out))
    assert torch.equal(logits_of(one, images), logits_of(other, images))
    assert main(['publish', str(digits_run()), '--out', str(out)]) == 2
    assert 'nothing is overwritten' in capsys.readouterr().err
    again = tmp_path / 'again'
    assert main(['publish', str(out), '--out', str(again)]) == 0  # a published model can be published
    for name in ('config.py', 'model.json', 'training_curve.png'):  # with its numbers and its curve
        assert (again / name).read_bytes() == (out / name).read_bytes()


@pytest.mark.parametrize('name', ['model.safetensors', 'config.py', 'model.json', 'README.md'])
def test_a_changed_file_is_refused(name, tmp_path):
    out = published_copy(tmp_path / 'published')
    with (out / name).open('ab') as file:
        file.write(b' ')
    with pytest.raises(CheckpointError, match='not the file that was published'):
        openmix_dm.load(out)
    (out / 'SHA256SUMS').unlink()
    with pytest.raises(CheckpointError, match='not whole'):
        openmix_dm.load(out)


needs_onnx = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in onnx_export.NEEDED), reason='onnx is not installed'
)


@needs_onnx
@pytest.mark.slow
@pytest.mark.parametrize('run', [digits_run, vit_run])
def test_onnx_answers_as_the_model_does(run, tmp_path, capsys):
    """One convention: both take what the transform makes of an image file, and the metadata say what that is."""
    import onnxruntime

    out = tmp_path / 'model.onnx'
    assert main(['onnx', str(run()), '--out', str(out)]) == 0
    assert 'images (N, 3, 16, 16), normalised as its metadata say' in capsys.readouterr().out
    model, transform, classes = loaded = openmix_dm.load(run(), device='cpu')
    files = onnx_export.write_images(tmp_path, 23, 31)  # any size: the transform makes 16 x 16 of it
    images = torch.stack([transform(file) for file in files])
    with torch.no_grad():
        expected = model(images).numpy()
    session = onnxruntime.InferenceSession(str(out))
    (found,) = session.run(None, {'images': images.numpy()})
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())

    said = {name: json.loads(value) for name, value in session.get_modelmeta().custom_metadata_map.items()}
    assert said['classes'] == classes
    assert said['size'] == [16, 16]
    assert said['transforms'] == [
        {'type': 'ResizeShortEdge', 'interpolation': 'bilinear', 'size': 16},
        {'type': 'CenterCrop', 'size': 16},
    ]
    by_hand = images_by_hand(files, said)
    np.testing.assert_allclose(by_hand, images.numpy(), atol=0.02 * np.abs(images.numpy()).max())
    (found,) = session.run(None, {'images': by_hand})
    np.testing.assert_allclose(found, expected, atol=0.05 * np.abs(expected).max())
    if run is digits_run:  # a file of another model is found out
        with torch.no_grad():
            model.head.fc.bias += 1
        with pytest.raises(NumericError, match='logits differ'):
            onnx_export.compare(loaded, out, 16, 16)


def images_by_hand(files, said):
    """What somebody without this package makes of the metadata, with Pillow."""
    (short, crop), (mean, std) = said['transforms'], (np.array(said[name], np.float32) for name in ('mean', 'std'))
    images = []
    for file in files:
        image = Image.open(file).convert('RGB')
        scale = short['size'] / min(image.size)
        size = [max(short['size'], int(side * scale)) for side in image.size]
        pixels = np.asarray(image.resize(size, Image.Resampling.BILINEAR))
        top, left = (round((side - crop['size']) / 2) for side in pixels.shape[:2])
        square = pixels[top : top + crop['size'], left : left + crop['size']]
        images.append(((square.astype(np.float32) / 255 - mean) / std).transpose(2, 0, 1))
    return np.stack(images)


MISTAKES = {
    'normalised twice': lambda self, images: self.head(self.backbone((images - 0.3) / 0.4)),
    'a hundredth off': lambda self, images: self.head(self.backbone(1.01 * images)),
    'images are upside down': lambda self, images: self.head(self.backbone(images.flip(2))),
}


@needs_onnx
@pytest.mark.slow
@pytest.mark.parametrize('mistake', MISTAKES)
def test_a_mistake_of_what_is_exported_is_refused(mistake, tmp_path, capsys, monkeypatch):
    out = tmp_path / 'model.onnx'
    out.write_text('an earlier one')
    monkeypatch.setattr(onnx_export.ToLogits, 'forward', MISTAKES[mistake])
    assert main(['onnx', str(digits_run()), '--out', str(out)]) == 5
    assert 'does not compute what the model answers to image files' in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ['model.onnx']
    assert out.read_text() == 'an earlier one'


@needs_onnx
@pytest.mark.slow
def test_wrong_words_about_the_input_are_refused(tmp_path, monkeypatch):
    right = onnx_export.metadata
    monkeypatch.setattr(onnx_export, 'metadata', lambda *args: {**right(*args), 'mean': '[0.0, 0.0, 0.0]'})
    with pytest.raises(NumericError, match='logits differ'):
        onnx_export.export_onnx(openmix_dm.load(digits_run(), device='cpu'), tmp_path / 'model.onnx', 16, 16)
    assert not (tmp_path / 'model.onnx').exists()


@needs_onnx
@pytest.mark.slow
def test_onnx_of_another_size_than_the_config_tests(tmp_path, capsys):
    out = tmp_path / 'model.onnx'
    assert main(['onnx', str(digits_run()), '--out', str(out), '--size', '24', '20']) == 0
    assert 'images (N, 3, 24, 20), normalised' in capsys.readouterr().out


@needs_onnx
@pytest.mark.slow
def test_onnx_of_a_model_that_is_tested_by_crops(tmp_path):
    """The file takes single images; the model's answer is the mean over ten crops of each."""
    from openmix_dm.datasets.transforms.image import TenCrop

    loaded = openmix_dm.load(digits_run(), device='cpu')
    loaded.transform.steps = [lambda image: cv2.resize(image, (20, 20)), TenCrop(16)]
    assert loaded.transform(np.zeros((30, 40, 3), np.uint8)).shape == (10, 3, 16, 16)
    assert onnx_export.export_onnx(loaded, tmp_path / 'model.onnx', 16, 16) < 1e-4


def test_mistakes_are_refused(tmp_path, capsys, monkeypatch):
    run, empty = str(digits_run()), tmp_path / 'empty'
    empty.mkdir()
    assert main(['predict', run, str(empty)]) == 3
    assert main(['predict', run, str(tmp_path / 'no.png')]) == 3
    assert main(['predict', run, str(empty), '--topk', '0']) == 2
    assert main(['predict', str(empty), str(write_digit(tmp_path / 'a.png', 0))]) == 4
    (tmp_path / 'b.png').write_bytes(b'no image')
    assert main(['predict', run, str(tmp_path / 'b.png')]) == 3
    assert main(['onnx', run, '--out', str(tmp_path / 'a.txt')]) == 2
    assert main(['onnx', run, '--out', str(tmp_path / 'a.onnx'), '--size', '1', '2', '3']) == 2
    assert main(['publish', run, '--ema', '--out', str(tmp_path / 'ema')]) == 4
    monkeypatch.setattr(onnx_export, 'NEEDED', ('not_installed',))
    assert main(['onnx', run, '--out', str(tmp_path / 'a.onnx')]) == 2
    assert "pip install 'openmix_dm[export]'" in capsys.readouterr().err
    assert not (tmp_path / 'a.onnx').exists()
    shutil.rmtree(empty)


def flip(path, place=-5):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


@pytest.mark.fault(
    47,
    'A published folder whose SHA256SUMS is empty, unreadable or lacks a line, or with a file too many or '
    'too few, or a flipped bit: refused with the name of the file.',
)
@pytest.mark.parametrize(
    ('spoil', 'said'),
    [
        (lambda out: (out / 'SHA256SUMS').write_text(''), 'not listed'),
        (lambda out: drop_line(out / 'SHA256SUMS', 'model.safetensors'), 'not listed'),
        (lambda out: drop_line(out / 'SHA256SUMS', 'config.py'), 'not listed'),
        (lambda out: (out / 'extra.py').write_text('x = 1'), 'not listed'),
        (lambda out: (out / 'model.json').unlink(), 'is not there'),
        (lambda out: (out / 'SHA256SUMS').write_bytes(b'\xff\xfe'), 'cannot be read'),
        (lambda out: flip(out / 'model.json'), 'is not the file'),
    ],
)
def test_a_published_folder_is_whole_or_refused(spoil, said, tmp_path):
    out = published_copy(tmp_path / 'published')
    (out / '.DS_Store').write_text('left by a file manager')
    openmix_dm.load(out)
    spoil(out)
    for place in (out, out / 'model.safetensors'):
        with pytest.raises(CheckpointError, match=said):
            openmix_dm.load(place)


def drop_line(path, name):
    path.write_text(''.join(line for line in path.read_text().splitlines(keepends=True) if name not in line))


def test_published_weights_carry_a_hash_too(tmp_path):
    out = published_copy(tmp_path / 'published')
    alone = tmp_path / 'alone.safetensors'
    alone.write_bytes((out / 'model.safetensors').read_bytes())
    openmix_dm.load(alone, config=out / 'config.py')
    flip(alone)
    with pytest.raises(CheckpointError, match='its own hash'):
        openmix_dm.load(alone, config=out / 'config.py')

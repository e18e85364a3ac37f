"""A trained model in three lines, from a folder, a file or a published folder."""

import subprocess
import sys

import cv2
import numpy as np
import pytest
import torch
from mmengine.config import Config
from PIL import Image
from support.trained_runs import digits_run, vit_run

import openmix_dm
from openmix_dm.datasets.digits import Digits
from openmix_dm.export.loaded_model import ImageTransform, transform_of
from openmix_dm.registry import MODELS


def write_digit(path, place):
    image = Digits('test').images[place].permute(1, 2, 0).numpy()
    assert cv2.imwrite(str(path), image)
    return path


@pytest.mark.parametrize('run', [digits_run, vit_run])
def test_model_transform_and_classes(run, tmp_path):
    model, transform, classes = openmix_dm.load(run())
    assert classes == list('0123456789')
    data = Digits('test')
    expected = model(model.data_preprocessor({'inputs': data.images[:3]})['inputs'])
    shown = torch.stack([transform(write_digit(tmp_path / f'{i}.png', i)) for i in range(3)])
    assert torch.allclose(model(shown), expected, atol=1e-4)


def test_images_of_any_kind_and_size(tmp_path):
    transform = openmix_dm.load(digits_run()).transform
    array = np.random.default_rng(0).integers(0, 256, (40, 60, 3), dtype=np.uint8)
    from_array = transform(array)
    assert from_array.shape == (3, 16, 16)
    assert torch.equal(transform(Image.fromarray(array)), from_array)
    Image.fromarray(array).save(tmp_path / 'a.png')
    assert torch.equal(transform(tmp_path / 'a.png'), from_array)
    assert torch.equal(transform(str(tmp_path / 'a.png')), from_array)
    assert transform(Image.new('L', (9, 9))).shape == (3, 16, 16)
    with pytest.raises(ValueError, match='RGB array'):
        transform(np.zeros((3, 16, 16), np.float32))


def test_the_transform_of_image_files_is_that_of_the_test_set(root):
    config = Config.fromfile(root / 'configs/imagenet/r50_mixup_dm.py')
    model = MODELS.build({**config.model, 'backbone': {'type': 'ThinResNet', 'depth': 8}})
    transform = transform_of(config, model)
    array = np.random.default_rng(0).integers(0, 256, (300, 280, 3), dtype=np.uint8)
    assert transform(array).shape == (3, 224, 224)
    pixels = transform.pixels(array)
    mean, std = (torch.tensor(config.model.data_preprocessor[key])[:, None, None] for key in ('mean', 'std'))
    assert torch.allclose(transform(array), (pixels - mean) / std)


@pytest.mark.parametrize(
    ('transforms', 'expected'),
    [
        ([{'type': 'BatchRandomFlip'}, {'type': 'BatchResize', 'size': 9}], (3, 9, 9)),
        ([{'type': 'RandomFlip'}, {'type': 'Resize', 'size': 9}], (3, 9, 9)),
        ([], (3, 20, 30)),
    ],
)
def test_tables_of_images_take_both_kinds_of_transforms(root, transforms, expected):
    config = Config.fromfile(root / 'configs/digits/r8_mixup_dm.py')
    config.val_dataloader.dataset = {'type': 'HuggingFaceImages', 'path': 'not read', 'transforms': transforms}
    assert transform_of(config, MODELS.build(config.model))(np.zeros((20, 30, 3), np.uint8)).shape == expected


def test_several_crops_are_kept_apart():
    class TwoCrops:
        def __call__(self, image):
            return np.stack([image, image[::-1]])

    array = np.random.default_rng(0).integers(0, 256, (8, 6, 3), dtype=np.uint8)
    shown = ImageTransform([TwoCrops()], None)(array)
    assert shown.shape == (2, 3, 8, 6)
    assert torch.equal(shown[1], shown[0].flip(1))


def test_a_model_can_be_used_where_its_data_are_not(tmp_path, monkeypatch):
    monkeypatch.setenv('OPENMIX_DM_DATA', str(tmp_path / 'nothing'))
    path = tmp_path / 'cifar.py'
    dataset = "{'dataset': {'type': 'CIFAR10', 'root': 'cifar10', 'split': 'test'}, 'batch_size': 10}"
    path.write_text((digits_run() / 'config.py').read_text() + f'val_dataloader = {dataset}\n')
    _, transform, classes = openmix_dm.load(digits_run() / 'epoch_3.pth', config=path)
    assert classes == [str(label) for label in range(10)]
    assert transform(np.zeros((50, 40, 3), np.uint8)).shape == (3, 32, 32)


def test_importing_the_package_stays_light():
    code = 'import sys, openmix_dm; openmix_dm.load; print(sorted({name.split(".")[0] for name in sys.modules}))'
    out = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True).stdout
    for heavy in ('mmengine', 'timm', 'torchvision', 'cv2', 'matplotlib', 'scipy', 'onnx', 'safetensors'):
        assert f"'{heavy}'" not in out

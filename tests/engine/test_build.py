import cv2
import numpy as np
from support.short_runs import train
from torch.utils.data import DataLoader

from openmix_dm.datasets import Digits, ImageFolder
from openmix_dm.engine.build import describe_reading
from openmix_dm.runs.folder import RunFolder


def test_decoder_and_interpolation_of_each_phase(tmp_path):
    (tmp_path / 'val' / 'a').mkdir(parents=True)
    cv2.imwrite(str(tmp_path / 'val' / 'a' / '0.png'), np.zeros((9, 9, 3), dtype=np.uint8))
    each = {'type': 'BatchEach', 'transforms': [{'type': 'Resize', 'size': 8}, {'type': 'RandAugment'}]}
    steps = [{'type': 'ResizeShortEdge', 'size': 8, 'interpolation': 'bicubic'}, {'type': 'CenterCrop', 'size': 8}]
    told = describe_reading(
        {
            'train': DataLoader(Digits('train', transforms=[each])),
            'val': DataLoader(ImageFolder(str(tmp_path), 'val', steps)),
            'test': None,
        }
    )
    assert told == {
        'decoder': {'train': None, 'val': 'cv2'},
        'interpolation': {
            'train': {'Resize': 'bilinear', 'RandAugment': 'bicubic'},
            'val': {'ResizeShortEdge': 'bicubic'},
        },
        'antialias': True,
    }


def test_stands_in_the_record_of_the_run(tmp_path):
    resized = "train_dataloader.dataset.transforms=[dict(type='BatchResize', size=16, interpolation='nearest')]"
    assert train(tmp_path / 'run', 'train_cfg.max_epochs=1', resized) == 0
    run = RunFolder(tmp_path / 'run').read()
    assert run['decoder'] == {'train': None, 'val': None}
    assert run['interpolation'] == {'train': {'BatchResize': 'nearest'}, 'val': {}}


def test_training_images_of_one_class_are_refused(tmp_path, capsys):
    assert train(tmp_path / 'run', 'train_dataloader.dataset.digits=[3]', 'global_batch_size=50') == 3
    assert 'training images are of class 0, so that there is nothing to tell apart' in capsys.readouterr().err

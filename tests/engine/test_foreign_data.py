"""Data sets of other packages: asked by plain numbers, augmented by our keys, resumed exactly."""

import numpy as np
import pytest
import torch
from PIL import Image
from support.short_runs import PowerCut, final, power_cut, same, train
from torch.utils.data import Dataset

from openmix_dm.datasets import Digits
from openmix_dm.registry import DATASETS

CROP = "transforms=[dict(type='BatchRandomCrop',padding=1,mode='constant')]"
HALF = f"dict(type='Digits',split='train',size=8,{CROP})"
CONCAT = f"train_dataloader.dataset=dict(_delete_=True,type='ConcatDataset',datasets=[{HALF},{HALF}])"


@DATASETS.register_module(force=True)
class PillowDigits(Dataset):
    """What torchvision's data sets are like: (Pillow's image, label), with draws of its own from global generators."""

    def __init__(self, split):
        self.digits = Digits(split, size=8)

    def __len__(self):
        return len(self.digits)

    def __getitem__(self, index):
        sample = self.digits[int(index)]
        pixels = sample['inputs'].permute(1, 2, 0).numpy()
        noise = np.random.randint(0, 9) + torch.randint(9, ()).item()
        return Image.fromarray((pixels // 2 + noise).astype(np.uint8)), int(sample['labels'])


@pytest.mark.slow
@pytest.mark.parametrize(
    'dataset',
    [CONCAT, "train_dataloader.dataset=dict(_delete_=True,type='PillowDigits',split='train')"],
    ids=['mmengine', 'pillow'],
)
@pytest.mark.parametrize('workers', [0, 2])
def test_it_trains_and_resumes_exactly(tmp_path, monkeypatch, dataset, workers):
    options = (dataset, 'train_cfg.max_epochs=1', f'train_dataloader.num_workers={workers}')
    assert train(tmp_path / 'whole', *options) == 0
    with power_cut(monkeypatch, 5), pytest.raises(PowerCut):
        train(tmp_path / 'cut', *options, 'default_hooks.checkpoint.save_every_iters=2')
    changed = ['--resume', '--allow-change', 'default_hooks.checkpoint.save_every_iters']
    assert train(tmp_path / 'cut', *options, arguments=changed) == 0
    assert same(final(tmp_path / 'whole', 1)['state_dict'], final(tmp_path / 'cut', 1)['state_dict'])


def test_images_inside_of_a_foreign_data_set_are_augmented(tmp_path):
    plain = CONCAT.replace(CROP, 'transforms=[]')
    assert (
        train(tmp_path / 'a', CONCAT, 'train_cfg.max_epochs=1')
        == train(tmp_path / 'b', plain, 'train_cfg.max_epochs=1')
        == 0
    )
    assert not same(final(tmp_path / 'a', 1)['state_dict'], final(tmp_path / 'b', 1)['state_dict'])


def test_floats_are_refused_with_what_to_do(tmp_path, capsys):
    @DATASETS.register_module(force=True)
    class FloatDigits(PillowDigits):
        """Normalised already."""

        def __getitem__(self, index):
            image, label = super().__getitem__(index)
            return torch.from_numpy(np.array(image)).permute(2, 0, 1) / 255, label

    assert train(tmp_path / 'run', "train_dataloader.dataset=dict(_delete_=True,type='FloatDigits',split='train')") == 3
    assert 'leave ToTensor and Normalize out' in capsys.readouterr().err

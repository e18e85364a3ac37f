import shutil

import pytest
import torch
from conftest import ROOT
from support.trained_runs import digits_run, vit_run

from openmix_dm.analysis.models import EvalData, ModelSelection, check_same_data, load_models, pair_up
from openmix_dm.errors import ConfigError


def models(*arguments, **options):
    return load_models(ModelSelection(list(map(str, arguments)), **options))


def test_folders_checkpoints_and_pairs(tmp_path):
    run = digits_run()
    copy = tmp_path / 'elsewhere.pth'
    shutil.copy(run / 'epoch_3.pth', copy)
    config = ROOT / 'configs/digits/r8_mixup.py'
    loaded = models(run, run / 'epoch_2.pth', config, copy)
    assert [each.trained.checkpoint.name for each in loaded] == ['epoch_3.pth', 'epoch_2.pth', 'elsewhere.pth']
    assert len({each.name for each in loaded}) == 3
    first, _, third = (each.network.head.fc.weight for each in loaded)
    assert first.equal(third)
    assert not first.equal(loaded[1].network.head.fc.weight)
    assert loaded[0].data.dataset is loaded[1].data.dataset  # read once
    assert not loaded[0].network.training


def test_places_are_spread_evenly_and_cut():
    data = models(digits_run(), batch_size=100)[0].data
    assert data.places(None) == list(range(360))
    assert data.places(4) == [0, 90, 180, 270]
    assert data.places(1000) == list(range(360))
    assert [len(batch) for batch in data.cut(data.places(250))] == [100, 100, 50]


def test_the_same_data_or_none():
    with pytest.raises(ConfigError, match='different data'):
        check_same_data([*models(digits_run()), *models(vit_run(), cfg_options=['val_dataloader.dataset.size=8'])])
    check_same_data(models(digits_run(), vit_run()))


def test_pairs_are_read_in_order():
    assert pair_up(['a', 'b.py', 'c.pth', 'd.pth']) == [(None, 'a'), ('b.py', 'c.pth'), (None, 'd.pth')]


def test_of_several_crops_the_central_one_is_looked_at():
    class TenCrops:
        def __len__(self):
            return 4

        def __getitem__(self, place):
            crops = torch.arange(10)[:, None, None, None].expand(10, 3, 2, 2)
            return {'inputs': crops, 'labels': torch.tensor(place)}

    data = EvalData(TenCrops(), batch_size=2, num_workers=0, config={})
    (_, one, labels), _ = data.read(data.cut(data.places(None)), torch.device('cpu'))
    assert one.shape == (2, 3, 2, 2)
    assert torch.allclose(one * 255, torch.tensor(4.0))
    assert labels.tolist() == [0, 1]
    (_, all_of_them, _), _ = data.read(data.cut(data.places(None)), torch.device('cpu'), crops=True)
    assert all_of_them.shape == (2, 10, 3, 2, 2)

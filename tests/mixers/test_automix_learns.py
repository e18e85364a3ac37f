"""A learned mixer learns: ten epochs on small digits. Thresholds leave room beyond the worst of three seeds."""

import pytest
import torch
from conftest import ROOT
from support.short_runs import final, train

from openmix_dm.config import load as configs
from openmix_dm.datasets.digits import Digits
from openmix_dm.registry import MODELS
from openmix_dm.runs.folder import RunFolder

EPOCHS = 10
OPTIONS = (
    f'train_cfg.max_epochs={EPOCHS}',
    'global_batch_size=100',
    'default_hooks.records.interval=14',
    'model.mixer.mask_annealing=False',  # else its loss falls in any case
)
LAMS = (0.15, 0.3, 0.5, 0.7, 0.85)


def trained(name, folder, seed=0):
    path = ROOT / 'configs' / 'digits' / f'r8_{name}.py'
    assert train(folder, *OPTIONS, config=path, arguments=('--seed', str(seed))) == 0
    model = MODELS.build(configs.load_config(folder / 'config.py').model).eval()
    model.load_state_dict(final(folder, EPOCHS)['state_dict'])
    return model, RunFolder(folder)


@torch.no_grad()
def masks_of(model):
    """Masks for the test images at several lam, the same pairs each time."""
    data = Digits('test', size=8)
    inputs, labels = model.data_preprocessor({'inputs': data.images})['inputs'], data.labels
    masks = []
    for lam in LAMS:
        torch.manual_seed(1)
        masks.append(model.mixer(inputs, labels, lam=lam).mask)
    return masks


@pytest.mark.slow
@pytest.mark.parametrize('name', ['automix', 'samix'])
def test_a_learned_mixer_learns(name, tmp_path):
    model, folder = trained(name, tmp_path / 'run')
    records = folder.records('train')
    first, last = records[0], records[-1]
    assert last['loss_block'] < first['loss_block'] - 0.3
    assert last['loss_mask'] < first['loss_mask'] - 0.01
    assert last['loss_cls'] < first['loss_cls'] - 0.3
    final_record = folder.records('val')[-1]
    assert min(final_record['top1'], final_record['momentum_top1']) > 90
    masks = masks_of(model)
    means = [mask.mean().item() for mask in masks]
    assert means == sorted(means)
    assert means[-1] - means[0] > 0.1
    assert all(mask.std(dim=(1, 2, 3)).mean() > 0.01 for mask in masks)  # from place to place
    assert all(mask.std(dim=0).mean() > 0.01 for mask in masks)  # from pair to pair

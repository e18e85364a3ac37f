"""A learned mixer learns: ten epochs on small digits. Thresholds leave room beyond the worst of three seeds."""

import pytest
import torch
from conftest import ROOT
from engine.runs import final, train

from openmix_dm.datasets.digits import Digits
from openmix_dm.engine import config as configs
from openmix_dm.engine.run_folder import RunFolder
from openmix_dm.losses.functional import mixed_ce
from openmix_dm.registry import MODELS

EPOCHS = 10
OPTIONS = (
    f'train_cfg.max_epochs={EPOCHS}',
    'global_batch_size=100',
    'default_hooks.records.interval=14',
    'model.mixer.mask_annealing=False',  # else its loss falls in any case
    'train_dataloader.dataset.size=8',
    'val_dataloader.dataset.size=8',
)
LAMS = (0.15, 0.3, 0.5, 0.7, 0.85)


def trained(name, folder, seed=0):
    path = ROOT / 'configs' / 'digits' / f'r8_{name}.py'
    assert train(folder, *OPTIONS, config=path, arguments=('--seed', str(seed))) == 0
    model = MODELS.build(configs.load_config(folder / 'config.py').model).eval()
    model.load_state_dict(final(folder, EPOCHS)['state_dict'])
    return model, RunFolder(folder)


@torch.no_grad()
def judge(model):
    """Masks for test images at several lam, and what the momentum network says of them and of others' masks."""
    data = Digits('test', size=8)
    inputs, labels = model.data_preprocessor({'inputs': data.images})['inputs'], data.labels
    masks, own, others = [], 0.0, 0.0
    for lam in LAMS:
        torch.manual_seed(1)
        batch = model.mixer(inputs, labels, lam=lam)
        masks.append(batch.mask)
        partners = inputs[batch.index]
        for shown in (batch.mask, batch.mask.roll(7, 0)):
            logits = model.mixer.network(shown * inputs + (1 - shown) * partners)
            loss = mixed_ce(logits, batch.target.y_a, batch.target.y_b, batch.target.lam).mean().item()
            own, others = (own + loss, others) if shown is batch.mask else (own, others + loss)
    return masks, own / len(LAMS), others / len(LAMS)


@pytest.mark.slow
@pytest.mark.parametrize('name', ['automix', 'samix'])
def test_a_learned_mixer_learns(name, tmp_path):
    model, folder = trained(name, tmp_path / 'run')
    records = folder.records('train')
    first, last = records[0], records[-1]
    assert last['loss_block'] < first['loss_block'] - 0.5
    assert last['loss_mask'] < first['loss_mask'] - 0.02
    assert last['loss_cls'] < first['loss_cls'] - 0.4
    final_record = folder.records('val')[-1]
    assert min(final_record['top1'], final_record['momentum_top1']) > 90
    masks, own, others = judge(model)
    means = [mask.mean().item() for mask in masks]
    assert means == sorted(means)
    assert means[-1] - means[0] > 0.15
    assert all(mask.std(dim=(1, 2, 3)).mean() > 0.01 for mask in masks)
    assert own < others - 0.003  # masks belong to their images

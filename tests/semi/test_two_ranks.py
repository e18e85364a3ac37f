"""A training on two ranks is that on one: weights, records and running means."""

import sys

import pytest
import torch
from commands.test_two_ranks import NETWORK
from conftest import ROOT
from support.command_runs import run

from openmix_dm.runs.checkpoints import load_file

# No batch norm and no augmentation, which see what is on their rank only; low thresholds, so that much is trusted.
CONFIG = """
_base_ = {base!r}
train_dataloader = dict(dataset=dict(labelled_views=[[]], unlabelled_views=[[], []], ratio=2))
model = dict(
    backbone=dict(_delete_=True, type='PlainNetwork'),
    labeler=dict(threshold=dict(tau=0.11), align=dict(type='DistributionAlignment', decay=0.9)),
)
optim_wrapper = dict(optimizer=dict(_delete_=True, type='SGD', lr=0.1), paramwise_cfg=None)
param_scheduler = None
train_cfg = dict(max_iters=6, val_interval=3)
"""


@pytest.mark.slow
def test_flexmatch_with_alignment(tmp_path):
    script, config = tmp_path / 'network.py', tmp_path / 'semi.py'
    script.write_text(NETWORK.format(root=str(ROOT)))
    config.write_text(CONFIG.format(base=str(ROOT / 'configs/digits_semi/r8_flexmatch.py')))
    states = []
    for ranks in (1, 2):
        launch = (sys.executable, '-m', 'torch.distributed.run', '--standalone', '--nproc_per_node', str(ranks))
        folder = tmp_path / f'run{ranks}'
        code, _, err = run(*launch, str(script), str(config), '--work-dir', str(folder), '--launcher', 'pytorch')
        assert code == 0, err
        states.append(load_file(folder / 'iter_6.pth')['state_dict'])
    one, two = states
    for name, value in one.items():
        torch.testing.assert_close(value, two[name], rtol=1e-5, atol=1e-6)
    assert (one['labeler.threshold.remembered'] >= 0).sum() > 50

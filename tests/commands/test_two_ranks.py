"""Two ranks: different lam, every image evaluated once, and the gradient of one rank with the whole batch."""

import json
import sys

import pytest
import torch
from support.command_runs import CONFIG, run
from support.short_runs import final, same

from openmix_dm.runs.checkpoints import load_file
from openmix_dm.runs.folder import RunFolder

SMALL = ('--cfg-options', 'train_cfg.max_epochs=1', 'global_batch_size=200')

# A network without batch norm, plain SGD for one step: the change of the weights is the gradient.
NETWORK = """
import sys
import torch
from torch import nn
sys.path.insert(0, {root!r})
from openmix_dm.backbones import Backbone
from openmix_dm.registry import BACKBONES

@BACKBONES.register_module()
class PlainNetwork(Backbone):
    def __init__(self):
        super().__init__(num_features=8)
        self.conv = nn.Conv2d(3, 8, 3)
    def forward(self, inputs):
        return self.conv(inputs).relu().mean(dim=(2, 3))

from openmix_dm.commands.train import main
sys.exit(main(sys.argv[1:]))
"""

SPY = """
import sys
sys.path.insert(0, {root!r})
import torch.distributed as dist
from openmix_dm.mixers import Mixup
forward = Mixup.forward
def spy(self, *args, **options):
    batch = forward(self, *args, **options)
    with open({out!r} + str(dist.get_rank()), 'a') as file:
        print(batch.target.lam[0].item(), file=file)
    return batch
Mixup.forward = spy
from openmix_dm.commands.train import main
sys.exit(main(sys.argv[1:]))
"""

TWICE = """
import os, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from openmix_dm.commands.train import main
def threads():
    return [task.joinpath('comm').read_text().strip() for task in Path('/proc/self/task').iterdir()]
config, folder, *options = sys.argv[1:]
codes = [main([config, '--work-dir', folder + name, *options, *more])
         for name, more in (('/first', []), ('/second', []), ('/bad', ['optim_wrapper.optimizer.lr=1e30']))]
Path(folder, os.environ['RANK']).write_text(f"{{codes}} {{' '.join(sorted(threads()))}}")
"""


BROKEN = """
import sys
sys.path.insert(0, {root!r})
import torch.distributed as dist
from openmix_dm.losses import DecoupledCE
per_sample, calls = DecoupledCE.per_sample, []
def broken(self, logits, target):
    if (target.lam == 1).all():  # a validation
        return per_sample(self, logits, target)
    calls.append(1)
    losses = per_sample(self, logits, target)
    return losses * float('nan') if len(calls) > 9 and dist.get_rank() == 1 else losses
DecoupledCE.per_sample = broken
from openmix_dm.commands.train import main
sys.exit(main(sys.argv[1:]))
"""


def torchrun(ranks, script, *arguments):
    launch = (sys.executable, '-m', 'torch.distributed.run', '--standalone', '--nproc_per_node', str(ranks))
    return run(*launch, str(script), *map(str, arguments), '--launcher', 'pytorch', *SMALL)


@pytest.mark.slow
def test_ranks_draw_different_lam(tmp_path, root):
    script = tmp_path / 'spy.py'
    script.write_text(SPY.format(root=str(root), out=str(tmp_path / 'lam')))
    code, _, err = torchrun(2, script, CONFIG, '--work-dir', tmp_path / 'run')
    assert code == 0, err
    first, second = ([float(line) for line in (tmp_path / f'lam{rank}').open()] for rank in (0, 1))
    assert len(first) == len(second) == 7
    assert not set(first) & set(second)


@pytest.mark.slow
def test_a_loss_that_is_not_finite_on_one_rank_stops_both(tmp_path, root):
    script = tmp_path / 'broken.py'
    script.write_text(BROKEN.format(root=str(root)))
    options = ('train_cfg.max_epochs=3',)
    launch = (sys.executable, '-m', 'torch.distributed.run', '--standalone', '--nproc_per_node', '2', str(script))
    folder = tmp_path / 'run'
    code, _, err = run(*launch, CONFIG, '--work-dir', str(folder), '--launcher', 'pytorch', *SMALL, *options)
    assert code != 0
    assert err.count('cause=numeric') == 2
    lams = [json.loads((folder / f'nonfinite_rank{rank}.json').read_text())['lam'][0] for rank in (0, 1)]
    assert lams[0] != lams[1]
    weights = load_file(folder / 'epoch_1.pth')['state_dict']
    assert all(value.isfinite().all() for value in weights.values())
    assert RunFolder(folder).read()['state'].startswith('failed: NumericError')


@pytest.mark.slow
def test_two_ranks_have_the_gradient_of_one(tmp_path, root):
    script = tmp_path / 'network.py'
    script.write_text(NETWORK.format(root=str(root)))
    config = tmp_path / 'plain.py'
    config.write_text(
        f'_base_ = {str(root / "configs/digits/r8_vanilla.py")!r}\n'
        "model = dict(backbone=dict(_delete_=True, type='PlainNetwork'))\n"
        'train_dataloader = dict(dataset=dict(transforms=[]))\n'
        "optim_wrapper = dict(optimizer=dict(_delete_=True, type='SGD', lr=0.1))\n"
    )
    for ranks in (1, 2):
        code, _, err = torchrun(ranks, script, config, '--work-dir', tmp_path / f'run{ranks}')
        assert code == 0, err
    one, two = (final(tmp_path / f'run{ranks}', 1)['state_dict'] for ranks in (1, 2))
    for name in one:
        torch.testing.assert_close(one[name], two[name], rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_evaluation_on_three_ranks_is_that_of_one(tmp_path):
    """360 images in batches of 50 divide over no number of these ranks: none may be padded or dropped."""
    code, _, err = run('tools/dist_train.sh', CONFIG, '2', '--work-dir', str(tmp_path / 'run'), *SMALL)
    assert code == 0, err
    checkpoint = str(tmp_path / 'run' / 'epoch_1.pth')
    options = ('--cfg-options', 'val_dataloader.batch_size=50')
    results = []
    for ranks in ('1', '3'):
        code, out, err = run('tools/dist_test.sh', CONFIG, checkpoint, ranks, *options)
        assert code == 0, err
        results.append(out.strip().splitlines()[-1])
    assert results[0] == results[1]
    last = RunFolder(tmp_path / 'run').records('val')[-1]
    assert results[0] == f'top1 {last["top1"]:.2f}  top5 {last["top5"]:.2f}  loss {last["loss"]:.2f}'


@pytest.mark.slow
def test_processes_train_again_and_leave_no_thread_behind(tmp_path, root):
    """Two runs that end, and one that fails: a thread of the process group could crash a process as it ends."""
    script, runs = tmp_path / 'twice.py', tmp_path / 'runs'
    script.write_text(TWICE.format(root=str(root)))
    code, _, err = torchrun(2, script, CONFIG, runs)
    assert code == 0, err
    for rank in '01':
        codes, _, threads = (runs / rank).read_text().partition('] ')
        assert codes == '[0, 0, 5'
        assert 'gloo' not in threads, threads
    assert same(final(runs / 'first', 1), final(runs / 'second', 1))

"""A rank takes its GPU by the number by which it sees it; GPUs are pretended here."""

import json
import sys

import pytest
import torch
from support.command_runs import start

from openmix_dm.launch.group import describe_device, give_device_back, take_device
from openmix_dm.launch.ranks import rank_variables

CONFIG = 'configs/digits/r8_mixup_dm.py'
SMALL = (
    'train_cfg.max_epochs=1',
    'global_batch_size=200',
    'train_dataloader.dataset.size=8',
    'val_dataloader.dataset.size=8',
)

# What a task of `srun --gpus-per-task=1` sees of CUDA: one GPU. Tensors stay on the CPU, and nccl is gloo.
PRETENDED = """
import json, os, sys
sys.path.insert(0, {root!r})
import torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
import mmengine.device, mmengine.logging.logger as logging  # before CUDA is pretended: it then knows of no GPU
seen = {{'LOCAL_RANK before': os.environ['SLURM_LOCALID']}}

class Event:
    def __init__(self, **options): pass
    def record(self): pass
    def elapsed_time(self, other): return 0.0
    def query(self): return True
    def synchronize(self): pass

def set_device(device):
    if torch.device(device).index:
        raise RuntimeError('CUDA error: invalid device ordinal')
    seen['device'] = str(device)
pretended = dict(
    is_available=lambda: True, device_count=lambda: 1, set_device=set_device, current_device=lambda: 0, Event=Event,
    manual_seed=lambda seed: None, max_memory_allocated=lambda *_: 0, get_device_name=lambda *_: 'pretended',
    is_bf16_supported=lambda **_: True, reset_peak_memory_stats=lambda *_: None,
)
for name, value in pretended.items():
    setattr(torch.cuda, name, value)

join = dist.init_process_group
def over_gloo(backend, device_id=None, **options):
    assert (backend, str(device_id)) == ('nccl', 'cuda:0')
    join('gloo', **options)
dist.init_process_group = over_gloo

wrap = DistributedDataParallel.__init__
def on_the_cpu(self, module, device_ids=None, **options):
    seen['device_ids'] = device_ids
    wrap(self, module, device_ids=None, **options)
DistributedDataParallel.__init__ = on_the_cpu

from openmix_dm.engine.train_loops import EpochTrainLoop
run = EpochTrainLoop.run
def spy(loop):
    seen['logger'], seen['LOCAL_RANK'] = logging._get_device_id(), os.environ['LOCAL_RANK']
    return run(loop)
EpochTrainLoop.run = spy

from openmix_dm.commands.train import main
code = main(sys.argv[1:])
seen['LOCAL_RANK after'] = os.environ['LOCAL_RANK']
with open({out!r} + os.environ['RANK'], 'w') as file:
    json.dump(seen, file)
sys.exit(code)
"""


@pytest.fixture
def gpus(monkeypatch):
    """Pretend a number of GPUs; return what was selected."""
    selected = []

    def pretend(count):
        monkeypatch.setattr(torch.cuda, 'is_available', lambda: count > 0)
        monkeypatch.setattr(torch.cuda, 'device_count', lambda: count)
        monkeypatch.setattr(torch.cuda, 'set_device', lambda device: selected.append(str(device)))
        return selected

    return pretend


@pytest.mark.parametrize(
    ('count', 'local', 'index'), [(8, '5', '5'), (1, '0', '0'), (1, '3', '0'), (2, '3', '1')], ids=str
)
def test_local_rank_becomes_the_number_of_the_gpu(gpus, count, local, index):
    selected, environment = gpus(count), {'LOCAL_RANK': local}
    assert take_device(environment) == torch.device('cuda', int(index))
    assert selected == [f'cuda:{index}']
    assert environment['LOCAL_RANK'] == index
    assert describe_device(environment) == f' (local rank {local} on cuda:{index})'
    give_device_back(environment)
    assert environment == {'LOCAL_RANK': local}


def test_without_gpus_nothing_is_taken(gpus):
    gpus(0)
    environment = {'LOCAL_RANK': '3'}
    assert take_device(environment) is None
    give_device_back(environment)
    assert environment == {'LOCAL_RANK': '3'}
    assert describe_device(environment) == ''


@pytest.mark.slow
def test_two_tasks_that_see_one_gpu_each_train(tmp_path, root):
    script = tmp_path / 'pretended.py'
    script.write_text(PRETENDED.format(root=str(root), out=str(tmp_path / 'seen')))
    port = rank_variables(1, {})[0]['MASTER_PORT']
    arguments = (CONFIG, '--work-dir', str(tmp_path / 'run'), '--launcher', 'slurm', '--cfg-options', *SMALL)
    tasks = [
        start(
            sys.executable, str(script), *arguments,
            SLURM_PROCID=str(task), SLURM_LOCALID=str(task), SLURM_NTASKS='2', CUDA_VISIBLE_DEVICES=str(task),
            SLURM_STEP_NODELIST='localhost', MASTER_ADDR='127.0.0.1', MASTER_PORT=port,
        )
        for task in (0, 1)
    ]  # fmt: skip
    for task, process in enumerate(tasks):
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        assert json.loads((tmp_path / f'seen{task}').read_text()) == {
            'LOCAL_RANK before': str(task), 'LOCAL_RANK': '0', 'LOCAL_RANK after': str(task),
            'device': 'cuda:0', 'device_ids': [0],
            'logger': task,  # the number of the GPU in CUDA_VISIBLE_DEVICES, as mmengine names its log
        }  # fmt: skip
    assert '(local rank 0 on cuda:0)' in (tmp_path / 'run' / 'train.log').read_text()

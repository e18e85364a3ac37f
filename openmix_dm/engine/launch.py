"""Bring the processes of a run together: torchrun or Slurm, nccl on GPUs and gloo without."""

import os
import re
from collections.abc import Mapping, MutableMapping
from datetime import timedelta

import torch
import torch.distributed as dist

from openmix_dm.errors import DistributedError

LAUNCHERS = ('none', 'pytorch', 'slurm')


def join_processes(launcher: str, timeout_seconds: int = 1800) -> tuple[int, int]:
    """Initialise the process group that a launcher has prepared; return rank and world size.

    Before mmengine's Runner, which then leaves it alone: its own way selects a CUDA device on machines that have none.
    """
    if launcher == 'none':
        return 0, 1
    if launcher == 'slurm':
        translate_slurm(os.environ)
    missing = [
        name for name in ('RANK', 'WORLD_SIZE', 'LOCAL_RANK', 'MASTER_ADDR', 'MASTER_PORT') if name not in os.environ
    ]
    if missing:
        raise DistributedError(
            f'--launcher {launcher} finds no {", ".join(missing)} in the environment; start it by '
            'torchrun (--launcher pytorch) or srun (--launcher slurm)'
        )
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ['LOCAL_RANK']) % torch.cuda.device_count())
    backend = 'nccl' if torch.cuda.is_available() else 'gloo'
    dist.init_process_group(backend, timeout=timedelta(seconds=timeout_seconds))
    return dist.get_rank(), dist.get_world_size()


def leave_processes() -> None:
    """Take the process group down, if there is one."""
    if dist.is_available() and dist.is_initialized():
        dist.destroy_process_group()


def translate_slurm(environment: MutableMapping[str, str]) -> None:
    """Set torch's variables from those that srun gives to each task."""
    if 'SLURM_PROCID' not in environment:
        raise DistributedError('--launcher slurm finds no SLURM_PROCID in the environment; start it by srun')
    environment['RANK'] = environment['SLURM_PROCID']
    environment['WORLD_SIZE'] = environment['SLURM_NTASKS']
    environment['LOCAL_RANK'] = environment.get('SLURM_LOCALID', '0')
    environment.setdefault('MASTER_ADDR', first_host(slurm_nodes(environment)))
    # one port a job: two jobs on a node must not meet
    environment.setdefault('MASTER_PORT', str(20000 + int(environment.get('SLURM_JOB_ID', '0')) % 20000))


def slurm_nodes(environment: Mapping[str, str]) -> str:
    """Return Slurm's compressed list of the nodes of this step."""
    nodes = environment.get('SLURM_STEP_NODELIST') or environment.get('SLURM_JOB_NODELIST')
    if not nodes:
        raise DistributedError('--launcher slurm finds no SLURM_STEP_NODELIST in the environment; start it by srun')
    return nodes


def first_host(nodes: str) -> str:
    """Return the first host of a list such as `gpu[003-007,9],login1`."""
    match = re.match(r'([^,\[]+)(?:\[([^\]]+)\])?([^,\[]*)', nodes)
    if match is None:
        raise DistributedError(f'cannot read the node list {nodes!r}')
    prefix, numbers, suffix = match.groups()
    return prefix + (re.split(r'[-,]', numbers)[0] if numbers else '') + suffix

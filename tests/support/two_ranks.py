"""Run a function on two ranks over gloo."""

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def on_two_ranks(work, folder):
    """Return what work(rank) gives on each of two ranks, which are processes: work has to be a function of a module."""
    mp.spawn(_join, args=(work, str(folder)), nprocs=2)
    return [torch.load(folder / f'{rank}.pt') for rank in (0, 1)]


def _join(rank, work, folder):
    dist.init_process_group('gloo', init_method=f'file://{folder}/meet', rank=rank, world_size=2)
    torch.save(work(rank), f'{folder}/{rank}.pt')
    dist.destroy_process_group()

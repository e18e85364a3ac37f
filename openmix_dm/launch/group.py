"""Bring the processes of a run together: torchrun, our launcher or Slurm; nccl on GPUs and gloo without."""

import faulthandler
import gc
import itertools
import os
import re
import signal
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from openmix_dm.errors import DistributedError
from openmix_dm.invocation import command
from openmix_dm.launch.slurm import translate_slurm

LAUNCHERS = ('none', 'pytorch', 'slurm')
VARIABLES = ('RANK', 'WORLD_SIZE', 'LOCAL_RANK', 'MASTER_ADDR', 'MASTER_PORT')
TRUE_LOCAL_RANK = 'OPENMIX_DM_LOCAL_RANK'  # while LOCAL_RANK is the number of a GPU
INIT_TIMEOUT, TIMEOUT = 300, 1800  # seconds until all ranks have to be there, and until a silent one counts as hung
# What gloo and nccl say of a peer that is gone, not always with their names.
LOST = ('gloo', 'pair closure', 'nccl error', 'nccl communicator', 'watchdog caught collective operation timeout')
TODO = {
    ('timed out', 'timing out', 'timeout'): 'ranks that are only slow get more seconds by env_cfg.dist_cfg.timeout',
    ('ncclsystemerror', 'ncclinternalerror', 'ncclremoteerror'): (
        'is it the network? NCCL_SOCKET_IFNAME names the one to take, and NCCL_DEBUG=INFO says more'
    ),
}
KEYS = 'openmix_dm'
LOOKS = 5000  # looks into the store a second that all ranks together take: a tenth of what it can answer
_RENDEZVOUS = itertools.count()  # a second run of the same processes must not find what the first has left in the store


def take_device(environment: MutableMapping[str, str]) -> torch.device | None:
    """Select the GPU of this rank, and make LOCAL_RANK the number by which it is seen; None without GPUs.

    mmengine's logger, and what else reads LOCAL_RANK, takes it for the number of a GPU. But a task of
    `srun --gpus-per-task=1` sees one GPU, cuda:0, whatever its number among the tasks of the machine.
    """
    if not torch.cuda.is_available():
        return None
    local = environment[TRUE_LOCAL_RANK] = environment['LOCAL_RANK']
    device = torch.device('cuda', int(local) % torch.cuda.device_count())
    torch.cuda.set_device(device)
    environment['LOCAL_RANK'] = str(device.index)
    return device


def describe_device(environment: Mapping[str, str]) -> str:
    """Say which GPU this rank has taken, and by which number among the ranks of its machine; nothing without GPUs."""
    local = environment.get(TRUE_LOCAL_RANK)
    return '' if local is None else f' (local rank {local} on cuda:{environment["LOCAL_RANK"]})'


def give_device_back(environment: MutableMapping[str, str]) -> None:
    """Make LOCAL_RANK what the launcher has said: another run of this process starts from there."""
    if TRUE_LOCAL_RANK in environment:
        environment['LOCAL_RANK'] = environment.pop(TRUE_LOCAL_RANK)


@contextmanager
def processes(launcher: str, config: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    """Join the processes of a run for as long as it runs; `env_cfg.dist_cfg` may set the time-outs."""
    limits = (config.get('env_cfg') or {}).get('dist_cfg') or {}
    try:
        yield join_processes(launcher, limits.get('timeout', TIMEOUT), limits.get('init_timeout', INIT_TIMEOUT))
    except DistributedError:
        raise  # whoever is lost cannot be said goodbye to; the end of this process closes the connections
    except BaseException as error:
        _forget_frames(error)
        leave_processes()
        raise
    leave_processes()


def join_processes(launcher: str, timeout: float = TIMEOUT, init_timeout: float = INIT_TIMEOUT) -> tuple[int, int]:
    """Initialise the process group that a launcher has prepared; return rank and world size.

    Before mmengine's Runner, which then leaves it alone: its own way selects a CUDA device on machines that have none.
    """
    if launcher == 'none':
        return 0, 1
    if launcher == 'slurm':
        translate_slurm(os.environ)
    faulthandler.register(signal.SIGQUIT, file=2)  # a rank that seems to hang says where it is
    missing = [name for name in VARIABLES if name not in os.environ]
    if missing:
        raise DistributedError(
            f'--launcher {launcher} finds no {", ".join(missing)} in the environment; start it by '
            f'{command("dist-train")} or torchrun (--launcher pytorch), or by srun (--launcher slurm)'
        )
    rank, world_size = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])
    device = take_device(os.environ)
    store = rendezvous(rank, world_size, init_timeout)
    dist.init_process_group(
        'nccl' if device else 'gloo',
        store=store,
        rank=rank,
        world_size=world_size,
        timeout=timedelta(seconds=timeout),
        device_id=device,
    )
    return rank, world_size


def rendezvous(rank: int, world_size: int, timeout: float) -> Any:
    """Return the store that all ranks share, once all of them are there."""
    host, port = os.environ['MASTER_ADDR'], int(os.environ['MASTER_PORT'])
    hosts = rank == 0 and os.environ.get('TORCHELASTIC_USE_AGENT_STORE') != 'True'  # torchrun has a store of its own
    try:
        shared = dist.TCPStore(host, port, world_size, hosts, timedelta(seconds=timeout), wait_for_workers=False)
    except (RuntimeError, ValueError) as error:
        todo = 'is the port taken? Another one: PORT=...' if rank == 0 else 'did rank 0 start, and can it be reached?'
        raise DistributedError(
            f'rank {rank} of {world_size} cannot {"listen at" if rank == 0 else "reach rank 0 at"} {host}:{port} '
            f'within {timeout:g} s ({_first_line(error)}); {todo}'
        ) from None
    restart = os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')
    store = dist.PrefixStore(f'{KEYS}/{restart}/{next(_RENDEZVOUS)}', shared)
    absent = report(store, 'joined', rank, world_size, timeout)
    if absent:
        raise DistributedError(f'rank {rank}: after {timeout:g} s {_ranks(absent)} of {world_size} had not joined')
    return store


def report(store: Any, event: str, rank: int, world_size: int, timeout: float) -> list[int]:
    """Report an event of this rank, and return the ranks that have not reported it within a time.

    All reports are one value of the store, so that a look at it is one request. With a value for each rank, a thousand
    ranks would ask rank 0, which keeps the store, a million times.
    """
    store.append(event, f'{rank} ')
    deadline, pause = time.monotonic() + timeout, max(0.05, world_size / LOOKS)
    while True:
        absent = {*range(world_size)} - {*map(int, store.get(event).split())}
        if not absent or time.monotonic() > deadline:
            return sorted(absent)
        time.sleep(pause)


def lost_connection(error: BaseException, patience: float = 1.5) -> DistributedError | None:
    """Turn what torch raises when other ranks do not answer into an error that names them; None if it is not that."""
    said = str(error).lower()
    if not (isinstance(error, dist.DistError) or (isinstance(error, RuntimeError) and any(w in said for w in LOST))):
        return None
    todo = next((f'; {todo}' for words, todo in TODO.items() if any(word in said for word in words)), '')
    if not dist.is_initialized():
        return DistributedError(f'{_first_line(error)}{todo}')
    silent = silent_ranks(patience)
    who = f'{_ranks(silent)} died or hung' if silent else 'the connection broke'
    return DistributedError(f'rank {dist.get_rank()} lost the others: {who} ({_first_line(error)}){todo}')


def silent_ranks(patience: float) -> list[int]:
    """Say that this rank has lost the others, and return those that say nothing."""
    found: list[list[int]] = []

    def ask() -> None:
        store = dist.distributed_c10d._get_default_store()
        with suppress(RuntimeError):
            found.append(report(store, 'lost', dist.get_rank(), dist.get_world_size(), patience))

    # In a thread, because rank 0 keeps the store: if it hangs, the question hangs, and that is the answer.
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(patience + 0.5)
    return found[0] if found else [0]


def leave_processes() -> None:
    """Take the process group down, if there is one, and its threads with it.

    The model of a run that has ended holds the group, and stands in cycles. A thread of the group that is still there
    when the interpreter ends can end the process with SIGABRT, after all work was done.
    """
    if dist.is_available() and dist.is_initialized():
        gc.collect()
        dist.destroy_process_group()
    give_device_back(os.environ)


def _forget_frames(error: BaseException | None) -> None:
    """Let go of what the frames of a failed run hold; its traceback stays readable."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def _ranks(ranks: list[int]) -> str:
    """Name ranks in order, neighbours by the first and the last: a node that is lost is one word, not eight."""
    rows = [[rank for _, rank in row] for _, row in itertools.groupby(enumerate(ranks), lambda pair: pair[1] - pair[0])]
    names = [f'{row[0]}-{row[-1]}' if len(row) > 1 else f'{row[0]}' for row in rows]
    return f'rank{"s" if len(ranks) > 1 else ""} {", ".join(names)}'


def _first_line(error: BaseException) -> str:
    """Return what an error says first; nccl says the reason last."""
    first = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
    reason = re.search(r'Last error: *\n(\S.*)', str(error))
    return f'{first}: {reason[1].strip()[:200]}' if reason else first

"""Start the ranks of this machine, and say which one failed first.

The ranks find the variables that torchrun would set. Unlike torchrun it passes signals on and leaves the ranks time to
save, returns the exit code of the rank that failed first, and does not wait for one that hangs.
"""

import ctypes
import math
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import FrameType

from openmix_dm.errors import ConfigError, DistributedError, Preempted

GRACE = 2.0  # seconds that the others get to end by themselves once a rank has failed
# nccl waits in a thread of its own: no Python code can say what it knows.
ABORTED = ' (as nccl does where other ranks were silent for env_cfg.dist_cfg.timeout; what it has said is above)'
FORWARDED = (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT, signal.SIGHUP)


def launch(ranks: int, command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Start the ranks and wait for them; name the first that failed, last of all that is printed."""
    variables = rank_variables(ranks, environment)
    processes: list[subprocess.Popen] = []
    forward_signals(processes)
    for each in variables:
        processes.append(
            subprocess.Popen([sys.executable, *command], env={**environment, **each}, preexec_fn=_end_with_the_launcher)
        )
    ends = wait(processes)
    guilty = first_failure(ends)
    if guilty is None:
        return 0
    if guilty.code != Preempted.exit_code:
        how = f'killed by signal {-guilty.code}' if guilty.code < 0 else f'exit code {guilty.code}'
        how += ABORTED if guilty.code == -signal.SIGABRT else ''
        hung = [variables[end.local]['RANK'] for end in ends if end.had_to_be_killed]
        also = f'; ended because they did not end by themselves: {", ".join(hung)}' if hung else ''
        print(
            f'openmix_dm: FAILED rank={variables[guilty.local]["RANK"]}: {how}, the first of '
            f'{variables[0]["WORLD_SIZE"]} ranks to fail{also}',
            file=sys.stderr,
            flush=True,
        )
    return DistributedError.exit_code if guilty.code < 0 else guilty.code


def rank_variables(ranks: int, environment: Mapping[str, str]) -> list[dict[str, str]]:
    """Return what each rank needs to find the others; several machines say NNODES, NODE_RANK and MASTER_ADDR."""
    nodes, node = _number(environment, 'NNODES', 1), _number(environment, 'NODE_RANK', 0)
    if ranks < 1:
        raise ConfigError(f'the number of ranks must be 1 or above, got {ranks}')
    missing = [name for name in ('NODE_RANK', 'MASTER_ADDR') if name not in environment]
    if nodes > 1 and missing:
        raise ConfigError(f'NNODES={nodes} needs {" and ".join(missing)}: the same MASTER_ADDR on all machines')
    if not 0 <= node < nodes:
        raise ConfigError(f'NODE_RANK must be from 0 to NNODES - 1 = {nodes - 1}, got {node}')
    port = environment.get('PORT') or ('29500' if nodes > 1 else _free_port())
    return [
        {
            'RANK': str(node * ranks + local),
            'LOCAL_RANK': str(local),
            'WORLD_SIZE': str(nodes * ranks),
            'MASTER_ADDR': environment['MASTER_ADDR'] if nodes > 1 else '127.0.0.1',
            'MASTER_PORT': port,
            'OMP_NUM_THREADS': environment.get('OMP_NUM_THREADS', '1'),  # as torchrun: ranks share the cores
        }
        for local in range(ranks)
    ]


def forward_signals(processes: list[subprocess.Popen]) -> None:
    """Pass signals on to the ranks, which decide; the launcher itself goes on waiting for them."""

    def forward(number: int, frame: FrameType | None) -> None:
        for process in processes:
            if process.poll() is None:
                process.send_signal(number)

    for number in FORWARDED:
        signal.signal(number, forward)


@dataclass(frozen=True)
class End:
    """How a rank of this machine ended."""

    local: int
    code: int
    had_to_be_killed: bool = False


def wait(processes: Sequence[subprocess.Popen], grace: float = GRACE) -> list[End]:
    """Wait for all to end and return how, in this order; once one has failed, kill those that hang."""
    ends: dict[int, End] = {}
    deadline = math.inf
    while len(ends) < len(processes):
        late = time.monotonic() > deadline
        for local, process in enumerate(processes):
            if local not in ends and process.poll() is not None:
                ends[local] = End(local, process.returncode)
            elif local not in ends and late:
                process.kill()
                ends[local] = End(local, process.wait(), had_to_be_killed=True)
        if deadline == math.inf and any(end.code for end in ends.values()):
            deadline = time.monotonic() + grace
        time.sleep(0.05)
    return list(ends.values())


def first_failure(ends: Sequence[End]) -> End | None:
    """Return the end that is the cause of the others; one that only lost its peers (exit code 6) comes after them."""
    failed = [end for end in ends if end.code != 0 and not end.had_to_be_killed]
    return min(failed, key=lambda end: end.code == DistributedError.exit_code, default=None)


def _end_with_the_launcher() -> None:
    """Ask the kernel for a SIGTERM when the launcher dies: the rank then saves and leaves."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def _free_port() -> str:
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return str(probe.getsockname()[1])


def _number(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name, str(default))
    if not text.isdigit():
        raise ConfigError(f'{name} must be a whole number, got {text!r}')
    return int(text)

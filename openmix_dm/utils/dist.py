"""Several ranks that decide and count as one."""

from collections.abc import Callable
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from mmengine.dist import get_world_size
from torch import Tensor

from openmix_dm.errors import DistributedError, Failure

Built = TypeVar('Built')


def gather_rows(rows: Tensor) -> Tensor:
    """Return the rows of all ranks in the order of the global batch; all ranks have equally many.

    State that follows a batch follows the global one by it, whatever the number of ranks.
    """
    if get_world_size() == 1:
        return rows
    gathered = [torch.empty_like(rows) for _ in range(get_world_size())]
    dist.all_gather(gathered, rows.contiguous())
    return torch.cat(gathered)


def mean_over_batch(rows: Tensor) -> Tensor:
    """Return the mean over the rows of all ranks."""
    return gather_rows(rows.float()).mean(dim=0)


def several_ranks() -> bool:
    """Say whether there are other ranks to agree with."""
    return dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1


class CommonDraws:
    """Draws that all ranks make alike, on the CPU: those that decide which networks run.

    Ranks that run different ones would wait for each other in vain where these networks talk to the other ranks, as
    synchronised batch norm does. One rank alone draws from torch's own generator, and so do ranks that nobody has
    seeded alike: in a loop of another package they do what its seeds say.
    """

    def __init__(self) -> None:
        self._seeded: torch.Generator | None = None

    def seed(self, value: int) -> None:
        """Seed them; every rank has to give the same value."""
        self._seeded = self._seeded or torch.Generator(device='cpu')
        self._seeded.manual_seed(value)

    @property
    def generator(self) -> torch.Generator | None:
        """What to draw from; None is torch's own generator."""
        return self._seeded if several_ranks() else None


common_draws = CommonDraws()


def decide_together(decide: Callable[[], None]) -> None:
    """Let rank 0 look at something, and raise on every rank what it raises."""
    if not several_ranks():
        decide()
        return
    failure: list[Any] = [None]
    if dist.get_rank() == 0:
        try:
            decide()
        except Failure as error:
            failure = [error]
    dist.broadcast_object_list(failure)
    if failure[0] is not None:
        raise failure[0]


def build_together(build: Callable[[], Built]) -> Built:
    """Build something on every rank; where some fail, raise on all what the first of them raises: nobody waits."""
    if not several_ranks():
        return build()
    built: list[Built] = []
    failures: list[Failure | None] = [None] * dist.get_world_size()
    failure = None
    try:
        built.append(build())
    except Failure as error:
        failure = error
    dist.all_gather_object(failures, failure)
    first = next((error for error in failures if error is not None), None)
    if first is not None:
        raise first
    return built[0]


def agree(describe: Callable[[], dict[str, Any]]) -> None:
    """Refuse to go on where ranks would work on different things; name the first thing that differs."""
    if not several_ranks():
        return
    items = describe()
    gathered: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(gathered, items)
    for name in items:
        values = [of_rank.get(name) for of_rank in gathered]
        if any(value != values[0] for value in values):
            other = next(rank for rank, value in enumerate(values) if value != values[0])
            raise DistributedError(
                f'the ranks disagree about {name}: rank 0 has {values[0]}, rank {other} has {values[other]}; '
                'start all of them with the same code, config and data'
            )


def wait_for_all() -> None:
    """Wait until all ranks are here."""
    if dist.is_available() and dist.is_initialized():
        dist.barrier()

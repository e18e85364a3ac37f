"""What a device would notice of a program: its operations, devices that are mixed, and whatever makes the host wait."""

import sys
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

PACKAGE = Path(__file__).resolve().parents[2]
HIDDEN = {str(PACKAGE / 'analysis' / 'benchmarks' / name) for name in ('device_record.py', 'pretended_device.py')}
WRAPPING = ('torch/_compile.py', 'torch/_dynamo/eval_frame.py')  # put themselves around whatever torch calls

# Operations whose kernels on a GPU have to tell the host something: a shape, a number, or whether they worked.
READING = frozenset(
    f'aten::{name}'
    for name in (
        '_local_scalar_dense', 'is_nonzero', 'equal', 'allclose', 'nonzero', 'nonzero_numpy', 'masked_select',
        '_unique', '_unique2', 'unique_dim', 'unique_consecutive', 'bincount', 'histc', 'multinomial',
        'repeat_interleave', '_linalg_svd', 'linalg_eig', 'linalg_lstsq', '_linalg_check_errors',
    )
)  # fmt: skip
# Operations by an index, which may be a mask: its ones have to be counted, by the host.
INDEXING = frozenset(f'aten::{name}' for name in ('index', 'index_put', 'index_put_', '_index_put_impl_'))
COPYING = frozenset(('aten::copy_', 'aten::_to_copy'))
# Operations beside the pointwise ones that take a single number from the host, as an argument of their kernel.
TAKING_NUMBERS = INDEXING | {f'aten::{name}' for name in ('fill', 'fill_', 'masked_fill', 'masked_fill_')}
# Memory without values, and names for memory: nothing is launched for them. Views are known by their schema.
FREE = frozenset(
    f'aten::{name}'
    for name in (
        'empty', 'empty_like', 'empty_strided', 'new_empty', 'new_empty_strided', '_unsafe_view', 'lift_fresh',
        'is_pinned', 'set_', 'resize_', 'is_same_size', '_reshape_alias',
    )
)  # fmt: skip


@lru_cache(maxsize=4096)
def is_free(operation: Any) -> bool:
    """Say whether an operation launches nothing: it makes a view, or memory without values."""
    return operation.is_view or operation._schema.name in FREE


@lru_cache(maxsize=4096)
def takes_numbers(operation: Any) -> bool:
    """Say whether an operation takes tensors of one number from the host among those of the device."""
    name = operation._schema.name
    return torch.Tag.pointwise in operation.tags or name in TAKING_NUMBERS or name.startswith('aten::_foreach')


def launches_of(operation: Any, args: tuple[Any, ...]) -> int:
    """Return how often an operation goes to the device: once, also for a list of tensors, unless torch takes it apart.

    It does so where a list holds several types or tensors with gaps, or where lists to be combined differ in shape or
    layout.
    """
    if not operation._schema.name.startswith('aten::_foreach'):
        return 1
    lists = [each for each in args if isinstance(each, list | tuple) and each and isinstance(each[0], Tensor)]
    first = lists[0]
    together = all(tensor.dtype == first[0].dtype and is_dense(tensor) for tensor in first) and all(
        one.shape == other.shape and one.stride() == other.stride()
        for each in lists[1:]
        for one, other in zip(first, each, strict=True)
    )
    return 1 if together else len(first)


def is_dense(tensor: Tensor) -> bool:
    """Say whether the numbers of a tensor lie one after another in memory, in whatever order of dimensions."""
    expected = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size > 1 and stride != expected:
            return False
        expected *= size
    return True


def by_mask(args: tuple[Any, ...]) -> bool:
    """Say whether an operation by an index has a mask among its indices."""
    return any(isinstance(index, Tensor) and index.dtype in (torch.bool, torch.uint8) for index in args[1] or ())


class DeviceRecord:
    """Count what happens on a pretended device, each with its place in the code: the innermost line of the package.

    Args:
        places: count operations by place too, which takes a while. Default: False.
    """

    def __init__(self, places: bool = False) -> None:
        self._by_place = places
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.operations: Counter[str] = Counter()
        self.places: Counter[str] = Counter()
        self.waits: Counter[str] = Counter()  # the host waits for the device
        self.unpinned: Counter[str] = Counter()  # copies to the device from memory that is not pinned: these wait too
        self.mixed: Counter[str] = Counter()  # operations on tensors of both sides, which a GPU would refuse
        self.step = 0

    @property
    def launched(self) -> int:
        """The number of operations."""
        return self.operations.total()

    @property
    def trouble(self) -> list[str]:
        """All that a training step should be free of, a line each."""
        kinds = (('wait', self.waits), ('unpinned copy', self.unpinned), ('mixed devices', self.mixed))
        return [f'{kind}: {what} ({times} x)' for kind, found in kinds for what, times in found.items()]

    def next_step(self) -> None:
        """Begin another step; an event of an earlier one lies behind, and waiting for it is no wait."""
        self.step += 1

    def launch(self, name: str, times: int = 1) -> None:
        """Count an operation."""
        self.operations[name] += times
        if self._by_place:
            self.places[place()] += times

    def wait(self, what: str) -> None:
        """Count a wait of the host."""
        self.waits[f'{what} at {place()}'] += 1

    def mix(self, what: str) -> None:
        """Count an operation on tensors of both sides."""
        self.mixed[f'{what} at {place()}'] += 1

    def send(self, pinned: bool, non_blocking: bool) -> None:
        """Count a copy from the host to the device."""
        self.launch('copy to the device')
        if not non_blocking:
            self.wait('blocking copy to the device')
        elif not pinned:
            self.unpinned[f'copy to the device at {place()}'] += 1

    def fetch(self, pinned: bool, non_blocking: bool) -> None:
        """Count a copy from the device to the host."""
        self.launch('copy to the host')
        if not (pinned and non_blocking):
            self.wait('copy to the host')


def place() -> str:
    """Return the innermost line of the package, and the file outside of it that it has called, if any."""
    frame, outside = sys._getframe(1), ''
    while frame is not None:
        file = frame.f_code.co_filename
        if file not in HIDDEN:
            if Path(file).is_relative_to(PACKAGE):
                own = f'{Path(file).relative_to(PACKAGE.parent)}:{frame.f_lineno}'
                return f'{own} by {outside}' if outside else own
            if not file.endswith(WRAPPING):
                outside = outside or '/'.join(Path(file).parts[-3:])
        frame = frame.f_back  # type: ignore[assignment]
    return outside

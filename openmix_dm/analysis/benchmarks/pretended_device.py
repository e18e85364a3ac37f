"""A GPU that is pretended: plain CPU tensors whose memory is marked as lying on cuda:0.

What a program sees of its tensors (`.device`, `.to`, `.cpu`, `.item`, `device=`, `pin_memory`) is what it would see on
a GPU, and every operation runs for real: forward, backward, optimiser. What a GPU would notice is written down in a
`DeviceRecord`. Kernels, streams, memory and several devices are out of its sight.

    with pretended_gpu() as record:
        model.to('cuda')
        record.clear()
        model.train_step(batch, optimizer)
    print(record.launched, record.trouble)

The mark is an attribute of the tensor's storage, so that views, `.data` and gradients have it of themselves.
"""

import importlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from openmix_dm.analysis.benchmarks.device_record import (
    COPYING,
    INDEXING,
    READING,
    DeviceRecord,
    by_mask,
    is_free,
    launches_of,
    takes_numbers,
)
from openmix_dm.analysis.benchmarks.pretended_cuda import cuda_parts

CUDA, HOST = torch.device('cuda', 0), torch.device('cpu')
_plain_device = torch._C.TensorBase.device.__get__  # type: ignore[attr-defined]
_plain_groups = torch._C._group_tensors_by_device_and_dtype


@contextmanager
def pretended_gpu(places: bool = False) -> Iterator[DeviceRecord]:
    """Pretend that there is a GPU, and record what it would notice; places: count operations by line of code too."""
    importlib.import_module('torch._dynamo')  # optimisers load it, and it must not find the pretended parts
    record = DeviceRecord(places)
    replaced: list[tuple[Any, str, Any]] = [
        (Tensor, 'device', property(lambda tensor: CUDA if on_device(tensor) else _plain_device(tensor))),
        (Tensor, 'is_cuda', property(on_device)),
        (Tensor, 'is_cpu', property(lambda tensor: tensor.device.type == 'cpu')),
        (torch._C, '_group_tensors_by_device_and_dtype', _groups),
        (torch, 'autocast', PretendedAutocast),
        *((torch.cuda, name, part) for name, part in cuda_parts(record).items()),
    ]
    with ExitStack() as stack:
        for owner, name, value in replaced:
            stack.enter_context(patch.object(owner, name, value))
        stack.enter_context(_Calls(record))
        stack.enter_context(_Operations(record))
        yield record


def on_device(tensor: Tensor) -> bool:
    """Say whether a tensor lies on the pretended device."""
    return _has(tensor, 'pretended')


def _has(tensor: Tensor, mark: str) -> bool:
    return tensor.layout == torch.strided and getattr(tensor.untyped_storage(), mark, False)


def _tensors(*values: Any) -> list[Tensor]:
    """Return the tensors among the arguments or results of an operation, which may be in lists."""
    found = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, list | tuple):
            found += [each for each in value if isinstance(each, Tensor)]
    return found


def _mark(tensor: Tensor, mark: str, value: bool = True) -> Tensor:
    setattr(tensor.untyped_storage(), mark, value)
    return tensor


def _copied(tensor: Tensor, to_device: bool) -> Tensor:
    """Return a copy on the other side; the copy itself is not counted."""
    with _disable_current_modes():
        return _mark(tensor.clone(), 'pretended', to_device)


class PretendedAutocast(torch.autocast):
    """Run in the precision that is asked for, by the CPU's lists of operations."""

    def __init__(self, device_type: str, *args: Any, **options: Any) -> None:
        super().__init__('cpu' if device_type == 'cuda' else device_type, *args, **options)


def _groups(lists: Any, with_indices: bool = False) -> dict[Any, Any]:
    """Group tensors as torch does, by the device that they pretend to be on: optimisers then work on whole lists."""
    groups = _plain_groups(lists, with_indices)
    named = {}
    for (_, dtype), (tensors, indices) in groups.items():
        present = next(tensor for each in tensors for tensor in each if tensor is not None)
        named[present.device, dtype] = (tensors, indices)
    return named


class _Operations(TorchDispatchMode):
    """See every operation that reaches a device, those of the backward pass too."""

    def __init__(self, record: DeviceRecord) -> None:
        super().__init__()
        self.record = record

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        options = dict(kwargs or {})
        tensors = _tensors(*args, *options.values())
        here = [tensor for tensor in tensors if on_device(tensor)]
        asked = _is_cuda(options.get('device'))
        # Autograd fills in zeros where a gradient is missing: on the device, which it knows by another name.
        filled = not tensors and torch._C._current_graph_task_id() != -1
        if not (here or asked or filled):
            return _pinned(func, args, options)
        self._note(func, args, options, here, [tensor for tensor in tensors if not on_device(tensor)])
        result = func(*args, **({**options, 'device': HOST} if asked else options))
        if func._schema.name != 'aten::copy_':  # its result is what it wrote into
            for tensor in _tensors(result):
                _mark(tensor, 'pretended')
        return result

    def _note(self, func: Any, args: tuple[Any, ...], options: dict[str, Any], here: list, away: list) -> None:
        name: str = func._schema.name
        if name in COPYING and away:
            self._note_copy(name, args, options)
            return
        if not is_free(func):
            self.record.launch(name, launches_of(func, args))
        if name in READING and options.get('output_size') is None:  # that of repeat_interleave
            self.record.wait(name)
        elif name in INDEXING and by_mask(args) and not _fills(args):
            self.record.wait(f'{name} by a mask')
        single = all(tensor.dim() == 0 for tensor in away)
        if here and not single and name in INDEXING and on_device(args[0]):
            self.record.wait(f'{name} by an index on the host')
        elif here and away and not (single and takes_numbers(func) and not _writes(func, args, away)):
            self.record.mix(f'{name} of {[tuple(tensor.shape) for tensor in away]} on the host')

    def _note_copy(self, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        """Take note of a copy between both sides; the target comes first in copy_, and is new in _to_copy."""
        source = args[1] if name == 'aten::copy_' else args[0]
        non_blocking = options.get('non_blocking', args[2] if name == 'aten::copy_' and len(args) > 2 else False)
        if on_device(source):
            self.record.fetch(_has(args[0], 'pinned'), non_blocking)
        else:
            self.record.send(_has(source, 'pinned'), non_blocking)


def _writes(func: Any, args: tuple[Any, ...], away: list[Tensor]) -> bool:
    """Say whether an operation writes into a tensor of the host."""
    return func._schema.is_mutable and any(args[0] is tensor for tensor in away)


def _fills(args: tuple[Any, ...]) -> bool:
    """Say whether an operation by an index writes one number of the host everywhere: torch fills by the mask then."""
    return len(args) > 2 and isinstance(args[2], Tensor) and args[2].numel() == 1 and not on_device(args[2])


def _pinned(func: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Run an operation of the host; memory that is asked to be pinned is marked, since only a GPU can pin it."""
    if not options.get('pin_memory'):
        return func(*args, **options)
    return _mark(func(*args, **{**options, 'pin_memory': False}), 'pinned')


class _Calls(TorchFunctionMode):
    """See the calls that never become an operation, because a CPU tensor is asked for what it is already."""

    def __init__(self, record: DeviceRecord) -> None:
        super().__init__()
        self.record = record
        self.special: dict[Any, Callable[..., Any]] = {
            Tensor.to: self._to,
            Tensor.cpu: lambda tensor, **_: self._move(tensor, HOST),
            Tensor.cuda: lambda tensor, device=None, non_blocking=False, **_: self._move(tensor, CUDA, non_blocking),
            Tensor.tolist: self._tolist,
            Tensor.numpy: self._numpy,
            Tensor.__array__: self._numpy,
            Tensor.pin_memory: lambda tensor, *_: _mark(_copied(tensor, False), 'pinned'),
            Tensor.is_pinned: lambda tensor, *_: _has(tensor, 'pinned'),
            Tensor.get_device: lambda tensor: 0 if on_device(tensor) else -1,
            Tensor.record_stream: lambda tensor, stream: None,
            Tensor.__deepcopy__: self._deepcopy,
            F.one_hot: self._one_hot,
        }

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        options = kwargs or {}
        if func in self.special:
            return self.special[func](*args, **options)
        if func in (torch.tensor, torch.as_tensor, torch.asarray, Tensor.new_tensor):
            return self._from_host(func, args, options)
        result = func(*args, **options)
        wanted = options.get('device')
        if wanted is not None and not _is_cuda(wanted) and isinstance(result, Tensor):
            _mark(result, 'pretended', False)  # made like a tensor of the device, but for the host
        return result

    def _to(self, tensor: Tensor, *args: Any, copy: bool = False, **options: Any) -> Tensor:
        like = args[0] if args and isinstance(args[0], Tensor) else options.get('other')
        if like is not None:
            return self._to(tensor, like.device, like.dtype, *args[1:], copy=copy)
        device, dtype, non_blocking, layout = torch._C._nn._parse_to(*args, **options)
        moved = tensor if device is None else self._move(tensor, device, non_blocking)
        layout = layout or torch.preserve_format
        return Tensor.to(moved, dtype or tensor.dtype, copy=copy and moved is tensor, memory_format=layout)

    def _move(self, tensor: Tensor, device: torch.device, non_blocking: bool = False) -> Tensor:
        to_device = _is_cuda(device)
        if to_device == on_device(tensor):
            return tensor
        if to_device:
            self.record.send(_has(tensor, 'pinned'), non_blocking)
        else:
            self.record.fetch(False, non_blocking)
        return _copied(tensor, to_device)

    def _tolist(self, tensor: Tensor) -> Any:
        if on_device(tensor):
            self.record.wait('tolist')
        return tensor.tolist()

    def _numpy(self, tensor: Tensor, *args: Any, **options: Any) -> Any:
        if on_device(tensor):
            raise TypeError("can't convert cuda:0 device type tensor to numpy; use Tensor.cpu() first")
        return tensor.numpy() if not args else tensor.__array__(*args, **options)

    def _from_host(self, func: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Tensor:
        data = options.get('data', options.get('obj', args[-1] if args else None))
        like = args[0] if func is Tensor.new_tensor else None
        wanted = options.get('device', None if like is None else like.device)
        result = func(*args, **{**options, **({} if wanted is None else {'device': HOST})})
        if not _is_cuda(wanted) or (isinstance(data, Tensor) and on_device(data)):
            return result
        self.record.send(pinned=False, non_blocking=False)
        return _mark(result, 'pretended')

    def _deepcopy(self, tensor: Tensor, memo: dict[int, Any]) -> Tensor:
        return _mark(tensor.__deepcopy__(memo), 'pretended', on_device(tensor))

    def _one_hot(self, tensor: Tensor, num_classes: int = -1) -> Tensor:
        """Count what a GPU does: only a CPU looks whether the classes fit, and nobody needs to ask for their number."""
        if not on_device(tensor) or num_classes < 0:
            return F.one_hot(tensor, num_classes)
        self.record.launch('aten::zeros')
        self.record.launch('aten::scatter_')
        with _disable_current_modes():
            return _mark(F.one_hot(tensor, num_classes), 'pretended')


def _is_cuda(device: Any) -> bool:
    return device is not None and (isinstance(device, int) or torch.device(device).type == 'cuda')

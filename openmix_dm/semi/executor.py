"""What goes through the network in a step, and how: passes with or without gradient, statistics and interleaving."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from openmix_dm.errors import ConfigError
from openmix_dm.semi.step_parts import Output, Outputs, Request, Step
from openmix_dm.utils.suggest import did_you_mean


def interleave(chunks: list[Tensor]) -> list[Tensor]:
    """Exchange slice i of chunk 0 with slice i of chunk i; doing it again undoes it (MixMatch).

    The first chunk becomes a fair sample of all chunks, because its statistics stand for theirs. All chunks have one
    length, which need not divide by their number.
    """
    size, count = len(chunks[0]), len(chunks)
    ends = [size * (place + 1) // count for place in range(count)]
    lengths = [end - start for start, end in zip([0, *ends], ends, strict=False)]
    slices = [list(chunk.split(lengths)) for chunk in chunks]
    for place in range(1, count):
        slices[0][place], slices[place][place] = slices[place][place], slices[0][place]
    return [torch.cat(parts) for parts in slices]


@dataclass(frozen=True)
class Pass:
    """One way through the network: everything that asks for it goes together.

    Batch norm normalises by the batch at hand in any case.

    Args:
        grad: record the graph. Default: True.
        statistics: move the running statistics of batch norm. Default: True.
        interleave: run in chunks of the labelled batch, the first of which holds a share of every chunk and is the only
            one to move the statistics (MixMatch). Default: False.
        teacher: go through the average of the network that the model's `teacher_decay` asks for; the statistics are
            the teacher's own. Default: False.
    """

    grad: bool = True
    statistics: bool = True
    interleave: bool = False
    teacher: bool = False


# Passes that every method may name; a model's `passes` changes them or adds others.
PASSES = {
    'main': Pass(),
    'guess': Pass(grad=False, statistics=False),
    'apart': Pass(statistics=False),
    'mix': Pass(statistics=False),
    'rotation': Pass(statistics=False),
    'teacher': Pass(grad=False, teacher=True),
}


class Plan:
    """Collect what has to go through the network in a step."""

    def __init__(self, step: Step, passes: Mapping[str, Pass]) -> None:
        self._step, self._passes = step, passes
        self.requests: dict[str, dict[str, Tensor]] = {}

    def add(self, name: str, images: Tensor, where: str) -> Request:
        """Ask for images to go through a pass; the same name asked for twice goes through once."""
        if where not in self._passes:
            raise ConfigError(f'there is no pass {where!r} for {name}{did_you_mean(where, self._passes)}')
        self.requests.setdefault(where, {})[name] = images
        return Request(where, name)

    def labelled(self, view: int = 0, where: str = 'main') -> Request:
        """Ask for a view of the labelled batch."""
        return self.add(f'x{view}', view_of(self._step.labelled.views, view, 'labelled'), where)

    def unlabelled(self, view: int = 0, where: str = 'main') -> Request:
        """Ask for a view of the unlabelled batch."""
        return self.add(f'u{view}', view_of(self._step.others.views, view, 'unlabelled'), where)


def view_of(views: tuple[Tensor, ...], view: int, stream: str) -> Tensor:
    """Return one view; say what is missing if there is none."""
    if not 0 <= view < len(views):
        raise ConfigError(
            f'view {view} of the {stream} stream is asked for, which has {len(views)} (counted from 0); '
            f'add it to {stream}_views of the data set'
        )
    return views[view]


def read_passes(passes: Mapping[str, Mapping[str, Any]] | None) -> dict[str, Pass]:
    """Return the passes of a model: those of every method, changed and extended."""
    table = dict(PASSES)
    for name, options in (passes or {}).items():
        table[name] = Pass(**{**table.get(name, Pass()).__dict__, **options})
    return table


def check_teacher(plan: Plan, passes: Mapping[str, Pass], has_teacher: bool) -> None:
    """Refuse a pass through a teacher that is not there, and a teacher that nothing asks."""
    asked = sorted(where for where in plan.requests if passes[where].teacher)
    if asked and not has_teacher:
        raise ConfigError(f"pass '{asked[0]}' goes through a teacher; say how slowly it follows: model.teacher_decay")
    if has_teacher and not asked:
        raise ConfigError("teacher_decay is given and nothing goes through the teacher; say labeler.where='teacher'")


def execute(
    plan: Plan,
    passes: Mapping[str, Pass],
    backbone: nn.Module,
    head: nn.Module,
    chunk: int,
    teacher: nn.Sequential | None = None,
) -> Outputs:
    """Run all passes that something was asked of, those without gradient first.

    teacher: backbone and head of the passes that go through a teacher.
    """
    check_teacher(plan, passes, teacher is not None)
    outputs: dict[Request, Output] = {}
    for where in sorted(plan.requests, key=lambda name: passes[name].grad):
        requests, spec = plan.requests[where], passes[where]
        images = torch.cat(list(requests.values())) if len(requests) > 1 else next(iter(requests.values()))
        body, top = teacher if spec.teacher and teacher is not None else (backbone, head)
        with nullcontext() if spec.grad else torch.no_grad():
            features = _run(body, images, spec, chunk)
            with counting(top, spec.statistics):
                logits = top(features)
        sizes = [len(each) for each in requests.values()]
        for name, feature, logit in zip(requests, features.split(sizes), logits.split(sizes), strict=True):
            outputs[Request(where, name)] = Output(feature, logit)
    return outputs


def _run(backbone: nn.Module, images: Tensor, spec: Pass, chunk: int) -> Tensor:
    if not spec.interleave:
        with counting(backbone, spec.statistics):
            return backbone(images)
    if len(images) % chunk:
        raise ConfigError(f'{len(images)} images cannot be interleaved in chunks of {chunk}; choose a whole ratio')
    first, *rest = interleave(list(images.split(chunk)))
    with counting(backbone, spec.statistics):
        features = [backbone(first)]
    with counting(backbone, False):
        features += [backbone(each) for each in rest]
    # Interleaving once more brings the features back into the order of the images.
    return torch.cat(interleave(features))


@contextmanager
def counting(network: nn.Module, statistics: bool) -> Iterator[None]:
    """Keep batch norm from moving its running statistics; it still normalises by those of the batch."""
    # In train mode, batch norm that tracks nothing takes the statistics of the batch and leaves the running ones alone.
    frozen = [] if statistics else [m for m in network.modules() if isinstance(m, _BatchNorm) and m.track_running_stats]
    for norm in frozen:
        norm.track_running_stats = False
    try:
        yield
    finally:
        for norm in frozen:
            norm.track_running_stats = True

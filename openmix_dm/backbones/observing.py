"""What a backbone shows on its way from images to features: attention, the last map, the last tokens."""

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

from torch import Tensor, nn

from openmix_dm.backbones.base import Backbone
from openmix_dm.structures import Want

Found = dict[str, Tensor]


@contextmanager
def observing(backbone: Backbone, wants: Collection[Want]) -> Iterator[Found]:
    """Collect what is asked for of the forward pass inside the context; it is in the dict when the context is left.

    Maps and tokens keep their gradients; attention is detached.
    """
    found: Found = {}
    with ExitStack() as stack:
        for want in dict.fromkeys(wants):
            stack.enter_context(_COLLECTORS[want](backbone, found))
        yield found


@contextmanager
def _class_attention(backbone: Backbone, found: Found) -> Iterator[None]:
    with backbone.capture_attention('class') as captured:
        yield
    found['attention'] = captured.map


@contextmanager
def _received_attention(backbone: Backbone, found: Found) -> Iterator[None]:
    with backbone.capture_attention('received') as captured:
        yield
    found['received'] = captured.map


@contextmanager
def _last_map(backbone: Backbone, found: Found) -> Iterator[None]:
    *_, (name, stage) = backbone.stages.items()
    size: list[tuple[int, int]] = []

    def remember(_: nn.Module, args: tuple[Tensor, ...]) -> None:
        size[:] = [(args[0].shape[-2], args[0].shape[-1])]

    def keep(_: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> None:
        found['map'] = backbone.as_map(output, name, size[0])

    with backbone.register_forward_pre_hook(remember), stage.register_forward_hook(keep):
        yield


@contextmanager
def _last_tokens(backbone: Backbone, found: Found) -> Iterator[None]:
    norm, prefix = backbone.token_norm

    def keep(_: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> None:
        found['tokens'] = output[:, prefix:]

    with norm.register_forward_hook(keep):
        yield


_COLLECTORS: dict[str, Callable[[Backbone, Found], AbstractContextManager[None]]] = {
    'attention': _class_attention,
    'received': _received_attention,
    'map': _last_map,
    'tokens': _last_tokens,
}

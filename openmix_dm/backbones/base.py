"""What every backbone offers to classifiers, mixers and analyses."""

from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor, nn

from openmix_dm.backbones.attention import AttentionKind, CapturedAttention
from openmix_dm.backbones.pretrained import PUBLISHED, Weights, load_weights, read_weights
from openmix_dm.backbones.residual import initialise_he
from openmix_dm.utils.modules import counting_at_once, evaluating


class Backbone(nn.Module):
    """Map images to pooled features, with named stages that a forward hook can reach.

    `pretrained` is only remembered by the constructor; `init_weights` loads it.
    """

    def __init__(self, num_features: int, pretrained: str | None = None) -> None:
        super().__init__()
        self.num_features = num_features
        self.pretrained = pretrained

    def forward(self, inputs: Tensor) -> Tensor:
        """Return pooled features, (N, num_features)."""
        raise NotImplementedError

    def _call_impl(self, *args: Any, **options: Any) -> Any:
        # A compiler puts small operations together by itself, and on the CPU they cost nothing.
        on_device = any(value.device.type != 'cpu' for value in (*args, *options.values()) if isinstance(value, Tensor))
        if not on_device or torch.compiler.is_compiling():
            return super()._call_impl(*args, **options)
        with counting_at_once(self):
            return super()._call_impl(*args, **options)

    @property
    def stages(self) -> dict[str, nn.Module]:
        """Name the modules, in forward order, whose outputs are the features after each stage.

        Each output is one tensor; its first dimension is the batch, its layout that of the network.
        """
        raise NotImplementedError

    def stage(self, name: str) -> nn.Module:
        """Look up one stage."""
        stages = self.stages
        if name not in stages:
            raise ValueError(f'unknown stage: expected one of {", ".join(stages)}, got {name!r}')
        return stages[name]

    @property
    def example_size(self) -> tuple[int, int]:
        """An image size that the network takes; most take many."""
        return 64, 64

    def features(self, inputs: Tensor, stage: str) -> Tensor:
        """Return the output of a stage in the layout of the network, and run no further."""
        handle = self.stage(stage).register_forward_hook(_stop)
        try:
            self._call_impl(inputs)  # not a compiled forward, which sees no hooks
        except _Reached as reached:
            return reached.output
        finally:
            handle.remove()
        raise ValueError(f'stage {stage!r} of {type(self).__name__} was not run: it has no features')

    def feature_map(self, inputs: Tensor, stage: str) -> Tensor:
        """Return the output of a stage as a map, (N, C, h, w), and run no further."""
        return self.as_map(self.features(inputs, stage), stage, (inputs.shape[-2], inputs.shape[-1]))

    def as_map(self, output: Tensor, stage: str, size: tuple[int, int]) -> Tensor:
        """Return the output of a stage for images of a size as a map, (N, C, h, w)."""
        if output.dim() != 4:
            raise ValueError(
                f'{stage!r} of {type(self).__name__} has no feature map: expected an output (N, C, h, w), '
                f'got {tuple(output.shape)}'
            )
        return output

    def init_weights(self) -> None:
        """Load the `pretrained` file, if there is one; random values were drawn by the constructor."""
        if self.pretrained is not None:
            load_weights(self, self.pretrained_weights(), self.pretrained)

    def pretrained_weights(self) -> Weights:
        """Read the `pretrained` file with all that it holds, a classifier too."""
        if self.pretrained is None:
            raise ValueError(f'{type(self).__name__} has no pretrained weights to read: none were asked for')
        return read_weights(self.pretrained)

    def capture_attention(self, kind: AttentionKind = 'class') -> AbstractContextManager[CapturedAttention]:
        """Record the attention to the patches, the class token's or that of all patches, during the forwards inside."""
        raise ValueError(
            f'{type(self).__name__} has no class-token attention: expected a TimmBackbone of a Vision Transformer '
            'with a class token, such as deit_small_patch16_224'
        )

    @property
    def token_norm(self) -> tuple[nn.Module, int]:
        """The module after which the tokens of a Vision Transformer are final, and how many prefix tokens there are."""
        raise ValueError(
            f'{type(self).__name__} has no tokens: expected a TimmBackbone of a Vision Transformer, such as '
            'deit_small_patch16_224'
        )

    def attention(self, inputs: Tensor) -> Tensor:
        """Return the class token's attention to the patches, (N, h, w), without gradient and in eval mode."""
        with self.capture_attention() as captured, evaluating(self), torch.no_grad():
            self._call_impl(inputs)  # not a compiled forward, which sees no hooks
        return captured.map


class ConvBackbone(Backbone):
    """Run named stages one after the other and average the last feature map.

    Holds each stage under its own name, so that the keys of a checkpoint read `stage1.0...`.
    """

    def __init__(
        self,
        stages: dict[str, nn.Module],
        num_features: int,
        pretrained: str | None = None,
        negative_slope: float = 0.0,
    ) -> None:
        if pretrained == PUBLISHED:
            raise ValueError(f'nobody publishes weights for {type(self).__name__}: expected a file, got {pretrained!r}')
        super().__init__(num_features, pretrained)
        for name, stage in stages.items():
            self.add_module(name, stage)
        self._stage_names = tuple(stages)
        initialise_he(self, negative_slope)

    @property
    def stages(self) -> dict[str, nn.Module]:
        """Name the stem and the stages; each returns a map, (N, C, h, w)."""
        return {name: self.get_submodule(name) for name in self._stage_names}

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the average over positions of what the last stage returns."""
        for stage in self.stages.values():
            inputs = stage(inputs)
        return inputs.mean((2, 3))


class _Reached(Exception):
    """Carry the output of a stage out of the forward pass."""

    def __init__(self, output: Tensor) -> None:
        super().__init__()
        self.output = output


def _stop(module: nn.Module, args: Any, output: Tensor) -> None:
    raise _Reached(output)

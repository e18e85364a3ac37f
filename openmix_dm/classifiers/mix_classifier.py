"""One training step of mixup classification; nothing here knows any one mixer."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mmengine.model import BaseModel
from torch import Tensor

from openmix_dm.backbones import Backbone, observing
from openmix_dm.classifiers.probe import ModelProbe
from openmix_dm.mixers import Mixer
from openmix_dm.registry import BACKBONES, HEADS, MIXERS, MODELS, Built
from openmix_dm.structures import FurtherBatch, HiddenMix, MixedBatch, MixTarget, Outputs
from openmix_dm.utils.stopwatch import stopwatch


@MODELS.register_module()
class MixClassifier(BaseModel):
    """Mix a batch, extract features, classify.

    The mixer is used by mode 'loss' alone; predictions are of the images as they are. Images are normalised floats
    (N, 3, H, W), and labels class numbers (N,).

    Args:
        backbone: config of a backbone.
        head: config of a head; its `in_features` is filled in.
        mixer: config of a mixer. None: NoMix. Default: None.
        data_preprocessor: config of a data preprocessor, such as Normalise. None moves batches to the device and does
            nothing else. Default: None.

    Example:
        model = dict(type='MixClassifier', backbone=..., head=..., mixer=dict(type='CutMix', alpha=1.0))
    """

    training_only = ('mixer',)  # not part of what is evaluated
    builds = {
        'backbone': BACKBONES,
        'head': Built(HEADS, filled=('in_features',)),
        'mixer': MIXERS,
        'data_preprocessor': MODELS,
    }

    def __init__(
        self,
        backbone: dict[str, Any],
        head: dict[str, Any],
        mixer: dict[str, Any] | None = None,
        data_preprocessor: dict[str, Any] | None = None,
    ) -> None:
        # built here, because mmengine would look in its own scope when no runner has set ours
        super().__init__(data_preprocessor=MODELS.build(data_preprocessor) if data_preprocessor else None)
        self.backbone: Backbone = BACKBONES.build(backbone)
        # The config comes last: a head that names its in_features keeps them.
        self.head = HEADS.build({'in_features': self.backbone.num_features, **head})
        self.mixer: Mixer = MIXERS.build(mixer or {'type': 'NoMix'})
        if hasattr(self.head, 'loss_fn'):
            self.head.loss_fn.check_fields(self.mixer.label_fields)
        self.mixer.attach(self)

    def init_weights(self) -> None:
        """Load what the config names as pretrained; all else was initialised when it was built."""
        self.backbone.init_weights()
        self.mixer.init_weights()
        self.mixer.attach(self)  # again: what a mixer has copied was not what is loaded now

    @property
    def probe(self) -> ModelProbe:
        """All that a mixer may ask of this model."""
        return ModelProbe(self.backbone, self.head, self.data_preprocessor)

    def forward(self, inputs: Tensor, labels: Tensor | None = None, mode: str = 'tensor') -> Any:
        """Run one of mmengine's three modes.

        'loss': mix, and return the losses by name. 'predict': return [{'logits', 'labels'}], the whole batch as one
        entry, which our metrics read. 'tensor': return logits. Inputs of these two may be several crops of each image,
        (N, crops, 3, H, W), whose logits are averaged.
        """
        if mode == 'loss':
            if labels is None:
                raise ValueError("mode 'loss' needs labels, got None")
            return self.loss(inputs, labels)
        logits = average_crops(lambda images: self.head(self.backbone(images)), inputs)
        if mode == 'predict':
            return [{'logits': logits, 'labels': labels}]
        if mode == 'tensor':
            return logits
        raise ValueError(f"mode must be 'loss', 'predict' or 'tensor', got {mode!r}")

    def loss(self, inputs: Tensor, labels: Tensor) -> dict[str, Tensor]:
        """Return the losses of one training step by name; mmengine adds up those whose names hold `loss`."""
        with stopwatch.span('mix'):
            batch = self.mixer(inputs, labels, self.probe)
        with stopwatch.span('forward'):
            features, target, more = self._extract(batch)
            losses = {**self.head.loss(features, target), **batch.losses, **more}
            for further in batch.further:
                losses[f'loss_{further.name}'] = further.weight * self._loss_of(further)
            return losses

    def parse_losses(self, losses: dict[str, Any]) -> tuple[Tensor, dict[str, Tensor]]:
        """Add up the losses; those that are numbers already, as all of ours are, are not averaged once more."""
        if not all(isinstance(value, Tensor) and value.dim() == 0 for value in losses.values()):
            return super().parse_losses(losses)
        first, *others = (value for name, value in losses.items() if 'loss' in name)
        total = sum(others, start=first)
        return total, {'loss': total, **losses}

    def _loss_of(self, further: FurtherBatch) -> Tensor:
        """Return the loss on a batch that is trained on besides the mixed one."""
        first, *others = self.head.loss(self.backbone(further.inputs), further.target).values()
        return sum(others, start=first)

    def explain(self, data: dict[str, Any], samples: Sequence[Any]) -> dict[str, Any]:
        """Say which samples, lam and mixer make the loss of a batch, for a report about it."""
        mixed = self.mixer(data['inputs'], data['labels'], self.probe)
        return {
            'mixer': repr(self.mixer),
            'policy': mixed.target.policy,
            'samples': [sample.image for sample in samples],
            'partners': [samples[int(row)].image for row in mixed.index] if mixed.partners is None else None,
            'lam': mixed.target.lam.tolist(),
        }

    def _extract(self, batch: MixedBatch) -> tuple[Tensor, MixTarget, dict[str, Tensor]]:
        """Run the backbone and finish on the way, and after it, what the mixer left to be done there."""
        wants = () if batch.after is None else batch.after.wants
        if batch.hidden is None and not wants:
            features, found = self.backbone(batch.inputs), {}
        else:
            # What is hooked into the backbone on the way is not part of a compiled forward: run the plain one.
            with _mixing_inside(self.backbone, batch.hidden), observing(self.backbone, wants) as found:
                features = self.backbone._call_impl(batch.inputs)
        if batch.after is None:
            return features, batch.target, {}
        # The head is run a second time by its loss, which takes features: a small price for heads of any kind.
        return features, *batch.finish(Outputs(self.head(features), **found))


@contextmanager
def _mixing_inside(backbone: Backbone, hidden: HiddenMix | None) -> Iterator[None]:
    if hidden is None:
        yield
        return
    mix = hidden.mix
    handle = backbone.stage(hidden.stage).register_forward_hook(lambda module, args, output: mix(output))
    try:
        yield
    finally:
        handle.remove()


def average_crops(classify: Callable[[Tensor], Tensor], inputs: Tensor) -> Tensor:
    """Return logits of images (N, 3, H, W), or the mean logits of the crops of images, (N, crops, 3, H, W)."""
    if inputs.dim() != 5:
        return classify(inputs)
    logits = classify(inputs.flatten(0, 1))
    return logits.unflatten(0, inputs.shape[:2]).mean(dim=1)

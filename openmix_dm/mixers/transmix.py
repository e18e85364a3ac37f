"""TransMix (https://arxiv.org/abs/2111.09833): labels weighed by what the class token looks at in the mixed image.

Where we differ from released code, and why:
* the mask is averaged over each patch, where the released code resizes it to nearest whole numbers: a patch that the
  edge of a box cuts counts for what it shows;
* lam stays one number a sample up to the loss, where released heads reduce it to the mean of the batch, which undoes
  the method;
* a backbone without a class token is refused when the model is built, not at the first batch.
"""

from dataclasses import replace
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from openmix_dm.mixers.base import Lam, MaskMixer, Mixer
from openmix_dm.mixers.partner import Partner
from openmix_dm.mixers.random_mixer import RandomMixer
from openmix_dm.registry import MIXERS
from openmix_dm.structures import AfterForward, Finished, MixedPair, Outputs, Probe
from openmix_dm.utils.checks import in_range


@MIXERS.register_module()
class TransMix(Mixer):
    """Mix by another mixer's mask and weigh the labels by attention (https://arxiv.org/abs/2111.09833).

    The attention is that of the trained model's class token to the patches of the mixed image, sample by sample; a
    model without a class token is refused when it is built. Until the attention is known, lam is the share of the own
    pixels.

    Args:
        mixer: a mixer that shows its mask and labels by its pixels, or its config; CutMix in the paper. lam and
            partners are drawn by its settings.
        ratio: lam = (1 - ratio) * share of the own pixels + ratio * share of the attention that falls on them.
            Default: 0.5.

    Example:
        mixer = dict(type='TransMix', mixer=dict(type='CutMix', alpha=1.0))
    """

    label_from = 'attention'
    example = {'mixer': {'type': 'CutMix', 'alpha': 1.0}}
    builds = {'mixer': MIXERS}

    def __init__(self, mixer: Mixer | dict[str, Any], ratio: float = 0.5) -> None:
        mixer = MIXERS.build(mixer) if isinstance(mixer, dict) else mixer
        _check_mixer(mixer)
        super().__init__(mixer.alpha, mixer.per_sample, mixer.partner)
        self.mixer = mixer
        self.ratio = in_range('ratio', ratio, 0, 1)

    def mix(
        self, inputs: Tensor, partner: Partner, lam: Lam, labels: Tensor | None = None, probe: Probe | None = None
    ) -> MixedPair:
        """Mix inputs with their partners; lam is the share of the pixels until the attention is known."""
        pair = self.mixer.mix(inputs, partner, lam, labels, probe)
        mask, area = pair.mask, pair.lam
        if mask is None:
            raise ValueError(f'TransMix needs a mask of each batch, got none from {type(self.mixer).__name__}')

        def weigh(outputs: Outputs) -> Finished:
            return Finished(torch.lerp(area, attended_share(mask, outputs.get('attention')), self.ratio))

        return replace(pair, after=AfterForward(weigh, wants=('attention',)))

    def draw_lam(self, size: int, device: torch.device) -> Lam:
        """Draw lam as the wrapped mixer does."""
        return self.mixer.draw_lam(size, device)

    def init_weights(self) -> None:
        """Load the pretrained weights of the wrapped mixer."""
        self.mixer.init_weights()

    def attach(self, model: nn.Module) -> None:
        """Refuse a model without class-token attention, and prepare the wrapped mixer."""
        require_attention(model, 'TransMix')
        self.mixer.attach(model)

    def begin(self, steps: int) -> None:
        """Tell the wrapped mixer."""
        self.mixer.begin(steps)

    def after_step(self, model: nn.Module) -> None:
        """Let the wrapped mixer follow the model."""
        self.mixer.after_step(model)

    def extra_repr(self) -> str:
        """Show the settings in `print(model)`."""
        return f'ratio={self.ratio}'


def attended_share(mask: Tensor, attention: Tensor) -> Tensor:
    """Return the share (N,) of the attention (N, h, w) that falls on the own pixels of the mask (N or 1, 1, H, W).

    A sample whose patches get no attention at all has the share of its pixels.
    """
    rows, columns = attention.shape[-2:]
    own = F.adaptive_avg_pool2d(mask[:, 0], (rows, columns))
    return (own * distribution(attention, rows, columns)).sum(dim=(1, 2)).clamp(0, 1)


def distribution(attention: Tensor, rows: int, columns: int) -> Tensor:
    """Return attention (N, h, w) as float32 on a grid, summing to 1 over each image; uniform where there is none."""
    attention = F.adaptive_avg_pool2d(attention.float(), (rows, columns))
    total = attention.sum(dim=(1, 2), keepdim=True)
    return torch.where(total > 0, attention / total, 1 / (rows * columns))


def require_attention(
    model: nn.Module, name: str, takes: str = 'labels', kind: Literal['class', 'received'] = 'class'
) -> None:
    """Refuse a model whose backbone, if it has one, shows no such attention; `name` says who takes what from it."""
    backbone: Any = getattr(model, 'backbone', None)
    if backbone is None:
        return
    try:
        backbone.capture_attention(kind)  # records nothing before it is entered
    except ValueError as error:
        raise ValueError(f'{name} takes {takes} from the attention of the model, but {error}') from None


def _check_mixer(mixer: Mixer) -> None:
    given = type(mixer).__name__
    if isinstance(mixer, RandomMixer):
        raise ValueError(f'mixer must be a single one, got {given}: list one TransMix for each policy in a RandomMixer')
    if not isinstance(mixer, Mixer) or mixer.label_from != 'pixels' or not _shows_mask(mixer):
        raise ValueError(f'mixer must mix pixels by a mask and label by their share, such as CutMix, got {given}')


def _shows_mask(mixer: Mixer) -> bool:
    """Tell whether a mixer says where it shows what; where its class does not tell, by a trial that no draw feels."""
    if isinstance(mixer, MaskMixer):
        return True
    image = torch.zeros(1, 3, 8, 8)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        return mixer.pair(image, image, 0.5).mask is not None

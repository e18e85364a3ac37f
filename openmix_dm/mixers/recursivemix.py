"""RecursiveMix (https://arxiv.org/abs/2203.06844): the batch before, as it was mixed, in a box of each image.

Differs from released code: a box without rows or columns leaves the images as they are instead of failing; of a batch
that is larger than the one before, the rows that had no predecessor stay unmixed; the caller's images are not written
into; pixels of the small image are taken at the centres of the areas that they stand for, as in ResizeMix; lam can be
drawn for each sample; what is carried over is saved, so that a run that is resumed in an epoch goes on with it.
"""

from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from openmix_dm.mixers.base import Lam, Mixer, per_row
from openmix_dm.mixers.boxes import Box, Boxes, draw_box
from openmix_dm.mixers.partner import Given, Partner, Shift
from openmix_dm.mixers.resizemix import paste, resize, resize_into
from openmix_dm.mixers.teacher import last_map
from openmix_dm.registry import MIXERS
from openmix_dm.structures import AfterForward, Finished, MixedPair, MixTarget, Outputs, Probe
from openmix_dm.utils.checks import in_range, non_negative
from openmix_dm.utils.modules import full_precision
from openmix_dm.utils.transfers import to_device

KEPT = ('images', 'rows', 'logits')  # of the batch before


@MIXERS.register_module()
class RecursiveMix(Mixer):
    """Paste the batch before, as it was mixed, into a box of each image (https://arxiv.org/abs/2203.06844).

    Rows meet by their position. The label is lam of the own class and 1 - lam of all that the old image was labelled
    with (`rows_b` of the target), so that losses have to take more than two classes: MixedCE, MixedBCE. A further loss
    asks that a linear head of the mixer's own, which sees the features inside of the box, agrees with what the model
    said of the old image. The first batch of an epoch is not mixed, whatever lam is given. Of two batches of different
    sizes the common rows are mixed. There are no pairs of two streams. A batch is remembered when it is finished: a
    loop of one's own calls `batch.finish(outputs)` of each.

    Args:
        alpha: the box has a share of the area that is drawn uniformly from 0 to alpha, at most 1. Default: 0.5.
        omega: weight of the loss on the features inside of the box; it counts times 1 - lam. The authors take 0.5 for
            ImageNet and 0.1 for CIFAR-10. 0 leaves it out, with its head; with a weight, the backbone's last stage has
            to give a map (N, C, h, w). Default: 0.5.
        per_sample: draw lam and the box for each sample instead of once for the batch. Default: False.

    Example:
        mixer = dict(type='RecursiveMix', alpha=0.5, omega=0.5)
    """

    label_fields = frozenset({'rows_b'})
    needs_model = True
    example = {'alpha': 0.5}

    def __init__(self, alpha: float = 0.5, omega: float = 0.5, per_sample: bool = False) -> None:
        super().__init__(in_range('alpha', alpha, 0, 1, open_low=True), per_sample)
        self.omega = non_negative('omega', omega)
        self.box_head: nn.Linear | None = None
        self._before: dict[str, Tensor] = {}

    def attach(self, model: nn.Module) -> None:
        """Make the head for what is inside of a box; refuse a model whose last features are no map."""
        whole: Any = model
        if not self.omega or self.box_head is not None:
            return
        wish = 'RecursiveMix compares what is inside of a box, which is not specified among tokens: it needs'
        _, channels = last_map(whole.backbone, wish, 'omega=0, which leaves that out')
        weight: Tensor = next(whole.backbone.parameters())
        self.box_head = nn.Linear(channels, whole.head.num_classes, device=weight.device)

    @property
    def rests(self) -> bool:
        """Whether the first batch of an epoch leaves the head without a gradient."""
        return self.box_head is not None

    def begin_epoch(self) -> None:
        """Forget the last batch of the epoch before."""
        self._before = {}

    def history(self) -> dict[str, Any]:
        """Return images, labels and logits of the batch before."""
        return dict(self._before)

    def restore_history(self, history: dict[str, Any]) -> None:
        """Go on after that batch."""
        self._before = {name: history[name].detach() for name in KEPT} if history else {}

    def draw_lam(self, size: int, device: torch.device) -> Lam:
        """Draw the share that the box leaves of the own image."""
        lam = 1 - self.alpha * torch.rand(size if self.per_sample else 1, dtype=torch.float64, device='cpu')
        return to_device(lam, device, torch.float32) if self.per_sample else lam.item()

    def choose_partner(self, inputs: Tensor, labels: Tensor, probe: Probe | None = None) -> Shift:
        """Pair each row with itself: what is mixed in is of the batch before."""
        return Shift(0)

    def mix(
        self, inputs: Tensor, partner: Partner, lam: Lam, labels: Tensor | None = None, probe: Probe | None = None
    ) -> MixedPair:
        """Mix inputs with the batch before, or leave them as they are if there is none."""
        if labels is None:
            raise ValueError('RecursiveMix mixes a batch with the one before it: it has no pairs; take ResizeMix')
        if not self._before:
            target, kept = MixTarget.hard(labels), inputs.clone()  # the caller may write into its own
            return MixedPair(inputs, target.lam, after=AfterForward(partial(self.finish, kept, target, None)))
        size, (height, width) = len(inputs), inputs.shape[-2:]
        old, rows_b = self._images_before(inputs), self._rows_before(labels)
        box = only_first(draw_box(lam, height, width), len(self._before['images']), size)
        mask, shown = box.mask(height, width, inputs.device)
        if isinstance(box, Box):
            mixed = paste(inputs, Given(old), box, 'nearest')
        else:
            mixed = resize_into(*Given(old).locate(inputs), box, 'nearest').lerp_(inputs, mask.to(inputs.dtype))
        target = MixTarget(labels, labels, per_row(shown, inputs), rows_b=rows_b)
        compared = None if is_empty(box) or not self.omega else box
        finish = partial(self.finish, mixed, target, compared)
        after = AfterForward(finish, wants=() if compared is None else ('map',))
        return MixedPair(mixed, target.lam, mask, after=after, rows_b=rows_b, partners=old)

    def finish(self, mixed: Tensor, target: MixTarget, box: Box | Boxes | None, outputs: Outputs) -> Finished:
        """Return the loss on what is inside of the box, if there is one, and keep the batch for the next."""
        losses = {} if box is None else {'loss_box': self._box_loss(mixed, target, box, outputs)}
        logits = outputs.logits.detach().float()
        self._before = {'images': mixed.detach(), 'rows': target.dense(logits.shape[1]), 'logits': logits}
        return Finished(losses=losses)

    def _box_loss(self, mixed: Tensor, target: MixTarget, box: Box | Boxes, outputs: Outputs) -> Tensor:
        if self.box_head is None:
            raise ValueError('RecursiveMix has no head yet: call attach(model) first, or take omega=0')
        said = self.box_head(inside_of_box(outputs.get('map'), box, mixed.shape[-2], mixed.shape[-1]))
        before = _rows(self._before['logits'].to(said.device), len(said)).softmax(dim=1)
        cost = -(before * said.float().log_softmax(dim=1)).sum(dim=1)
        return self.omega * (target.weight_b * cost).mean()

    def _images_before(self, inputs: Tensor) -> Tensor:
        """Return the images of the batch before in the size of these; for rows that it did not have, these."""
        old = self._before['images'][: len(inputs)].to(inputs)
        if old.shape[-2:] != inputs.shape[-2:]:
            old = resize(old, inputs.shape[-2], inputs.shape[-1], 'nearest')
        return old if len(old) == len(inputs) else torch.cat([old, inputs[len(old) :]])

    def _rows_before(self, labels: Tensor) -> Tensor:
        """Return the labels of the batch before, (N, classes)."""
        old = self._before['rows'][: len(labels)].to(labels.device)
        own = MixTarget.hard(labels[len(old) :]).dense(old.shape[1]) if len(old) < len(labels) else old[:0]
        return torch.cat([old, own]) if len(own) else old

    def extra_repr(self) -> str:
        """Show the settings in `print(model)`."""
        return f'alpha={self.alpha}, omega={self.omega}, per_sample={self.per_sample}'


def only_first(box: Box | Boxes, count: int, size: int) -> Box | Boxes:
    """Return a box that is empty for all but the first rows of a batch."""
    if count >= size:
        return box
    edges = edges_of(box)
    has_one = torch.arange(size, device=edges.top.device) < count
    return Boxes(*(torch.where(has_one, edge, 0) for edge in edges))


def edges_of(box: Box | Boxes) -> Boxes:
    """Return edges as tensors: (1,) on the host for one box, and else as they are."""
    return box if isinstance(box, Boxes) else Boxes(*torch.tensor(box, device='cpu').split(1))


def is_empty(box: Box | Boxes) -> bool:
    """Say whether one box for a batch has no pixels; boxes of each sample are not looked at."""
    return isinstance(box, Box) and (box.top >= box.bottom or box.left >= box.right)


def inside_of_box(maps: Tensor, box: Box | Boxes, height: int, width: int) -> Tensor:
    """Return the features of maps (N, C, h, w) inside of a box of images of some size, (N, C) float32.

    RoIAlign to one place, with half-pixel centres and as many points as the box has places: a product of weights.
    """
    edges, down, across = edges_of(box), maps.shape[-2] / height, maps.shape[-1] / width
    rows = align_weights(edges.top * down, edges.bottom * down, maps.shape[-2])
    columns = align_weights(edges.left * across, edges.right * across, maps.shape[-1])
    with full_precision(maps.device):
        rows, columns = (to_device(each, maps.device).expand(len(maps), -1) for each in (rows, columns))
        return torch.einsum('nchw,nh,nw->nc', maps.float(), rows, columns)


def align_weights(start: Tensor, stop: Tensor, size: int) -> Tensor:
    """Return how much each of so many places counts for what is between two edges, (N, size) with sums of 1."""
    length = stop - start
    points = length.ceil().clamp(min=1)[:, None]
    number = torch.arange(size, device=start.device)  # of a point: there are at most as many as places
    at = (start[:, None] - 0.5 + (number + 0.5) * length[:, None] / points).clamp(0, size - 1)
    near = (1 - (at[:, :, None] - number).abs()).clamp(min=0)  # (N, points, places): a point lies between two places
    return (near * (number < points)[:, :, None]).sum(dim=1) / points


def _rows(values: Tensor, size: int) -> Tensor:
    """Return so many rows: some are cut off, or some zeros added."""
    return F.pad(values[:size], (0, 0, 0, max(0, size - len(values))))

"""Several crops of one image, and one answer."""

from collections.abc import Callable

from torch import Tensor


def average_crops(classify: Callable[[Tensor], Tensor], inputs: Tensor) -> Tensor:
    """Return logits of images (N, 3, H, W), or the mean logits of the crops of images, (N, crops, 3, H, W)."""
    if inputs.dim() != 5:
        return classify(inputs)
    logits = classify(inputs.flatten(0, 1))
    return logits.unflatten(0, inputs.shape[:2]).mean(dim=1)

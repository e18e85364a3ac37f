"""A model seen from its pixels: images in [0, 1] go in, its own normalisation comes first."""

from torch import Tensor, nn


def logits_of(model: nn.Module, images01: Tensor) -> Tensor:
    """Return the logits of images in [0, 1], through the model's own preprocessor, on the model's device.

    A model without a `data_preprocessor` takes the pixels as they are.
    """
    return model(normalise(model, images01))


def normalise(model: nn.Module, images01: Tensor) -> Tensor:
    """Return images in [0, 1] as the model's network sees them; differentiable."""
    preprocessor = getattr(model, 'data_preprocessor', None)
    if preprocessor is None:
        return images01
    return preprocessor({'inputs': images01 * 255}, training=False)['inputs']


def check_pixels(images01: Tensor) -> None:
    """Refuse anything but float images of shape (N, C, H, W); their range is not looked at (that would wait for it)."""
    if not images01.is_floating_point() or images01.dim() != 4:
        raise ValueError(
            f'images must be floats in [0, 1] of shape (N, C, H, W), got {images01.dtype} {tuple(images01.shape)}; '
            'divide bytes by 255'
        )


def probabilities_of(model: nn.Module, logits: Tensor) -> Tensor:
    """Return what a model's logits mean, as the loss of its head says; a model without one is read by softmax."""
    loss = getattr(getattr(model, 'head', None), 'loss_fn', None)
    read = getattr(loss, 'probabilities', None)
    return logits.float().softmax(dim=1) if read is None else read(logits)

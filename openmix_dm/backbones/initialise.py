"""Random start of the convolutional networks that are written here."""

from torch import nn


def initialise_he(module: nn.Module, negative_slope: float = 0.0) -> None:
    """Draw convolutions as He et al. (arXiv:1502.01852) by fan-out; batch norms start as identity, biases at 0.

    `negative_slope` is that of the network's LeakyReLU, 0 for ReLU. The last norm of a residual branch is not zeroed.
    """
    for layer in module.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, a=negative_slope, mode='fan_out', nonlinearity='leaky_relu')
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
        elif isinstance(layer, nn.BatchNorm2d):
            nn.init.ones_(layer.weight)
            nn.init.zeros_(layer.bias)

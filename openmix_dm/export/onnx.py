"""ONNX with the normalisation inside, compared number by number with the model that it came from."""

import importlib.util
import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from openmix_dm.errors import ConfigError, NumericError

NEEDED = ('onnx', 'onnxscript', 'onnxruntime')
TOLERANCE = 1e-3  # largest difference of a logit that is accepted, relative to the largest logit


class FromPixels(nn.Module):
    """Take images in [0, 1] and give logits."""

    mean: Tensor
    std: Tensor

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.backbone, self.head = model.backbone, model.head
        preprocessor = getattr(model.data_preprocessor, 'images', model.data_preprocessor)  # that of streams holds it
        self.register_buffer('mean', preprocessor.mean / 255)
        self.register_buffer('std', preprocessor.std / 255)

    def forward(self, images: Tensor) -> Tensor:
        """Return logits."""
        return self.head(self.backbone((images - self.mean) / self.std))


def check_installed() -> None:
    """Say how to get what exporting needs, before any work."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise ConfigError(f"ONNX export needs {', '.join(missing)}; run: pip install 'openmix_dm[export]'")


def export_onnx(model: Any, out: Path, height: int, width: int) -> float:
    """Write `out` (images (N, 3, height, width) in [0, 1] -> logits, any N) and return its largest difference."""
    network = FromPixels(model).cpu().eval()
    example = torch.rand(2, 3, height, width, generator=torch.Generator().manual_seed(0))
    noise = logging.getLogger('torch.onnx')
    level = noise.level
    noise.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')  # the exporter's own deprecations
            torch.onnx.export(
                network, (example,), str(out), dynamo=True, external_data=False, verbose=False,
                input_names=['images'], output_names=['logits'],
                dynamic_shapes={'images': {0: torch.export.Dim('batch')}},
            )  # fmt: skip
    finally:
        noise.setLevel(level)
    return compare(network, out, height, width)


def compare(network: nn.Module, path: Path, height: int, width: int) -> float:
    """Run both on random images in batches of 1 and 5; refuse logits that differ."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=['CPUExecutionProvider'])
    worst = 0.0
    for size in (1, 5):
        images = torch.rand(size, 3, height, width, generator=torch.Generator().manual_seed(size))
        with torch.no_grad():
            expected = network(images).numpy()
        (found,) = session.run(None, {'images': images.numpy()})
        worst = max(worst, float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-6)))
    if not worst <= TOLERANCE:
        raise NumericError(f'{path} does not compute what the model computes: logits differ by {worst:.2g} (relative)')
    return worst

"""ONNX that takes what the transform of `openmix_dm.load` gives, and says in its metadata how others make that.

It is compared number by number with what `openmix_dm.load` answers to image files.
"""

import importlib.util
import json
import logging
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from openmix_dm.errors import ConfigError, NumericError
from openmix_dm.export.loaded_model import LoadedModel, read_pixels
from openmix_dm.version import __version__

NEEDED = ('onnx', 'onnxscript', 'onnxruntime')
INPUT = (
    'float32 RGB images (N, 3, height, width) of size, after transforms: (bytes / 255 - mean) / std for each channel, '
    'as the transform of openmix_dm.load gives them'
)
TOLERANCE = 1e-3  # largest difference of a logit that is accepted, relative to the largest logit


class ToLogits(nn.Module):
    """Take normalised images and give logits."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.backbone, self.head = model.backbone, model.head

    def forward(self, images: Tensor) -> Tensor:
        """Return logits."""
        return self.head(self.backbone(images))


def check_installed() -> None:
    """Say how to get what exporting needs, before any work."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise ConfigError(f"ONNX export needs {', '.join(missing)}; run: pip install 'openmix_dm[export]'")


def export_onnx(loaded: LoadedModel, out: Path, height: int, width: int) -> float:
    """Write `out` (normalised images (N, 3, height, width) -> logits, any N) and return its largest difference.

    What does not answer as the model does is not written.
    """
    unchecked = out.with_name(f'{out.stem}.unchecked.onnx')
    try:
        _write(ToLogits(loaded.model).cpu().eval(), unchecked, height, width)
        _describe(unchecked, metadata(loaded, height, width))
        worst = compare(loaded, unchecked, height, width)
        unchecked.replace(out)
    finally:
        unchecked.unlink(missing_ok=True)
    return worst


def _write(network: nn.Module, path: Path, height: int, width: int) -> None:
    example = torch.rand(2, 3, height, width, generator=torch.Generator().manual_seed(0))
    noise = logging.getLogger('torch.onnx')
    level = noise.level
    noise.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')  # the exporter's own deprecations
            torch.onnx.export(
                network, (example,), str(path), dynamo=True, external_data=False, verbose=False,
                input_names=['images'], output_names=['logits'],
                dynamic_shapes={'images': {0: torch.export.Dim('batch')}},
            )  # fmt: skip
    finally:
        noise.setLevel(level)


def metadata(loaded: LoadedModel, height: int, width: int) -> dict[str, str]:
    """Say how an image becomes the input, and what the outputs are called: all values are JSON."""
    mean, std = loaded.transform.mean_and_std
    values = {
        'openmix_dm': __version__,
        'classes': loaded.classes,
        'input': INPUT,
        'size': [height, width],
        'transforms': loaded.transform.configs,
        'mean': mean,
        'std': std,
        'output': 'logits, (N, classes)',
    }
    return {name: json.dumps(value, default=str) for name, value in values.items()}


def _describe(path: Path, properties: dict[str, str]) -> None:
    import onnx

    model = onnx.load(str(path))
    onnx.helper.set_model_props(model, properties)
    onnx.save(model, str(path))


def compare(loaded: LoadedModel, path: Path, height: int, width: int) -> float:
    """Ask both about image files, one by one and all at once; refuse logits that differ.

    The model is asked as everybody asks it: file, transform, model. The ONNX file is asked as its own metadata say. So
    a mistake of the wrapper that it was made of shows, and one in what it says about its input.
    """
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=['CPUExecutionProvider'])
    said = {name: json.loads(value) for name, value in session.get_modelmeta().custom_metadata_map.items()}
    mean, std = (np.asarray(said[name], np.float32)[:, None, None] for name in ('mean', 'std'))
    with tempfile.TemporaryDirectory() as folder:
        asked = list(_ask(loaded, write_images(Path(folder), height, width), (height, width)))
    expected = torch.cat([logits for _, logits in asked]).numpy()
    batches = [[pixels] for pixels, _ in asked] + [[pixels for pixels, _ in asked]]
    answers = []
    for batch in batches:
        (found,) = session.run(None, {'images': (torch.cat(batch).numpy() / np.float32(255) - mean) / std})
        answers.append(found.reshape(len(batch), -1, found.shape[-1]).mean(axis=1))  # over crops, if there are any
    difference = np.abs(np.concatenate(answers) - np.concatenate([expected, expected])).max()
    worst = float(difference / max(np.abs(expected).max(), 1e-6))
    if not worst <= TOLERANCE:
        raise NumericError(
            f'the ONNX file does not compute what the model answers to image files: logits differ by {worst:.2g} '
            '(relative); it was not written'
        )
    return worst


def _ask(loaded: LoadedModel, files: list[Path], size: tuple[int, int]) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield the pixels of each file before they are normalised, (1 or crops, 3, H, W) of 0..255, and the logits."""
    model, transform, _ = loaded
    for number, file in enumerate(files):
        pixels = transform.pixels(file)
        if pixels.shape[-2:] == size:
            inputs = transform(file)
        elif number == 0:  # a size of the caller's choice: this file has it as it is
            pixels = torch.from_numpy(read_pixels(file)).permute(2, 0, 1)
            inputs = transform.normalise(pixels[None])[0]
        else:
            continue
        with torch.no_grad():
            yield pixels.reshape(-1, *pixels.shape[-3:]).float(), model(inputs[None]).float()


def write_images(folder: Path, height: int, width: int) -> list[Path]:
    """Write coloured images with large shapes and noise: one of the given size, and larger ones of other shapes."""
    from PIL import Image

    draws, files = np.random.default_rng(0), []
    sizes = ((height, width), (2 * height + 1, 3 * width), (3 * height, 2 * width + 5))
    for number, (rows, columns) in enumerate(sizes):
        coarse = Image.fromarray(draws.integers(0, 256, (4, 5, 3), dtype=np.uint8))
        shapes = np.asarray(coarse.resize((columns, rows), Image.Resampling.BICUBIC), np.int16)
        image = (shapes + draws.integers(-20, 21, shapes.shape)).clip(0, 255).astype(np.uint8)
        files.append(folder / f'{number}.{"jpg" if number % 2 else "png"}')
        Image.fromarray(image).save(files[-1])
    return files

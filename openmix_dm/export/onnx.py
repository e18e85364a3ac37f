"""ONNX with the normalisation inside, compared number by number with what `openmix_dm.load` answers to image files."""

import importlib.util
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


def export_onnx(loaded: LoadedModel, out: Path, height: int, width: int) -> float:
    """Write `out` (images (N, 3, height, width) in [0, 1] -> logits, any N) and return its largest difference.

    What does not answer as the model does is not written.
    """
    unchecked = out.with_name(f'{out.stem}.unchecked.onnx')
    try:
        _write(FromPixels(loaded.model).cpu().eval(), unchecked, height, width)
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


def compare(loaded: LoadedModel, path: Path, height: int, width: int) -> float:
    """Ask both about image files, one by one and all at once; refuse logits that differ.

    The model is asked as everybody asks it: file, transform, model. So a mistake of the wrapper that the ONNX file was
    made of shows, which a comparison with the wrapper would not.
    """
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=['CPUExecutionProvider'])
    with tempfile.TemporaryDirectory() as folder:
        asked = list(_ask(loaded, write_images(Path(folder), height, width), (height, width)))
    expected = torch.cat([logits for _, logits in asked]).numpy()
    batches = [[pixels] for pixels, _ in asked] + [[pixels for pixels, _ in asked]]
    answers = []
    for batch in batches:
        (found,) = session.run(None, {'images': torch.cat(batch).numpy() / np.float32(255)})
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
    """Yield what the ONNX file is to take of each file, (1 or crops, 3, H, W) of 0..255, and the model's logits."""
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

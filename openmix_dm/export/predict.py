"""Ask a model about image files."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from openmix_dm.errors import DataError
from openmix_dm.evaluation.pixels import probabilities_of
from openmix_dm.export.loaded_model import LoadedModel
from openmix_dm.utils.progress import track


def list_images(places: Sequence[str | Path]) -> list[Path]:
    """Return image files, and those in and below folders, sorted."""
    from openmix_dm.datasets.image_folder import EXTENSIONS

    found: list[Path] = []
    for place in map(Path, places):
        if place.is_dir():
            inside = sorted(file for file in place.rglob('*') if file.suffix.lower() in EXTENSIONS)
            if not inside:
                raise DataError(f'{place} holds no images ({", ".join(EXTENSIONS)})')
            found += inside
        elif place.is_file():
            found.append(place)
        else:
            raise DataError(f'there is no image or folder {place}')
    return found


def predict(loaded: LoadedModel, files: Sequence[Path], topk: int = 5, batch_size: int = 32) -> list[dict[str, Any]]:
    """Return for each file its best classes and how sure the model is of them, the best first."""
    model, transform, classes = loaded
    device = next(model.parameters()).device
    rows: list[dict[str, Any]] = []
    batches = [files[i : i + batch_size] for i in range(0, len(files), batch_size)]
    for batch in track(batches, len(batches), 'predict'):
        for part in _of_one_size([(file, transform(file)) for file in batch]):
            with torch.no_grad():
                logits = model(torch.stack([image for _, image in part]).to(device)).float()
            p = probabilities_of(model, logits)
            best = p.topk(min(topk, p.shape[1]), dim=1)
            for (file, _), values, labels in zip(part, best.values.tolist(), best.indices.tolist(), strict=True):
                rows.append(
                    {'file': str(file), 'classes': [classes[label] for label in labels], 'labels': labels, 'p': values}
                )
    return rows


def _of_one_size(images: list[tuple[Path, torch.Tensor]]) -> Iterator[list[tuple[Path, torch.Tensor]]]:
    """Yield runs of images that can be stacked: without a crop in the transforms, sizes may differ."""
    part: list[tuple[Path, torch.Tensor]] = []
    for each in images:
        if part and each[1].shape != part[0][1].shape:
            yield part
            part = []
        part.append(each)
    if part:
        yield part

"""Look whether the batches of workers fit into shared memory, before any worker starts."""

import shutil
import warnings

from torch.utils.data import DataLoader

from openmix_dm.engine.loader import first_images, first_samples
from openmix_dm.errors import ResourceError
from openmix_dm.launch.failures import MORE_SHARED_MEMORY, SHARED
from openmix_dm.structures import tensors_in

PLENTY = 2**20  # bytes for each image, some 590 x 590 pixels: where there is so much, none is read to learn its size


def check_shared_memory(loaders: dict[str, DataLoader | None]) -> None:
    """Refuse workers that cannot hand over a single batch; warn where those that they load ahead may not fit.

    Only one batch certainly has to fit: how many are there at once depends on who is faster, workers or training.
    """
    try:
        total, _, free = shutil.disk_usage(SHARED)
    except OSError:
        return  # a system that has its shared memory elsewhere
    if not total:  # a tmpfs without a limit
        return
    for phase, loader in loaders.items():
        if loader is None or not loader.num_workers:
            continue
        images, ahead = images_of_a_batch(loader), loader.num_workers * (loader.prefetch_factor or 1)
        if free >= ahead * images * PLENTY:
            continue
        needed = bytes_of_a_batch(loader)
        told = f'{phase}_dataloader: {SHARED} has {megabytes(free)} free of {megabytes(total)}'
        if free < needed:
            raise ResourceError(
                f'{told}, but workers hand their batches over in it, and one takes {megabytes(needed)}. '
                f'{MORE_SHARED_MEMORY}'
            )
        if free < ahead * needed:
            warnings.warn(
                f'{told}, and its {loader.num_workers} workers load up to {ahead} batches of {megabytes(needed)} '
                f'ahead; where they do not fit, a worker dies of a bus error. {MORE_SHARED_MEMORY}',
                stacklevel=2,
            )


def images_of_a_batch(loader: DataLoader) -> int:
    """Return how many images the first batch has; of two streams, both together."""
    samples = first_samples(loader)
    return sum(map(len, samples)) if isinstance(samples, tuple) else len(samples)


def bytes_of_a_batch(loader: DataLoader) -> int:
    """Return the bytes of the first batch; one image tells them where batches can be taken apart."""
    samples = first_samples(loader)
    if not samples:
        return 0  # a rank without images
    times = 1 if isinstance(samples, tuple) else len(samples)
    return times * sum(tensor.numel() * tensor.element_size() for tensor in tensors_in(first_images(loader)))


def megabytes(size: int) -> str:
    """Return a number of bytes as people read it; what is small keeps its digits."""
    return f'{size / 2**20:,.{0 if size >= 10 * 2**20 else 2}f} MB'

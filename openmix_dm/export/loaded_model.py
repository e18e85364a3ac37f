"""`openmix_dm.load`: a trained model, its transform and the names of its classes."""

import copy
import inspect
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from mmengine.config import Config
from torch import Tensor, nn

from openmix_dm.config.plain import building_from
from openmix_dm.config.resolve import resolve
from openmix_dm.errors import CheckpointError, ConfigError, Failure
from openmix_dm.registry import DATASETS, TRANSFORMS
from openmix_dm.runs.hub_snapshot import FACTS
from openmix_dm.runs.model import open_trained


class LoadedModel(NamedTuple):
    """A model in eval mode, what to do to an image before, and what its outputs are called."""

    model: nn.Module
    transform: 'ImageTransform'
    classes: list[str]


def load(
    place: str | Path,
    config: str | Path | None = None,
    ema: bool = False,
    device: str | torch.device | None = None,
    imports: Sequence[str] = (),
) -> LoadedModel:
    """Load a run folder, a published folder, a checkpoint or a model on the Hub; see openmix_dm.load."""
    trained = open_trained(place, config, ema, device=device, imports=imports)
    with building_from(trained.config.filename, given=config is not None):
        classes = class_names(trained.config, trained.model, trained.checkpoint.parent)
        return LoadedModel(trained.model, transform_of(trained.config, trained.model), classes)


def class_names(config: Config, model: nn.Module, folder: Path) -> list[str]:
    """Return names from the facts of a published model, from the data set if it is there, or plain numbers."""
    outputs = model.head.num_classes  # type: ignore[union-attr]
    names = _published_names(folder / FACTS) or _names_of_data(config) or []
    return names if len(names) == outputs else [str(label) for label in range(outputs)]  # type: ignore[arg-type]


def _published_names(path: Path) -> list[str] | None:
    try:
        return [str(name) for name in json.loads(path.read_text()).get('classes', [])]
    except FileNotFoundError:
        return None
    except (ValueError, AttributeError) as error:
        raise CheckpointError(f'{path} is damaged: {error}') from None


def _names_of_data(config: Config) -> list[str] | None:
    loader = config.get('val_dataloader') or config.get('test_dataloader')
    if loader is None:
        return None
    cls = DATASETS.get(loader.dataset.type)
    names = getattr(cls, 'classes', None)
    if not isinstance(names, list | tuple):
        try:
            names = getattr(DATASETS.build(loader.dataset), 'classes', None)
        except Failure:  # a model can be used where its data are not
            return None
    return None if names is None else [str(name) for name in names]


Step = Callable[[np.ndarray], np.ndarray]


class ImageTransform:
    """Do to an image what the config does to test images, and normalise it.

    Takes the path of a file, a PIL image, or an RGB array (H, W, 3) of bytes; returns (3, H, W) floats, or
    (crops, 3, H, W) where the config tests by several crops.
    """

    def __init__(
        self, steps: Sequence[Step], preprocessor: nn.Module | None, configs: Sequence[dict[str, Any]] = ()
    ) -> None:
        self.steps, self.configs = list(steps), list(configs)
        self.preprocessor = None if preprocessor is None else copy.deepcopy(preprocessor).cpu()

    def __call__(self, image: Any) -> Tensor:
        """Return one image, normalised."""
        return self.normalise(self.pixels(image)[None])[0]

    def pixels(self, image: Any) -> Tensor:
        """Return one image before normalisation: bytes, (3, H, W) or (crops, 3, H, W)."""
        array = read_pixels(image)
        for step in self.steps:
            array = step(array)
        return torch.from_numpy(np.ascontiguousarray(np.moveaxis(array, -1, -3)))

    def normalise(self, batch: Tensor) -> Tensor:
        """Return a batch of bytes as the network sees it."""
        if self.preprocessor is None:
            return batch.float()
        return self.preprocessor({'inputs': batch}, training=False)['inputs']

    @property
    def mean_and_std(self) -> tuple[list[float], list[float]]:
        """What bytes are normalised by, in units of [0, 1]: (bytes / 255 - mean) / std."""
        images: Any = getattr(self.preprocessor, 'images', self.preprocessor)  # that of streams holds it
        if not hasattr(images, 'mean'):  # the network takes bytes as they are
            return [0.0] * 3, [1 / 255] * 3
        return (images.mean / 255).flatten().tolist(), (images.std / 255).flatten().tolist()


def read_pixels(image: Any) -> np.ndarray:
    """Return an RGB array (H, W, 3) of bytes from a file, a PIL image or an array."""
    from openmix_dm.datasets.reading.decode import read_image

    if isinstance(image, str | Path):
        return read_image(Path(image))
    array = np.asarray(image.convert('RGB') if hasattr(image, 'convert') else image)
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] != 3:
        raise ValueError(
            f'an image must be a path, a PIL image or an RGB array (H, W, 3) of uint8, got {array.dtype} {array.shape}'
        )
    return array


def transform_of(config: Config, model: nn.Module) -> ImageTransform:
    """Build the transform of a config's test images; no image of the data set is needed."""
    loader = resolve(config, world_size=1, training=False).get('test_dataloader')
    if loader is None:
        raise ConfigError(
            f'{config.filename} has neither a test_dataloader nor a val_dataloader to take transforms from'
        )
    steps = _steps(loader.dataset)
    return ImageTransform(
        [step for _, step in steps], getattr(model, 'data_preprocessor', None), [config for config, _ in steps]
    )


def _steps(dataset: Config) -> list[tuple[dict[str, Any], Step]]:
    """Return transforms of one array with their configs: those of image files, or a resize to the size of small images.

    Those that draw, such as random flips, are left out.
    """
    from openmix_dm.datasets.image_files import DecodedImages, take_batches

    cls = DATASETS.get(dataset.type)
    if cls is None:
        raise ConfigError(f'there is no data set {dataset.type!r}; import the module that registers it first')
    built = [(_with_defaults(transform), TRANSFORMS.build(transform)) for transform in dataset.get('transforms', ())]
    if issubclass(cls, DecodedImages) and not take_batches([step for _, step in built]):
        return [(config, step) for config, step in built if not getattr(step, 'needs_draws', False)]
    size = image_size(dataset, cls)
    square = [] if size is None else _square(size)
    return square + [(config, _of_one(step)) for config, step in built if not getattr(step, 'needs_draws', True)]


def _with_defaults(config: Any) -> dict[str, Any]:
    """Return the config of a transform with what it leaves to defaults: whoever reads it may not have our code."""
    values = dict(config)
    parameters = inspect.signature(TRANSFORMS.get(config['type']) or dict).parameters.values()
    defaults = {each.name: each.default for each in parameters if each.default is not each.empty}
    return {'type': values.pop('type'), **defaults, **values}


def image_size(dataset: Config, cls: Any) -> int | None:
    """Return the pixels of a side that the images of a data set have, None if it does not say."""
    given = dataset.get('size')
    default = inspect.signature(cls).parameters.get('size')
    return given or (default.default if default is not None else getattr(cls, 'image_size', None))


def _square(size: int) -> list[tuple[dict[str, Any], Step]]:
    """Return transforms that cut the largest central square out and resize it."""
    wanted = ({'type': 'ResizeShortEdge', 'size': size}, {'type': 'CenterCrop', 'size': size})
    return [(_with_defaults(config), TRANSFORMS.build(config)) for config in wanted]


def _of_one(step: Callable[[Tensor, Any], Tensor]) -> Step:
    """Apply a transform of batches to one array."""

    def apply(image: np.ndarray) -> np.ndarray:
        batch = torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1)))[None]
        return step(batch, None)[0].numpy().transpose(1, 2, 0)

    return apply

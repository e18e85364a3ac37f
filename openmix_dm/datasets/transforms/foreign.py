"""Transforms of other packages as transforms of one RGB image: what all bridges share.

A bridge gives each class of a package an adapter with the class's own arguments. The adapter takes and returns a uint8
array (H, W, 3) as our own transforms do, says whether it draws, and refuses what would fail in the middle of a run.
"""

import functools
import inspect
import random
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch

from openmix_dm.datasets.samplers.sample_index import seed_draws
from openmix_dm.errors import DataError, Failure
from openmix_dm.registry import TRANSFORMS

TRIES = 8  # draws of a transform that is tried on an image
SIDES = (64, 512, 8, 4096)  # of images that a transform is tried on; one that fails on all of them is wrong


class ForeignTransform(ABC):
    """Apply a transform of another package to an image; the subclasses that a bridge makes are the adapters."""

    key: ClassVar[str]  # 'torchvision/ColorJitter'
    name: ClassVar[str]
    original: ClassVar[type]
    deterministic: ClassVar[bool]
    builds: ClassVar[dict[str, Any]] = {}

    def __init__(self, **arguments: Any) -> None:
        self.arguments = arguments
        try:
            self.transform = self.original(**self.prepare(arguments))
        except Failure:
            raise
        except Exception as error:
            raise ValueError(f'{self.key} refuses its arguments: {words_of(error)}') from error
        inner = self.transform.transforms if self.builds else ()
        self.needs_draws = not self.deterministic or any(getattr(each, 'needs_draws', True) for each in inner)

    @staticmethod
    def signature(original: type) -> inspect.Signature:
        """Return the arguments of a class."""
        return inspect.signature(original)

    @abstractmethod
    def prepare(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments as the package wants them; what a config cannot hold is given there by its name."""

    @abstractmethod
    def apply(self, image: np.ndarray) -> np.ndarray:
        """Return the transformed image, in bytes, of any number of channels."""

    def __call__(self, image: np.ndarray, *draws: Any) -> np.ndarray:
        """Return the transformed image, or crops of it; only who has batches gives draws, and is told what to do."""
        self._check_image(image)
        try:
            return colour(self.apply(image))
        except (Failure, MemoryError, OSError):
            raise
        except Exception as error:
            size = ' x '.join(map(str, image.shape[:2]))
            raise DataError(f'{self.key} fails on an image of {size} pixels: {words_of(error)}') from error

    def _check_image(self, image: np.ndarray) -> None:
        if isinstance(image, np.ndarray) and image.dtype == np.uint8 and image.ndim == 3:
            return
        given = f'{image.dtype} {tuple(image.shape)}' if hasattr(image, 'shape') else type(image).__name__
        raise DataError(
            f'{self.key} takes one image as bytes (H, W, 3), got {given}. Crops cannot be transformed any more: what '
            'makes them comes last. Images that come in batches need '
            f"dict(type='BatchEach', transforms=[dict(type='{self.key}', ...)])"
        )

    @classmethod
    def try_out(cls, arguments: Mapping[str, Any]) -> None:
        """Build the transform and apply it to images of several sizes: some arguments are wrong only then."""
        with draws_kept():
            transform = cls(**arguments)
            for name in ('p', 'prob'):  # with which it is applied at all
                if isinstance(getattr(transform.transform, name, None), float):
                    setattr(transform.transform, name, 1.0)
            for side in SIDES:
                try:
                    transform._try_on(np.full((side, side, 3), 128, dtype=np.uint8))
                    return
                except DataError as error:
                    said = error.__cause__ or error
        raise ValueError(f'{cls.key} fails whatever the size of the image: {words_of(said)}')

    def _try_on(self, image: np.ndarray) -> None:
        for draw_key in range(TRIES):
            seed_draws(draw_key)
            self(image)

    def __repr__(self) -> str:
        return f'{self.key}({", ".join(f"{name}={value!r}" for name, value in self.arguments.items())})'

    def __reduce__(self) -> tuple[Any, ...]:
        # for workers that are started anew: they have to make the class first
        return _rebuilt, ({'type': self.key, **self.arguments},)


def _rebuilt(config: dict[str, Any]) -> Any:
    return TRANSFORMS.build(config)


@dataclass(frozen=True)
class Bridge:
    """A package whose transforms can be used.

    Args:
        package: its name, which comes before the slash.
        classes: returns its transforms by name; imports the package.
        refused: why some of them cannot be used.
        deterministic: those that draw nothing of their own; containers draw if one of their transforms does.
        base: what adapters are made of.
        wider: types of arguments that the package itself declares too narrow, by name of the class.
    """

    package: str
    classes: Callable[[], dict[str, type]]
    refused: Mapping[str, str]
    deterministic: frozenset[str]
    base: type[ForeignTransform]
    wider: Mapping[str, dict[str, Any]] = field(default_factory=dict)

    def usable(self) -> list[str]:
        """Return the names of all transforms that are not refused."""
        return sorted(set(self.classes()) - set(self.refused))

    def adapter(self, name: str) -> type[ForeignTransform] | None:
        """Return a class that has the arguments of the original one; None if there is none."""
        original = self.classes().get(name)
        if original is None:
            return None
        key = f'{self.package}/{name}'
        if name in self.refused:
            raise ValueError(f'{key} cannot be used here: {self.refused[name]}')

        @functools.wraps(original.__init__)  # type: ignore[misc]
        def construct(transform: ForeignTransform, **arguments: Any) -> None:
            ForeignTransform.__init__(transform, **arguments)

        construct.__annotations__ = {**construct.__annotations__, **self.wider.get(name, {})}
        signature = self.base.signature(original)
        me = inspect.Parameter('self', inspect.Parameter.POSITIONAL_ONLY)
        construct.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[me, *signature.parameters.values()]
        )
        members = {
            '__init__': construct,
            '__module__': original.__module__,
            '__doc__': original.__doc__,
            'key': key,
            'name': name,
            'original': original,
            'deterministic': name in self.deterministic,
            'builds': {'transforms': TRANSFORMS} if 'transforms' in signature.parameters else {},
        }
        return type(key, (self.base,), members)


def colour(image: np.ndarray) -> np.ndarray:
    """Return an image, or crops of it, with three channels; a grey one has three equal ones."""
    if image.dtype != np.uint8:
        raise ValueError(f'it gives {image.dtype}, and images stay bytes until the model normalises them')
    if image.ndim == 2:
        image = image[..., None]
    if image.shape[-1] == 1:
        image = np.repeat(image, 3, axis=-1)
    if image.ndim not in (3, 4) or image.shape[-1] != 3:
        raise ValueError(f'it gives an image of shape {image.shape}, expected (H, W, 3)')
    return image


def words_of(error: BaseException) -> str:
    """Return what an error of another package says, in one line; the broken line of a silent assertion."""
    said = ' '.join(str(error).split())
    if isinstance(error, KeyError | IndexError):
        return f'{type(error).__name__}: {said}'
    return said or traceback.extract_tb(error.__traceback__)[-1].line or type(error).__name__


@contextmanager
def draws_kept() -> Iterator[None]:
    """Leave all generators as they were."""
    states = random.getstate(), np.random.get_state(), torch.default_generator.get_state()
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        torch.default_generator.set_state(states[2])

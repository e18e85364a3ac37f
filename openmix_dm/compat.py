"""Gaps between the versions of other packages, and nothing else.

`import openmix_dm` comes here, so that torch is imported by nothing but what needs it.
"""

import importlib.util
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image


def _torchvision_library() -> Path | None:
    """Find torchvision's compiled operators without importing torchvision."""
    spec = importlib.util.find_spec('torchvision')
    if spec is None or spec.origin is None:
        return None
    return next(iter(sorted(Path(spec.origin).parent.glob('_C*'))), None)


def _loads(library: Path | None) -> bool:
    if library is None:
        return False
    import torch

    try:
        torch.ops.load_library(str(library))
    except OSError:
        return False
    return True


def define_missing_torchvision_operators() -> 'torch.library.Library | None':
    """Let `import torchvision` succeed beside a torch build that it was not compiled for.

    torchvision registers shape functions for `nms` at import, which fails where its own library cannot be loaded
    (a CPU build of torch beside the published CUDA wheel). Declaring the two schemas is enough: nobody calls them.
    """
    if importlib.util.find_spec('torchvision') is None or _loads(_torchvision_library()):
        return None
    import torch

    library = torch.library.Library('torchvision', 'DEF')
    for name in ('nms', 'qnms'):
        library.define(f'{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor')
    return library


class TorchvisionRepair:
    """Repair torchvision when it is first imported, by whomever: timm does too. It finds nothing itself."""

    operators: 'torch.library.Library | None' = None  # torch drops the declarations when this object dies

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Leave the row of finders, do the work, and let the others find the module."""
        if fullname == 'torchvision':
            with suppress(ValueError):  # another thread was faster
                sys.meta_path.remove(self)
                type(self).operators = define_missing_torchvision_operators()
        return None


if 'torchvision' not in sys.modules:
    sys.meta_path.insert(0, TorchvisionRepair())


def posterize(image: 'Image', bits: int, **unused: object) -> 'Image':
    """Keep the highest bits of each value, for timm's RandAugment, whose own version asks for 0 bits now and then.

    Pillow made a black image of that, and refuses it from version 13 on.
    """
    from PIL import ImageOps

    if bits >= 8:
        return image
    return ImageOps.posterize(image, bits) if bits > 0 else image.point(lambda value: 0)

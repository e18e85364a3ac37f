"""openmix_dm: mixup image classification with decoupled losses, driven by configs."""

from collections.abc import Sequence as _Sequence
from pathlib import Path as _Path
from typing import TYPE_CHECKING as _TYPE_CHECKING

from openmix_dm import (
    compat as compat,
)  # first: it repairs what later imports trip over
from openmix_dm.version import __version__ as __version__

if _TYPE_CHECKING:
    from mmengine.config import Config

    from openmix_dm.export.loaded_model import LoadedModel

# What is heavy is imported inside of the functions: only those who use it wait for it.


def list_configs(pattern: str = '*') -> list[str]:
    """Return the names of the configs that match a pattern such as 'imagenet/*dm*', sorted."""
    from openmix_dm.config.shipped import list_configs as listed

    return listed(pattern)


def get_config(name: str | _Path, options: _Sequence[str] = ()) -> 'Config':
    """Return a config with all that it inherits.

    Args:
        name: of a config, such as 'digits/r8_mixup_dm', or the path of a file.
        options: `key.path=value` changes, as --cfg-options takes them. Default: ().
    """
    from openmix_dm.config.load import load_config

    return load_config(name, options)


def list_mixers() -> list[str]:
    """Return the names of the mixers, as `mixer=dict(type=...)` takes them, sorted."""
    from openmix_dm.registry import MIXERS

    MIXERS.import_from_location()
    return sorted(MIXERS.module_dict)


def load(
    place: str | _Path,
    config: str | _Path | None = None,
    ema: bool = False,
    device: str | None = None,
    imports: _Sequence[str] = (),
) -> 'LoadedModel':
    """Load a run folder (its newest checkpoint), a published folder, a checkpoint or a model on the Hugging Face Hub.

    Returns (model, transform, classes): `model(transform('cat.jpg')[None])` are the logits of `classes`. Nothing in the
    folder is run as code.

    Args:
        place: the folder, the file, or hf://OWNER/NAME, hf://OWNER/NAME@REVISION.
        config: a config file, run as Python; without it the config.py beside the weights is read as plain data.
            Default: None.
        ema: take the averaged weights. Default: False.
        device: where the model goes; without it a GPU if there is one. Default: None.
        imports: packages of your own that register what the config names, such as ['lab']; a folder alone imports
            nothing. Default: ().
    """
    from openmix_dm.export.loaded_model import load as load_model

    return load_model(place, config, ema, device, imports)

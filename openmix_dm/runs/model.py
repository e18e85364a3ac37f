"""Models from configs, and trained ones from their folders or files."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from mmengine.config import Config
from torch import Tensor, nn

from openmix_dm.config.check import validate
from openmix_dm.config.check_built import refusing
from openmix_dm.config.load import import_packages, load_config, merge_options
from openmix_dm.config.plain import building_from, read_plain_config
from openmix_dm.errors import CheckpointError, ConfigError, first_line
from openmix_dm.registry import MODELS
from openmix_dm.runs.checkpoints import CheckpointStore, fill_model, load_file, usable, warn_unverified, weights_in
from openmix_dm.runs.folder import CONFIG, RunFolder, warn
from openmix_dm.runs.hub_access import is_address
from openmix_dm.runs.hub_snapshot import LOADED, SUMS, WEIGHTS, fetch
from openmix_dm.utils.files import read_plainly, sha256_of
from openmix_dm.utils.tensor_files import CONTENT_SUM, content_hash


@dataclass(frozen=True)
class TrainedModel:
    """A model in eval mode, and where it is from."""

    model: nn.Module
    config: Config
    checkpoint: Path
    missing: tuple[str, ...] = ()  # weights that the file has not, of parts that only training needs


def open_trained(
    place: str | Path,
    config: str | Path | None = None,
    ema: bool = False,
    options: tuple[str, ...] = (),
    device: str | torch.device | None = None,
    imports: Sequence[str] = (),
) -> TrainedModel:
    """Load a run folder (its newest good checkpoint), a published folder, a checkpoint file, or a model on the Hub.

    Args:
        place: the folder, the file, or hf://OWNER/NAME[@REVISION].
        config: a config file, run as Python; without it the config.py beside the weights is read as plain data, so that
            nothing in a folder of unknown origin can run. Default: None.
        ema: take the averaged weights. Default: False.
        options: `key.path=value` changes of the config. Default: ().
        device: where the model goes; without it a GPU if there is one. Default: None.
        imports: packages that register what the config names; a folder alone imports nothing. Default: ().
    """
    check_device(device)
    import_packages(imports)
    folder, path, weights = _find_weights(place, ema)
    read = _config_beside(folder, path, imports) if config is None else load_config(config)
    merge_options(read, options)
    if options:
        validate(read, options)
    with building_from(read.filename, given=config is not None):
        model = build_lone_model(read)
    with usable(path):
        missing = tuple(fill_model(model, weights, path))
    return TrainedModel(model.eval().to(device or best_device()), read, path, missing)


def build_model(config: Config) -> nn.Module:
    """Build the model; its random weights are a function of the seed alone, the same on all ranks."""
    torch.manual_seed(config.randomness.seed)
    model = dict(config.model)
    if model.get('data_preprocessor') is None:  # mmengine lets it stand beside the model, too
        model['data_preprocessor'] = config.get('data_preprocessor')
    with refusing('model'):
        return MODELS.build({key: value for key, value in model.items() if value is not None})


def build_lone_model(config: Config) -> nn.Module:
    """Build the model of a config outside of a run; the caller's random numbers stay as they are."""
    if config.get('model') is None:
        raise ConfigError(f'{config.filename} has no model')
    with torch.random.fork_rng(devices=[]):
        config.setdefault('randomness', {'seed': 0})
        try:
            return build_model(config)
        except ConfigError as error:
            raise ConfigError(f'{error}{_missing_import(str(error), config)}') from None


def _missing_import(said: str, config: Config) -> str:
    """Say how to name the package, or the config, that knows a class which nothing of ours has registered."""
    modules = (config.get('custom_imports') or {}).get('imports')
    if modules:
        named = f'imports={modules} to openmix_dm.load, or --import {" ".join(modules)}'
        return f'; it was trained with {", ".join(modules)}: if you trust that, give {named}'
    if 'registry' not in said:
        return ''
    return (
        '; if it is yours, name the module that registers it by --import MODULE (imports=[...] of openmix_dm.load), or '
        'the config that it was trained with, which imports it: --config CONFIG (of analyze: CONFIG before the run)'
    )


def check_device(device: str | torch.device | None) -> None:
    """Refuse a device that this machine, or this build of torch, does not have."""
    if device is None:
        return
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ConfigError(
            f"device={str(device)!r} cannot be used here ({first_line(error)}); 'cpu' always can"
        ) from None


def best_device() -> torch.device:
    """Return a GPU if there is one."""
    return torch.device('cuda' if torch.cuda.is_available() else 'cpu')


def _find_weights(place: str | Path, ema: bool) -> tuple[Path, Path, dict[str, Tensor]]:
    """Return the folder, the file and its weights."""
    if is_address(place):
        folder = fetch(place)
        check_sums(folder, LOADED)
        return folder, folder / WEIGHTS, _read_file(folder / WEIGHTS, ema)
    place = Path(place)
    if place.is_dir():
        if (place / WEIGHTS).is_file():
            check_sums(place)
            return place, place / WEIGHTS, _read_file(place / WEIGHTS, ema)
        path, state = newest_checkpoint(place)
        return place, path, weights_in(state, ema)
    if place.name == WEIGHTS and (place.parent / SUMS).is_file():  # the config beside it is as published, too
        check_sums(place.parent)
    return place.parent, place, _read_file(place, ema)


def newest_checkpoint(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Return the newest good checkpoint of a run folder, and what it holds."""
    found = CheckpointStore(folder).newest(warn)
    if found is None:
        raise CheckpointError(
            f'{folder} holds no checkpoint (epoch_<n>.pth, iter_<n>.pth or {WEIGHTS}); expected the folder of a '
            'run, such as work_dirs/digits/r8_mixup_dm/seed0'
        )
    return found


def _read_file(path: Path, ema: bool) -> dict[str, Tensor]:
    if path.suffix != '.safetensors':
        return weights_in(load_file(path), ema)
    if ema:
        raise CheckpointError(f'{path} holds one set of weights; whether it is the averaged one was chosen by publish')
    if not path.is_file():
        raise CheckpointError(f'there is no checkpoint {path}')
    from safetensors import safe_open

    try:
        with safe_open(path, framework='pt') as file:
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            expected = (file.metadata() or {}).get(CONTENT_SUM)
    except Exception as error:
        raise CheckpointError(f'{path} is damaged or no safetensors file: {first_line(error)}') from None
    if expected is not None and content_hash(weights) != expected:
        raise CheckpointError(f'{path} is damaged: what it holds is not what its own hash was made of')
    if expected is None and not (path.parent / SUMS).is_file():
        warn_unverified(path)
    return weights


def _config_beside(folder: Path, path: Path, imports: Sequence[str]) -> Config:
    if not (folder / CONFIG).is_file():
        raise ConfigError(f'there is no {CONFIG} beside {path.name} in {folder}; name the config that it was made with')
    config = read_plain_config(folder / CONFIG, imports)
    if problem := RunFolder(folder).config_problem():
        warn(f'{folder}: {problem}')
    return config


def check_sums(folder: Path, among: Collection[str] | None = None) -> None:
    """Refuse a published folder whose files are not those that were published: all of them, and no others.

    Names that start with a dot are nobody's business here: file managers, downloads and the Hub leave such files.

    Args:
        folder: the folder.
        among: the names that are looked at, where only these are downloaded and read. Default: None, for all.
    """
    try:
        lines = read_plainly(folder / SUMS, follow=True).decode().splitlines()
    except FileNotFoundError:
        raise CheckpointError(f'{folder} has no {SUMS}: it is not whole; publish it again') from None
    except (OSError, ValueError) as error:
        raise CheckpointError(f'{folder / SUMS} cannot be read: {error}') from None
    sums = {name: expected for expected, _, name in (line.partition('  ') for line in lines)}
    there = {path.name for path in folder.iterdir() if not path.name.startswith('.')} - {SUMS}
    if among is not None:
        sums, there = {name: sums[name] for name in sums if name in among}, there & set(among)
    for name in sorted({WEIGHTS, CONFIG, *sums, *there}):
        if name not in there:
            raise CheckpointError(f'{folder / name} is not there: the folder is not whole; publish it again')
        if name not in sums:
            raise CheckpointError(f'{folder / name} is not listed in {SUMS}: it was not published with the others')
        if not (folder / name).is_file() or sha256_of(folder / name) != sums[name]:
            raise CheckpointError(f'{folder / name} is not the file that was published: its hash is not in {SUMS}')

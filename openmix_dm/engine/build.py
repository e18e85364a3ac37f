"""Build all that a run needs, so that what is wrong shows before the run has a folder."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from mmengine.config import Config
from torch import nn
from torch.utils.data import DataLoader

from openmix_dm.config.check_built import refusing
from openmix_dm.config.load import fingerprint
from openmix_dm.engine.loader import first_images
from openmix_dm.engine.runner import MixRunner
from openmix_dm.engine.shared_memory import check_shared_memory
from openmix_dm.errors import ConfigError, DataError
from openmix_dm.mixers import Mixer
from openmix_dm.registry import SCOPE
from openmix_dm.runs.model import build_model
from openmix_dm.structures import tensors_in
from openmix_dm.utils.dist import agree, build_together
from openmix_dm.utils.modules import digest
from openmix_dm.version import __version__


def build_runner(config: Config, phases: tuple[str, ...] = ('train', 'val')) -> MixRunner:
    """Build loaders, model and runner; for training also loop, optimiser and schedules."""
    loaders = build_together(lambda: {phase: build_loader(config, phase) for phase in phases})
    model = build_model(config)
    check_classes(model, loaders)
    set_up_streams(model, loaders.get('train'))
    check_sizes(model, loaders.get('train'))
    check_shared_memory(loaders)
    agree(lambda: identity(config, model, loaders))
    runner = MixRunner(
        model=model,
        work_dir=config.work_dir,
        **{key: value for phase, loader in loaders.items() for key, value in _phase(config, phase, loader).items()},
        default_hooks=config.get('default_hooks'),
        custom_hooks=config.get('custom_hooks'),
        visualizer=config.get('visualizer') if 'train' in loaders else None,
        log_level=config.get('log_level', 'INFO'),
        load_from=config.get('load_from'),
        resume=config.get('resume', False),
        launcher=config.get('launcher', 'none'),
        env_cfg=config.get('env_cfg', {}),
        default_scope=config.get('default_scope', SCOPE),
        randomness=config.randomness,
        experiment_name=config.get('experiment_name') or Path(config.filename or 'run').stem,
        cfg=config,
    )
    if 'train' in loaders:
        runner.build_training()
    return runner


def build_loader(config: Config, phase: str) -> DataLoader | None:
    """Build the loader of a phase; None if the config has none."""
    loader = config.get(f'{phase}_dataloader')
    if loader is None:
        return None
    with refusing(f'{phase}_dataloader'):
        return MixRunner.build_dataloader(loader, seed=config.randomness.seed)


def check_classes(model: nn.Module, loaders: dict[str, DataLoader | None]) -> None:
    """Refuse labels that the head has no output for, and training images that are all of one class."""
    outputs = getattr(getattr(model, 'head', None), 'num_classes', None)
    for phase, loader in loaders.items():
        dataset: Any = getattr(loader, 'dataset', None)
        classes, labels = getattr(dataset, 'num_classes', None), getattr(dataset, 'labels', None)
        if outputs is None or dataset is None:
            continue
        if classes is not None and classes > outputs:
            raise ConfigError(
                f'model.head.num_classes={outputs}, but the data set of {phase}_dataloader has {classes} classes'
            )
        low, high = (int(labels.min()), int(labels.max())) if labels is not None and len(labels) else (0, 0)
        if low < 0 or high >= outputs:
            raise ConfigError(
                f'{phase}_dataloader has the label {low if low < 0 else high}, but the head has {outputs} outputs '
                f'(model.head.num_classes), for labels from 0 to {outputs - 1}'
            )
        if phase == 'train' and labels is not None and len(labels) > 1 and low == high:
            raise DataError(
                f'all {len(labels):,} training images are of class {low}, so that there is nothing to tell apart; '
                'expected two classes or more: one folder for each below root/<split>, or different labels in the list'
            )


def check_sizes(model: nn.Module, loader: DataLoader | None) -> None:
    """Let the mixers of a model refuse the training images by their size; no image is read for those that take any."""
    mixers = [module for module in model.modules() if isinstance(module, Mixer)]
    picky = [mixer for mixer in mixers if type(mixer).check_size is not Mixer.check_size]
    if loader is None or not picky:
        return
    for size in {tuple(images.shape[-2:]) for images in tensors_in(first_images(loader)) if images.dim() >= 4}:
        for mixer in picky:
            with refusing(f'model: {type(mixer).__name__}'):
                mixer.check_size(*size)


def identity(config: Config, model: nn.Module, loaders: dict[str, DataLoader | None]) -> dict[str, str]:
    """Return what has to be the same on all ranks."""
    return {
        'the version of openmix_dm': __version__,
        'the version of torch': torch.__version__,
        'the config': fingerprint(config),
        **{f'the images of {phase}_dataloader': describe_data(loader) for phase, loader in loaders.items()},
        'the initial weights': digest(*model.state_dict().values()),
    }


def describe_data(loader: DataLoader | None) -> str:
    """Return how many images a loader has, and a hash of their labels."""
    if loader is None:
        return 'none'
    dataset: Any = loader.dataset
    labels = digest(torch.as_tensor(dataset.labels)) if hasattr(dataset, 'labels') else 'unknown'
    return f'{len(dataset)} images, labels {labels}'


def set_up_streams(model: Any, loader: DataLoader | None) -> None:
    """Tell a model that learns from streams about them; refuse streams, or a model, without the other."""
    if loader is None:
        return
    facts = getattr(loader.dataset, 'facts', None)
    if (facts is None) != (not hasattr(model, 'setup')):
        raise ConfigError(
            f'{type(model).__name__} cannot learn from a data set of type {type(loader.dataset).__name__}: '
            'SemiClassifier takes Streams, and only it does'
        )
    if facts is not None:
        with refusing('model'):
            model.setup(facts)


def _phase(config: Config, phase: str, loader: DataLoader | None) -> dict[str, Any]:
    if loader is None:
        return {}
    parts = {f'{phase}_dataloader': loader, f'{phase}_cfg': config[f'{phase}_cfg']}
    if phase == 'train':
        return {**parts, 'optim_wrapper': config.optim_wrapper, 'param_scheduler': config.get('param_scheduler')}
    return {**parts, f'{phase}_evaluator': config[f'{phase}_evaluator']}


def describe_reading(loaders: dict[str, DataLoader | None]) -> dict[str, Any]:
    """Return decoder and interpolations of each phase; a data set that lives in tensors has no decoder.

    Images are smoothed where they get smaller (`antialias`); runs of earlier versions, which did not, lack the entry.
    """
    datasets = {phase: loader.dataset for phase, loader in loaders.items() if loader is not None}
    return {
        'decoder': {phase: getattr(dataset, 'imdecode_backend', None) for phase, dataset in datasets.items()},
        'interpolation': {phase: interpolations(dataset) for phase, dataset in datasets.items()},
        'antialias': True,
    }


def interpolations(dataset: Any) -> dict[str, str]:
    """Return the interpolation of each transform that has one."""
    return {type(part).__name__: part.interpolation for part in _parts(dataset) if hasattr(part, 'interpolation')}


def _parts(whole: Any) -> Iterator[Any]:
    """Walk through transforms, and those inside of them."""
    for part in getattr(whole, 'transforms', ()):
        yield part
        yield from _parts(part)

"""A folder that anybody can load without running anything: safetensors, plain config, numbers, hashes."""

import json
from pathlib import Path
from typing import Any

import torch
from mmengine.config import Config
from torch import Tensor, nn

from openmix_dm.config import load as configs
from openmix_dm.errors import CheckpointError, ConfigError
from openmix_dm.export.loaded_model import CARD, class_names, load
from openmix_dm.runs.folder import CONFIG, RunFolder
from openmix_dm.runs.model import SUMS, WEIGHTS, TrainedModel
from openmix_dm.utils.files import sha256_of, write_atomically, written_by_name
from openmix_dm.utils.tensor_files import CONTENT_SUM, content_hash
from openmix_dm.version import __version__

KEPT = ('final', 'seed', 'hours', 'images_per_s', 'peak_memory_mb', 'hardware', 'world_size', 'config_hash', 'proof')


def publish(trained: TrainedModel, out: Path, ema: bool = False) -> None:
    """Write a model to a new folder, read it back and compare."""
    from safetensors.torch import save_file

    if out.exists() and any(out.iterdir()):
        raise ConfigError(f'{out} is not empty: nothing is overwritten')
    out.mkdir(parents=True, exist_ok=True)
    weights = weights_of(trained.model)
    described = {'format': 'pt', 'openmix_dm': __version__, CONTENT_SUM: content_hash(weights)}
    with written_by_name(out / WEIGHTS) as file:
        save_file(weights, file, metadata=described)
    write_atomically(out / CONFIG, configs.to_text(public_config(trained.config)))
    write_atomically(out / CARD, json.dumps(card(trained, ema), indent=1, allow_nan=False) + '\n')
    sums = [f'{sha256_of(out / name)}  {name}\n' for name in (WEIGHTS, CONFIG, CARD)]
    write_atomically(out / SUMS, ''.join(sums))
    check(trained.model, out)


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """Return what evaluation needs, without a learned mixer or terms of a loss; each tensor with memory of its own."""
    dropped = tuple(f'{part}.' for part in getattr(model, 'training_only', ()))
    return {
        name: value.detach().cpu().contiguous().clone()
        for name, value in model.state_dict().items()
        if not name.startswith(dropped)
    }


def public_config(config: Config) -> Config:
    """Return the config without what belongs to one machine; the weights come with it, so no file is named for them."""
    public = Config(configs.plain(config))
    backbone = public.model.get('backbone', {})
    if backbone.get('pretrained') not in (None, 'timm'):
        backbone['pretrained'] = None
    return public


def card(trained: TrainedModel, ema: bool) -> dict[str, Any]:
    """Say what the model is and how good it is, in the numbers of its run."""
    folder = trained.checkpoint.parent
    summary = RunFolder(folder).read()
    return {
        'name': Path(str(summary.get('config', trained.config.filename))).stem,
        'version': __version__,
        'checkpoint': trained.checkpoint.name,
        'weights': 'averaged (EMA)' if ema else 'trained',
        'parameters': sum(parameter.numel() for parameter in trained.model.parameters()),
        'classes': class_names(trained.config, trained.model, folder),
        'metrics': {name: summary[name] for name in KEPT if name in summary},
    }


def check(model: nn.Module, out: Path) -> None:
    """Load the folder as a stranger would; every weight has to be the same, bit for bit."""
    again = load(out, device='cpu').model.state_dict()
    for name, value in weights_of(model).items():
        if not torch.equal(again[name], value):
            raise CheckpointError(f'{out}: {name} came back changed')

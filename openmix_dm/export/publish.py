"""A folder that anybody can load without running anything: safetensors, plain config, numbers, a card, hashes."""

import json
from pathlib import Path
from typing import Any

import torch
from mmengine.config import Config
from torch import Tensor, nn

from openmix_dm.config import load as configs
from openmix_dm.errors import CheckpointError, ConfigError
from openmix_dm.export.loaded_model import class_names, load
from openmix_dm.export.model_card import CARD, CURVE, card_text, curve_picture
from openmix_dm.runs.folder import CONFIG, RunFolder, check_shapes
from openmix_dm.runs.hub_snapshot import FACTS, SUMS, WEIGHTS
from openmix_dm.runs.model import TrainedModel
from openmix_dm.utils.files import read_plainly, sha256_of, write_atomically, written_by_name
from openmix_dm.utils.tensor_files import CONTENT_SUM, content_hash
from openmix_dm.version import __version__

KEPT = (
    *('final', 'seed', 'epochs', 'hours', 'images_per_s', 'peak_memory_mb', 'hardware', 'world_size', 'config_hash'),
    'proof',
)


def publish(
    trained: TrainedModel, out: Path, ema: bool = False, license: str = 'apache-2.0', address: str | None = None
) -> None:
    """Write a model to a new folder, read it back and compare.

    Args:
        trained: the model.
        out: the folder.
        ema: its weights are the averaged ones. Default: False.
        license: of the weights, as the Hub spells it. Default: 'apache-2.0'.
        address: what its card says to load it by, such as hf://OWNER/NAME. Default: None, for the folder.
    """
    from safetensors.torch import save_file

    if out.exists() and any(out.iterdir()):
        raise ConfigError(f'{out} is not empty: nothing is overwritten')
    out.mkdir(parents=True, exist_ok=True)
    weights, source = weights_of(trained.model), trained.checkpoint.parent
    described = {'format': 'pt', 'openmix_dm': __version__, CONTENT_SUM: content_hash(weights)}
    with written_by_name(out / WEIGHTS) as file:
        save_file(weights, file, metadata=described)
    config = public_config(trained.config)
    write_atomically(out / CONFIG, configs.to_text(config))
    facts = gather_facts(trained, ema)
    write_atomically(out / FACTS, json.dumps(facts, indent=1, allow_nan=False) + '\n')
    curve = curve_picture(RunFolder(source).records()) or _curve_beside(source)
    if curve is not None:
        write_atomically(out / CURVE, curve)
    write_atomically(out / CARD, card_text(facts, config, license, address or out.name, curve is not None))
    written = [name for name in (WEIGHTS, CONFIG, FACTS, CURVE, CARD) if (out / name).exists()]
    write_atomically(out / SUMS, ''.join(f'{sha256_of(out / name)}  {name}\n' for name in written))
    check(trained.model, out)


def _curve_beside(folder: Path) -> bytes | None:
    """Return the picture of a model that was published before: its records are not there any more."""
    path = folder / CURVE
    return read_plainly(path, follow=True) if (folder / FACTS).is_file() and path.is_file() else None


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


def gather_facts(trained: TrainedModel, ema: bool) -> dict[str, Any]:
    """Say what the model is and how good it is, in the numbers of its run."""
    folder = trained.checkpoint.parent
    if (folder / FACTS).is_file():  # published before
        return {**_read_facts(folder / FACTS), 'version': __version__}
    summary, validations = RunFolder(folder).read(), RunFolder(folder).records('val')
    return {
        'name': Path(str(summary.get('config', trained.config.filename))).stem,
        'version': __version__,
        'checkpoint': trained.checkpoint.name,
        'weights': 'averaged (EMA)' if ema else 'trained',
        'parameters': sum(parameter.numel() for parameter in trained.model.parameters()),
        'classes': class_names(trained.config, trained.model, folder),
        'metrics': {name: summary[name] for name in KEPT if name in summary} | {'validations': len(validations)},
    }


def _read_facts(path: Path) -> dict[str, Any]:
    """Return the facts of a published folder, which may be anybody's."""
    try:
        facts = json.loads(read_plainly(path, follow=True))
        metrics = facts.setdefault('metrics', {})
        check_shapes(metrics)
        if not isinstance(facts['name'], str) or not isinstance(metrics.setdefault('validations', 0), int):
            raise ValueError(f'name is {facts["name"]!r:.50}')
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(f'{path} is damaged: {error}') from None
    return facts


def check(model: nn.Module, out: Path) -> None:
    """Load the folder as a stranger would; every weight has to be the same, bit for bit."""
    again = load(out, device='cpu').model.state_dict()
    for name, value in weights_of(model).items():
        if not torch.equal(again[name], value):
            raise CheckpointError(f'{out}: {name} came back changed')

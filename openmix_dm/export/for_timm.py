"""A trained network as timm keeps its own: a state dict that `timm.create_model` loads, checked by doing so."""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from openmix_dm.backbones.timm_backbone import TimmBackbone, accepted_options
from openmix_dm.errors import ConfigError, NumericError, first_line
from openmix_dm.export.loaded_model import transform_of
from openmix_dm.runs.model import TrainedModel
from openmix_dm.utils.files import written_by_name

TOLERANCE = 1e-4  # largest difference of a logit that is accepted, relative to the largest logit


def export_timm(trained: TrainedModel, out: Path) -> str:
    """Write backbone and classifier to a .safetensors file; return the Python that loads it.

    What timm does not load strictly, or answers otherwise than the model does, is not written.
    """
    from safetensors.torch import save_file

    backbone, arguments = _network(trained), _arguments(trained)
    weights = timm_weights(trained.model, _create(backbone.name, arguments), backbone)
    mean, std = transform_of(trained.config, trained.model).mean_and_std
    said = {'architecture': backbone.name, 'arguments': arguments, 'mean': mean, 'std': std}
    described = {'format': 'pt', **{name: json.dumps(value) for name, value in said.items()}}
    with tempfile.TemporaryDirectory() as folder:
        unchecked = Path(folder, 'unchecked.safetensors')  # timm knows the format by the name
        save_file(weights, unchecked, metadata=described)
        check(trained.model, backbone, _create(backbone.name, {**arguments, 'checkpoint_path': str(unchecked)}))
        with written_by_name(out) as file:
            shutil.copyfile(unchecked, file)
    words = ', '.join(f'{name}={value!r}' for name, value in {**arguments, 'checkpoint_path': str(out)}.items())
    return f'timm.create_model({backbone.name!r}, {words})'


def _network(trained: TrainedModel) -> TimmBackbone:
    backbone: Any = getattr(trained.model, 'backbone', None)
    if not isinstance(backbone, TimmBackbone):
        raise ConfigError(
            f'timm has no network {type(backbone).__name__}: only a run whose backbone is a TimmBackbone can be given '
            'to it; publish this one, or export it to ONNX'
        )
    if trained.config.model.backbone.get('stem') is not None:
        raise ConfigError(
            f'timm has no {backbone.name} with the stem {trained.config.model.backbone.stem!r}: its own reads larger '
            'images; publish this run, or export it to ONNX'
        )
    return backbone


def _arguments(trained: TrainedModel) -> dict[str, Any]:
    """Return what `timm.create_model` has to be told, beside the name."""
    config, head = trained.config.model.backbone, getattr(trained.model, 'head', None)
    classifier: Any = getattr(head, 'fc', None)
    if not isinstance(classifier, nn.Linear):
        raise ConfigError(f'the classifiers of timm are one linear layer; this run has a {type(head).__name__}')
    # to a network that takes images of any size, TimmBackbone does not hand it on either
    sized = config.get('img_size') is not None and 'img_size' in accepted_options(config.name)
    size = {'img_size': config.img_size} if sized else {}
    return {'num_classes': classifier.out_features, **size, **(config.get('options') or {})}


def _create(name: str, arguments: dict[str, Any]) -> Any:
    import timm

    try:
        return timm.create_model(name, **arguments)
    except RuntimeError as error:  # of weights that do not fit
        raise NumericError(f'timm does not load what was made for it: {first_line(error)}') from error


def timm_weights(model: Any, reference: nn.Module, backbone: TimmBackbone) -> dict[str, Tensor]:
    """Return the weights under the names that timm has for them; the classifier is what its network has besides."""
    own, linear = backbone.model.state_dict(), model.head.fc
    wanted = [name for name in reference.state_dict() if name not in own]
    ends = {name.rpartition('.')[2]: name for name in wanted}
    if len(wanted) != 2 or set(ends) != {'weight', 'bias'}:
        raise ConfigError(
            f'{backbone.name} of timm has more than one classifier ({", ".join(wanted)}), this run has one'
        )
    named = {**own, ends['weight']: linear.weight, ends['bias']: linear.bias}
    return {name: value.detach().cpu().contiguous().clone() for name, value in named.items()}


def check(model: Any, backbone: TimmBackbone, loaded: nn.Module) -> None:
    """Ask timm's network and ours about the same images; refuse logits that differ."""
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(2, 3, *backbone.example_size, generator=generator)
    with torch.no_grad():
        expected, found = model.cpu().eval()(images), loaded.eval()(images)
    worst = float((found - expected).abs().max() / expected.abs().max().clamp(min=1e-6))
    if not worst <= TOLERANCE:
        raise NumericError(
            f'the network of timm does not compute what the model does: logits differ by {worst:.2g} (relative); '
            'nothing was written'
        )

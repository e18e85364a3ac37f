"""The values of a config that a table is about, in one flat dict."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mmengine.config import Config

# Sides of images that a data set serves as they are.
NATIVE_SIZES = {'Digits': 16, 'CIFAR10': 32, 'CIFAR100': 32, 'TinyImageNet': 64}


def resolved_values(config: Config) -> dict[str, Any]:
    """Return mixer, alpha, loss, eta, t, xi, epochs, optimiser, lr, weight decay, batch, resolution, share of images.

    A mixture has a list of alphas, and one of each value that its losses differ in, in the order of its policies.
    """
    optimizer = config.optim_wrapper.optimizer
    mixer, loss = mixing_of(config.model)
    policies = policies_of(mixer)
    losses = loss['losses'] if loss['type'] == 'ByPolicy' else [loss]
    train = config.get('train_cfg') or {}
    return {
        'mixer_type': ' | '.join(policy['type'] for policy in policies),
        'alpha': _one_or_list([_alpha(policy) for policy in policies]),
        'loss_type': ' | '.join(dict.fromkeys(part['type'] for part in losses)),
        'two_hot': any(part.get('two_hot', False) for part in losses),
        **{name: _one_or_list([part.get(name) for part in losses]) for name in ('eta', 't', 'xi')},
        'epochs': train.get('max_epochs'),
        'steps': train.get('max_iters'),
        'optimiser': optimizer['type'],
        'lr': optimizer['lr'],
        'weight_decay': optimizer.get('weight_decay', 0),
        'batch': config.get('global_batch_size'),
        'resolution': resolution(config, 'train'),
        'ema': ((config.get('default_hooks') or {}).get('ema') or {}).get('decay'),
        'fraction': _fraction(config.train_dataloader),
        'labels': config.train_dataloader.dataset.get('count'),
    }


def _fraction(loader: Mapping[str, Any]) -> float:
    """Return the share of the images that are trained on, or that have labels."""
    share = loader['dataset'].get('fraction')
    return loader.get('sampler', {}).get('fraction', 1.0) if share is None else share


def mixing_of(model: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the mixer of a model, and the loss of what it has mixed.

    A semi-supervised model has both in one of its terms, of which `mix` is the one that the paper adds to a method.
    """
    loss = model['head']['loss']
    if 'terms' not in model:
        return model.get('mixer') or {'type': 'NoMix'}, loss
    terms = [term for name, term in model['terms'].items() if term is not None and 'mixer' in term]
    if not terms:
        return {'type': 'NoMix'}, loss
    term = model['terms'].get('mix') or terms[0]
    own = term.get('loss') or ({'type': 'DecoupledCE', 'eta': term['eta']} if term.get('eta') else loss)
    return term['mixer'], own


def policies_of(mixer: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the mixers of a mixture, or the one."""
    return mixer['mixers'] if mixer['type'] == 'RandomMixer' else [mixer]


def resolution(config: Config, phase: str) -> int:
    """Return the side of the images that a phase feeds the network."""
    dataset = config[f'{phase}_dataloader'].dataset
    views = dataset.get('labelled_views') or [dataset.get('transforms', ())]
    sizes = [transform['size'] for transform in _flat(views[0]) if isinstance(transform.get('size'), int)]
    if sizes:
        return sizes[-1]
    inner = dataset.get('dataset') or dataset  # streams have their images from another data set
    return inner.get('size', NATIVE_SIZES.get(inner['type'], 224))


def _flat(transforms: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for transform in transforms:
        if 'transforms' in transform:
            yield from _flat(transform['transforms'])
        else:
            yield transform


def _alpha(policy: Mapping[str, Any]) -> float | None:
    return _alpha(policy['mixer']) if 'mixer' in policy else policy.get('alpha')


def _one_or_list(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 or all(value is None for value in values) else values

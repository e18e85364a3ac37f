"""README.md of a published model, with the head that the Hugging Face Hub reads, and its training curve."""

import io
from collections.abc import Sequence
from typing import Any

from mmengine.config import Config

from openmix_dm.config import load as configs
from openmix_dm.runs.records import MEDIAN_FROM, Record
from openmix_dm.visualization import charts
from openmix_dm.visualization.style import small_png, styled

CARD, CURVE = 'README.md', 'training_curve.png'
# Data sets of ours that the Hub has under another name.
HUB_NAMES = {
    'CIFAR10': 'uoft-cs/cifar10',
    'CIFAR100': 'uoft-cs/cifar100',
    'ImageNet': 'ILSVRC/imagenet-1k',
    'TinyImageNet': 'zh-plus/tiny-imagenet',
}
BODY = """# {name}

{parts}, trained on {data} by openmix_dm {version}, the home of
[Decoupled Mixup](https://arxiv.org/abs/2203.10761).

## Results

{results}

{training}
{picture}
## Use

```python
import openmix_dm

model, transform, classes = openmix_dm.load({address!r})
logits = model(transform('image.jpg')[None])  # of `classes`
```

Nothing in this folder is run as code: the weights are safetensors, `config.py` is parsed as plain values, and
`SHA256SUMS` lists every file. `transform` takes a file, a PIL image or an RGB array, and normalises it.

## Config

<details><summary>config.py, all that it inherits included</summary>

{fence}python
{config}{fence}

</details>

## Licence

The weights: {license}. The data that they were trained on have terms of their own.
"""


def card_text(facts: dict[str, Any], config: Config, license: str, address: str, has_picture: bool) -> str:
    """Return the card of a model.

    Args:
        facts: what model.json says.
        config: the whole config.
        license: of the weights, as the Hub spells it.
        address: what `openmix_dm.load` takes.
        has_picture: the training curve is beside it.
    """
    text = configs.to_text(config)
    body = BODY.format(
        name=facts['name'],
        parts=_parts(config, facts),
        data=data_of(config)[0],
        version=facts['version'],
        results=_results(facts['metrics']),
        training=_training(facts),
        picture=f'\n![loss and top-1 over epochs]({CURVE})\n' if has_picture else '',
        address=address,
        fence='````' if '```' in text else '```',
        config=text,
        license=license,
    )
    return f'---\n{_head(facts, config, license)}\n---\n\n{body}'


def _head(facts: dict[str, Any], config: Config, license: str) -> str:
    from huggingface_hub import EvalResult, ModelCardData

    final, (shown, on_hub) = facts['metrics'].get('final') or {}, data_of(config)
    told: dict[str, Any] = {
        'task_type': 'image-classification', 'dataset_name': shown, 'dataset_type': on_hub, 'metric_type': 'accuracy'
    }  # fmt: skip
    results = [
        EvalResult(**told, metric_name=f'top-1 (%), {words}', metric_value=value)
        for words, value in _numbers(final, facts['metrics']['validations']).items()
    ]
    kinds = [_type_of(config.model.get(part)) for part in ('backbone', 'mixer')]
    head = ModelCardData(
        license=license,
        library_name='openmix_dm',
        pipeline_tag='image-classification',
        tags=list(dict.fromkeys(['openmix_dm', 'mixup', *(kind.lower() for kind in kinds if kind)])),
        datasets=[on_hub],
        metrics=['accuracy'],
        model_name=facts['name'] if results else None,
        eval_results=results or None,
    )
    return head.to_yaml()


def data_of(config: Config) -> tuple[str, str]:
    """Return what the data set of a config is called, here and on the Hub."""
    loader = config.get('train_dataloader') or config.get('val_dataloader') or {}
    dataset = loader.get('dataset', {})
    kind = _type_of(dataset) or 'unknown data'
    if kind == 'Streams':
        kind = _type_of(dataset.get('dataset')) or kind
    return kind, HUB_NAMES.get(kind, kind.lower())


def _type_of(part: Any) -> str:
    return str(part.get('type', '')) if isinstance(part, dict) else ''


def _parts(config: Config, facts: dict[str, Any]) -> str:
    """Name the backbone, the mixer and the loss."""
    backbone, mixer = config.model.get('backbone', {}), _type_of(config.model.get('mixer'))
    loss = _type_of((config.model.get('head') or {}).get('loss'))
    name = backbone.get('name') or f'{_type_of(backbone)}{f"-{backbone.depth}" if "depth" in backbone else ""}'
    mixed = f' with {mixer}' if mixer and mixer != 'NoMix' else ''
    return f'{name} ({facts["parameters"]:,} parameters){mixed}{f", loss {loss}" if loss else ""}'


def _numbers(final: dict[str, float], validations: int) -> dict[str, float]:
    """Return the numbers that are told of a run: last, best, and the median where there were enough validations."""
    words = {'last': 'last', 'best': 'best', 'median_last10': 'median of the last 10 validations'}
    told = {key: text for key, text in words.items() if key != 'median_last10' or validations >= MEDIAN_FROM}
    both = {**told, **{f'ema_{key}': f'{text}, averaged weights (EMA)' for key, text in told.items()}}
    return {text: round(final[key], 2) for key, text in both.items() if key in final}


def _results(metrics: dict[str, Any]) -> str:
    numbers = _numbers(metrics.get('final') or {}, metrics['validations'])
    if not numbers:
        return 'Nothing is known of its accuracy: it was published without its run.'
    rows = [f'| {words} | {value:.2f} |' for words, value in numbers.items()]
    return '\n'.join(['| top-1 (%) | |', '|---|---|', *rows])


def _training(facts: dict[str, Any]) -> str:
    """Say what was trained, for how long and on what, as far as it is known."""
    metrics = facts['metrics']
    hours, gpus = metrics.get('hours'), (metrics.get('hardware') or {}).get('gpus')
    words = [
        f'Weights: {facts["weights"]} ({facts["checkpoint"]})',
        f'{metrics["epochs"]} epochs' if metrics.get('epochs') else '',
        f'seed {metrics["seed"]}' if metrics.get('seed') is not None else '',
        f'{hours:.2f} hours' if hours else '',
        (f'on {len(gpus)} x {gpus[0]}' if gpus else 'on a CPU') if hours else '',
    ]
    return ', '.join(word for word in words if word) + '.'


@styled
def curve_picture(records: Sequence[Record]) -> bytes | None:
    """Return loss and top-1 over epochs as a PNG; None where nothing was recorded."""
    names = {name for record in records for name in record if name == 'top1' or name.endswith('_top1')}
    panels = {
        'loss': {'training': _points(records, 'train', 'loss'), 'validation': _points(records, 'val', 'loss')},
        'top-1 (%)': {name: _points(records, 'val', name) for name in sorted(names)},
    }
    if not any(points for lines in panels.values() for points in lines.values()):
        return None
    figure, axes = charts.plain_figure(2)
    for axis, (title, lines) in zip(axes[0], panels.items(), strict=True):
        for number, (name, points) in enumerate(lines.items()):
            if points:
                shown = charts.line_style(number) | ({} if len(points) < 30 else {'marker': ''})
                axis.plot(list(points), list(points.values()), label=name, **shown)
        charts.whole_numbers(axis)
        charts.finish(axis, title, 'epoch', title)
        charts.add_legend(figure, axis)
    file = io.BytesIO()
    figure.savefig(file, format='png')
    return small_png(file.getvalue())


def _points(records: Sequence[Record], kind: str, name: str) -> dict[int, float]:
    """Return the last number of each epoch."""
    return {
        record['epoch']: record[name]
        for record in records
        if record['kind'] == kind and isinstance(record.get(name), int | float)
    }

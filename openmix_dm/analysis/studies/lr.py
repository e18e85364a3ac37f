"""The learning rates of configs over their epochs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from mmengine.config import Config

from openmix_dm.config.check import validate
from openmix_dm.config.check_built import refusing
from openmix_dm.config.load import load_config
from openmix_dm.config.resolve import resolve
from openmix_dm.errors import ConfigError
from openmix_dm.registry import PARAM_SCHEDULERS
from openmix_dm.visualization import charts
from openmix_dm.visualization.style import styled

POINTS = 500  # of a curve at most: a figure shows no more


def run(
    configs: Sequence[str], cfg_options: Sequence[str], iterations: int, relative: bool
) -> tuple[Any, dict[str, Any]]:
    """Step through the schedules; return figure and record."""
    if iterations < 1:
        raise ConfigError(f'--iterations must be at least 1, got {iterations}')
    rows = []
    for path in configs:
        config = load_config(path, cfg_options)
        validate(config, cfg_options)
        rows.append({'name': Path(path).stem, 'config': path, **schedule(resolve(config, 1), iterations)})
    return draw(rows, relative), {'runs': rows}


def schedule(config: Config, iterations: int) -> dict[str, Any]:
    """Return the learning rate over the epochs of a resolved config, by its own schedulers."""
    epochs = config.train_cfg.get('max_epochs')
    if epochs is None:
        raise ConfigError(f'{config.filename} trains by iterations; only training by epochs is drawn')
    # stands for all parameters: SGD, because schedules look at the learning rate only
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=config.optim_wrapper.optimizer.lr)
    schedulers = build_schedulers(config, optimizer, iterations)
    rates = []
    for done in range(epochs * iterations):
        rates.append(optimizer.param_groups[0]['lr'])
        optimizer.step()
        for scheduler in schedulers:
            if not scheduler.by_epoch or (done + 1) % iterations == 0:
                scheduler.step()
    step = max(1, len(rates) // POINTS)
    kept = sorted({*range(0, len(rates), step), len(rates) - 1})
    return {'epochs': [done / iterations for done in kept], 'lr': [rates[done] for done in kept], 'max_epochs': epochs}


def build_schedulers(config: Config, optimizer: torch.optim.Optimizer, iterations: int) -> list[Any]:
    """Build the schedulers as the runner does, for so many iterations an epoch."""
    found = config.get('param_scheduler') or []
    built = []
    for each in found if isinstance(found, list) else [found]:
        values = {**each.to_dict(), 'optimizer': optimizer}
        cls = PARAM_SCHEDULERS.get(values['type'])
        with refusing('param_scheduler'):
            if values.pop('convert_to_iter_based', False):
                del values['type']
                built.append(cls.build_iter_from_epoch(**values, epoch_length=iterations))
            else:
                built.append(PARAM_SCHEDULERS.build(values))
    return built


@styled
def draw(rows: list[dict[str, Any]], relative: bool) -> Any:
    """Draw the learning rates."""
    figure, axes = charts.plain_figure()
    axis = axes[0][0]
    for number, row in enumerate(rows):
        x = [epoch / row['max_epochs'] for epoch in row['epochs']] if relative else row['epochs']
        axis.plot(x, row['lr'], color=charts.line_style(number)['color'], label=row['name'])
    charts.finish(axis, 'Learning rate', 'share of the training' if relative else 'epoch', 'learning rate')
    charts.add_legend(figure, axis)
    return figure

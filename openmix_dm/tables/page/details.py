"""What is said of each config on the page: mixed samples, settings, and what its runs cost."""

from html import escape
from typing import Any

from openmix_dm.config import load as configs
from openmix_dm.tables.listing import describe_config
from openmix_dm.tables.page.ran import Setting, settings_that_ran
from openmix_dm.tables.page.samples import Album
from openmix_dm.tables.plan import config_path
from openmix_dm.tables.results import Result, Results, Trial, machine_of

COST = ('seed', 'state', 'number', 'epochs', 'hours', 'memory', 'images/s', 'threads or GPUs', 'config hash')


def details(results: Results) -> str:
    """Return a section for each config that has runs."""
    album = Album()
    sections: dict[str, str] = {}
    for result in results.by_id.values():
        if any(trial.record for trial in result.trials):
            name = describe_config(result.cell)
            sections[name] = sections.get(name) or section(result, album)
    return '\n'.join(sections.values())


def section(result: Result, album: Album) -> str:
    """Return the section of a config: what its runs were trained with, and what they cost."""
    cell = result.cell
    rows = ''.join(f'<tr>{"".join(f"<td>{escape(text)}</td>" for text in cost(trial))}</tr>' for trial in result.trials)
    head = ''.join(f'<th scope="col">{name}</th>' for name in COST)
    mean = f'{result.mean.value:.2f}' if result.mean else ''
    ran = settings_that_ran(result)
    several = len(ran) > 1
    return (
        f'<details class="run" id="{escape(cell.id, quote=True)}"><summary><b>{escape(cell.row)}</b>, '
        f'{escape(cell.column)}<code>{escape(describe_config(cell))}</code><span class="mean">{mean}</span></summary>'
        f'{"".join(trained_with(each, result, album, several) for each in ran)}'
        f'<div class="wide" tabindex="0"><table class="cost sortable"><caption>Runs of {escape(cell.row)}, '
        f'{escape(cell.column)}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></details>'
    )


def trained_with(ran: Setting, result: Result, album: Album, several: bool) -> str:
    """Return one setting that runs of a cell have: in a line, in pictures, and wholly."""
    seeds = f'{"seed" if len(ran.seeds) == 1 else "seeds"} {", ".join(map(str, ran.seeds))}: ' if several else ''
    if ran.config is None:
        return f'<p class="note">{escape(seeds + ran.problem)}</p>'
    return (
        f'<p>{escape(seeds + headline(ran.config.to_dict()))}</p>{pictures(album, ran, result)}'
        f'<details class="config"><summary>the whole config</summary>'
        f'<pre tabindex="0">{escape(configs.to_text(ran.config))}</pre></details>'
    )


def headline(config: dict[str, Any]) -> str:
    """Say in one line what a config is: backbone, mixer, loss, epochs, batch, optimiser."""
    model = part_of(config, 'model')
    parts = {
        'backbone': call(part_of(model, 'backbone')),
        'mixer': call(part_of(model, 'mixer')),
        'loss': call(part_of(part_of(model, 'head'), 'loss')),
        'optimiser': call(part_of(part_of(config, 'optim_wrapper'), 'optimizer')),
        'epochs': str(part_of(config, 'train_cfg').get('max_epochs', '?')),
        'batch': str(config.get('global_batch_size', '?')),
    }
    return '; '.join(f'{name} {text}' for name, text in parts.items())


def part_of(config: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a part of a config; nothing where a folder of anybody's has something else there."""
    found = config.get(name)
    return found if isinstance(found, dict) else {}


def call(part: dict[str, Any]) -> str:
    """Return a part of a config as a call: Mixup(alpha=0.2)."""
    arguments = ', '.join(f'{key}={value!r}' for key, value in part.items() if key != 'type')
    return f'{part.get("type", "?")}({arguments})'


def pictures(album: Album, ran: Setting, result: Result) -> str:
    """Return mixed samples: images of the table's data set, which is the user's own, mixed as the runs have done it."""
    dataset = configs.load_config(config_path(result.cell), result.cell.options).get('val_dataloader', {})
    found = album.pictures(ran.config.get('model') if ran.config else None, dataset.get('dataset'))
    if isinstance(found, str):
        return f'<p class="note">{escape(found)}</p>'
    figures = (
        f'<figure><img src="{uri}" alt="a mixed sample"><figcaption>{escape(caption)}</figcaption></figure>'
        for uri, caption in found
    )
    return f'<div class="samples">{"".join(figures)}</div>'


def cost(trial: Trial) -> tuple[str, ...]:
    """Return the cells of a run's row of costs."""
    record, state = trial.record, trial.state
    machine = machine_of(record) if record.get('hardware') else ''
    hours, speed = record.get('hours'), record.get('images_per_s')
    epochs = f'{state.epoch}/{state.epochs}' if state.epochs else ''
    memory = record.get('peak_memory_mb')
    return (
        str(trial.seed),
        f'{state.kind} {state.cause}'.strip(),
        '' if trial.value is None else f'{trial.value:.2f}',
        epochs,
        f'{hours:.3f}' if hours is not None else '',
        f'{memory / 1024:.2f} GB' if memory else '',
        f'{speed:.0f}' if speed else '',
        machine,
        record.get('config_hash', ''),
    )

"""What is said of each config on the page: mixed samples, settings, and what its runs cost."""

from html import escape
from typing import Any

from openmix_dm.config import load as configs
from openmix_dm.tables.listing import describe_config
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
    """Return the section of a config."""
    cell = result.cell
    config = configs.load_config(config_path(cell), cell.options)
    rows = ''.join(f'<tr>{"".join(f"<td>{escape(text)}</td>" for text in cost(trial))}</tr>' for trial in result.trials)
    settings = escape(configs.to_text(config))
    mean = f'{result.mean.value:.2f}' if result.mean else ''
    return (
        f'<details id="{escape(cell.id, quote=True)}"><summary><b>{escape(cell.row)}</b>, {escape(cell.column)}'
        f'<code>{escape(describe_config(cell))}</code><span class="mean">{mean}</span></summary>'
        f'<p>{escape(headline(config.to_dict()))}</p>{pictures(album, config)}'
        f'<div class="wide"><table class="cost"><thead><tr>{"".join(f"<th>{name}</th>" for name in COST)}</tr></thead>'
        f'<tbody>{rows}</tbody></table></div>'
        f'<details class="config"><summary>the whole config</summary><pre>{settings}</pre></details></details>'
    )


def headline(config: dict[str, Any]) -> str:
    """Say in one line what a config is: backbone, mixer, loss, epochs, batch, optimiser."""
    model, wrapper = config.get('model', {}), config.get('optim_wrapper', {})
    parts = {
        'backbone': call(model.get('backbone', {})),
        'mixer': call(model.get('mixer', {})),
        'loss': call(model.get('head', {}).get('loss', {})),
        'optimiser': call(wrapper.get('optimizer', {})),
        'epochs': str(config.get('train_cfg', {}).get('max_epochs', '?')),
        'batch': str(config.get('global_batch_size', '?')),
    }
    return '; '.join(f'{name} {text}' for name, text in parts.items())


def call(part: dict[str, Any]) -> str:
    """Return a part of a config as a call: Mixup(alpha=0.2)."""
    arguments = ', '.join(f'{key}={value!r}' for key, value in part.items() if key != 'type')
    return f'{part.get("type", "?")}({arguments})'


def pictures(album: Album, config: configs.Config) -> str:
    """Return the mixed samples of a config."""
    found = album.pictures(config)
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
    epochs = f'{state.epoch}/{state.epochs}' if state.epochs else ''
    memory = record.get('peak_memory_mb')
    return (
        str(trial.seed),
        f'{state.kind} {state.cause}'.strip(),
        '' if trial.value is None else f'{trial.value:.2f}',
        epochs,
        f'{record["hours"]:.3f}' if record.get('hours') is not None else '',
        f'{memory / 1024:.2f} GB' if memory else '',
        f'{record["images_per_s"]:.0f}' if record.get('images_per_s') else '',
        machine,
        record.get('config_hash', ''),
    )

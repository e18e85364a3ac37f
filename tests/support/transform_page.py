"""The lists of docs/transforms.md, made of docstrings and signatures: `python tests/support/transform_page.py`."""

import enum
import inspect
import re
from pathlib import Path

import torch

from openmix_dm.registry import TRANSFORMS
from openmix_dm.visualization.transform_examples import known_names, takes_batches

PAGE = Path(__file__).resolve().parents[2] / 'docs' / 'transforms.md'
MARK = '<!-- From here on made by tests/support/transform_page.py. -->\n'


def page():
    """Return what has to stand below the mark."""
    own = {name: TRANSFORMS.get(name) for name in known_names() if '/' not in name}
    images = [entry(name, each) for name, each in own.items() if not takes_batches(each)]
    batches = [entry(name, each) for name, each in own.items() if takes_batches(each)]
    parts = ['## Ours, image by image', *images, '## Ours, whole batches', *batches]
    for package, title in (('torchvision', "torchvision v2's"), ('mmcv', "mmcv's")):
        parts += [f'## {title}', usable(package), 'Refused, with the reason that the check of a config gives:']
        parts += [refused(package)]
    return '\n' + '\n\n'.join(parts) + '\n'


def entry(name, target):
    """A transform of ours: its arguments as its docstring has them."""
    text = inspect.getdoc(target)
    first = text.split('\n\n')[0].replace('\n', ' ')
    lines = [f'* **`{name}`**({signature(target)}): {first}']
    section = re.search(r'^Args:\n((?:    .*\n?|\n)+)', text + '\n', re.M)
    for argument in re.split(r'^    (?=\w+:)', section[1], flags=re.M)[1:] if section else []:
        words, _, meaning = argument.partition(':')
        meaning = re.sub(r'\s*Default: .*', '', ' '.join(meaning.split()))
        lines.append(f'    * `{words}`: {meaning}'.replace('<', '&lt;'))  # not a tag of HTML
    return '\n'.join(lines)


def usable(package):
    bridge = TRANSFORMS.bridge(package)
    lines = ['| name | arguments | draws |', '|---|---|---|']
    for name in bridge.usable():
        adapter = TRANSFORMS.get(f'{package}/{name}')
        inner = 'as what is inside' if adapter.builds else 'no'
        draws = inner if name in bridge.deterministic else 'yes'
        lines.append(f'| `{package}/{name}` | {signature(adapter) or "none"} | {draws} |')
    return '\n'.join(lines)


def refused(package):
    """The reasons, and the names that each is given for."""
    names = {}
    for name, reason in sorted(TRANSFORMS.bridge(package).refused.items()):
        names.setdefault(reason, []).append(f'`{package}/{name}`')
    return '\n'.join(
        ['| name | why |', '|---|---|', *(f'| {", ".join(group)} | {why} |' for why, group in names.items())]
    )


def signature(target):
    """The arguments with their defaults, as a config writes them."""
    parameters = inspect.signature(target).parameters.values()
    return ', '.join(
        f'`{each.name}{"" if each.default is each.empty else f"={plain(each.default)!r}"}`' for each in parameters
    )


def plain(default):
    """What a config writes for a value."""
    if isinstance(default, enum.Enum):
        return default.value
    return str(default).removeprefix('torch.') if isinstance(default, torch.dtype) else default


if __name__ == '__main__':
    written = PAGE.read_text()
    PAGE.write_text(written[: written.index(MARK) + len(MARK)] + page())

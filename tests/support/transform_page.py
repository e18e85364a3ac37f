"""The lists of docs/transforms.md and their pictures, made of the code: `python tests/support/transform_page.py`."""

import enum
import inspect
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from openmix_dm.registry import TRANSFORMS
from openmix_dm.visualization.transform_examples import SIDE, known_names, takes_batches
from openmix_dm.visualization.transform_panels import Panel, montage, panels, read_photograph

PAGE = Path(__file__).resolve().parents[2] / 'docs' / 'transforms.md'
FOLDER = PAGE.parent / 'figures' / 'transforms'
PIXELS = 200  # side of a picture
ORIGINAL = 'photograph'
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
    """A transform of ours: its picture, and its arguments as its docstring has them."""
    text = inspect.getdoc(target)
    lines = [f'### `{name}`\n', f'{picture(name)}\n', text.split('\n\n')[0].replace('\n', ' ')]
    lines += [f'The picture: {shown_with(name)}.'] if shown_with(name) else []
    section = re.search(r'^Args:\n((?:    .*\n?|\n)+)', text + '\n', re.M)
    defaults = dict(each.strip('`').partition('=')[::2] for each in re.findall(r'`[^`]+`', signature(target)))
    for argument in re.split(r'^    (?=\w+:)', section[1], flags=re.M)[1:] if section else []:
        word, _, meaning = argument.partition(':')
        meaning = re.sub(r'\s*Default: .*', '', ' '.join(meaning.split()))
        default = f'={defaults[word]}' if defaults[word] else ''
        lines.append(f'* `{word}{default}`: {meaning}')
    lines.insert(next((place for place, line in enumerate(lines) if line.startswith('* ')), len(lines)), '')
    return '\n'.join(lines).rstrip()


def picture(name):
    """The picture of a transform, or a dash for one that leaves every image as it is."""
    shown = pictures().get(name)
    return '-' if shown is None else f'![{name}, {shown.size}]({file_of(name).relative_to(PAGE.parent)})'


def usable(package):
    bridge = TRANSFORMS.bridge(package)
    lines = ['| name | arguments | draws | what it does |', '|---|---|---|---|']
    for name in bridge.usable():
        adapter = TRANSFORMS.get(f'{package}/{name}')
        inner = 'as what is inside' if adapter.builds else 'no'
        draws = inner if name in bridge.deterministic else 'yes'
        lines.append(
            f'| `{package}/{name}` | {signature(adapter) or "none"} | {draws} | {picture(f"{package}/{name}")} |'
        )
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


# ---- pictures: what each transform makes of one photograph, a small file each ----


@dataclass(frozen=True)
class Picture:
    """What is in a file, and the size that the transformed image had."""

    pixels: np.ndarray
    size: str
    config: dict


@cache
def pictures():
    """Return the pictures by the names of their transforms; those that change no image are left out."""
    photograph = read_photograph(None)
    found = {panel.config['type']: as_picture(panel) for panel in panels(photograph, seed=0)}
    return {ORIGINAL: as_picture(Panel('', {'type': ORIGINAL}, photograph)), **found}


def as_picture(panel):
    """Put a result on a square at one scale, so that what has become smaller looks smaller."""
    image = montage(panel.image) if panel.image.ndim == 4 else panel.image
    room = max(*image.shape[:2], SIDE)
    square = np.full((room, room, 3), 242, np.uint8)
    top, left = (room - image.shape[0]) // 2, (room - image.shape[1]) // 2
    square[top : top + image.shape[0], left : left + image.shape[1]] = image
    small = Image.fromarray(square).resize((PIXELS, PIXELS), Image.Resampling.LANCZOS)
    *crops, height, width, _ = panel.image.shape
    size = f'{height} x {width}' + (f', {crops[0]} crops' if crops else '')
    return Picture(np.asarray(small), size, panel.config)


def file_of(name):
    """Return the file of a transform's picture."""
    return FOLDER / f'{name.replace("/", "_")}.webp'


def shown_with(name):
    """Return the arguments that the picture of a transform was made with."""
    return ', '.join(f'`{key}={as_config(value)}`' for key, value in pictures()[name].config.items() if key != 'type')


def as_config(value):
    """Write a value as configs do."""
    if isinstance(value, dict):
        return f'dict({", ".join(f"{key}={as_config(each)}" for key, each in value.items())})'
    return f'[{", ".join(map(as_config, value))}]' if isinstance(value, list) else repr(value)


def write_pictures():
    """Write all files anew, and remove those of transforms that are no longer there."""
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.glob('*.webp'):
        file.unlink()
    for name, picture in pictures().items():
        Image.fromarray(picture.pixels).save(file_of(name), quality=60, method=6)


if __name__ == '__main__':
    write_pictures()
    written = PAGE.read_text()
    PAGE.write_text(written[: written.index(MARK) + len(MARK)] + page())

"""Draw the house: python tests/support/house_drawing.py docs/figures/house.svg."""

import sys
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from openmix_dm.visualization.style import COLOURS, INK, SOFT, new_figure, styled, write_figure

# From the ground up; rooms of one floor stand side by side, the left one below the right one in the order of imports.
FLOORS = (
    {'ground': 'errors, structures (the contract), registry (the names), compat, invocation, version'},
    {'utils': 'files, progress, stats, dist, checks, keys'},
    {
        'losses': 'MCE, DM(CE), ...',
        'mixers': 'Mixup, CutMix, ...',
        'backbones': 'stages, weights',
        'heads': 'logits, loss',
        'classifiers': 'one step',
    },
    {'datasets': 'images, transforms, samplers, splits, prepare', 'semi': 'terms of a semi-supervised loss'},
    {'evaluation': 'metrics, attacks, calibration', 'visualization': 'pictures of mixing, charts'},
    {'config': 'load, check, check_built, refused, resolve, locate'},
    {'runs': 'one run on disk: folder, checkpoints, lock, records, state, model'},
    {'launch': 'processes: group, ranks, slurm, signals, failures'},
    {'engine': 'the training: session, build, runner, resumable, loops, loader, guard, optim, hooks, trackers'},
    {'analysis': 'studies, benchmarks', 'tables': 'any table: cells, plan, jobs, results'},
    {'paper': 'this paper: its cells, its rules', 'export': 'load, predict, publish, hub, onnx, timm'},
    {'commands': 'one file a command: arguments and words'},
)
BATCH = (
    ('commands', 'train.py CONFIG'),
    ('config', 'a checked config'),
    ('runs', 'a folder, locked'),
    ('engine', 'all is built; the loop'),
    ('datasets', 'images of the batch'),
    ('classifiers', 'preprocess, mix'),
    ('losses', 'loss of each sample'),
    ('engine', 'guard, step, record'),
)
NUMBER = (
    ('losses', 'a loss'),
    ('engine', 'added up by RecordHook'),
    ('runs', 'metrics.jsonl, run.json'),
    ('tables', 'trials, mean, gain'),
    ('commands', 'collect'),
)
WIDTH, HEIGHT, GAP = 7.4, 0.62, 0.1
SHADES = '#f6f8fa', '#eaeef2'  # of floors, in turns


@styled
def draw() -> Figure:
    """Return the figure."""
    figure = new_figure(12.6, 8.4)
    axis = figure.subplots()
    places = {}
    for level, floor in enumerate(FLOORS):
        width = (WIDTH - GAP * (len(floor) - 1)) / len(floor)
        for number, (room, words) in enumerate(floor.items()):
            left, bottom = number * (width + GAP), level * (HEIGHT + GAP)
            places[room] = bottom + HEIGHT / 2
            axis.add_patch(Rectangle((left, bottom), width, HEIGHT, fc=SHADES[level % 2], ec=SOFT, lw=0.8))
            axis.text(left + 0.1, bottom + HEIGHT - 0.09, room, fontsize=10, fontweight='bold', va='top')
            axis.text(left + 0.1, bottom + 0.07, words, fontsize=7.2, color=SOFT, va='bottom')
    axis.annotate('', (-0.25, 0.1), (-0.25, 8.5), arrowprops={'arrowstyle': '->', 'color': SOFT})
    axis.text(-0.42, 4.3, 'imports point to the ground', rotation=90, va='center', fontsize=9, color=SOFT)
    _route(axis, places, BATCH, WIDTH + 0.6, COLOURS[1], 'the way of one batch')
    _route(axis, places, NUMBER, WIDTH + 3.4, COLOURS[0], 'the way of one number')
    axis.set_xlim(-0.6, WIDTH + 5.6)
    axis.set_ylim(-0.1, 9.2)
    axis.axis('off')
    return figure


def _route(axis, places, stops, x, colour, title) -> None:
    seen: dict[float, int] = {}  # how often a floor was passed
    points = []
    wide = 0.24 if len({places[room] for room, _ in stops}) == len(stops) else 0.54
    for number, (room, words) in enumerate(stops, start=1):
        again = seen.get(places[room], 0)
        seen[places[room]] = again + 1
        point = (x + 0.3 * again, places[room] + 0.14 - 0.28 * again)
        points.append(point)
        axis.plot(*point, 'o', color=colour, markersize=12, zorder=3)
        axis.text(*point, str(number), color='white', fontsize=8, ha='center', va='center', zorder=4)
        axis.text(x + wide, point[1], words, fontsize=7.6, va='center', color=INK)
    axis.plot(*zip(*points, strict=True), color=colour, lw=1.0, alpha=0.55, zorder=2)
    axis.text(x - 0.15, 8.95, title, fontsize=10, fontweight='bold', color=colour)


if __name__ == '__main__':
    write_figure(Path(sys.argv[1]), draw())

"""Small models and batches of streams."""

from functools import cache

import torch
from conftest import ROOT

from openmix_dm.config.load import load_config
from openmix_dm.datasets.streams import StreamFacts
from openmix_dm.runs.model import build_model
from openmix_dm.semi.step_parts import Labelled, Step, Unlabelled

FOLDER = ROOT / 'configs' / 'digits_semi'
METHODS = sorted(path.stem.removeprefix('r8_') for path in FOLDER.glob('r8_*.py'))
CLASSES, IMAGES = 10, 50
RATIO = {'fixmatch': 2, 'uda': 2, 'flexmatch': 2}


@cache
def config(method):
    return load_config(FOLDER / f'r8_{method}.py')


def model(method, **options):
    """Build the model of a method of the digits, which has met streams of 50 unlabelled images."""
    settings = config(method).copy()
    settings.merge_from_dict(options)
    built = build_model(settings)
    built.setup(facts())
    return built


def facts(unlabelled=IMAGES, unlabelled_views=3):
    return StreamFacts(torch.full((CLASSES,), 4), unlabelled, 1, unlabelled_views)


def views(method):
    """How many views of the unlabelled images a method takes; none if it takes no images."""
    dataset = config(method).train_dataloader.dataset
    return 0 if dataset.get('unlabelled', 'all') is None else len(dataset.unlabelled_views)


def batch(method, size=4, pixels=8, seed=0):
    """Return a batch as the preprocessor gives it to the model."""
    generator = torch.Generator().manual_seed(seed)
    draw = lambda n: torch.randn(n, 3, pixels, pixels, generator=generator)  # noqa: E731
    data = {'labelled': {'inputs': (draw(size),), 'labels': torch.arange(size) % CLASSES}, 'progress': 0.5}
    if views(method):
        others = size * RATIO.get(method.split('_')[0], 1)
        index = torch.randperm(IMAGES, generator=generator)[:others]
        inputs = tuple(draw(others) for _ in range(views(method)))
        data |= {'unlabelled': {'inputs': inputs, 'index': index}, 'truth': index % CLASSES}
    return data


def step(labelled, labels, views=(), index=None, progress=0.5):
    """Return what terms see of a step."""
    others = None
    if views:
        others = Unlabelled(tuple(views), torch.arange(len(views[0])) if index is None else index)
    return Step(Labelled((labelled,), labels), others, progress)

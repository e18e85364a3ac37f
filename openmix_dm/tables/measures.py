"""Metrics that a command measures after the training, from the run's folder: FGSM is one of them.

What runs a table knows only that a metric is measured, by which arguments of analyze.py, and where its number is. A
metric is measured on all test images, or on as many as its name says, spread evenly: `fgsm`, `fgsm:2000`.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from openmix_dm.errors import ConfigError, DataError
from openmix_dm.utils.sealed import read_sealed
from openmix_dm.utils.suggest import did_you_mean

FGSM_EPS = 8.0  # of Table A7: one signed step of 8/255
HALF = 0.5  # lam of mixed images that show as much of one as of the other
BINS = 15


@dataclass(frozen=True)
class Measure:
    """One metric that is measured after the training.

    Args:
        stem: name of the file that the command leaves in the run's folder, which several metrics may share.
        analysis: the arguments of analyze.py before run and file, which measures on the last checkpoint.
        value: from what the file holds to the number.
        limit: how many test images it is measured on; None: all. Default: None.
    """

    stem: str
    analysis: tuple[str, ...]
    value: Callable[[dict[str, Any]], float]
    limit: int | None = None

    @property
    def file(self) -> str:
        """Return the name of the file with its numbers."""
        return f'{self.stem}.json' if self.limit is None else f'{self.stem}-{self.limit}.json'

    def arguments(self, folder: Path) -> list[str]:
        """Return the arguments of analyze.py for a run."""
        name, *options = self.analysis
        limit = [] if self.limit is None else ['--limit', str(self.limit)]
        shown = f'{folder.parent.name.partition("@")[0]} {folder.name}'  # not all options: a figure has no room
        out = (folder / self.file).with_suffix('.png')
        return [name, str(folder), *options, *limit, '--names', shown, '--out', str(out)]

    def is_missing(self, folder: Path) -> bool:
        """Say whether it is still to be measured."""
        return not (folder / self.file).exists()

    def read(self, folder: Path) -> float | None:
        """Return the number of a run, None if it was not measured; a damaged file is an error."""
        try:
            return float(self.value(read_sealed(folder / self.file)))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise DataError(f'{folder / self.file} is damaged ({error}); delete it to measure anew') from None


def _mixed_top2(mixer: str) -> Measure:
    """Return the share of mixed images, half and half, of which both classes are found."""
    return Measure(
        'mixed_top2',
        ('mixed-accuracy', '--mixers', 'Mixup', 'CutMix', '--lams', f'{HALF:g}'),
        lambda record: record['runs'][0]['mixers'][mixer]['top2'][record['lams'].index(HALF)],
    )


MEASURES: dict[str, Measure] = {
    'fgsm': Measure(
        'fgsm',
        ('fgsm', '--eps', f'{FGSM_EPS:g}'),
        lambda record: record['runs'][0]['fgsm'][record['eps_255'].index(FGSM_EPS)],
    ),
    'ece': Measure('ece', ('calibration', '--bins', str(BINS)), lambda record: record['runs'][0]['ece']),
    'mixed_top2_mixup': _mixed_top2('Mixup'),
    'mixed_top2_cutmix': _mixed_top2('CutMix'),
}


def is_measured(metric: str) -> bool:
    """Say whether a metric is one that is measured after the training."""
    return metric.partition(':')[0] in MEASURES


def find_measure(metric: str) -> Measure:
    """Return how a metric such as `fgsm` or `fgsm:2000` is measured."""
    name, colon, limit = metric.partition(':')
    if name not in MEASURES:
        raise ConfigError(f'nothing measures {metric!r}{did_you_mean(name, MEASURES)}')
    if colon and not re.fullmatch('[1-9][0-9]*', limit):
        raise ConfigError(f'{metric!r}: a number of test images has to follow the colon, as in {name}:2000')
    return replace(MEASURES[name], limit=int(limit)) if colon else MEASURES[name]


def missing_measures(metrics: Sequence[str], folder: Path) -> list[Measure]:
    """Return what is still to be measured of a run; metrics that share a file are measured together."""
    found = {measure.file: measure for measure in map(find_measure, metrics) if measure.is_missing(folder)}
    return list(found.values())


def metrics_in(folder: Path) -> Iterator[str]:
    """Yield the names of all metrics that were measured of a run."""
    for name, measure in MEASURES.items():
        for path in sorted(folder.glob(f'{measure.stem}*.json')):
            if found := re.fullmatch(f'{measure.stem}(?:-([1-9][0-9]*))?', path.stem):
                yield f'{name}:{found[1]}' if found[1] else name

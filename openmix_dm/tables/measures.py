"""Metrics that a command measures after the training, from the run's folder: FGSM is one of them.

What runs a table knows only that a metric is measured, by which arguments of analyze.py, and where its number is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openmix_dm.errors import DataError
from openmix_dm.utils.sealed import read_sealed

FGSM_EPS = 8.0  # of Table A7: one signed step of 8/255


@dataclass(frozen=True)
class Measure:
    """One metric that is measured after the training.

    Args:
        file: what the command leaves in the run's folder.
        arguments: from the folder of a run to arguments of analyze.py, which measures on its last checkpoint.
        value: from what the file holds to the number.
    """

    file: str
    arguments: Callable[[Path], list[str]]
    value: Callable[[dict[str, Any]], float]

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


MEASURES: dict[str, Measure] = {
    'fgsm': Measure(
        'fgsm.json',
        lambda folder: ['fgsm', str(folder), '--eps', f'{FGSM_EPS:g}', '--out', str(folder / 'fgsm.png')],
        lambda record: record['runs'][0]['fgsm'][record['eps_255'].index(FGSM_EPS)],
    ),
}

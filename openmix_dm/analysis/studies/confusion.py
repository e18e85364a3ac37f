"""Confusion matrices, and the difference of two models."""

from typing import Any

import numpy as np

from openmix_dm.analysis.models import ModelSelection, NamedModel, check_same_data, load_models, predict_all
from openmix_dm.errors import ConfigError
from openmix_dm.visualization import charts
from openmix_dm.visualization.style import styled

NUMBERS_UP_TO = 20  # classes: more numbers cannot be read
SHOWN_PAIRS = 20


def run(selection: ModelSelection) -> tuple[Any, dict[str, Any]]:
    """Count for one model, or for two and their difference; return figure and record."""
    models = load_models(selection)
    if len(models) > 2:
        raise ConfigError(f'confusion takes one run, or two to subtract, got {len(models)}')
    check_same_data(models)
    classes = names_of(models[0])
    matrices = [count(model, selection.limit, len(classes)) for model in models]
    rows = [
        {
            **model.describe(),
            'accuracy': 100 * float(np.trace(matrix)) / float(matrix.sum()),
            'matrix': matrix.tolist(),
        }
        | {'most_confused': most_confused(matrix, classes)}
        for model, matrix in zip(models, matrices, strict=True)
    ]
    record: dict[str, Any] = {'rows': 'true class', 'columns': 'predicted class', 'classes': classes, 'runs': rows}
    if len(matrices) == 2:
        record['difference'] = (matrices[1] - matrices[0]).tolist()
        record['most_changed'] = most_confused(matrices[1] - matrices[0], classes)
    return draw([model.name for model in models], matrices, classes), record


def names_of(model: NamedModel) -> list[str]:
    """Return the names of the model's classes, or their numbers."""
    return [model.data.name_of(label) for label in range(model.network.head.num_classes)]


def count(model: NamedModel, limit: int | None, classes: int) -> np.ndarray:
    """Return how many test images of each class (rows) are taken for which (columns)."""
    saved = predict_all(model, limit)
    return confusion_matrix(saved.labels, saved.predictions, classes)


def confusion_matrix(labels: np.ndarray, predictions: np.ndarray, classes: int) -> np.ndarray:
    """Count pairs of true and predicted class, (classes, classes)."""
    return np.bincount(labels * classes + predictions, minlength=classes**2).reshape(classes, classes)


def most_confused(matrix: np.ndarray, classes: list[str]) -> list[dict[str, Any]]:
    """List the largest entries beside the diagonal, by size without sign."""
    beside = matrix - np.diag(np.diag(matrix))
    order = np.argsort(-np.abs(beside), axis=None, kind='stable')[:SHOWN_PAIRS]
    places = [divmod(int(place), len(classes)) for place in order if beside.flat[place]]
    return [
        {'true': classes[row], 'predicted': classes[column], 'images': int(matrix[row, column])}
        for row, column in places
    ]


@styled
def draw(names: list[str], matrices: list[np.ndarray], classes: list[str]) -> Any:
    """Draw the matrices and, of two, their difference: blue where the second has more, red where it has less."""
    panels = [(name, matrix, False) for name, matrix in zip(names, matrices, strict=True)]
    if len(matrices) == 2:
        panels.append((f'{names[1]} minus {names[0]}', matrices[1] - matrices[0], True))
    side = 3.9 if len(classes) <= NUMBERS_UP_TO else 4.6
    figure, axes = charts.plain_figure(len(panels), width=side, height=side + 0.4)
    for axis, (title, matrix, signed) in zip(axes[0], panels, strict=True):
        _heat_map(axis, matrix, signed, classes)
        charts.finish(axis, title, 'predicted', 'true')
    return figure


def _heat_map(axis: Any, matrix: np.ndarray, signed: bool, classes: list[str]) -> None:
    # the diagonal would drown the mistakes: of one model it is left grey, and the mistakes set the scale
    right = np.eye(len(matrix), dtype=bool) & (not signed)
    limit = max(3, int(np.abs(matrix)[~right].max(initial=0)))
    axis.set_facecolor('#D9D9D9')
    axis.grid(False)
    shown = np.ma.masked_array(matrix, mask=right)
    axis.imshow(shown, cmap='RdBu' if signed else 'Reds', vmin=-limit if signed else 0, vmax=limit)
    if len(classes) > NUMBERS_UP_TO:
        return
    axis.set_xticks(range(len(classes)), classes, fontsize=7, rotation=90 if max(map(len, classes)) > 3 else 0)
    axis.set_yticks(range(len(classes)), classes, fontsize=7)
    for (row, column), value in np.ndenumerate(matrix):
        if value:
            bright = abs(value) > 0.6 * limit and not right[row, column]
            words = f'{value:+d}' if signed else str(value)
            axis.text(column, row, words, ha='center', va='center', fontsize=6.5, color='white' if bright else 'black')

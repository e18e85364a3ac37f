"""The tables of Figures A2 and A3: their grids, the values of every cell, and the numbers that the paper prints."""

import pytest
from support.loaded_cells import CONFIGS

from openmix_dm.commands.table import main
from openmix_dm.config.load import load_config
from openmix_dm.config.resolve import resolve
from openmix_dm.paper.paper_tables import cells_of
from openmix_dm.tables.catalogue import all_tables
from openmix_dm.tables.config_values import resolved_values
from openmix_dm.tables.plan import run_folder

ETAS, XIS, TS = (0.01, 0.1, 0.5, 1, 2), (1, 0.9, 0.8, 0.7), (2, 1, 0.5, 0.3)  # the grids of Appendix C
STATIC, DYNAMIC = ('Mixup', 'CutMix', 'ManifoldMix'), ('PuzzleMix', 'AutoMix')
ALPHA = {**dict.fromkeys(STATIC, 0.2), **dict.fromkeys(DYNAMIC, 2.0)}
SHAPE = {'CutMix': (1, 0.8), 'AutoMix': (1, 0.8), 'Mixup': (0.5, 1), 'ManifoldMix': (0.5, 1)}  # t and xi

# (epochs, optimiser, lr, decay, batch, resolution), backbone, grid, {mixer: what the paper prints, where}
PYTORCH, RSB = (100, 'SGD', 0.1, 1e-4, 256, 224), (100, 'Lamb', 8e-3, 0.02, 2048, 224)
FIGURES = {
    'figure_a2_eta': (PYTORCH, 'resnet34', ETAS, {
        'Mixup': (0.1, 74.26), 'CutMix': (0.1, 73.88), 'PuzzleMix': (1, 74.51), 'AutoMix': (1, 74.77)}),
    'figure_a2_xi': (RSB, 'resnet34', XIS, dict.fromkeys(SHAPE)),
    'figure_a2_t': (RSB, 'resnet34', TS, dict.fromkeys(SHAPE)),
    'figure_a3_cifar100': ((800, 'SGD', 0.1, 1e-4, 100, 32), 'CifarResNet', ETAS, {
        'Mixup': (0.1, 80.44), 'CutMix': (0.1, 79.39), 'PuzzleMix': (1, 81.34), 'AutoMix': (1, 82.32)}),
    'figure_a3_tiny': ((400, 'SGD', 0.2, 1e-4, 100, 64), 'CifarResNet', ETAS, {
        'Mixup': (1, 65.07), 'CutMix': (1, 66.45), 'PuzzleMix': (1, 66.52), 'AutoMix': (1, 68.18)}),
    'figure_a3_cub': ((200, 'SGD', 1e-3, 5e-4, 16, 224), 'resnet18.tv_in1k', ETAS, {
        'Mixup': (1, 79.90), 'CutMix': (1, 78.76), 'PuzzleMix': (1, 78.74), 'AutoMix': (1, 81.08)}),
}  # fmt: skip


def test_these_are_all_figures_with_tables():
    assert {name for name, table in all_tables().items() if table.source.startswith('Figure')} == set(FIGURES)


@pytest.mark.parametrize('name', FIGURES)
def test_every_cell_has_the_values_of_its_row_and_column(name):
    recipe, backbone, grid, mixers = FIGURES[name]
    table, axis = all_tables()[name], name.rsplit('_')[-1] if 'a2' in name else 'eta'
    assert table.axis == axis
    places = [(float(cell.row), cell.column.split(',')[0]) for cell in table.cells]
    assert places == [(value, mixer) for value in grid for mixer in mixers]
    for cell, (_, mixer) in zip(table.cells, places, strict=True):
        config = load_config(CONFIGS / cell.config, cell.options)
        values = resolved_values(config)
        t, xi = SHAPE[mixer] if axis != 'eta' else (None, None)
        expected = {'eta': None, 't': t, 'xi': xi, axis: float(cell.row)}
        assert {key: values[key] for key in expected} == expected, cell.id
        assert (values['mixer_type'], values['alpha']) == (mixer, ALPHA[mixer])
        assert values['loss_type'] == ('DecoupledCE' if axis == 'eta' else 'DecoupledBCE')
        keys = ('epochs', 'optimiser', 'lr', 'weight_decay', 'batch', 'resolution')
        assert tuple(values[key] for key in keys) == recipe
        assert backbone in (config.model.backbone.type, config.model.backbone.get('name'))
        resolve(config, world_size=1)


@pytest.mark.parametrize('name', FIGURES)
def test_the_papers_numbers_are_at_the_values_that_its_tables_have(name, tmp_path):
    """Nothing else of the figures is printed; these cells share their runs with the tables."""
    mixers, table = FIGURES[name][3], all_tables()[name]
    printed = {cell.column: (float(cell.row), cell.printed) for cell in table.cells if cell.printed is not None}
    assert printed == {mixer: said for mixer, said in mixers.items() if said}
    for cell in table.cells:
        if cell.printed is not None:
            _, theirs = cells_of(cell.config)[0]
            assert run_folder(cell, 0, tmp_path) == run_folder(theirs, 0, tmp_path)


def test_the_two_sweeps_of_dm_bce_share_the_runs_at_which_they_cross(tmp_path):
    xi, t = ({run_folder(cell, 0, tmp_path) for cell in all_tables()[f'figure_a2_{x}'].cells} for x in ('xi', 't'))
    assert (len(xi), len(t), len(xi & t)) == (16, 16, 4)


@pytest.mark.slow
@pytest.mark.parametrize('name', FIGURES)
def test_every_cell_builds_and_learns(name, capsys):
    cells = len(all_tables()[name].cells)
    assert main(['check', name, '--jobs', '1']) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f'{cells} of {cells} cells ok, 0 printed as -'

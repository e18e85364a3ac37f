"""The map from cells to configs, and back."""

from collections import Counter

import pytest
from conftest import ROOT
from support.loaded_cells import load

from openmix_dm.paper.paper_tables import cells_of, is_semi, paper, paper_tables, supervised_tables


def by_name(name):
    return next(table for table in paper_tables() if table.name == name)


def cell(table, cell_id):
    return next(cell for cell in by_name(table).cells if cell.id == cell_id)


def test_all_cells_are_there():
    tables, supervised = paper_tables(), supervised_tables()
    assert (len(tables), len(supervised)) == (17, 14)
    assert sum(len(table.cells) for table in tables) == 663
    assert sum(len(table.runnable()) for table in tables) == 649
    assert sum(len(table.cells) for table in supervised) == 526
    assert sum(len(table.runnable()) for table in supervised) == 512
    assert {table.source for table in tables} == {
        f'Table {n}' for n in [*range(1, 11), *(f'A{n}' for n in range(2, 9))]
    }


def test_what_is_printed_as_a_dash_has_no_config():
    dashes = [(table.source, cell.row, cell.facts['backbone']) for table in paper_tables() for cell in table.cells
              if cell.config is None]  # fmt: skip
    assert Counter((source, row) for source, row, _ in dashes) == {
        ('Table 2', 'Vanilla'): 3,
        ('Table A8', 'Vanilla'): 3,
        ('Table 10', 'DeiT+TransMix'): 4,
        ('Table 10', 'DeiT+TokenMix'): 4,
    }
    assert {backbone for source, _, backbone in dashes if source == 'Table 10'} == {'ConvNeXt-T'}


@pytest.mark.parametrize('table', paper_tables(), ids=lambda table: table.name)
def test_a_table_is_well_formed(table):
    cells, printed = table.cells, next(one for one in paper()['tables'] if one['id'] == table.name)['cells']
    assert len({cell.id for cell in cells}) == len({(cell.row, cell.column) for cell in cells}) == len(cells)
    assert [cell.printed for cell in cells] == [one['value'] for one in printed]
    assert [cell.printed_std for cell in cells] == [one['std'] for one in printed]
    ids = {cell.id for cell in cells}
    for one, source in zip(cells, printed, strict=True):
        assert one.facts == {k: source[k] for k in ('dataset', 'backbone', 'method', 'loss', 'setting')}
        assert one.baseline is None or (one.baseline in ids and one.baseline != one.id)
        decoupled = one.facts['loss'].startswith('DM(') or one.facts['loss'].endswith('+DM')
        if decoupled and one.config is not None:
            assert one.baseline is not None, one.id
        if one.baseline is not None:
            other = next(other for other in cells if other.id == one.baseline)
            assert other.metric == one.metric
            assert [other.facts[k] for k in ('dataset', 'backbone')] == [one.facts[k] for k in ('dataset', 'backbone')]


def test_gains_over_the_baselines_are_those_of_the_paper():
    """The average gain of every column that the paper prints, recomputed from our baselines, is tables.json's."""
    checked = 0
    for source, table in zip(paper()['tables'], paper_tables(), strict=True):
        values = {cell.id: cell.printed for cell in table.cells}
        for gain in source['avg_gain']:
            column = gain['column']
            gains = [
                one.printed - values[one.baseline]
                for one in table.cells
                if one.baseline is not None
                and one.metric == 'top1'
                and all(one.facts[key] == column[key] for key in ('dataset', 'backbone', 'loss'))
                and set(column['setting'].split(';')) <= set(one.facts['setting'].split(';'))
            ]
            assert len(gains) == gain['n']
            assert sum(gains) / len(gains) == pytest.approx(gain['recomputed'], abs=1e-3), (table.name, column)
            checked += 1
    assert checked == 51


def test_averages_are_those_that_the_paper_prints():
    """Tables 8, 9, 10 and A7 have no row of averages; A4, A5 and 7 print others than their rows give."""
    averages = {table.source: table.averages for table in paper_tables()}
    assert sum(map(len, averages.values())) == 51
    assert [source for source, found in averages.items() if not found] == ['Table 8', 'Table 9', 'Table 10', 'Table A7']
    assert averages['Table A4'] == {'DM(CE)': 0.30, 'MBCE(two)': -1.99, 'DM(BCE)': 0.04}
    assert averages['Table A5'] == {'DeiT-S, DM(CE)': 0.32, 'Swin-T, DM(CE)': 0.13}
    assert averages['Table 7']['CIFAR-100, WRN-28-8, 2500 labels'] == 2.30
    for table in paper_tables():
        assert set(table.averages) <= {cell.column for cell in table.cells if cell.baseline}


def test_costs_are_about_one_a100():
    for table in paper_tables():
        for one in table.cells:
            assert one.hardware == ('A100' if one.metric in ('memory', 'hours') else '')


def test_every_supervised_cell_names_a_config_that_loads():
    for table in supervised_tables():
        for one in table.runnable():
            assert load(one.config).model.type == 'MixClassifier', one.id


def test_metrics_and_protocols():
    assert cell('robustness_fgsm', 'cifar100/r18/mixup/dm/400e/fgsm').metric == 'fgsm'
    assert cell('robustness_fgsm', 'cifar100/r18/mixup/dm/400e/fgsm').protocol == 'last'
    assert cell('robustness_fgsm', 'cifar100/r18/mixup/dm/400e').protocol == 'median_last10'
    hours = cell('cifar_vit_convnext', 'cifar100/deit-s/mix/dm/hours')
    assert (hours.metric, hours.config, hours.printed) == ('hours', 'cifar100/deit-s_mix_dm_600e.py', 27)
    memory = cell('cifar_vit_convnext', 'cifar100/deit-s/automix/mce/memory')
    assert (memory.metric, memory.config) == ('memory', 'cifar100/deit-s_automix_600e.py')
    metrics = Counter(one.metric for table in paper_tables() for one in table.cells)
    assert metrics == {'top1': 579, 'fgsm': 20, 'memory': 32, 'hours': 32}
    for source, table in zip(paper()['tables'], paper_tables(), strict=True):
        for printed, one in zip(source['cells'], table.cells, strict=True):
            assert (one.protocol in ('best', 'ema_best')) == is_semi(printed)
        assert table.trials == 3


def test_names_of_semi_supervised_configs():
    fixmatch = cell('ssl_cifar', 'cifar10_semi/wrn28-2/fixmatch/dm/250')
    assert fixmatch.config == 'cifar10_semi/wrn28-2_fixmatch_dm_250.py'
    assert fixmatch.baseline == 'cifar10_semi/wrn28-2/fixmatch/ce/250'
    tuned = cell('ssl_transfer', 'cub_transfer/r50/selftuning/dm/15pct')
    assert tuned.config == 'cub_transfer/r50_selftuning_dm_15pct.py'
    assert tuned.baseline == 'cub_transfer/r50/selftuning/mce/15pct'
    assert cell('ssl_transfer', tuned.baseline).config == 'cub_transfer/r50_selftuning_mixup_15pct.py'


def test_from_a_config_back_to_its_cells():
    for table in paper_tables():
        for one in table.runnable():
            assert (table, one) in cells_of(one.config)
    found = cells_of('tiny-imagenet/r18_mixup_dm.py')
    assert [(table.source, one.metric) for table, one in found] == [
        ('Table 1', 'top1'), ('Table A7', 'top1'), ('Table A7', 'fgsm'),
    ]  # fmt: skip
    assert cells_of('digits/r8_mixup.py') == []


def test_tables_json_is_installed_with_the_package():
    assert "'openmix_dm.paper': ['tables.json']" in (ROOT / 'setup.py').read_text()

import pytest
from support.table_folders import write_table

import openmix_dm.paper  # noqa: F401, registers its tables, as the command does
from openmix_dm.errors import ConfigError
from openmix_dm.tables.catalogue import all_tables, find_table


def test_all_tables_have_a_name_of_their_own():
    tables = all_tables()
    assert {'digits', 'cifar10_small', 'cifar10_few', 'ablation_eta', 'ablation_xi', 'ablation_t'} <= tables.keys()
    assert sum(len(table.cells) for table in tables.values() if table.source.startswith('Table')) == 663


def test_a_table_is_found_by_name_number_or_file(tmp_path):
    assert find_table('digits').name == 'digits'
    assert find_table('A7').name == find_table('Table A7').name == find_table('table a7').name == 'robustness_fgsm'
    assert find_table('1').name == 'cifar_tiny_static'
    assert find_table(str(write_table(tmp_path))).name == 'small'


def test_a_figure_of_several_tables_names_them():
    with pytest.raises(ConfigError, match='Figure A2 has 3 tables: figure_a2_eta, figure_a2_t, figure_a2_xi; name one'):
        find_table('Figure A2')


def test_a_table_of_ones_own_has_the_papers_numbers_for_configs_as_they_are(tmp_path):
    """Of two tables that print a number, the first; none for a config with options, or by another protocol."""
    rows = """{
        'as it is': ['tiny-imagenet/r18_puzzlemix_dm.py', 'cifar100/r18_mixup.py'],
        'changed': [dict(config='tiny-imagenet/r18_puzzlemix_dm.py', options=['model.mixer.alpha=1.0']), None],
        'our own': ['digits/r8_mixup.py', 'digits/r8_cutmix.py'],
    }"""
    text = f"title = 'Mine'\ncolumns = ['a', 'b']\nrows = {rows}\n"
    printed = [cell.printed for cell in find_table(str(write_table(tmp_path, text))).cells]
    assert printed == [66.52, 79.12, None, None, None, None]  # Table A7 prints 66.13 for the first
    last = find_table(str(write_table(tmp_path, f"{text}protocol = 'last'\n", name='last')))
    assert {cell.printed for cell in last.cells} == {None}


def test_a_wrong_name_gets_the_nearest_right_one():
    with pytest.raises(ConfigError, match='did you mean digits'):
        find_table('digit')
    with pytest.raises(ConfigError, match='there is no table'):
        find_table('nowhere.py')


def test_every_cell_of_a_published_table_has_a_place_of_its_own():
    """Two cells in one place would hide each other when the table is laid out."""
    for table in all_tables().values():
        places = [(cell.row, cell.column) for cell in table.cells]
        assert len(set(places)) == len(places), table.name

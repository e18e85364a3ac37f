import pytest
from support.table_folders import write_table

from openmix_dm.errors import ConfigError
from openmix_dm.tables.catalogue import all_tables, find_table


def test_all_tables_have_a_name_of_their_own():
    tables = all_tables()
    assert {'digits', 'cifar10_small', 'cifar10_few', 'ablation_eta', 'ablation_xi', 'ablation_t'} <= tables.keys()
    assert sum(len(table.cells) for table in tables.values() if table.source) == 663


def test_a_table_is_found_by_name_number_or_file(tmp_path):
    assert find_table('digits').name == 'digits'
    assert find_table('A7').name == find_table('Table A7').name == find_table('table a7').name == 'robustness_fgsm'
    assert find_table('1').name == 'cifar_tiny_static'
    assert find_table(str(write_table(tmp_path))).name == 'small'


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

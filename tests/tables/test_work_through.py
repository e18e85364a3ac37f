"""Work over many items: in order, with progress that a log can hold."""

import pytest

from openmix_dm.tables.feasibility import make_pool, work_through


def double(number):
    return 2 * number


def fail(number):
    raise ValueError(f'{number} is bad')


def test_results_come_in_the_order_of_the_items(capsys):
    assert work_through(double, range(25), None, 'doubling') == [2 * number for number in range(25)]
    assert capsys.readouterr().err == ''  # it took no time


def test_no_items_are_no_error(capsys):
    assert work_through(double, [], None, 'doubling') == []
    assert capsys.readouterr().err == ''


def test_a_single_job_needs_no_processes():
    assert make_pool(1) is None


@pytest.mark.slow
def test_processes_do_the_same():
    pool = make_pool(2)
    try:
        assert work_through(abs, [-3, 2, -1], pool, 'numbers') == [3, 2, 1]
    finally:
        pool.shutdown()


def test_an_error_of_the_work_is_not_swallowed():
    with pytest.raises(ValueError, match='7 is bad'):
        work_through(fail, [7], None, 'numbers')

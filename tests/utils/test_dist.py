"""Ranks that build together fail together."""

import pytest
from support.two_ranks import on_two_ranks

from openmix_dm.errors import DataError
from openmix_dm.utils.dist import build_together


def refuse(folder):
    raise DataError(f'{folder} cannot be listed')


def build_in_turn(rank):
    """Build on both; fail on the second alone, then on both."""
    told = [build_together(lambda: f'built by {rank}')]
    for failing in ((1,), (0, 1)):
        try:
            build_together(lambda failing=failing: refuse(f'data of {rank}') if rank in failing else 'built')
        except DataError as error:
            told.append(str(error))
    return told


@pytest.mark.slow
def test_what_one_rank_cannot_build_none_has_built(tmp_path):
    one, other = on_two_ranks(build_in_turn, tmp_path)
    assert one == ['built by 0', 'data of 1 cannot be listed', 'data of 0 cannot be listed']
    assert other == ['built by 1', *one[1:]]


def test_one_rank_alone_builds_for_itself():
    assert build_together(lambda: 3) == 3
    with pytest.raises(DataError, match='here'):
        build_together(lambda: refuse('here'))

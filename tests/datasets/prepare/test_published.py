"""published.json: what is known about the data sets is said completely, and is what the loaders serve."""

import re

import pytest

from openmix_dm.commands.prepare_data import DATA_SETS, MIRRORS
from openmix_dm.datasets.prepare.data_set import PUBLISHED
from openmix_dm.datasets.stored_images import StoredImages
from openmix_dm.registry import DATASETS

OTHERS = {f'{name} of {source}' for name, sources in MIRRORS.items() for source in sources}


def test_every_entry_is_used():
    assert PUBLISHED.keys() == {*DATA_SETS, *OTHERS}


@pytest.mark.parametrize('name', DATA_SETS)
def test_facts_are_those_of_the_loader(name):
    facts, loader = PUBLISHED[name], DATASETS.get(PUBLISHED[name]['loader'])
    assert facts['title'] == getattr(loader, 'title', loader.name)
    if issubclass(loader, StoredImages):
        assert (name, facts['classes'], facts['side']) == (loader.name, loader.num_classes, loader.image_size)
        assert tuple(facts['counts']) == loader.splits
    for split in facts.get('balanced', ()):
        assert facts['counts'][split] % facts['classes'] == 0


@pytest.mark.parametrize('name', PUBLISHED)
def test_hashes_are_whole_and_a_download_has_one(name):
    facts = PUBLISHED[name]
    assert all(re.fullmatch('([0-9a-f]{32}|[0-9a-f]{128})?', value) for value in facts['hashes'].values())
    assert bool(facts.get('url')) != bool(facts.get('how_to_get'))
    if 'url' in facts:
        ((archive, value),) = facts['hashes'].items()
        assert value
        assert archive.split('-')[0] in facts['url']

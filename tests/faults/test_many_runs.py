"""A table of 2,000 runs: done, running, killed and failed ones."""

import json
import os
import platform
from functools import cache

import pytest
from support import table_folders
from support.fault_cases import tool
from support.table_folders import write_run, write_table

from openmix_dm.config.load import load_run_config
from openmix_dm.tables.catalogue import find_table
from openmix_dm.tables.plan import runs_of

pytestmark = pytest.mark.faults
METHODS = ('vanilla', 'mixup', 'cutmix', 'fmix', 'gridmix', 'manifoldmix', 'resizemix', 'saliencymix', 'smoothmix')
TRIALS = 100
load_once = cache(lambda config: load_run_config(config, [], 0))


def load_quickly(config, options, seed):
    """Only the seed differs between the runs of a cell."""
    assert not options
    loaded = load_once(config).copy()
    loaded.randomness.seed = seed
    return loaded


@pytest.fixture(scope='module')
def many(tmp_path_factory):
    folder = tmp_path_factory.mktemp('many')
    rows = {name: [f'digits/r8_{name}.py', f'digits/r8_{name}_dm.py'] for name in METHODS}
    rows['puzzlemix'] = ['digits/r8_puzzlemix.py', 'digits/r8_puzzlemix_dm.py']
    text = f"title = 'Many'\ncolumns = ['MCE', 'DM(CE)']\nbaseline = 'MCE'\nrows = {rows!r}\ntrials = {TRIALS}\n"
    table = write_table(folder, text, 'many')
    runs = runs_of(find_table(str(table)), folder / 'runs')
    assert len(runs) == 2000
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_folders, 'load_run_config', load_quickly)
        for place, run in enumerate(runs):
            state = 'running' if place % 10 in (3, 4) else 'failed: ValueError: x' if place % 50 == 7 else 'done'
            write_run(run, tuple(50.0 + (7 * place + epoch) % 40 for epoch in range(30)), state=state)
            if state == 'running':  # a process of another machine holds the lock, or one of this that was killed
                host = 'elsewhere' if place % 10 == 3 else platform.node()
                lock = {'pid': 2**30, 'host': host, 'job': None, 'since': 'noon'}
                (run.folder / 'lock.json').write_text(json.dumps(lock))
    return table, folder / 'runs'


def test_f51_a_table_of_two_thousand_runs(many):
    """status and collect over 2,000 runs, of which 200 are running, 200 were killed and 40 have failed: each counts,
    within seconds."""
    table, runs = many
    for command, said in (
        ('status', '2000 runs: 1560 done, 200 running, 200 stale, 40 failed'),
        ('collect', '1560 of 2000 runs done'),
    ):
        before = os.times()
        outcome = tool('table', command, table, '--work-dirs', runs)
        computed = os.times().children_user + os.times().children_system
        computed -= before.children_user + before.children_system
        print(f'{command}: {outcome.seconds:.1f} s, of which {computed:.1f} on a core')
        assert outcome.code == 0, outcome.err
        assert said in outcome.out, outcome.out[-3000:]
        assert outcome.seconds < 60  # five on a machine that does nothing else

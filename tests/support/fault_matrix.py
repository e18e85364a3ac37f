"""Write the fault matrix as measured: python -m pytest -m faults --matrix=docs/reliability.md.

A test of tests/faults names its row (`test_f7_...`); one elsewhere is marked with it: @pytest.mark.fault(7, 'text').
Rows that are not run (-k) keep what an earlier run has measured.
"""

import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

ROWS = defaultdict(list)  # number of the fault -> (docstring, outcome, seconds) of its tests

HEAD = """# What happens when things go wrong

Every row is a fault that `python -m pytest -m faults` puts into the real command line; the table is written by that
command with `--matrix=docs/reliability.md`, as measured (on a CPU; two ranks over gloo where ranks matter). The tests
are in [tests/faults](../tests/faults).

Exit codes: 0 done, 2 config or usage, 3 data, 4 checkpoint, 5 numeric, 6 distributed, 7 resources (disk, memory),
75 preempted (start me again). Every failure is told in a line `openmix_dm: FAILED cause=...`; a rank that fails is
named last by the launcher; `run.json` holds the state and the exit code.

| fault | what is done, and what has to come of it | result | seconds |
|---|---|---|--:|
"""


ABSENT = '| F{} | see its test | not measured yet | |'


def add_option(parser):
    parser.addoption('--matrix', type=Path, metavar='FILE', help='write the fault matrix to this file')


def mark_quick_rows(config, items):
    """Let `-m faults` run all rows, those of the normal suite too."""
    if config.option.markexpr == 'faults':
        for item in items:
            if number_of(item):
                item.add_marker(pytest.mark.faults)


def note(item, report):
    number = number_of(item)
    if number and (report.when == 'call' or report.outcome != 'passed'):
        ROWS[number].append((text_of(item), report.outcome, report.duration))


def write(config):
    path = config.getoption('--matrix', None)
    if path and ROWS:
        lines = {**read(path), **{number: line(number) for number in ROWS}}
        numbers = sorted({*range(1, max(lines) + 1), *lines})
        path.write_text(head_of(path) + ''.join(f'{lines.get(number, ABSENT.format(number))}\n' for number in numbers))


def head_of(path):
    """Return all above the rows: what has been written there stays."""
    text = path.read_text() if path.exists() else ''
    return text[: text.index('| F')] if '| F' in text else HEAD


def read(path):
    """Return the rows of an earlier run: those that are not run now stay."""
    text = path.read_text() if path.exists() else ''
    rows = {int(found[1]): found[0] for found in re.finditer(r'^\| F(\d+) \|.*$', text, re.MULTILINE)}
    return {number: row for number, row in rows.items() if row != ABSENT.format(number)}


def line(number):
    tests = ROWS[number]
    words = list(dict.fromkeys(' '.join(text.split()) for text, _, _ in tests))
    counts = Counter(outcome for _, outcome, _ in tests)
    result = f'{counts["passed"]} of {len(tests)} pass'
    if counts['failed']:
        result = f'{counts["failed"]} of {len(tests)} failed'
    elif counts['skipped']:  # what they need is not installed: neither shown nor broken
        result += f', {counts["skipped"]} skipped'
    return f'| F{number} | {"<br>".join(words)} | {result} | {sum(seconds for _, _, seconds in tests):.0f} |'


def text_of(item):
    mark = item.get_closest_marker('fault')
    return mark.args[1] if mark else item.function.__doc__ or ''


def number_of(item):
    if mark := item.get_closest_marker('fault'):
        return mark.args[0]
    found = re.match(r'test_f(\d+)_', item.name) if item.path.parent.name == 'faults' else None
    return int(found[1]) if found else 0

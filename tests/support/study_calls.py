"""Run a study as its command does, and read what it leaves."""

import json

import cv2

from openmix_dm.commands.analyze import main


def study(name, out, *arguments):
    """Return the record of a study; its figure has to show something."""
    assert main([name, *map(str, arguments), '--out', str(out)]) == 0
    if out.suffix == '.png':
        assert cv2.imread(str(out)).std() > 10
    record = json.loads(out.with_suffix('.json').read_text())
    assert record['analysis'] == name
    return record

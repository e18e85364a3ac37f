"""What the paper prints, as data: tables.json."""

import json
from functools import cache
from pathlib import Path
from typing import Any


@cache
def paper() -> dict[str, Any]:
    """Return the tables, recipes and hyper-parameters of the paper; nobody changes them."""
    return json.loads(Path(__file__).with_name('tables.json').read_text())


def is_semi(cell: dict[str, Any]) -> bool:
    """Say whether a printed cell is a semi-supervised one."""
    return cell['setting_fields']['recipe'].startswith('ssl_')

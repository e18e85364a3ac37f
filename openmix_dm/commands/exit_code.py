"""Print the exit code that a run ended with: launchers above the ranks turn it into another one.

python -m openmix_dm.commands.exit_code WORK_DIR [CODE]: CODE is printed where run.json knows of no failure.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from openmix_dm.runs.folder import RunFolder


def main(arguments: Sequence[str]) -> int:
    """Print the code."""
    folder, code = arguments[0], arguments[1] if len(arguments) > 1 else '1'
    print(RunFolder(Path(folder)).read().get('exit_code') or code)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

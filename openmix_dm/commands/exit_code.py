"""Print the exit code that a run ended with: launchers above the ranks turn it into another one.

python -m openmix_dm.commands.exit_code WORK_DIR [CODE]: CODE is printed where run.json knows of no failure. It is asked
while a job is being ended, so that nothing heavy is imported here.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str]) -> int:
    """Print the code."""
    folder, code = arguments[0], arguments[1] if len(arguments) > 1 else '1'
    print(recorded(Path(folder, 'run.json')) or code)
    return 0


def recorded(path: Path) -> int | None:
    """Return the exit code in a run.json, None where there is none, or no run.json that can be read."""
    try:
        run = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    code = run.get('exit_code') if isinstance(run, dict) else None
    return code if isinstance(code, int) else None


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

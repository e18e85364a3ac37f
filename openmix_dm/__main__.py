"""python -m openmix_dm COMMAND: the same as the console command openmix-dm."""

import sys
from pathlib import Path

if __name__ == '__main__':
    # Python looks for modules in the working folder first, which may hold anything; unless we are from there.
    if not sys.flags.safe_path and sys.path[0] != str(Path(__file__).resolve().parents[1]):
        del sys.path[0]
    from openmix_dm.commands.console import main

    sys.exit(main())

"""Print a config with all that it inherits: python tools/print_config.py CONFIG."""

import sys

from openmix_dm.commands.print_config import main

if __name__ == '__main__':
    sys.exit(main())

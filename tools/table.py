"""The paper's tables, and your own: python tools/table.py list|run|status|collect TABLE."""

import sys

from openmix_dm.commands.table import main

if __name__ == '__main__':
    sys.exit(main())

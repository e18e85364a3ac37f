"""The paper's tables, and your own: python tools/table.py list|run|status|measure|collect TABLE."""

import sys

from openmix_dm.launch.early_signals import leave_at_signals

if __name__ == '__main__':
    leave_at_signals()
    from openmix_dm.commands.table import main  # takes seconds: signals are answered before it

    sys.exit(main())

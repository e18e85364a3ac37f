"""Test a checkpoint: python tools/test.py CONFIG CHECKPOINT."""

import sys

from openmix_dm.launch.early_signals import leave_at_signals

if __name__ == '__main__':
    leave_at_signals()
    from openmix_dm.commands.test import main  # takes seconds: signals are answered before it

    sys.exit(main())

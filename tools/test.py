"""Test a checkpoint: python tools/test.py CONFIG CHECKPOINT."""

import sys

from openmix_dm.commands.test import main

if __name__ == '__main__':
    sys.exit(main())

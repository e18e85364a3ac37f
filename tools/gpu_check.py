"""Try what only a GPU can show, on this machine: python tools/gpu_check.py."""

import sys

from openmix_dm.commands.gpu_check import main

if __name__ == '__main__':
    sys.exit(main())

"""Measure speed: python tools/benchmark.py losses|mixers|step|loader [--json]."""

import sys

from openmix_dm.commands.benchmark import main

if __name__ == '__main__':
    sys.exit(main())

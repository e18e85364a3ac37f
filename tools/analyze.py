"""Analyse trained models: python tools/analyze.py fgsm work_dirs/digits/r8_mixup_dm/seed0."""

import sys

from openmix_dm.commands.analyze import main

if __name__ == '__main__':
    sys.exit(main())

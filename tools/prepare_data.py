"""Unpack or check a data set: python tools/prepare_data.py imagenet --root data/imagenet --archive FILE."""

import sys

from openmix_dm.commands.prepare_data import main

if __name__ == '__main__':
    sys.exit(main())

"""Train a config: python tools/train.py configs/digits/r8_mixup_dm.py."""

import sys

from openmix_dm.commands.train import main

if __name__ == '__main__':
    sys.exit(main())

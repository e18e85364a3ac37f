"""Use a trained model, or hand it on: python tools/export.py predict work_dirs/digits/r8_mixup_dm/seed0 images/."""

import sys

from openmix_dm.commands.export import main

if __name__ == '__main__':
    sys.exit(main())

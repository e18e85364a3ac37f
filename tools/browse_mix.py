"""See what a mixer does: python tools/browse_mix.py CutMix --images photos --out cutmix.png."""

import sys

from openmix_dm.commands.browse_mix import main

if __name__ == '__main__':
    sys.exit(main())

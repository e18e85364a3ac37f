"""Train a config: python tools/train.py configs/digits/r8_mixup_dm.py."""

import sys

from openmix_dm.launch.early_signals import leave_at_signals, run_folder

if __name__ == '__main__':
    leave_at_signals(run_folder(sys.argv))
    from openmix_dm.commands.train import main  # takes seconds: signals are answered before it

    sys.exit(main())

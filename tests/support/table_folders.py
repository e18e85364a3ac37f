"""Run folders as a training leaves them, without the training."""

import json

from openmix_dm.config.load import load_run_config
from openmix_dm.runs.folder import RunFolder
from openmix_dm.runs.records import MEDIAN_FROM, METRICS, to_line
from openmix_dm.tables.plan import Run


def write_run(run: Run, top1s=(50.0, 60.0), state='done', options=(), seconds=36.0, **record):
    """Leave the folder of a run with these validation accuracies, in this state.

    They stand for a training that is long enough for a median, unless `validations` says otherwise.
    """
    folder = RunFolder(run.folder)
    config = load_run_config(run.config, [*run.options, *options], run.seed)
    folder.start(config, run.seed, world_size=1)
    with (run.folder / METRICS).open('w') as file:
        for epoch, top1 in enumerate(top1s, start=1):
            train = {'kind': 'train', 'iter': 14 * epoch, 'epoch': epoch, 'loss': 1.0 / epoch}
            file.write(to_line({**train, 'images_per_s': 1000.0, 'memory_mb': 512.0}))
            file.write(to_line({'kind': 'val', 'iter': 14 * epoch, 'epoch': epoch, 'top1': top1}))
    if state != 'running':
        folder.finish(state, seconds)
    folder.update(**{'validations': MEDIAN_FROM, **record})
    return folder


def write_fgsm(run: Run, error):
    record = {'eps_255': [8.0], 'runs': [{'fgsm': [error]}]}
    (run.folder / 'fgsm.json').write_text(json.dumps(record))


TABLE = """
title = 'A small table'
columns = ['MCE', 'DM(CE)']
rows = {
    'Vanilla': ['digits/r8_vanilla.py', None],
    'Mixup': ['digits/r8_mixup.py', 'digits/r8_mixup_dm.py'],
    'CutMix': ['digits/r8_cutmix.py', 'digits/r8_cutmix_dm.py'],
}
baseline = 'MCE'
"""


def write_table(folder, text=TABLE, name='small'):
    path = folder / f'{name}.py'
    path.write_text(text)
    return path

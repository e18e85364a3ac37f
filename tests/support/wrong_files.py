"""A desk with good files, wrong ones and a run that nobody trained, for command lines that cannot work."""

import shutil

import cv2
import numpy as np

from openmix_dm.config.load import load_run_config
from openmix_dm.runs.checkpoints import CheckpointStore
from openmix_dm.runs.folder import RunFolder
from openmix_dm.runs.model import build_lone_model

BASE = "_base_ = 'openmix_dm::digits/r8_mixup.py'\n"
OWN = """model = dict(head=dict(num_classes=2))
train_dataloader = dict(dataset=dict(_delete_=True, type='ImageFolder', root={root!r}, split='train'))
val_dataloader = dict(dataset=dict(_delete_=True, type='ImageFolder', root={root!r}, split='train'))
global_batch_size = 4
train_cfg = dict(max_epochs=1)
"""
TEXTS = {
    'notes.txt': 'hello\n',
    'syntax.py': f'{BASE}model = dict(\n    mixer=dict(alpha=0.2)\n',
    'below_syntax.py': "_base_ = 'syntax.py'\n",
    'name_error.py': f'{BASE}\ntrain_cfg = dict(max_epochs=epochs)\n',
    'below_name_error.py': "_base_ = 'name_error.py'\n",
    'no_model.py': 'train_cfg = dict(max_epochs=3)\n',
    'no_base.py': "_base_ = 'nothing.py'\n",
    'empty.py': '',
    'bad_alpha.py': f'{BASE}model = dict(\n    mixer=dict(alpha=-1))\n',
    'table_syntax.py': "title = 't'\ncolumns = ['a'\n",
    'table_config.py': "title = 't'\ncolumns = ['a']\nrows = {'x': ['digits/r8_mixpu.py']}\n",
    'list.txt': 'a.png 0\nb.png one\n',
}


def lay_out(desk):
    """Fill a folder with what people give by mistake; the trained run and its checkpoint are real ones."""
    for name, text in TEXTS.items():
        (desk / name).write_text(text)
    (desk / 'latin.py').write_bytes(f'{BASE}# café\n'.encode('latin-1'))
    (desk / 'broken.png').write_bytes(b'no image')
    (desk / 'nothing_in_it').mkdir()
    (desk / 'link.py').symlink_to('gone.py')
    for name, sizes in {'sizes': (16, 20, 24), 'one_class': (16, 16, 16)}.items():
        for label in ('a', 'b') if name == 'sizes' else ('a',):
            write_images(desk / name / 'train' / label, sizes)
        (desk / f'{name}.py').write_text(BASE + OWN.format(root=str(desk / name)))
    write_images(desk / 'image', (16,))
    write_trained(desk / 'run', 'digits/r8_mixup_dm')
    shutil.copytree(desk / 'run', desk / 'own_loss')  # trained by a config that imports a loss of the user's
    text = (desk / 'run' / 'config.py').read_text()
    (desk / 'own_loss' / 'config.py').write_text(text.replace('DecoupledCE', 'MyCE'))
    write_trained(desk / 'other run', 'digits/r8_cutmix', 'model.backbone.depth=14')
    return desk


def write_images(folder, heights):
    folder.mkdir(parents=True)
    for place, height in enumerate((*heights, *heights)):
        cv2.imwrite(str(folder / f'{place}.png'), np.full((height, 16, 3), 40 * place, np.uint8))


def write_trained(path, name, *options):
    """Leave a run folder with a checkpoint of random weights."""
    config = load_run_config(name, [*options, 'train_cfg.max_epochs=1'], 0)
    folder = RunFolder(path)
    folder.start(config, 0, world_size=1)
    state = {'state_dict': build_lone_model(config).state_dict(), 'meta': {'iter': 14, 'epoch': 1}}
    CheckpointStore(path).save(state, 'epoch_1.pth', 14, None)
    folder.finish('done', 1.0)

"""What people mistype, over all commands: an exit code, words that say what to do, no traceback, nothing written.

Each row: the command line as a shell reads it, the exit code, and what has to be in the message. Misspelt keys of
configs are in tests/config/test_check.py.
"""

import os
import shlex

import pytest
import torch
from conftest import ROOT
from support.command_runs import run as run_process
from support.wrong_files import lay_out

import openmix_dm
from openmix_dm.commands.console import main_of
from openmix_dm.errors import ConfigError, ResourceError
from openmix_dm.runs.folder import RunFolder

DM = 'digits/r8_mixup_dm'
TRAIN = f'train {DM} --work-dir new'
OPTIONS = f'{TRAIN} --cfg-options'

TRAINING = [
    # the bad inputs of a first user's day
    ('train sizes.py --work-dir sizes_run', 3, 'the images of a batch have different sizes'),
    (f'{OPTIONS} train_cfg.max_epochs=0', 2, 'max_epochs must be at least 1, got 0'),
    (f'{OPTIONS} train_cfg.max_epochs=-3', 2, 'max_epochs must be at least 1, got -3'),
    ('train one_class.py --work-dir new', 3, 'all 6 training images are of class 0'),
    ('train syntax.py --work-dir new', 2, "syntax.py:2 is no Python: '(' was never closed"),
    ('train below_syntax.py --work-dir new', 2, "syntax.py:2 is no Python: '(' was never closed"),
    # who set it: the command line, or which line of which file
    (f'{OPTIONS} model.mixer.alpha=-1', 2, 'got -1 (--cfg-options model.mixer.alpha=-1)'),
    (f'{OPTIONS} model.mixer.per_sample=True model.mixer.alpha=0', 2, '(--cfg-options model.mixer.alpha=0)'),
    ('train bad_alpha.py --work-dir new', 2, 'bad_alpha.py:3)'),
    ('train bad_alpha.py --work-dir new --cfg-options model.mixer.per_sample=True', 2, 'bad_alpha.py:3)'),
    (f'{OPTIONS} model.backbone.type=ResNet', 2, '(--cfg-options model.backbone.type=ResNet)'),
    (f'{OPTIONS} "model.backbone.type=Thin Resnet"', 2, "(--cfg-options 'model.backbone.type=Thin Resnet')"),
    (f'{OPTIONS} train_dataloader.dataset.transforms.0.paddin=3', 2, '(--cfg-options train_dataloader.dataset.trans'),
    (f'{OPTIONS} train_cfg.max_epochs=many', 2, "must be a whole number, got 'many' (--cfg-options"),
    (f'{OPTIONS} alpha=1', 2, 'alpha is not a key of a config'),
    # values
    (f'{OPTIONS} train_cfg.val_interval=0', 2, 'val_interval must be at least 1, got 0'),
    (f'{OPTIONS} global_batch_size=0', 2, 'global_batch_size must be a whole number of images, got 0'),
    (f'{OPTIONS} global_batch_size=100000', 2, 'lower global_batch_size'),
    (f'{OPTIONS} train_dataloader.num_workers=two', 2, "num_workers must be a whole number, 0 or above, got 'two'"),
    (f'{OPTIONS} val_dataloader.batch_size=0', 2, 'val_dataloader.batch_size must be a whole number, 1 or above'),
    (f'{OPTIONS} optim_wrapper.optimizer.lr=-0.1', 2, 'optim_wrapper: Invalid learning rate: -0.1'),
    (f'{OPTIONS} optim_wrapper.amp=fp8', 2, 'fp8'),
    (f'{OPTIONS} load_from=gone.pth', 4, 'there is no checkpoint gone.pth'),
    (f'{OPTIONS} model.mixer.alpha 0.5', 2, "--cfg-options takes key.path=value, got 'model.mixer.alpha'"),
    (f'{TRAIN} --seed one', 2, "--seed takes a whole number, got 'one'"),
    (f'{TRAIN} --seed 1.5', 2, "--seed takes a whole number, got '1.5'"),
    (f'{TRAIN} --seed -1', 2, '--seed must be a whole number, 0 or above, got -1'),
    # options
    (f'{TRAIN} --epochs 3', 2, '--cfg-options train_cfg.max_epochs=100'),
    (f'{TRAIN} --gpus 2', 2, 'CUDA_VISIBLE_DEVICES=0'),
    (f'{TRAIN} --sed 3', 2, 'did you mean --seed?'),
    (f'{TRAIN} --topk 3', 2, 'there is no --topk'),
    (f'{TRAIN} --launcher torch', 2, 'did you mean pytorch?'),
    (f'{TRAIN} --launcher slurm', 6, 'start it by srun'),
    (f'{TRAIN} digits/r8_mixup', 2, "nothing is expected after the other arguments, got 'digits/r8_mixup'"),
    ('train', 2, 'expected also CONFIG'),
    # the config
    ('train digits/r8_mixpu_dm', 2, 'did you mean digits/r8_mixup_dm?'),
    ("train ''", 2, "there is no config '': expected a file"),
    ('train digits', 2, "config --list 'digits/*'"),
    ('train run', 2, 'it is the folder of a run, whose config is run/config.py'),
    ('train nothing_in_it', 2, 'it is a folder, expected a file'),
    ('train notes.txt', 2, 'notes.txt is no config: expected a Python file (.py)'),
    (r"train 'C:\Users\me\digits.py'", 2, r'there is no config C:\Users\me\digits.py'),
    ("train '~/gone/digits.py'", 2, 'there is no config ~/gone/digits.py'),
    ('train link.py', 2, 'there is no config link.py'),
    ('train latin.py', 2, 'latin.py:2 is not UTF-8'),
    ('train name_error.py', 2, "name_error.py:3 cannot be read: NameError: name 'epochs' is not defined"),
    ('train below_name_error.py', 2, 'name_error.py:3 cannot be read'),
    ('train no_base.py', 2, 'no_base.py inherits nothing.py, which is not there'),
    ('train no_model.py', 2, 'no_model.py has no model'),
    ('train empty.py', 2, 'empty.py has no model'),
    # the folder
    (f"train {DM} --work-dir ''", 2, '--work-dir: expected a path, got nothing'),
    (f'train {DM} --work-dir=~nobody_of_this_name/run', 2, '--work-dir: ~nobody_of_this_name/run'),
    (f'train {DM} --work-dir notes.txt', 7, 'the run folder notes.txt cannot be written'),
    (f'train {DM} --work-dir /proc/new', 7, 'the run folder /proc/new cannot be written'),
    (f'train {DM} --work-dir run', 2, 'holds a run already; go on with it by --resume'),
    (f"train {DM} --work-dir 'other run' --resume", 2, 'model.backbone.depth: 14 -> 8'),
    (f'{TRAIN} --resume run', 2, f'train {DM} --work-dir run --resume'),
    (f'{TRAIN} --resume gone.pth', 4, 'there is no checkpoint gone.pth'),
    (f'{TRAIN} --resume notes.txt', 4, 'notes.txt is damaged or no checkpoint: expected a file that torch.save wrote'),
]

TESTING = [
    (f'test {DM}', 2, 'expected also CHECKPOINT'),
    (f'test {DM} run --out r.pkl', 2, '--out must end in .json, got r.pkl'),
    (f'test {DM} run --out gone/r.json', 2, 'there is no folder'),
    (f'test {DM} run --hits h.csv', 2, '--hits must end in .npz, got h.csv'),
    (f'test {DM} run --ema', 4, 'it was trained without EMA'),
    (f'test {DM} run --seed 1', 2, 'there is no --seed'),
    (f'test {DM} gone', 4, 'there is no checkpoint gone'),
    (f'test {DM} nothing_in_it', 4, 'nothing_in_it holds no checkpoint'),
    (f'test {DM} notes.txt', 4, 'notes.txt is damaged or no checkpoint'),
    (f"test {DM} 'other run'", 4, 'does not fit the model of the config'),
    (f'test run {DM}', 2, 'whose config is run/config.py'),
    (f'test run/epoch_1.pth {DM}', 2, 'run/epoch_1.pth is no config'),
]

TABLES = [
    ('table', 2, 'expected also COMMAND'),
    ('table lits', 2, 'did you mean list?'),
    ('table list digts', 2, 'did you mean digits?'),
    ('table list gone.py', 2, 'there is no table gone.py'),
    ('table list notes.txt', 2, 'a table of your own is a .py file'),
    ('table list digits --cells x', 2, 'table list --help'),
    ("table run digits --cells 'gone*'", 2, "no cell of digits matches 'gone*'; its cells are called vanilla/mce"),
    ("table run digits --cells '{mixup,cutmix/*'", 2, 'its cells are called'),
    ('table run digits --trials 0', 2, '--trials must be at least 1, got 0'),
    ('table run digits --trials three', 2, "--trials takes a whole number, got 'three'"),
    ('table run digits --jobs 0', 2, '--jobs must be at least 1, got 0'),
    ('table run digits --jobs 2 --slurm gpu', 2, '--slurm: not allowed with argument --jobs'),
    ('table run digits --dry-run --cfg-options train_cfg.max_epoch=3', 2, '(--cfg-options train_cfg.max_epoch=3)'),
    ('table run table_config.py', 2, 'did you mean digits/r8_mixup?'),
    ('table run table_syntax.py', 2, "'[' was never closed (table_syntax.py, line 2)"),
    ('table status digits --work-dirs notes.txt', 2, 'expected a folder, got the file notes.txt'),
    ('table status digits --trials -1', 2, '--trials must be at least 1, got -1'),
    ('table collect digits --format htlm', 2, 'did you mean html?'),
    ('table collect digits --out t.html', 2, 'add --format html'),
    ('table collect digits --out nothing_in_it', 2, '--out nothing_in_it is a folder; name a file in it'),
    ('table collect digits --metric ece:many', 2, 'as in ece:2000'),
    ('table collect digits --from notes.txt', 3, 'it is no JSON'),
    ('table measure digits --metrics fgms', 2, 'did you mean fgsm?'),
    ('table check', 2, 'one of the arguments TABLE --all is required'),
    ('table check digits --json gone/x.json', 2, 'there is no folder'),
    ('table doctor digts', 2, 'did you mean digits?'),
    ('table doctor --work-dirs gone', 2, 'there is no folder gone'),
]

DATA = [
    ('data cifar', 2, 'did you mean cifar10?'),
    ('data cifar10 --root new --archive gone.tar.gz', 3, 'got no such file; give the path of the downloaded file'),
    ('data cifar10 --root new --archive notes.txt', 3, 'is not the official cifar-10-python.tar.gz'),
    ('data check folder --root gone', 3, 'not complete'),
    ('data check folder --root nothing_in_it', 3, 'not complete'),
    ('data check list --root image', 3, 'expected --list FILE'),
    ('data check list --root . --list list.txt --classes zero', 2, "--classes takes a whole number, got 'zero'"),
    ('data pack digts', 2, 'did you mean digits?'),
    ('data pack folder', 2, 'expected --root DIR'),
    ('data pack folder --root sizes --split trian', 3, 'sizes/trian has no folders of images'),
    ('data pack folder --root sizes --short-edge -1', 2, '--short-edge must be a number of pixels, 1 or more, got -1'),
]

PICTURES = [
    ('mix Mixup --out b.xyz', 2, '--out must end in .png, .svg, .pdf, got b.xyz'),
    ('mix Mixup --out gone/b.png', 2, '--out gone/b.png: there is no folder'),
    ('mix Mixpu', 2, 'did you mean Mixup?'),
    ('mix digits/r8_mixpu', 2, 'did you mean digits/r8_mixup?'),
    ('mix no_model.py', 2, 'no_model.py has no model'),
    ('mix Mixup --lam 2', 2, '--lam must be in [0, 1], got 2.0'),
    ('mix Mixup --lam half', 2, "--lam takes a number, got 'half'"),
    ('mix Mixup --n 1', 2, '--n must be at least 2, got 1'),
    ('mix Mixup --images gone', 3, 'there is no folder gone'),
    ('mix Mixup --images broken.png', 3, 'there is no folder broken.png'),
    (f'mix {DM} --checkpoint run', 4, 'run is a folder; expected a checkpoint in it, such as run/epoch_40.pth'),
    ('analyze fgms run', 2, 'did you mean fgsm?'),
    ('analyze fgsm gone', 4, 'there is no checkpoint gone'),
    ('analyze fgsm run --out f.xyz', 2, '--out must end in .png, .svg, .pdf, got f.xyz'),
    ('analyze fgsm run --eps eight', 2, "--eps takes a number, got 'eight'"),
    ('analyze fgsm run --limit 0', 2, '--limit must be at least 1, got 0'),
    (f'analyze fgsm {DM}', 2, f'expected a checkpoint after the config {DM}'),
    ('analyze occlusion run --patch 0', 2, '--patch must be at least 1 pixel, got 0'),
    ('analyze curves gone', 2, 'gone holds no run'),
    ('analyze curves run --last -2', 2, '--last must be at least 1 epoch, got -2'),
    ('analyze confusion run --cfg-options val_dataloader.dataset.spilt=x', 2, 'did you mean split?'),
    ('analyze confusion own_loss', 2, '(of analyze: CONFIG before the run)'),
    ('analyze rescale --settings 1', 2, '--settings takes T,XI such as 0.5,0.8'),
]

REST = [
    ('export predcit run image', 2, 'did you mean predict?'),
    ('export predict run gone.png', 3, 'there is no image or folder gone.png'),
    ('export predict run broken.png', 3, 'broken.png cannot be decoded as an image'),
    ('export predict run image --topk 0', 2, 'must be at least 1, got 0'),
    ('export predict run image --out p.csv', 2, '--out must end in .json, got p.csv'),
    ('export predict run image --import no_such_package', 2, 'is its folder on PYTHONPATH?'),
    ("export predict run image --config 'other run/config.py'", 4, 'does not fit the model of the config'),
    ('export predict own_loss image', 2, 'by --import MODULE (imports=[...] of openmix_dm.load), or the config'),
    ('export publish own_loss --out new', 2, 'which imports it: --config CONFIG'),
    ('export publish run', 2, 'say where to publish it: --out FOLDER, --push OWNER/NAME'),
    ('export publish run --private --out new', 2, 'it needs --push OWNER/NAME'),
    ('export publish run --push nobody', 2, 'OWNER/NAME'),
    ('export timm run --out m.pt', 2, '--out must end in .safetensors, got m.pt'),
    ('export publish run --out notes.txt', 2, '--out notes.txt is a file; expected a new folder'),
    ('export publish run --out run', 2, 'nothing is overwritten'),
    ('export onnx run --out m.pt', 2, '--out must end in .onnx, got m.pt'),
    ('config', 2, 'takes a CONFIG, or --list'),
    ('config digits/r8_mixpu', 2, 'did you mean digits/r8_mixup?'),
    ("config --list 'gone*'", 2, "no config matches 'gone*'"),
    ('benchmark loss', 2, 'did you mean losses?'),
    ('benchmark losses --rounds 0', 2, '--rounds must be at least 1, got 0'),
    ('completion tcsh', 2, 'known: bash, fish, zsh'),
    ('gpu-check --out gone/x.json', 2, 'there is no folder'),
    (f'dist-train {DM} two', 2, "N takes a whole number, got 'two'"),
    (f'dist-train {DM} 0', 2, 'the number of ranks must be 1 or above, got 0'),
    ('slurm-train gpu job gone.py --dry-run', 2, 'there is no config gone.py'),
]

ROWS = [*TRAINING, *TESTING, *TABLES, *DATA, *PICTURES, *REST]
RAN = ('train sizes.py',)  # what only the first batch can show: the run has its folder by then


@pytest.fixture(scope='module')
def desk(tmp_path_factory):
    return lay_out(tmp_path_factory.mktemp('desk'))


@pytest.mark.parametrize(('line', 'code', 'said'), ROWS, ids=[row[0] for row in ROWS])
def test_a_wrong_input_is_told_and_leaves_nothing(line, code, said, desk, monkeypatch, capsys):
    monkeypatch.chdir(desk)
    before = {path: path.lstat().st_mtime_ns for path in desk.rglob('*')}
    name, *arguments = shlex.split(line)
    try:
        returned = main_of(name)(arguments)
    except SystemExit as left:  # a command line that could not be read
        returned = left.code
    err = capsys.readouterr().err
    assert returned == code, err
    assert said in err
    assert 'Traceback' not in err
    assert any(text.startswith('openmix_dm: FAILED cause=') for text in err.splitlines())
    if not line.startswith(RAN):
        assert {path: path.lstat().st_mtime_ns for path in desk.rglob('*')} == before


def test_what_was_wrong_with_the_images_is_mended_and_starts_in_the_same_folder(desk, tmp_path, monkeypatch, capsys):
    """With and without --resume; the log of the start that came to nothing stays."""
    monkeypatch.chdir(desk)
    crop = "[{'type':'CenterCrop','size':16}]"
    mended = ['--cfg-options', *(f'{phase}_dataloader.dataset.transforms={crop}' for phase in ('train', 'val'))]
    for resume in ([], ['--resume']):
        run = tmp_path / f'run{len(resume)}'
        arguments = ['sizes.py', '--work-dir', str(run)]
        assert main_of('train')(arguments) == 3
        assert main_of('train')([*arguments, *resume, *mended]) == 0, capsys.readouterr().err
        assert RunFolder(run).read()['state'] == 'done'
        assert (run / 'train.log').read_text().count(', rank 0 of 1, config sizes.py') == 2
        assert main_of('train')([*arguments, *mended]) == 2


def test_every_command_has_its_rows():
    from openmix_dm.commands.console import COMMANDS

    named = {row[0].split()[0] for row in ROWS}
    assert set(COMMANDS) - named <= {'dist-test', 'slurm-test'}  # their arguments are those of dist-train, slurm-train
    assert len({row[0] for row in ROWS}) == len(ROWS) > 12 + 11 + 40


@pytest.mark.parametrize('device', ['cuda', 'gpu', 'cuda:77'])
def test_a_device_that_is_not_there_is_told(desk, device):
    if torch.cuda.is_available() and device == 'cuda':
        pytest.skip('there is a GPU')
    with pytest.raises(ConfigError, match=f"device='{device}' cannot be used here"):
        openmix_dm.load(desk / 'run', device=device)


def test_images_that_loaders_do_not_read_are_told(tmp_path, capsys):
    from support.wrong_files import write_images

    from openmix_dm.datasets.image_folder import ImageFolder

    for label in 'ab':
        write_images(tmp_path / 'train' / label, (16,))
        for kind in ('gif', 'tiff', 'avif'):
            (tmp_path / 'train' / label / f'x.{kind}').write_bytes(b'x')
    ImageFolder(str(tmp_path), 'train')
    assert '6 files' in (said := capsys.readouterr().err)
    assert all(f'.{kind}' in said for kind in ('gif', 'tiff', 'avif'))


def test_a_folder_that_cannot_be_written_is_told_before_any_work(tmp_path, monkeypatch):
    from openmix_dm.commands.command_line import check_parent

    monkeypatch.setattr(os, 'access', lambda *_: False)
    with pytest.raises(ResourceError, match='cannot be written'):
        check_parent('--out', tmp_path / 'x.json')


def test_a_home_that_the_shell_has_left_in_an_option_is_meant(monkeypatch, tmp_path):
    from openmix_dm.commands.train import parse

    monkeypatch.setenv('HOME', str(tmp_path))
    assert parse([DM, '--work-dir=~/runs']).work_dir == tmp_path / 'runs'


def test_auto_is_what_resume_means_to_others(desk, monkeypatch):
    """A word that mmengine's users type; the run in the folder is what goes on."""
    from openmix_dm.commands.train import parse, prepare

    monkeypatch.chdir(desk)
    config = prepare(parse([DM, '--work-dir', 'run', '--resume', 'auto']))
    assert (config.resume, config.load_from) == (True, None)


def test_a_test_takes_the_folder_of_a_run(desk, capsys):
    assert main_of('test')([DM, str(desk / 'run')]) == 0
    assert capsys.readouterr().out.startswith('top1 ')


@pytest.mark.slow
@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (('tools/train.py', DM, '--seed', 'one'), "--seed takes a whole number, got 'one'; see: "),
        (('-m', 'openmix_dm', 'train', 'syntax.py'), 'there is no config syntax.py'),
        (('tools/table.py', 'list', 'digts'), 'table.py list'),
    ],
)
def test_the_same_in_processes_of_their_own(words, said):
    import sys

    code, out, err = run_process(sys.executable, *words, PYTHONPATH=str(ROOT))
    assert (code, out) == (2, '')
    assert said in err
    assert err.count('\n') == 1

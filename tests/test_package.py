"""The wheel: installed into an environment of its own, it works in an empty folder, and its hints can be pasted."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import time
import urllib.request
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT

from openmix_dm.config.shipped import list_configs

pytestmark = pytest.mark.slow
# of the source distribution
LOOSE = ('requirements.txt', 'CHANGELOG.md', 'CONTRIBUTING.md', 'CITATION.cff', 'mkdocs.yml')
SHORT = ('--cfg-options', 'train_cfg.max_epochs=1', 'global_batch_size=400')


@pytest.fixture(scope='module')
def place(tmp_path_factory):
    return tmp_path_factory.mktemp('package')


def variables(**more):
    """Return the environment without what would lead back to the repository."""
    kept = {key: value for key, value in os.environ.items() if key not in ('PYTHONPATH', 'OPENMIX_DM_DATA')}
    return {**kept, 'OMP_NUM_THREADS': '1', **more}


def run(*command, cwd, timeout=300, **environment):
    done = subprocess.run(
        command, cwd=cwd, env=variables(**environment), capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, f'{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}'
    return done.stdout


def build_wheel(source, out):
    run(
        *(sys.executable, '-m', 'pip', 'wheel', '--quiet', '--no-deps', '--no-index', '--no-build-isolation'),
        *('--wheel-dir', str(out), str(source)),
        cwd=out.parent,
    )
    (wheel,) = out.glob('*.whl')
    return wheel


@pytest.fixture(scope='module')
def source(place):
    """A copy of the sources: building leaves folders behind."""
    source = place / 'source'
    skipped = shutil.ignore_patterns('.*', '__pycache__', 'build', '*.egg-info', 'work_dirs', 'data')
    for folder in ('configs', 'openmix_dm', 'tools'):
        shutil.copytree(ROOT / folder, source / folder, ignore=skipped)
    for file in ('setup.py', 'pyproject.toml', 'README.md', 'LICENSE', *LOOSE):
        shutil.copy(ROOT / file, source)
    return source


@pytest.fixture(scope='module')
def wheel(place, source):
    stale = source / 'build' / 'lib' / 'openmix_dm' / 'configs' / 'digits'
    stale.mkdir(parents=True)
    (stale / 'of_an_earlier_build.py').touch()
    return build_wheel(source, place / 'wheels')


def make_environment(folder, *what):
    """Install into a new environment that sees the other packages of this one."""
    run(sys.executable, '-m', 'venv', '--without-pip', str(folder), cwd=folder.parent)
    packages = Path(sysconfig.get_path('purelib', 'venv', {'base': str(folder), 'platbase': str(folder)}))
    (packages / 'others.pth').write_text(sysconfig.get_path('purelib') + '\n')
    run(
        *(sys.executable, '-m', 'pip', '--python', str(folder / 'bin' / 'python'), 'install', '--quiet', '--no-deps'),
        *('--no-index', '--no-build-isolation', '--no-compile', *map(str, what)),
        cwd=folder.parent,
    )
    return folder


@pytest.fixture(scope='module')
def environment(place, wheel):
    """An environment that has the wheel."""
    folder = make_environment(place / 'environment', wheel)
    (folder / 'bin' / 'tensorboard').symlink_to(Path(sysconfig.get_path('scripts')) / 'tensorboard')
    return folder


@pytest.fixture
def typed(environment, tmp_path):
    """Type a line into a shell of this environment, in an empty folder."""
    path = f'{environment / "bin"}:{os.environ["PATH"]}'

    def typed(line):
        return run('bash', '-c', line, cwd=tmp_path, PATH=path)

    typed.environment = variables(PATH=path)
    return typed


def names_in(wheel):
    with zipfile.ZipFile(wheel) as file:
        return set(file.namelist())


def test_the_wheel_has_all_that_is_needed(wheel):
    names = names_in(wheel)
    configs = {str(file.relative_to(ROOT)) for file in (ROOT / 'configs').rglob('*.py')}
    assert {name.removeprefix('openmix_dm/') for name in names if name.startswith('openmix_dm/configs/')} == {
        *configs,
        'configs/README.md',
    }
    package = {str(file.relative_to(ROOT)) for file in (ROOT / 'openmix_dm').rglob('*') if file.is_file()}
    assert {name for name in package if '__pycache__' not in name} <= names
    assert {name.split('/')[0].split('-')[0] for name in names} == {'openmix_dm'}


def test_the_source_distribution_builds_the_same_wheel(place, source, wheel):
    run(sys.executable, 'setup.py', '--quiet', 'sdist', '--dist-dir', str(place / 'sources'), cwd=source)
    (archive,) = (place / 'sources').glob('*.tar.gz')
    with tarfile.open(archive) as file:
        inside = {name.partition('/')[2] for name in file.getnames()}
    assert {'tools/train.py', 'configs/README.md', 'LICENSE', 'README.md', *LOOSE} <= inside
    again = build_wheel(archive, place / 'again')
    assert names_in(again) == names_in(wheel)


def test_the_description_leads_nowhere_that_is_not_there(wheel):
    with zipfile.ZipFile(wheel) as file:
        (name,) = [name for name in file.namelist() if name.endswith('.dist-info/METADATA')]
        text = file.read(name).decode()
    assert 'Description-Content-Type: text/markdown' in text
    assert '# openmix_dm' in text
    assert all(target.startswith('https://') for target in re.findall(r'\]\(([^)]*)\)', text))


def test_names_are_those_of_a_clone(typed):
    assert typed('openmix-dm config --list').split() == list_configs()


def test_an_editable_install_reads_the_configs_where_they_are(place, source, tmp_path):
    clone = tmp_path / 'clone'
    shutil.copytree(source, clone, ignore=shutil.ignore_patterns('build', '*.egg-info'))
    folder = make_environment(place / 'editable', '--editable', clone)
    (clone / 'configs' / 'digits' / 'mine.py').touch()
    assert run(str(folder / 'bin' / 'openmix-dm'), 'config', '--list', 'digits/mi*', cwd=tmp_path) == 'digits/mine\n'
    assert not (clone / 'openmix_dm' / 'configs').exists()


def hints(out):
    """Return the commands that were printed after `next:`, each on a line of its own, as they are."""
    found = re.search(r'^next: .*(?:\n +\S.*)*', out, re.MULTILINE)
    assert found, out
    return [line.strip() for line in found[0].removeprefix('next: ').splitlines()]


def scalars_shown(line, typed_environment, cwd):
    """Start the server that a hint is about, as it is; return what it says there is to see."""
    server = subprocess.Popen(
        ['bash', '-c', f'exec {line}'], cwd=cwd, env=typed_environment, stderr=subprocess.PIPE, text=True
    )
    try:
        address = next(found[0] for said in server.stderr if (found := re.search(r'http://localhost:\d+/', said)))
        for _ in range(100):  # it reads the files after it has begun to serve
            with urllib.request.urlopen(f'{address}data/plugin/scalars/tags') as answer:
                if tags := json.load(answer):
                    return {tag for each in tags.values() for tag in each}
            time.sleep(0.2)
    finally:
        server.terminate()
        server.wait(30)
    raise AssertionError(f'nothing is shown by {line}')


def test_a_new_user_in_an_empty_folder(typed, tmp_path, environment):
    """Trains, pastes every hint as it is, runs a table and collects it: nothing of the repository is there."""
    assert not [*tmp_path.iterdir()]
    where, found = typed('python -c "import openmix_dm as o; print(o.__file__, len(o.list_configs()))"').split()
    assert Path(where).is_relative_to(environment)
    assert int(found) == len(list_configs())

    (tmp_path / 'my runs').mkdir()
    options = ' '.join((*SHORT, 'model.backbone.depth=14'))  # another model than that of the config
    out = typed(f"openmix-dm train digits/r8_mixup_dm --work-dir 'my runs/first' {options}")
    boards = [line for line in hints(out) if line.startswith('tensorboard ')]
    tests = [line for line in hints(out) if line.startswith('openmix-dm test ')]  # nothing of this machine is in it
    assert len(boards) == len(tests) == 1
    assert 'top1' in typed(tests[0])
    assert 'top1' in str(scalars_shown(boards[0], typed.environment, tmp_path))
    for line in {*hints(out)} - {*boards, *tests}:
        typed(line)

    out = typed(f"openmix-dm table run digits --cells 'Mixup*' --trials 1 --jobs 2 {' '.join(SHORT)}")
    assert '2 done' in out
    pasted = [typed(line) for line in hints(out)]
    assert any('| Mixup |' in table for table in pasted)
    typed('openmix-dm table collect digits --format html --out digits.html')
    assert 'openmix-dm table run digits' in (tmp_path / 'digits.html').read_text()


def test_a_config_of_your_own_inherits_by_name(typed, tmp_path):
    (tmp_path / 'my.py').write_text(
        "_base_ = 'openmix_dm::digits/r8_mixup_dm.py'\nmodel = dict(mixer=dict(alpha=1.0))\n"
    )
    assert "'alpha': 1.0" in typed('openmix-dm config my.py')


def test_scripts_for_clusters_start_what_is_installed(typed, environment):
    script = typed('openmix-dm slurm-train gpu job digits/r8_mixup --dry-run')
    assert f'{environment}/bin/python -u -P -m openmix_dm train {environment}/' in script
    assert str(ROOT) not in script

"""A table as one Slurm job array: a readable script, and a list with a run a line."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from openmix_dm.errors import ConfigError
from openmix_dm.launch.slurm import GRACE, call, job_script
from openmix_dm.tables.plan import TOOLS, Step
from openmix_dm.utils.files import write_atomically

DEFAULTS = {
    'ntasks': '1',
    'cpus-per-task': '8',
    'gpus-per-task': '1',
    'requeue': '',
    'signal': f'USR1@{GRACE}',
    'open-mode': 'append',
}

ATTACK = """
# The error under attack, from the last checkpoint; the line of a run that no cell asks it of is empty.
arguments=$(sed -n "${{SLURM_ARRAY_TASK_ID}}p" {attacks})
if [ "$code" -eq 0 ] && [ -n "$arguments" ]; then
    eval "set -- $arguments"
    srun --ntasks=1 {python} {analyze} "$@"
    code=$?
fi
"""


def headers_of(name: str, partition: str, count: int, folder: Path, settings: Sequence[str]) -> list[str]:
    """Return the options of sbatch; settings are KEY=VALUE (or KEY) that add to the defaults or replace them."""
    values = {
        'job-name': f'table-{name}',
        'partition': partition,
        'array': f'1-{count}',
        'output': f'{folder}/%A_%a.log',
        **DEFAULTS,
    }
    for setting in settings:
        key, _, value = setting.lstrip('-').partition('=')
        if not key or any(sign in setting for sign in '\n\r'):
            raise ConfigError(f'--sbatch takes KEY=VALUE, such as time=24:00:00, got {setting!r}')
        values[key] = value
    if values['gpus-per-task'] == '0':
        del values['gpus-per-task']
    return [f'--{key}={value}' if value else f'--{key}' for key, value in values.items()]


def make_script(
    title: str, name: str, partition: str, steps: Sequence[Step], folder: Path, settings: Sequence[str]
) -> dict[str, str]:
    """Return the files of an array by name: array.sh, runs.txt and, where a cell asks for it, attacks.txt."""
    lines = [shlex.join([str(step.run.folder), *step.run.train_arguments()]) for step in steps]
    files = {'runs.txt': ''.join(f'{line}\n' for line in lines)}
    python, train, analyze = (
        shlex.quote(str(path)) for path in (sys.executable, TOOLS / 'train.py', TOOLS / 'analyze.py')
    )
    attack = ''
    if any(step.run.attacked for step in steps):
        lines = [shlex.join(step.run.attack_arguments()) if step.run.attacked else '' for step in steps]
        files['attacks.txt'] = ''.join(f'{line}\n' for line in lines)
        attack = ATTACK.format(attacks=shlex.quote(str(folder / 'attacks.txt')), python=python, analyze=analyze)
    listed = shlex.quote(str(folder / 'runs.txt'))
    setup = [
        f'# {title}',
        f'# {len(steps)} runs, one for each line of {listed}: its folder, and the arguments of train.py.',
        'set -u',
        f'cd {shlex.quote(str(Path.cwd()))}',
        f'eval "set -- $(sed -n "${{SLURM_ARRAY_TASK_ID}}p" {listed})"',
        'run=$1',
        'shift',
        'if [ "${SLURM_NTASKS:-1}" -gt 1 ]; then set -- "$@" --launcher slurm; fi',
    ]
    headers = headers_of(name, partition, len(steps), folder, settings)
    command = f'{python} {train} "$@" # --resume starts a run, or goes on where it stopped'
    files['array.sh'] = job_script(headers, setup, command, sys.executable, attack)
    return files


def submit(files: dict[str, str], folder: Path) -> str:
    """Write the files and hand the script to Slurm; return what sbatch says."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        write_atomically(folder / name, text)
    otherwise = f'{folder}/array.sh is ready to be submitted where there is one'
    return call(['sbatch', str(folder / 'array.sh')], '', otherwise)

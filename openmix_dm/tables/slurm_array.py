"""A table as one Slurm job array: a readable script, and a list with a run a line."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from openmix_dm.errors import ConfigError
from openmix_dm.invocation import start_words
from openmix_dm.launch.slurm import ARRAY_TASK, GRACE, call, job_script, one_line, output_of
from openmix_dm.tables.plan import Step
from openmix_dm.utils.files import write_atomically

DEFAULTS = {
    'ntasks': '1',
    'cpus-per-task': '8',
    'gpus-per-task': '1',
    'requeue': '',
    'signal': f'USR1@{GRACE}',
    'open-mode': 'append',
}

MEASURE = """
# What is measured after the training, from the last checkpoint; the line of a run of which nothing is asked is empty.
if [ "$code" -eq 0 ]; then
    eval "$(sed -n "${{SLURM_ARRAY_TASK_ID}}p" {measures})"
    code=$?
fi
"""


def headers_of(name: str, partition: str, count: int, folder: Path, settings: Sequence[str]) -> list[str]:
    """Return the options of sbatch; settings are KEY=VALUE (or KEY) that add to the defaults or replace them."""
    values = {
        'job-name': f'table-{name}',
        'partition': partition,
        'array': f'1-{count}',
        'output': output_of(folder, '%A_%a.log').partition('=')[2],
        **DEFAULTS,
    }
    for setting in settings:
        key, _, value = setting.lstrip('-').partition('=')
        if not key or not setting.isprintable():
            raise ConfigError(f'--sbatch takes KEY=VALUE, such as time=24:00:00, got {setting!r}')
        values[key] = value
    if values['gpus-per-task'] == '0':
        del values['gpus-per-task']
    return [f'--{key}={value}' if value else f'--{key}' for key, value in values.items()]


def make_script(
    title: str, name: str, partition: str, steps: Sequence[Step], folder: Path, settings: Sequence[str]
) -> dict[str, str]:
    """Return the files of an array by name: array.sh, runs.txt and, where a cell asks for it, measures.txt."""
    lines = [one_line(shlex.join([str(step.run.folder), *step.run.train_arguments()])) for step in steps]
    files = {'runs.txt': ''.join(f'{line}\n' for line in lines)}
    train, analyze = shlex.join(start_words('train')), shlex.join(start_words('analyze'))
    measure = ''
    if any(step.run.measures for step in steps):
        measuring = f'srun --ntasks=1 {analyze} '
        commands = [[measuring + shlex.join(words) for words in step.run.measure_arguments()] for step in steps]
        files['measures.txt'] = ''.join(f'{" && ".join(each)}\n' for each in commands)
        measure = MEASURE.format(measures=shlex.quote(str(folder / 'measures.txt')))
    listed = shlex.quote(one_line(str(folder / 'runs.txt')))
    setup = [
        f'# {" ".join(title.split())}',
        f'# {len(steps)} runs, one for each line of {listed}: its folder, and the arguments of train.',
        'set -u',
        f'cd {shlex.quote(str(Path.cwd()))}',
        f'eval "set -- $(sed -n "${{SLURM_ARRAY_TASK_ID}}p" {listed})"',
        'run=$1',
        'shift',
        'if [ "${SLURM_NTASKS:-1}" -gt 1 ]; then set -- "$@" --launcher slurm; fi',
    ]
    headers = headers_of(name, partition, len(steps), folder, settings)
    command = f'{train} "$@" # --resume starts a run, or goes on where it stopped'
    files['array.sh'] = job_script(headers, setup, command, sys.executable, measure, ARRAY_TASK)
    return files


def submit(files: dict[str, str], folder: Path) -> str:
    """Write the files and hand the script to Slurm; return what sbatch says."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        write_atomically(folder / name, text)
    otherwise = f'{folder}/array.sh is ready to be submitted where there is one'
    return call(['sbatch', str(folder / 'array.sh')], '', otherwise)

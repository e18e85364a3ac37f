"""A table as one Slurm job array: a readable script, and a list with a run a line."""

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from openmix_dm.engine.slurm import GRACE
from openmix_dm.errors import ConfigError, ResourceError
from openmix_dm.paper.plan import Step
from openmix_dm.paper.runs import TOOLS

DEFAULTS = {
    'ntasks': '1',
    'cpus-per-task': '8',
    'gpus-per-task': '1',
    'requeue': '',
    'signal': f'USR1@{GRACE}',
    'open-mode': 'append',
}

SCRIPT = """#!/usr/bin/env bash
# {title}
# {count} runs, one for each line of {runs}: its folder, and the arguments of train.py.
{headers}
set -u
cd {here}
eval "set -- $(sed -n "${{SLURM_ARRAY_TASK_ID}}p" {runs})"
run=$1
shift
if [ "${{SLURM_NTASKS:-1}}" -gt 1 ]; then set -- "$@" --launcher slurm; fi
rm -f "$run/preempted"
trap : TERM USR1 USR2 # the ranks answer signals: they save and leave; this script waits for them

srun --kill-on-bad-exit=1 {python} {train} "$@" # --resume starts a run, or goes on where it stopped
code=$?

if [ -e "$run/preempted" ]; then # saved and not finished: back into the queue
    scontrol requeue "$SLURM_JOB_ID"
elif [ "$code" -ne 0 ]; then # the code of the rank that failed, not of those that were killed for it
    code=$({python} -m openmix_dm.engine.outcome "$run" "$code")
fi
{attack}exit "$code"
"""

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
    """Return the #SBATCH lines; settings are KEY=VALUE (or KEY) that add to the defaults or replace them."""
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
    return [f'#SBATCH --{key}={value}' if value else f'#SBATCH --{key}' for key, value in values.items()]


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
    files['array.sh'] = SCRIPT.format(
        title=title,
        count=len(steps),
        runs=shlex.quote(str(folder / 'runs.txt')),
        headers='\n'.join(headers_of(name, partition, len(steps), folder, settings)),
        here=shlex.quote(str(Path.cwd())),
        python=python,
        train=train,
        attack=attack,
    )
    return files


def submit(files: dict[str, str], folder: Path) -> str:
    """Write the files and hand the script to Slurm; return what sbatch says."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    try:
        done = subprocess.run(['sbatch', str(folder / 'array.sh')], capture_output=True, text=True, env=os.environ)
    except FileNotFoundError:
        raise ResourceError(
            f'there is no sbatch on this machine; {folder}/array.sh is ready to be submitted where there is one'
        ) from None
    if done.returncode:
        raise ResourceError(f'sbatch refused {folder}/array.sh: {done.stderr.strip()}')
    return done.stdout.strip()

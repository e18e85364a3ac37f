"""The command behind tools/slurm_train.sh and tools/slurm_test.sh: check first, then queue."""

import argparse
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from openmix_dm.commands.parser import CommandParser
from openmix_dm.launch.early_signals import leave_at_signals

if __name__ == '__main__':
    leave_at_signals()  # the imports below take seconds

from mmengine.config import Config

from openmix_dm.commands import train as training
from openmix_dm.commands.command_line import run_command
from openmix_dm.config.shipped import find_config
from openmix_dm.datasets.roots import resolve_root
from openmix_dm.errors import ConfigError, ResourceError
from openmix_dm.invocation import CONSOLE, start_words
from openmix_dm.launch.slurm import GRACE, call, job_script, one_line, output_of
from openmix_dm.registry import DATASETS
from openmix_dm.runs.folder import RunFolder

DRY_RUN = '--dry-run'


def main(arguments: Sequence[str] | None = None) -> int:
    """Queue a training or run a test; return the exit code."""
    parser = CommandParser(prog=f'{CONSOLE} slurm-train', description='Run on a cluster.')
    parser.add_argument('kind', choices=('train', 'test'))
    parser.add_argument('partition', metavar='PARTITION')
    parser.add_argument('job', metavar='JOB', help='name of the job')
    parser.add_argument('config', metavar='CONFIG')
    parser.add_argument('rest', nargs=argparse.REMAINDER, metavar='...', help='arguments of train or test')
    args = parser.parse_args(arguments)
    return run_command(queue_training if args.kind == 'train' else run_test, args)


@dataclass(frozen=True)
class Size:
    """How much of the cluster a job takes."""

    tasks: int
    per_node: int
    gpus_per_node: int
    cpus_per_task: int

    def options(self, job: str, partition: str) -> list[str]:
        """Return the options of sbatch and srun that ask for it."""
        return [
            f'--job-name={job}', f'--partition={partition}', f'--ntasks={self.tasks}',
            f'--ntasks-per-node={self.per_node}', f'--cpus-per-task={self.cpus_per_task}',
            *([f'--gres=gpu:{self.gpus_per_node}'] if self.gpus_per_node else []),
        ]  # fmt: skip


def size_of(environment: Mapping[str, str]) -> Size:
    """Read GPUS, GPUS_PER_NODE and CPUS_PER_TASK; without GPUs (GPUS=0), TASKS says how many processes."""
    gpus = _number(environment, 'GPUS', 8, 0)
    tasks = gpus or _number(environment, 'TASKS', 1, 1)
    per_node = min(tasks, _number(environment, 'GPUS_PER_NODE' if gpus else 'TASKS_PER_NODE', 8, 1))
    if tasks % per_node:
        raise ConfigError(f'{tasks} tasks cannot be divided by {per_node} a node')
    return Size(tasks, per_node, per_node if gpus else 0, _number(environment, 'CPUS_PER_TASK', 5, 1))


def queue_training(args: argparse.Namespace) -> None:
    """Check config, folder and data, write the script and hand it to sbatch; with --dry-run only print it."""
    rest = [word for word in args.rest if word != DRY_RUN]
    work_dir = ['--work-dir', rest.pop(0)] if rest and not rest[0].startswith('-') else []
    asked = training.parse([args.config, *work_dir, *rest])
    config = training.prepare(asked)
    folder = Path(config.work_dir).absolute()
    check_folder(RunFolder(folder), asked, config)
    if DRY_RUN not in args.rest:
        check_data(config)
    size = size_of(os.environ)
    command = [*_unbuffered('train'), str(find_config(args.config).absolute()), '--launcher', 'slurm']
    words = shlex.join([*command, '--work-dir', str(folder), *_without_work_dir(rest)])
    headers = [
        *size.options(args.job, args.partition),
        '--requeue', '--open-mode=append', f'--signal=USR1@{GRACE}', output_of(folder, 'slurm-%j.out'),
        *shlex.split(os.environ.get('SBATCH_ARGS', '')),
    ]  # fmt: skip
    setup = ['', f'run={shlex.quote(one_line(str(folder)))}']
    script = job_script(headers, setup, f'\\\n    {words} \\\n    ${{SLURM_RESTART_COUNT:+--resume}}', sys.executable)
    if DRY_RUN in args.rest:
        print(script, end='')
        return
    folder.mkdir(parents=True, exist_ok=True)  # the output of the job goes there
    print(call(['sbatch', '--parsable'], script, f'{DRY_RUN} prints the script') + f'  {folder}')


def check_folder(folder: RunFolder, asked: argparse.Namespace, config: Config) -> None:
    """Refuse now what the job would refuse hours later."""
    if asked.resume:
        folder.check_same(config, asked.allow_change)
    else:
        folder.check_unused()


def check_data(config: Config) -> None:
    """Look for the folders of the data sets; only a missing one is built, for what it says."""
    for phase in ('train', 'val'):
        dataset = (config.get(f'{phase}_dataloader') or {}).get('dataset', {})
        if isinstance(dataset.get('root'), str) and not resolve_root(dataset['root']).is_dir():
            DATASETS.build(dataset)


def run_test(args: argparse.Namespace) -> None:
    """Test on the cluster, and wait for it."""
    size = size_of(os.environ)
    command = [
        'srun', *size.options(args.job, args.partition), '--kill-on-bad-exit=1',
        *shlex.split(os.environ.get('SRUN_ARGS', '')),
        *_unbuffered('test'), args.config,
        *(word for word in args.rest if word != DRY_RUN), '--launcher', 'slurm',
    ]  # fmt: skip
    if DRY_RUN in args.rest:
        print(shlex.join(command))
        return
    try:
        os.execvp(command[0], command)
    except OSError as error:
        raise ResourceError(f'srun cannot be started ({error}); is this a machine of a Slurm cluster?') from None


def _unbuffered(name: str) -> list[str]:
    """Return what starts a command whose words reach the file of the job at once."""
    python, *words = start_words(name)
    return [python, '-u', *words]


def _without_work_dir(words: Sequence[str]) -> list[str]:
    """Drop --work-dir, which is given as an absolute path, from the arguments for train."""
    if '--work-dir' not in words:
        return list(words)
    place = list(words).index('--work-dir')
    return [*words[:place], *words[place + 2 :]]


def _number(environment: Mapping[str, str], name: str, default: int, least: int) -> int:
    text = environment.get(name, str(default))
    if not text.isdigit() or int(text) < least:
        raise ConfigError(f'{name} must be a whole number, {least} or above, got {text!r}')
    return int(text)


if __name__ == '__main__':
    sys.exit(main())

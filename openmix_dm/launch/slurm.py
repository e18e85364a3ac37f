"""What Slurm says about a job, and the script that it is given."""

import re
import shlex
import subprocess
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path

from openmix_dm.errors import ConfigError, DistributedError, ResourceError

FIRST_PORT, PORTS = 20000, 20000
GRACE = 120  # seconds before the time limit at which the ranks are told to save and leave
VAIN_STARTS = 10  # restarts without a checkpoint after which a job is not put back into the queue
JOB, ARRAY_TASK = '$SLURM_JOB_ID', '${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}'


def translate_slurm(environment: MutableMapping[str, str]) -> None:
    """Set torch's variables from those that srun gives to each task."""
    missing = [name for name in ('SLURM_PROCID', 'SLURM_NTASKS') if name not in environment]
    if missing:
        raise DistributedError(
            f'--launcher slurm finds no {" and ".join(missing)} in the environment; start it by srun'
        )
    environment['RANK'] = environment['SLURM_PROCID']
    environment['WORLD_SIZE'] = environment['SLURM_NTASKS']
    environment['LOCAL_RANK'] = environment.get('SLURM_LOCALID', '0')
    environment.setdefault('MASTER_ADDR', first_host(slurm_nodes(environment)))
    environment.setdefault('MASTER_PORT', str(port_of(environment.get('SLURM_JOB_ID', '0'))))


def port_of(job: str) -> int:
    """Return a port for a job: two jobs on a node must not meet."""
    return FIRST_PORT + int(re.sub(r'\D', '', job) or 0) % PORTS


def slurm_nodes(environment: Mapping[str, str]) -> str:
    """Return Slurm's compressed list of the nodes of this step."""
    nodes = environment.get('SLURM_STEP_NODELIST') or environment.get('SLURM_JOB_NODELIST')
    if not nodes:
        raise DistributedError('--launcher slurm finds no SLURM_STEP_NODELIST in the environment; start it by srun')
    return nodes


def first_host(nodes: str) -> str:
    """Return the first host of a list such as `gpu[003-007,9],login1` or `rack[1-2]n[1-4]`."""
    first = re.match(r'(?:[^,\[]|\[[^\]]*\])+', nodes)
    if first is None:
        raise DistributedError(f'cannot read the node list {nodes!r}')
    return re.sub(r'\[([^\]]*)\]', lambda group: re.split(r'[-,]', group[1])[0], first[0])


def job_script(
    headers: Sequence[str], setup: Sequence[str], command: str, python: str, after: str = '', job: str = JOB
) -> str:
    """Return a script for sbatch that runs a training and puts it back into the queue when its time was up.

    That is what SIGUSR1 and SIGUSR2 announce. SIGTERM ends it for good, unless Slurm says that it is being preempted.

    Args:
        headers: options of sbatch, without their #SBATCH.
        setup: lines before the training; they set `run`, its folder.
        command: what srun starts, as one would type it.
        python: the interpreter that asks the run's folder for its exit code.
        after: lines that follow the training; they may change `code`. Default: ''.
        job: the id that goes back into the queue. Default: '$SLURM_JOB_ID'.
    """
    return '\n'.join(
        [
            '#!/usr/bin/env bash',
            *(f'#SBATCH {shlex.quote(one_line(option))}' for option in headers),
            *setup,
            f'job={job}',
            'rm -f "$run/preempted"',
            'trap : TERM USR1 USR2 # the ranks answer signals: they save and leave; this script waits for them',
            '',
            f'srun --kill-on-bad-exit=1 {command}',
            'code=$?',
            f'{after}',
            '# Back into the queue: what has saved and not finished, and what SIGUSR1 or SIGUSR2 met before Python.',
            '# And what has left in the grace that it had to give way to another job: Slurm then takes it for ended.',
            'gives_way() { scontrol show job "$job" | tr "\\n" " " | grep -q "JobState=RUNNING .*PreemptTime=[0-9]"; }',
            'if [ -e "$run/preempted" ] || [ "$code" -eq 138 ] || [ "$code" -eq 140 ] ||',
            '    { [ "$code" -eq 75 ] && gives_way; }; then',
            f'    if [ "${{SLURM_RESTART_COUNT:-0}}" -ge {VAIN_STARTS} ] && ! compgen -G "$run/*.pth" >/dev/null; then',
            f'        echo "openmix_dm: stopped {VAIN_STARTS} times before a checkpoint: raise the time limit" >&2',
            '    else',
            '        scontrol requeue "$job"',
            '    fi',
            'elif [ "$code" -ne 0 ]; then # the code of the rank that failed, not of those that were killed for it',
            f'    code=$({shlex.quote(python)} -m openmix_dm.commands.exit_code "$run" "$code")',
            'fi',
            'exit "$code"',
            '',
        ]
    )


def one_line(text: str) -> str:
    """Return a text that may stand in a line of a script; refuse one that would go on in the next."""
    if not text.isprintable():
        raise ConfigError(f'names of jobs, partitions and folders of Slurm cannot hold line breaks, got {text!r}')
    return text


def output_of(folder: Path, name: str) -> str:
    """Return where a job writes: Slurm replaces %j, %A, ... in the name, and would in the folder's, too."""
    return f'--output={str(folder).replace("%", "%%")}/{name}'


def call(command: Sequence[str], text: str, otherwise: str) -> str:
    """Give a text to a command of Slurm; return what it prints.

    Args:
        command: the command and its arguments.
        text: what it reads from its standard input.
        otherwise: what to do where there is no Slurm, for the message.
    """
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True)
    except OSError as error:
        raise ResourceError(
            f'{command[0]} cannot be started ({error}); is this a machine of a Slurm cluster? {otherwise}'
        ) from None
    if done.returncode:
        raise ResourceError(f'{command[0]} refused the job: {done.stderr.strip()}')
    return done.stdout.strip()

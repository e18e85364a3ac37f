"""Run the real commands in processes of their own."""

import os
import subprocess
import sys

from conftest import ROOT

CONFIG = 'configs/digits/r8_mixup_dm.py'


def start(*command, **environment):
    """Start a command in the root of the repository, with one thread, in a process group of its own."""
    variables = {**os.environ, 'OMP_NUM_THREADS': '1', 'PYTHON': sys.executable, **environment}
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env=variables,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def run(*command, timeout=300, **environment):
    process = start(*command, **environment)
    out, err = process.communicate(timeout=timeout)
    return process.returncode, out, err


def tool(name, *arguments, **environment):
    return run(sys.executable, f'tools/{name}.py', *map(str, arguments), **environment)

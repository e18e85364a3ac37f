"""Run the steps of a page in order, each command as a fork of one process that has imported what all of them import.

An import of torch and mmengine takes longer than most commands of the documentation. `python page_runner.py` reads
steps from its input, a list of [kind, code] in JSON: 'python' is a script, 'bash' are lines for a shell, and another
kind is the name of a file to write. A plain `python tools/x.py ...` is run as the interpreter does, all else by bash.
"""

import json
import os
import re
import runpy
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

LOADED = ('openmix_dm.commands.table', 'openmix_dm.commands.train', 'torch._dynamo', 'torch.utils.tensorboard', 'timm')
PLAIN = re.compile(r'(?:\w+=\S+ )*python [^\\|&;<>$`*?(){}\[\]#~]*')
QUOTED = re.compile(r"'[^']*'")


def perform(kind: str, code: str) -> int:
    """Do a step; return its exit code."""
    if kind == 'python':
        return forked({}, ['-c', code])
    if kind != 'bash':
        Path(kind).write_text(code)
        return 0
    lines = [line for line in code.splitlines() if line]
    if not all(PLAIN.fullmatch(QUOTED.sub('', line)) for line in lines):
        return subprocess.run(['bash', '-ec', code]).returncode
    return next(filter(None, map(plain, lines)), 0)


def plain(line: str) -> int:
    """Run `NAME=value python arguments`."""
    words = shlex.split(line)
    place = words.index('python')
    return forked(dict(word.split('=', 1) for word in words[:place]), words[place + 1 :])


def forked(variables: dict[str, str], arguments: list[str]) -> int:
    sys.stdout.flush()
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.environ.update(variables)
    interpret(*arguments)
    sys.exit()


def interpret(first: str, *rest: str) -> None:
    """Do what `python first rest` does, in this process."""
    named = {'-c': '', '-m': str(Path.cwd())}.get(first, str(Path.cwd() / Path(first).parent))
    sys.path[:0] = [named, *filter(None, os.environ.get('PYTHONPATH', '').split(os.pathsep))]
    sys.argv = ['-c'] if first == '-c' else list(rest) if first == '-m' else [first, *rest]
    if first == '-c':
        exec(compile(rest[0], '<string>', 'exec'), {'__name__': '__main__'})
    elif first == '-m':
        runpy.run_module(rest[0], run_name='__main__', alter_sys=True)
    else:
        runpy.run_path(first, run_name='__main__')


if __name__ == '__main__':
    steps = json.load(sys.stdin)
    sys.path.pop(0)  # the folder of this file
    for module in LOADED if sum(kind in ('python', 'bash') for kind, _ in steps) > 1 else ():
        import_module(module)
    for kind, code in steps:
        if ended := perform(kind, code):
            sys.exit(f'exit code {ended}: {kind}\n{code}')

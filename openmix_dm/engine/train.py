"""The command behind tools/train.py."""

import argparse
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from mmengine.config import Config

from openmix_dm.engine import config as configs
from openmix_dm.engine.causes import explain
from openmix_dm.engine.checkpoints import CheckpointStore, load_file
from openmix_dm.engine.command import INTERRUPTED, add_config_arguments, run_command
from openmix_dm.engine.launch import LAUNCHERS, decide_together, processes, wait_for_all
from openmix_dm.engine.lock import locked
from openmix_dm.engine.preemption import stop_request
from openmix_dm.engine.reading import describe_reading
from openmix_dm.engine.resolve import resolve
from openmix_dm.engine.run_folder import BOARD, RunFolder
from openmix_dm.engine.validate import validate
from openmix_dm.errors import ConfigError, Preempted


def main(arguments: Sequence[str] | None = None) -> int:
    """Train a config; return the exit code."""
    return run_command(train, parse(arguments))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog='train.py', description='Train a config.')
    add_config_arguments(parser)
    parser.add_argument('--work-dir', type=Path, help='folder of the run (work_dirs/<dataset>/<config>/seed<k>)')
    parser.add_argument(
        '--resume', nargs='?', const=True, metavar='PATH', help='go on with the run in the folder, or from a checkpoint'
    )
    parser.add_argument(
        '--allow-change', nargs='+', default=[], metavar='KEY', help='with --resume: keys of the config that may differ'
    )
    parser.add_argument('--amp', action='store_true', help='train in mixed precision')
    parser.add_argument('--seed', type=int, help='seed of all draws (that of the config: 0)')
    parser.add_argument('--launcher', choices=LAUNCHERS, default='none', help='how the processes were started')
    return parser.parse_args(arguments)


def train(args: argparse.Namespace) -> None:
    """Train a config from start or resume to end."""
    config = prepare(args)
    with stop_request.listening(), processes(args.launcher, config) as (rank, world_size), ExitStack() as held:
        folder = RunFolder(Path(config.work_dir))

        def take_folder() -> None:
            folder.check_same(config, args.allow_change) if args.resume else folder.check_unused()
            held.enter_context(locked(folder.path))

        decide_together(take_folder)
        run(config, folder, rank, world_size)


def prepare(args: argparse.Namespace) -> Config:
    """Make the config of the run out of file and command line, and check all of it."""
    config = configs.load_config(args.config, args.cfg_options)
    if args.seed is not None:
        config.setdefault('randomness', {})['seed'] = args.seed
    if args.amp:
        config.setdefault('optim_wrapper', {})['amp'] = best_precision()
    validate(config)
    seed = config.get('randomness', {}).get('seed')
    if not isinstance(seed, int) or seed < 0:
        raise ConfigError(f'randomness.seed must be a whole number, 0 or above, got {seed!r}')
    config.work_dir = str(args.work_dir or configs.default_work_dir(config, seed))
    config.launcher = args.launcher
    config.resume = bool(args.resume)
    config.load_from = args.resume if isinstance(args.resume, str) else config.get('load_from')
    if config.load_from:
        load_file(config.load_from)  # a bad file shows before any work
    return config


def best_precision() -> str:
    """Choose bf16 unless the GPU computes only fp16 fast."""
    import torch

    return 'bf16' if not torch.cuda.is_available() or torch.cuda.is_bf16_supported() else 'fp16'


def run(config: Config, folder: RunFolder, rank: int, world_size: int) -> None:
    """Build everything, and only then train; leave the final state in the folder, whatever happens."""
    from openmix_dm.engine.build import build_runner  # takes seconds to import: after all that may fail at once

    began = time.monotonic()
    with ExitStack() as ending:
        try:
            runner = build_runner(resolve(config, world_size))
            ending.callback(runner.close)
            if rank == 0:
                folder.start(config, runner.seed, world_size)
                folder.update(**describe_reading(runner.loaders))
            runner.train()
        except Preempted as stop:
            if rank == 0:
                folder.finish('preempted', time.monotonic() - began, stop.exit_code)
                folder.mark_preempted(str(stop))
            ending.close()
            wait_for_all()  # a launcher takes the first to leave for a failure and kills the others
            raise
        except BaseException as error:
            failure = explain(error)  # before the end of the workers, which may have to say where they are
            if rank == 0 and folder.used:
                code = INTERRUPTED if isinstance(error, KeyboardInterrupt) else getattr(failure, 'exit_code', 1)
                with suppress(OSError):  # where the disk is full, the cause is what counts
                    folder.finish(f'failed: {type(failure).__name__}: {failure}', time.monotonic() - began, code)
            if failure is error:
                raise
            raise failure from None
    if rank == 0:
        folder.finish('done', time.monotonic() - began)
        print(closing_words(config, folder))


def closing_words(config: Config, folder: RunFolder) -> str:
    """Say where the results are and what to do next."""
    final, checkpoint = folder.read().get('final', {}), CheckpointStore(folder.path).entries()[-1].file
    result = f'top-1 {final["median_last10"]:.2f} % (median of the last 10 epochs), ' if final else ''
    hours = folder.read()['hours']
    return (
        f'done: {result}{hours * 3600:.0f} s. Results: {folder.path}/run.json, metrics.jsonl, {checkpoint}\n'
        f'next: python tools/test.py {config.filename} {folder.path}/{checkpoint}\n'
        f'      tensorboard --logdir {folder.path}/{BOARD}'
    )

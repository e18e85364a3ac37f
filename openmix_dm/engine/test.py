"""The command behind tools/test.py."""

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openmix_dm.engine import config as configs
from openmix_dm.engine.causes import explain
from openmix_dm.engine.checkpoints import load_file, write_atomically
from openmix_dm.engine.command import add_config_arguments, run_command
from openmix_dm.engine.launch import LAUNCHERS, processes
from openmix_dm.engine.resolve import resolve
from openmix_dm.engine.validate import validate
from openmix_dm.errors import ConfigError


def main(arguments: Sequence[str] | None = None) -> int:
    """Test a checkpoint; return the exit code."""
    return run_command(test, parse(arguments))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog='test.py', description='Test a checkpoint.')
    add_config_arguments(parser)
    parser.add_argument('checkpoint', metavar='CHECKPOINT', type=Path, help='a checkpoint of this config')
    parser.add_argument('--ema', action='store_true', help='test the averaged weights of the checkpoint')
    parser.add_argument('--out', type=Path, help='write the metrics to this JSON file')
    parser.add_argument('--hits', type=Path, help='write what it says of every image to this .npz file')
    parser.add_argument('--launcher', choices=LAUNCHERS, default='none', help='how the processes were started')
    return parser.parse_args(arguments)


def test(args: argparse.Namespace) -> None:
    """Evaluate the weights of a checkpoint on the test set of a config."""
    config = configs.load_config(args.config, args.cfg_options)
    validate(config)
    for name, path in (('out', args.out), ('hits', args.hits)):
        if path is not None and not path.absolute().parent.is_dir():
            raise ConfigError(f'--{name} {path}: there is no folder {path.absolute().parent}')
    if args.hits is not None and args.hits.suffix != '.npz':
        raise ConfigError(f'--hits must end in .npz, got {args.hits}')
    state = load_file(args.checkpoint)  # a bad file shows before anything is built
    with processes(args.launcher, config) as (rank, world_size):
        config = resolve(config, world_size, training=False)
        if config.get('test_dataloader') is None:
            raise ConfigError('the config has neither a test_dataloader nor a val_dataloader')
        if args.hits is not None:
            keep_answers(config, args.hits)
        try:
            metrics = evaluate(config, args, state)
        except Exception as error:
            failure = explain(error)
            if failure is error:
                raise
            raise failure from None
        if rank == 0:
            report(metrics, args)


def keep_answers(config: configs.Config, path: Path) -> None:
    """Write what is said of every image, beside the metrics of the config."""
    metrics = config.test_evaluator if isinstance(config.test_evaluator, list) else [config.test_evaluator]
    config.test_evaluator = [*metrics, {'type': 'Predictions', 'out': str(path)}]


def evaluate(config: configs.Config, args: argparse.Namespace, state: dict[str, Any]) -> dict[str, float]:
    """Run mmengine's test loop; what it writes on the side is thrown away."""
    from openmix_dm.engine.build import build_runner  # takes seconds to import: after all that may fail at once

    config.resume, config.launcher = False, args.launcher
    with tempfile.TemporaryDirectory() as folder:
        config.work_dir = folder
        runner = build_runner(config, phases=('test',))
        runner.load_weights(args.checkpoint, state, ema=args.ema)
        metrics = runner.test()
        runner.close()
    return {name: float(value) for name, value in metrics.items()}


def report(metrics: dict[str, float], args: argparse.Namespace) -> None:
    """Print the metrics and write them where asked to."""
    print('  '.join(f'{name} {value:.2f}' for name, value in metrics.items()))
    if args.out is not None:
        record = {'config': str(args.config), 'checkpoint': str(args.checkpoint), **metrics}
        write_atomically(args.out, json.dumps(record, indent=1) + '\n')

"""The command behind tools/benchmark.py."""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from openmix_dm.analysis.benchmarks import image_loading as loader
from openmix_dm.analysis.benchmarks import launches, mixed_steps, step
from openmix_dm.analysis.benchmarks import lone_mixing as mixers
from openmix_dm.analysis.benchmarks import loss_functions as losses
from openmix_dm.analysis.benchmarks.timing import Timing, tune_malloc
from openmix_dm.commands.command_line import run_command
from openmix_dm.commands.parser import CommandParser
from openmix_dm.errors import ConfigError
from openmix_dm.invocation import command


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure; return the exit code."""
    parser = CommandParser(prog=command('benchmark'), description='Measure speed as ratios, on one thread.')
    parser.add_argument('what', choices=sorted(BENCHMARKS))
    parser.add_argument('--json', action='store_true', help='print JSON instead of a table')
    parser.add_argument('--rounds', type=int, help='how often each function runs')
    parser.add_argument(
        '--malloc',
        choices=('tuned', 'default'),
        help='tuned: large blocks are kept instead of being mapped anew for each result; the default is what a process '
        'has of itself for loader, tuned for all others',
    )
    return run_command(benchmark, parser.parse_args(arguments))


def benchmark(args: argparse.Namespace) -> None:
    """Run one benchmark and print it."""
    if args.rounds is not None and args.rounds < 1:
        raise ConfigError(f'--rounds must be at least 1, got {args.rounds}')
    malloc = args.malloc or ('default' if args.what == 'loader' else 'tuned')
    if malloc == 'tuned' and not tune_malloc():
        malloc = 'default (this C library cannot be tuned)'
    rows = BENCHMARKS[args.what](args.rounds)
    if args.json:
        print(json.dumps({'benchmark': args.what, 'malloc': malloc, 'threads': 1, 'rows': rows}, indent=1))
    elif args.what == 'launches':
        print_launches(rows)
    else:
        print(f'{args.what}: one thread, CPU time, malloc {malloc}')
        print_table(rows)


def print_table(rows: list[dict[str, Any]]) -> None:
    """Print rows, with what was promised for them."""
    case = None
    for row in rows:
        if row['case'] != case:
            case = row['case']
            print(f'\n{case}\n{"":44s}{"ms":>9s}{"ratio":>8s}  promised')
        print(f'{row["name"]:44s}{row["milliseconds"]:9.3f}{row["ratio"]:8.2f}  {promised(row)}')


def print_launches(rows: list[dict[str, Any]]) -> None:
    """Print how often each step goes to the device, and what makes the host wait for it."""
    print('launches: operations and waits of a step on a pretended GPU; see docs/gpu.md')
    case = None
    for row in rows:
        if row['case'] != case:
            case = row['case']
            print(f'\n{case}\n{"":44s}{"operations":>12s}{"waits":>7s}  promised')
        limit = (
            f'<= {row["target"]:<7}{"ok" if row["operations"] <= row["target"] else "MISSED"}' if row['target'] else ''
        )
        print(f'{row["name"]:44s}{row["operations"]:12d}{len(row["trouble"]):7d}  {limit}'.rstrip())
        for line in row['trouble']:
            print(f'{"":6s}{line}')


def promised(row: dict[str, Any]) -> str:
    """Say what was promised, as a ratio, in operations or milliseconds, and whether it holds; else nothing."""
    counted = 'operations' if 'operations' in row else 'ratio'
    for column, target, unit in ((counted, row['target'], ''), ('milliseconds', row.get('target_ms'), ' ms')):
        if target:
            return f'<= {f"{target}{unit}":<7}{"ok" if row[column] <= target else "MISSED"}'
    return ''


def _rows(case: str, timings: list[Timing], target: Callable[[str], float | None]) -> list[dict[str, Any]]:
    return [{'case': case, **asdict(timing), 'target': target(timing.name)} for timing in timings]


def _losses(rounds: int | None) -> list[dict[str, Any]]:
    return _rows('1024 x 1000 logits, forward and backward', losses.measure(rounds or 100), losses.TARGETS.get)


def _mixers(rounds: int | None) -> list[dict[str, Any]]:
    rows = []
    for shape in mixers.SHAPES:
        size = shape[-1]
        timings = mixers.measure(rounds or (40 if size > 64 else 200), shape)
        targets = {timing.name: mixers.target_of(timing.name, size) for timing in timings}
        targets |= mixers.per_sample_targets(timings)
        rows += _rows('x'.join(map(str, shape)), timings, targets.get)
    return rows


def _step(rounds: int | None) -> list[dict[str, Any]]:
    timings = step.measure(rounds or 20)
    iteration = _rows('ResNet-8, 32 px, batch 100, Mixup with DM(CE): one iteration', timings, step.TARGETS.get)
    by_mixer = mixed_steps.measure(max(1, (rounds or 20) // 2))
    by_token_mixer = mixed_steps.measure_tokens(max(1, (rounds or 20) // 2))
    return (
        iteration
        + _rows('CIFAR ResNet-18, 32 px: a step by mixer', by_mixer, mixed_steps.TARGETS.get)
        + _rows('ViT of 6 blocks, 32 px, patches of 4: a step by mixer', by_token_mixer, mixed_steps.TOKEN_TARGETS.get)
    )


def _loader(rounds: int | None) -> list[dict[str, Any]]:
    files = loader.measure_files(rounds or 40)
    batch = _rows(
        '100 images of 32 px: crop and flip, RandAugment', loader.measure_batch(rounds or 100), lambda name: None
    )
    for row in batch:
        row['target_ms'] = loader.BATCH_TARGETS_MS.get(row['name'])
    return _rows('32 JPEGs of 500 x 375: decode, random crop to 224, flip', files, loader.TARGETS.get) + batch


def _launches(rounds: int | None) -> list[dict[str, Any]]:
    return [asdict(row) for row in launches.measure()]


BENCHMARKS: dict[str, Callable[[int | None], list[dict[str, Any]]]] = {
    'launches': _launches,
    'loader': _loader,
    'losses': _losses,
    'mixers': _mixers,
    'step': _step,
}

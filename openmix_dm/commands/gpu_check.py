"""The command behind tools/gpu_check.py."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from openmix_dm.commands.command_line import check_parent, run_command
from openmix_dm.commands.parser import CommandParser, user_path
from openmix_dm.errors import ResourceError
from openmix_dm.invocation import command
from openmix_dm.utils.files import write_atomically


def main(arguments: Sequence[str] | None = None) -> int:
    """Try this machine; return the exit code."""
    parser = CommandParser(
        prog=command('gpu-check'),
        description='Try every mixer and precision, two ranks, resuming and speed on this machine, in about five '
        'minutes, and write a report to send with an issue.',
    )
    parser.add_argument('--out', type=user_path, default=Path('gpu_check.json'), help='the report for programs')
    return run_command(gpu_check, parser.parse_args(arguments))


def gpu_check(args: argparse.Namespace) -> None:
    """Print what came out as it comes, and fail if anything did."""
    from openmix_dm.analysis import device_check  # takes seconds: after the command line was read

    check_parent('--out', args.out)
    machine = device_check.this_machine()
    facts = device_check.describe(machine)
    if not machine.has_gpu:
        print('there is no GPU: smaller networks are tried on the CPU, and what needs a GPU is skipped', flush=True)
    findings = []
    for finding in device_check.check_all(machine):
        findings.append(finding)
        print(f'{finding.verdict:8s}{finding.what:64s}{finding.detail}', flush=True)
    write_atomically(args.out, device_check.as_json(facts, findings))
    failed = [finding.what for finding in findings if finding.verdict == device_check.FAILED]
    print(device_check.summary(facts, findings))
    print(f'wrote {args.out}; please send it with what you report')
    if failed:
        raise ResourceError(f'{len(failed)} of {len(findings)} failed on this machine: {", ".join(failed[:3])}')

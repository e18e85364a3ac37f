"""The command behind tools/export.py."""

import argparse
import json
import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path

from openmix_dm.commands.command_line import add_imports, check_parent, check_suffix, run_command
from openmix_dm.commands.parser import CommandParser, user_path
from openmix_dm.errors import ConfigError, printable
from openmix_dm.invocation import command
from openmix_dm.utils.files import write_atomically
from openmix_dm.version import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Use or hand on a trained model; return the exit code."""
    args = make_parser().parse_args(arguments)
    return run_command(args.command, args)


def make_parser() -> argparse.ArgumentParser:
    """Read the command line."""
    parser = CommandParser(prog=command('export'), description='Use a trained model, or hand it on.')
    commands = parser.add_subparsers(metavar='COMMAND', required=True)
    words = 'say what is on images'
    ask = commands.add_parser('predict', help=words, description=words)
    _add_model(ask)
    ask.add_argument('images', nargs='+', metavar='IMAGE', help='image files, or folders of them')
    ask.add_argument('--topk', type=int, default=5, help='how many classes to name (5)')
    ask.add_argument('--batch-size', type=int, default=32)
    ask.add_argument('--out', type=user_path, help='write the predictions to this JSON file')
    ask.set_defaults(command=predict_command)
    words = 'write safetensors, config, metrics, a card and hashes to a folder, or to the Hugging Face Hub'
    give = commands.add_parser('publish', help=words, description=words)
    _add_model(give)
    give.add_argument('--out', type=user_path, help='a new folder')
    give.add_argument('--push', metavar='OWNER/NAME', help='upload it to this model on the Hub')
    give.add_argument('--private', action='store_true', help='with --push: only you, or your organisation, can see it')
    give.add_argument('--license', default='apache-2.0', help='of the weights, as the Hub spells it (apache-2.0)')
    give.set_defaults(command=publish_command)
    words = 'write an ONNX file, and compare its answers to image files with those of the model'
    onnx = commands.add_parser('onnx', help=words, description=words)
    _add_model(onnx)
    onnx.add_argument('--out', type=user_path, required=True, help='a file that ends in .onnx')
    onnx.add_argument('--size', type=int, nargs='+', help='height and width, or one side (as the config tests)')
    onnx.set_defaults(command=onnx_command)
    words = 'write the weights of a TimmBackbone as a state dict that timm.create_model loads'
    timm = commands.add_parser('timm', help=words, description=words)
    _add_model(timm)
    timm.add_argument('--out', type=user_path, required=True, help='a file that ends in .safetensors')
    timm.set_defaults(command=timm_command)
    return parser


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('run', metavar='RUN', help='a run folder, a published folder, a checkpoint, or hf://OWNER/NAME')
    parser.add_argument('--config', help='the config of a checkpoint that has none beside it')
    parser.add_argument('--ema', action='store_true', help='take the averaged weights')
    add_imports(parser)


def predict_command(args: argparse.Namespace) -> None:
    """Print what the model sees on each image."""
    from openmix_dm.export.loaded_model import load
    from openmix_dm.export.predict import list_images, predict

    if args.topk < 1 or args.batch_size < 1:
        raise ConfigError(f'--topk and --batch-size must be at least 1, got {args.topk} and {args.batch_size}')
    check_suffix('--out', args.out, '.json')
    check_parent('--out', args.out)
    files = list_images(args.images)
    rows = predict(load(args.run, args.config, args.ema, imports=args.imports), files, args.topk, args.batch_size)
    for row in rows:
        shown = ', '.join(f'{name} {p:.3f}' for name, p in zip(row['classes'], row['p'], strict=True))
        print(printable(f'{row["file"]}: {shown}'))  # names of files and classes may hold anything
    if args.out is not None:
        write_atomically(args.out, json.dumps(rows, indent=1) + '\n')


def publish_command(args: argparse.Namespace) -> None:
    """Write a published folder, and push it."""
    from openmix_dm.export.hub import check_login, push
    from openmix_dm.export.publish import publish
    from openmix_dm.runs.model import open_trained

    if args.out is None and args.push is None:
        raise ConfigError('say where to publish it: --out FOLDER, --push OWNER/NAME, or both')
    if args.out is not None and args.out.exists() and not args.out.is_dir():
        raise ConfigError(f'--out {args.out} is a file; expected a new folder')
    if args.private and args.push is None:
        raise ConfigError('--private says who can see it on the Hub: it needs --push OWNER/NAME')
    account = check_login(args.push) if args.push is not None else None
    trained = open_trained(args.run, args.config, args.ema, device='cpu', imports=args.imports)
    with tempfile.TemporaryDirectory() as aside:
        out = args.out or Path(aside, 'published')
        publish(trained, out, args.ema, args.license, None if args.push is None else f'hf://{args.push}')
        if args.out is not None:
            print(f'published {out}; check it by: cd {shlex.quote(str(out))} && sha256sum -c SHA256SUMS')
        if args.push is not None:
            address = push(out, args.push, args.private, f'Published by openmix_dm {__version__}')
            print(f'pushed as {account}, licence {args.license}; load it by: openmix_dm.load({str(address)!r})')


def onnx_command(args: argparse.Namespace) -> None:
    """Write an ONNX file."""
    from openmix_dm.export.onnx import check_installed, export_onnx

    check_installed()
    check_suffix('--out', args.out, '.onnx')
    check_parent('--out', args.out)
    from openmix_dm.export.loaded_model import load

    loaded = load(args.run, args.config, args.ema, device='cpu', imports=args.imports)
    height, width = _size(args.size, loaded.transform)
    worst = export_onnx(loaded, args.out, height, width)
    print(
        f'wrote {args.out}: images (N, 3, {height}, {width}), normalised as its metadata say -> logits; largest '
        f'difference {worst:.1e}'
    )


def timm_command(args: argparse.Namespace) -> None:
    """Write a state dict for timm."""
    from openmix_dm.export.for_timm import export_timm
    from openmix_dm.runs.model import open_trained

    check_suffix('--out', args.out, '.safetensors')
    check_parent('--out', args.out)
    trained = open_trained(args.run, args.config, args.ema, device='cpu', imports=args.imports)
    print(f'wrote {args.out}; load it by: {export_timm(trained, args.out)}')


def _size(given: Sequence[int] | None, transform: 'object') -> tuple[int, int]:
    """Return height and width: those given, or those that the transform makes of any image."""
    import numpy as np

    if given is not None:
        if len(given) > 2 or min(given) < 1:
            raise ConfigError(f'--size takes one side, or height and width, got {list(given)}')
        return given[0], given[-1]
    sizes = {
        tuple(transform.pixels(np.zeros((*shape, 3), np.uint8)).shape[-2:])  # type: ignore[attr-defined]
        for shape in ((300, 400), (500, 350))
    }
    if len(sizes) > 1:
        raise ConfigError('the config tests images of any size; choose one with --size')
    ((height, width),) = sizes
    return height, width

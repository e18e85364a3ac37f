"""One start of a training or of a test: from a checked config to what is left of it on disk."""

import shlex
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from mmengine.config import Config

from openmix_dm.config.fast import describe_speed
from openmix_dm.config.resolve import resolve
from openmix_dm.errors import INTERRUPTED, ConfigError, Preempted, ResourceError
from openmix_dm.invocation import command, program
from openmix_dm.launch.failures import explain
from openmix_dm.launch.group import processes
from openmix_dm.launch.signals import stop_request
from openmix_dm.runs.checkpoints import CheckpointStore, load_file, usable
from openmix_dm.runs.folder import BOARD, CONFIG, RunFolder
from openmix_dm.runs.lock import locked
from openmix_dm.runs.records import ENOUGH_FOR_MEDIAN
from openmix_dm.utils.dist import decide_together, wait_for_all


def train(config: Config, allow_change: Sequence[str] = ()) -> None:
    """Train from start or resume to end.

    Args:
        config: checked, with work_dir, launcher, resume and load_from.
        allow_change: where the run goes on, keys of the config that may differ from those that it was started with.
    """
    joined = processes(config.launcher, config)
    with stop_request.listening(), explained(), joined as (rank, world_size), ExitStack() as held:
        folder = RunFolder(Path(config.work_dir))

        def take_folder() -> None:
            folder.check_same(config, allow_change) if config.resume else folder.check_unused()
            held.enter_context(locked(folder.path))
            folder.check_place()

        decide_together(take_folder)
        run(config, folder, rank, world_size)


def run(config: Config, folder: RunFolder, rank: int, world_size: int) -> None:
    """Build everything, and only then train; leave the final state in the folder, whatever happens."""
    began = time.monotonic()
    with ExitStack() as ending:
        try:
            stop_request.leave_if_asked('nothing was built')
            # takes seconds: after all that may fail at once
            from openmix_dm.engine.build import build_runner, describe_reading

            runner = build_runner(resolve(config, world_size))
            ending.callback(runner.close)
            stop_request.leave_if_asked('nothing was trained')
            if rank == 0:
                folder.start(config, runner.seed, world_size)
                speed = describe_speed(runner.cfg, runner.optim_wrapper.optimizer)
                folder.update(**describe_reading(runner.loaders), fast=speed)
                if speed:
                    print(f'fast: {", ".join(speed)}', flush=True)
            runner.train()
        except Preempted as stop:
            if rank == 0:
                if folder.used:
                    folder.finish('preempted', time.monotonic() - began, stop.exit_code)
                if stop.again:
                    folder.mark_preempted(str(stop))
            ending.close()
            wait_for_all()  # a launcher takes the first to leave for a failure and kills the others
            raise
        except BaseException as error:
            failure = explain(error)  # before the end of the workers, which may have to say where they are
            if rank == 0 and isinstance(failure, OSError | ResourceError) and not folder.path.is_dir():
                failure = ResourceError(f'the run folder {folder.path} is gone; --work-dir goes on where it is')
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
    result = f'{accuracy_words(final, len(folder.records("val")))}, ' if 'last' in final else ''
    hours = folder.read()['hours']
    return (
        f'done: {result}{hours * 3600:.0f} s. Results: {folder.path}/run.json, metrics.jsonl, {checkpoint}\n'
        # by its own config, which has the options of the command line, too
        f'next: {command("test", folder.path / CONFIG, folder.path / checkpoint)}\n'
        f'      {program("tensorboard")} --logdir {shlex.quote(f"{folder.path}/{BOARD}")}'
    )


def accuracy_words(final: Mapping[str, float], validations: int) -> str:
    """Say the last and the best top-1; the median of ten only where these ten are not most of the training."""
    median = f', median of the last 10 {final["median_last10"]:.2f} %' if validations >= ENOUGH_FOR_MEDIAN else ''
    return f'top-1 {final["last"]:.2f} % (best {final["best"]:.2f} %{median})'


def evaluate_checkpoint(
    config: Config, checkpoint: Path, ema: bool = False, predictions: Path | None = None, launcher: str = 'none'
) -> dict[str, float] | None:
    """Evaluate the weights of a checkpoint on the test set of a config; None on ranks other than 0.

    Args:
        config: checked.
        checkpoint: a checkpoint of this config.
        ema: take its averaged weights.
        predictions: write what is said of every image to this .npz file.
        launcher: how the processes were started.
    """
    state = load_file(checkpoint)  # a bad file shows before anything is built
    joined = processes(launcher, config)
    # twice: what keeps the ranks from joining, and what happens then, before they part
    with explained(), joined as (rank, world_size), explained(), tempfile.TemporaryDirectory() as folder:
        config = resolve(config, world_size, training=False)
        if config.get('test_dataloader') is None:
            raise ConfigError('the config has neither a test_dataloader nor a val_dataloader')
        if predictions is not None:
            keep_predictions(config, predictions)
        from openmix_dm.engine.build import build_runner  # takes seconds: after all that may fail at once

        # what mmengine's test loop writes on the side is thrown away with the folder
        config.resume, config.launcher, config.work_dir = False, launcher, folder
        runner = build_runner(config, phases=('test',))
        with usable(checkpoint):
            runner.load_weights(checkpoint, state, ema=ema)
        metrics = runner.test()
        runner.close()
        return {name: float(value) for name, value in metrics.items()} if rank == 0 else None


def keep_predictions(config: Config, path: Path) -> None:
    """Write what is said of every image, beside the metrics of the config."""
    metrics = config.test_evaluator if isinstance(config.test_evaluator, list) else [config.test_evaluator]
    config.test_evaluator = [*metrics, {'type': 'Predictions', 'out': str(path)}]


@contextmanager
def explained() -> Iterator[None]:
    """Raise the failure behind what other packages raise."""
    try:
        yield
    except Exception as error:
        failure = explain(error)
        if failure is error:
            raise
        raise failure from None

"""Failures that a user can act on. Each kind has its own exit code, so that a scheduler can tell them apart."""

INTERRUPTED = 130  # exit code that shells report for Ctrl-C


class Failure(Exception):
    """Stop the command with a cause that is told in one line and an exit code of its own."""

    exit_code = 1
    cause = 'failure'
    verdict = 'FAILED'


class ConfigError(Failure):
    """The config or the command line asks for something that does not exist or cannot be."""

    exit_code = 2
    cause = 'config'


class DataError(Failure):
    """The data set is missing or broken."""

    exit_code = 3
    cause = 'data'


class CheckpointError(Failure):
    """No checkpoint can be loaded, or this one must not be."""

    exit_code = 4
    cause = 'checkpoint'


class NumericError(Failure):
    """A loss is not finite."""

    exit_code = 5
    cause = 'numeric'


class DistributedError(Failure):
    """The processes of a run cannot work together."""

    exit_code = 6
    cause = 'distributed'


class ResourceError(Failure):
    """A disk is full, a folder cannot be written, memory has run out, or a server cannot be reached."""

    exit_code = 7
    cause = 'resources'


class Preempted(Failure):
    """A signal asked the run to stop; it has saved its state.

    Args:
        text: what the signal was and what was saved.
        again: the signal said that the time is up, so that the run is to be queued anew. Default: False.
    """

    exit_code = 75
    cause = 'preempted'
    verdict = 'STOPPED'

    def __init__(self, text: str, again: bool = False) -> None:
        super().__init__(text)
        self.again = again


def printable(text: str, keep: str = '') -> str:
    """Return a text that a terminal only shows: what would move its cursor, or change its colours, is spelt out.

    Args:
        text: may come from a name of a file, or from a file.
        keep: characters that stay as they are, such as line breaks. Default: ''.
    """
    return ''.join(
        sign if sign.isprintable() or sign in keep else sign.encode('unicode_escape').decode() for sign in text
    )


def first_line(error: BaseException) -> str:
    """Return what an error of a library says first, or what it is called."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]

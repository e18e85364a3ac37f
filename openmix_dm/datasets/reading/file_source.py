"""Where the bytes of images come from: the local disk, or a file backend of mmengine."""

from pathlib import Path
from typing import Any

from openmix_dm.datasets.reading.decode import read_file
from openmix_dm.datasets.roots import resolve_root
from openmix_dm.errors import ConfigError, DataError
from openmix_dm.utils.suggest import did_you_mean


class FileSource:
    """Read files below a root.

    Args:
        root: a folder, as it is if absolute, else below that of all data sets; with backend_args, what stands before
            the name of each file, such as 's3://bucket/imagenet', or '' for nothing.
        backend_args: config of a file backend of mmengine, with its name as `backend` unless root has a prefix that
            tells; None is the local disk. Default: None.
    """

    def __init__(self, root: str, backend_args: dict[str, Any] | None = None) -> None:
        self.backend = None if backend_args is None else build_backend(root, backend_args)
        self.root = str(resolve_root(root)) if self.backend is None else root.rstrip('/')

    @property
    def folder(self) -> Path | None:
        """The folder on the local disk, None if the files are elsewhere."""
        return Path(self.root) if self.backend is None else None

    def path(self, name: str) -> str:
        """Return the whole name of a file."""
        return f'{self.root}/{name}' if self.root else name

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        path = self.path(name)
        if self.backend is None:
            return read_file(path)
        try:
            content = self.backend.get(path)
        except Exception as error:  # each backend has errors of its own
            raise DataError(f'{path} cannot be read by {type(self.backend).__name__}: {error!r}') from None
        if content is None:  # LMDB's answer for a key that it does not have
            raise DataError(f'{path} cannot be read: {type(self.backend).__name__} has no such file')
        return bytes(content)

    def local_file(self, name: str) -> Path | None:
        """Return the path of a list that is on the local disk; None if the backend is to be asked."""
        if self.backend is None:
            return Path(self.root) / Path(name).expanduser()
        local = resolve_root(name)
        return local if local.is_file() else None

    def read_lines(self, name: str) -> list[str]:
        """Return the lines of a text file without empty ones at its end."""
        try:
            return self.read(name).decode().rstrip().splitlines()
        except UnicodeDecodeError as error:
            raise DataError(f'{self.path(name)} cannot be read as text: {error}') from None


def build_backend(root: str, backend_args: dict[str, Any]) -> Any:
    """Build a file backend of mmengine; one that is not known or lacks its package is refused."""
    from mmengine.fileio import get_file_backend
    from mmengine.fileio.backends.registry_utils import backends

    name = backend_args.get('backend')
    if name is not None and name not in backends:
        raise ConfigError(f'backend_args: mmengine has no file backend {name!r}{did_you_mean(name, backends)}')
    try:
        return get_file_backend(root, backend_args=dict(backend_args))
    except ImportError as error:
        raise ConfigError(f'backend_args={dict(backend_args)!r}: {error}') from None
    except (TypeError, ValueError, KeyError) as error:
        raise ConfigError(f'backend_args={dict(backend_args)!r} cannot be used: {error}') from None

"""The Hugging Face Hub: addresses of models there, and what its library raises, as failures of ours."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from openmix_dm.errors import CheckpointError, ConfigError, Failure, ResourceError, first_line

SCHEME = re.compile(r'hf:/{1,2}')  # a Path makes one slash of two
LOG_IN = '`hf auth login` logs in, `hf auth whoami` says as whom'


class HubAddress(NamedTuple):
    """A model on the Hub, at a revision of it or at its newest."""

    repo: str  # OWNER/NAME
    revision: str | None = None  # a branch, a tag or a commit

    def __str__(self) -> str:
        return f'hf://{self.repo}{f"@{self.revision}" if self.revision else ""}'


def is_address(place: str | Path) -> bool:
    """Say whether a place is meant to be on the Hub."""
    return SCHEME.match(str(place)) is not None


def read_address(text: str | Path) -> HubAddress:
    """Read hf://OWNER/NAME, hf://OWNER/NAME@REVISION, or OWNER/NAME alone; refuse what cannot be a name there."""
    repo, found, revision = SCHEME.sub('', str(text)).partition('@')
    check_repo(repo)
    if found and not revision:
        raise ConfigError(f'{text}: expected a branch, a tag or a commit after the @, got nothing')
    return HubAddress(repo, revision or None)


def check_repo(repo: str) -> None:
    """Refuse a name that the Hub cannot have, before anybody is asked."""
    from huggingface_hub.utils import HFValidationError, validate_repo_id

    if repo.count('/') != 1 or not all(repo.split('/')):
        raise ConfigError(f'a model on the Hub is named OWNER/NAME, such as jane/resnet8-digits; got {repo!r}')
    try:
        validate_repo_id(repo)
    except HFValidationError as error:
        raise ConfigError(f'{repo!r} cannot be the name of a model on the Hub: {first_line(error)}') from None


@contextmanager
def asking_hub(address: HubAddress) -> Iterator[None]:
    """Explain what goes wrong while the Hub is asked about a model."""
    from huggingface_hub.utils import (
        EntryNotFoundError,
        GatedRepoError,
        HfHubHTTPError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    try:
        yield
    except Failure:
        raise
    except GatedRepoError as error:
        raise CheckpointError(
            f'{address} is gated: ask for access at {_page(address)}, and log in as who has it ({LOG_IN})'
        ) from error
    except RepositoryNotFoundError as error:
        raise CheckpointError(
            f'there is no model {_page(address)}, or it is private and you are not logged in as one who may see it '
            f'({LOG_IN})'
        ) from error
    except RevisionNotFoundError as error:
        raise CheckpointError(f'{_page(address)} has no branch, tag or commit {address.revision!r}') from error
    except LocalEntryNotFoundError as error:
        raise _unreachable(address, error) from error
    except EntryNotFoundError as error:
        raise CheckpointError(f'{address} was not published by openmix_dm: {first_line(error)}') from error
    except HfHubHTTPError as error:
        raise _refused(address, error.response.status_code, error) from error
    except ValueError as error:  # what it finds wrong with a card, before anything is sent
        raise ConfigError(f'the Hub refuses {_page(address)}: {" ".join(str(error).split())[:300]}') from error
    except Exception as error:  # each version of the library has its own errors for a network that fails
        raise _unreachable(address, error) from error


def _page(address: HubAddress) -> str:
    from huggingface_hub import constants

    return f'{constants.ENDPOINT}/{address.repo}'


def _refused(address: HubAddress, status: int, error: Exception) -> Failure:
    said = ' '.join(str(error).split())[:300]
    if status == 401:
        return ConfigError(f'the Hub does not know this login ({said}); {LOG_IN}')
    if status == 403:
        return ConfigError(
            f'this login may not do that to {_page(address)} ({said}): it needs a token that can write, and the right '
            f'to write for {address.repo.partition("/")[0]}; {LOG_IN}'
        )
    if status == 429 or status >= 500:
        return ResourceError(f'the Hub has no time for {_page(address)} now ({said}); try again later')
    return ConfigError(f'the Hub refuses {_page(address)}: {said}')


def _unreachable(address: HubAddress, error: Exception) -> ResourceError:
    from huggingface_hub import constants

    cause = error.__cause__ or error
    why = f'{type(cause).__name__}: {first_line(cause)}'
    if constants.HF_HUB_OFFLINE:
        return ResourceError(
            f'{address} is not in the cache of this machine ({constants.HF_HUB_CACHE}), or not all of it, and '
            'HF_HUB_OFFLINE=1 forbids to download it; load it once without'
        )
    return ResourceError(f'{_page(address)} cannot be reached ({why}); is there a network, or does it need a proxy?')

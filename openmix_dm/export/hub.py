"""Push a published folder to the Hugging Face Hub, by its own library and its own login."""

from pathlib import Path
from typing import Any

from openmix_dm.errors import ConfigError
from openmix_dm.runs.hub_access import LOG_IN, HubAddress, asking_hub, check_repo
from openmix_dm.version import __version__


def check_login(repo: str) -> str:
    """Return as whom the Hub knows us; refuse a wrong name, no login or no network, before any work.

    Args:
        repo: OWNER/NAME.
    """
    from huggingface_hub import get_token

    check_repo(repo)
    if get_token() is None:  # HF_TOKEN, or what `hf auth login` has stored
        raise ConfigError(f'--push {repo}: nobody is logged in to the Hub here; {LOG_IN}')
    with asking_hub(HubAddress(repo)):
        return str(_api().whoami()['name'])


def push(folder: Path, repo: str, private: bool, message: str) -> HubAddress:
    """Upload the files of a published folder in one commit; return the address of that commit.

    Args:
        folder: as `publish` has written it.
        repo: OWNER/NAME; created where it is not there.
        private: only those who may see it there.
        message: of the commit.
    """
    api, address = _api(), HubAddress(repo)
    names = sorted(path.name for path in folder.iterdir() if not path.name.startswith('.'))
    with asking_hub(address):
        api.create_repo(repo, private=True if private else None, exist_ok=True)
        if private and not api.model_info(repo).private:  # one that was there keeps who can see it
            raise ConfigError(
                f'--private: {repo} is there already, and public; make it private in its settings on the Hub, or '
                'choose another name'
            )
        done: Any = api.upload_folder(
            repo_id=repo, folder_path=str(folder), commit_message=message, allow_patterns=names
        )
    return HubAddress(repo, done.oid)


def _api() -> Any:
    from huggingface_hub import HfApi

    return HfApi(library_name='openmix_dm', library_version=__version__)

"""A published model from the Hub: its plain files, in the cache that huggingface_hub keeps."""

from pathlib import Path
from typing import Any

from openmix_dm.errors import CheckpointError
from openmix_dm.runs.folder import CONFIG
from openmix_dm.runs.hub_access import asking_hub, read_address
from openmix_dm.version import __version__

WEIGHTS, FACTS, SUMS = 'model.safetensors', 'model.json', 'SHA256SUMS'  # in a published folder, beside CONFIG
LOADED = (WEIGHTS, CONFIG, FACTS)  # what loading reads, besides the sums


def fetch(place: str | Path) -> Path:
    """Return the folder of a model on the Hub, hf://OWNER/NAME[@REVISION], with the files that loading reads.

    Nothing else is downloaded: neither the card, which people edit on the Hub, nor the Hub's own .gitattributes. What
    is in the cache is not downloaded again, and with HF_HUB_OFFLINE=1 the cache is all that is asked.
    """
    from huggingface_hub import hf_hub_download, snapshot_download

    address = read_address(place)
    asked: dict[str, Any] = {'revision': address.revision, 'library_name': 'openmix_dm', 'library_version': __version__}
    with asking_hub(address):
        # First alone: a model of somebody else is refused before its weights are downloaded.
        hf_hub_download(address.repo, SUMS, **asked)
        folder = Path(snapshot_download(address.repo, allow_patterns=[*LOADED, SUMS], **asked))
    missing = [name for name in (*LOADED, SUMS) if not (folder / name).is_file()]
    if missing:
        raise CheckpointError(f'{address} has no {", ".join(missing)}: it is not whole; publish it again')
    return folder

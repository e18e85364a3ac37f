"""Weights that timm publishes: from a folder, from a cache, and only then from the network."""

import os
import socket
import threading
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import torch

from openmix_dm.backbones.pretrained import Weights, read_weights, unwrap

FOLDER_VARIABLE = 'OPENMIX_DM_WEIGHTS'
DEFAULT_FOLDER = '~/.cache/openmix_dm/weights'
SUFFIXES = ('.safetensors', '.pth')
HUB_FILES = ('model.safetensors', 'pytorch_model.bin')
PROBE_SECONDS = 3.0


def weights_folder() -> Path:
    """Return the folder for files brought by hand: $OPENMIX_DM_WEIGHTS, or ~/.cache/openmix_dm/weights."""
    return Path(os.environ.get(FOLDER_VARIABLE) or DEFAULT_FOLDER).expanduser()


def published_weights(name: str) -> Weights:
    """Return the weights of a timm name such as 'resnet50.tv_in1k'; without a tag, those of timm's default tag.

    Takes `<name>.<tag>.safetensors` or `.pth` from `weights_folder()`, else a file in the cache of the Hugging Face hub
    or of torch.hub, else downloads; where there is no network, the error comes within seconds and names the file.
    """
    import timm

    config = timm.get_pretrained_cfg(name)
    if config is None or not (config.hf_hub_id or config.url):
        raise ValueError(f'timm publishes no weights for {name}: expected pretrained=None or a file')
    full_name = '.'.join(filter(None, (config.architecture, config.tag)))
    path = _in_folder(full_name) or _in_caches(config)
    return read_weights(path) if path else _download(config, full_name)


def _in_folder(full_name: str) -> Path | None:
    paths = (weights_folder() / f'{full_name}{suffix}' for suffix in SUFFIXES)
    return next((path for path in paths if path.is_file()), None)


def _in_caches(config: Any) -> Path | None:
    from huggingface_hub import try_to_load_from_cache

    if config.hf_hub_id:
        for file in (config.hf_hub_filename,) if config.hf_hub_filename else HUB_FILES:
            cached = try_to_load_from_cache(config.hf_hub_id, file)
            if isinstance(cached, str):
                return Path(cached)
    path = Path(torch.hub.get_dir()) / 'checkpoints' / Path(urlsplit(config.url or '').path).name
    return path if path.is_file() and path.suffix == '.pth' else None


def _download(config: Any, full_name: str) -> Weights:
    from huggingface_hub import constants

    address = f'{constants.ENDPOINT}/{config.hf_hub_id}' if config.hf_hub_id else config.url
    if not is_reachable(address):
        raise _absent(full_name, address)
    try:
        content = _fetch(config)
    except Exception as error:  # whatever stops the download, the remedy is the same file in the same folder
        raise _absent(full_name, address) from error
    return unwrap(content, address)


def _absent(full_name: str, address: str) -> FileNotFoundError:
    return FileNotFoundError(
        f'pretrained weights: expected {full_name}{SUFFIXES[0]} or {full_name}{SUFFIXES[1]} in {weights_folder()} '
        f'({FOLDER_VARIABLE} sets the folder), found neither, and {address} cannot be downloaded from here; '
        'bring the file from there to that folder'
    )


def _fetch(config: Any) -> Any:
    from timm.models import load_state_dict_from_hf

    if not config.hf_hub_id:
        return torch.hub.load_state_dict_from_url(config.url, map_location='cpu', weights_only=True)
    named = {'filename': config.hf_hub_filename} if config.hf_hub_filename else {}
    return load_state_dict_from_hf(config.hf_hub_id, **named)


def is_reachable(url: str, seconds: float = PROBE_SECONDS) -> bool:
    """Tell within `seconds` whether the host of a url, or the proxy in front of it, accepts a connection."""
    host, port = _next_hop(url)
    reached: list[bool] = []

    def connect() -> None:
        try:
            socket.create_connection((host, port), timeout=seconds).close()
            reached.append(True)
        except OSError:
            reached.append(False)

    # In a thread, because looking up a name has no time limit of its own.
    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(seconds)
    return reached == [True]


def _next_hop(url: str) -> tuple[str, int]:
    host = urlsplit(url).hostname or ''
    proxy = urllib.request.getproxies().get('https')
    if proxy and not urllib.request.proxy_bypass(host):
        parts = urlsplit(proxy if '://' in proxy else f'http://{proxy}')
        return parts.hostname or '', parts.port or (443 if parts.scheme == 'https' else 80)
    return host, urlsplit(url).port or 443

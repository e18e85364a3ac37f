import socket
import time

import huggingface_hub
import pytest
import timm
import torch
from safetensors.torch import save_file

from openmix_dm.backbones import TimmBackbone, published_weights, weights_folder
from openmix_dm.backbones import timm_weights as published

WEIGHTS = {'conv1.weight': torch.ones(2)}


@pytest.fixture(autouse=True)
def _private_folders(monkeypatch, tmp_path):
    monkeypatch.setenv('OPENMIX_DM_WEIGHTS', str(tmp_path / 'weights'))
    monkeypatch.setenv('TORCH_HOME', str(tmp_path / 'torch'))
    monkeypatch.setattr(huggingface_hub.constants, 'HF_HUB_CACHE', str(tmp_path / 'hub'))
    for variable in ('HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy'):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / 'weights').mkdir()


@pytest.fixture
def offline(monkeypatch):
    asked = []
    monkeypatch.setattr(published, 'is_reachable', lambda url: asked.append(url) or False)
    return asked


def test_folder_follows_the_environment(monkeypatch, tmp_path):
    assert weights_folder() == tmp_path / 'weights'
    monkeypatch.delenv('OPENMIX_DM_WEIGHTS')
    monkeypatch.setenv('HOME', str(tmp_path))
    assert weights_folder() == tmp_path / '.cache/openmix_dm/weights'


def test_without_a_network_the_error_names_file_folder_and_source(offline, tmp_path):
    started = time.monotonic()
    with pytest.raises(FileNotFoundError) as caught:
        TimmBackbone('resnet18.tv_in1k', options={'layers': (1, 1, 1, 1)}, pretrained='timm').init_weights()
    assert time.monotonic() - started < 10
    message = str(caught.value)
    assert 'resnet18.tv_in1k.safetensors' in message
    assert str(tmp_path / 'weights') in message
    assert 'OPENMIX_DM_WEIGHTS' in message
    assert 'https://huggingface.co/timm/resnet18.tv_in1k' in message
    assert offline == ['https://huggingface.co/timm/resnet18.tv_in1k']


def test_a_name_without_tag_means_the_default_tag(offline):
    with pytest.raises(FileNotFoundError, match=r'resnet18\.a1_in1k\.safetensors or resnet18\.a1_in1k\.pth'):
        published_weights('resnet18')


@pytest.mark.parametrize('suffix', ['.safetensors', '.pth'])
def test_folder_comes_first(suffix, offline, tmp_path):
    save = save_file if suffix == '.safetensors' else torch.save
    save(WEIGHTS, tmp_path / 'weights' / f'resnet18.tv_in1k{suffix}')
    assert torch.equal(published_weights('resnet18.tv_in1k')['conv1.weight'], torch.ones(2))
    assert not offline


@pytest.mark.parametrize('file', ['model.safetensors', 'pytorch_model.bin'])
def test_cache_of_the_hub_needs_no_network(file, offline, tmp_path):
    cache = tmp_path / 'hub/models--timm--resnet18.tv_in1k'
    (cache / 'refs').mkdir(parents=True)
    (cache / 'refs/main').write_text('c0ffee')
    (cache / 'snapshots/c0ffee').mkdir(parents=True)
    (save_file if file.endswith('safetensors') else torch.save)(WEIGHTS, cache / 'snapshots/c0ffee' / file)
    assert torch.equal(published_weights('resnet18.tv_in1k')['conv1.weight'], torch.ones(2))
    assert not offline


def test_cache_of_torch_hub_needs_no_network(offline, tmp_path):
    folder = tmp_path / 'torch/hub/checkpoints'
    folder.mkdir(parents=True)
    torch.save(WEIGHTS, folder / timm.get_pretrained_cfg('resnet18.tv_in1k').url.rsplit('/', 1)[1])
    assert torch.equal(published_weights('resnet18.tv_in1k')['conv1.weight'], torch.ones(2))
    assert not offline


def test_with_a_network_timm_downloads(monkeypatch):
    monkeypatch.setattr(published, 'is_reachable', lambda url: True)
    monkeypatch.setattr(timm.models, 'load_state_dict_from_hf', lambda name: {'state_dict': {name: torch.ones(1)}})
    assert list(published_weights('resnet18.tv_in1k')) == ['timm/resnet18.tv_in1k']


def test_a_download_that_breaks_off_names_the_file_too(monkeypatch):
    def fail(name):
        raise ConnectionResetError

    monkeypatch.setattr(published, 'is_reachable', lambda url: True)
    monkeypatch.setattr(timm.models, 'load_state_dict_from_hf', fail)
    with pytest.raises(FileNotFoundError, match=r'resnet18\.tv_in1k\.safetensors') as caught:
        published_weights('resnet18.tv_in1k')
    assert isinstance(caught.value.__cause__, ConnectionResetError)


@pytest.mark.parametrize('name', ['resnet18.tv_in1k', 'deit_small_patch16_224.fb_in1k'])
def test_a_file_brought_by_hand_ends_up_in_the_network(name, offline, tmp_path):
    small = {'layers': (1, 1, 1, 1)} if 'resnet' in name else {'depth': 1, 'embed_dim': 24, 'num_heads': 3}
    source = timm.create_model(name, num_classes=1000, **small)  # with its classifier, as published
    save_file(source.state_dict(), tmp_path / f'weights/{name}.safetensors')
    net = TimmBackbone(name, options=small, pretrained='timm')
    net.init_weights()
    assert all(torch.equal(value, source.state_dict()[key]) for key, value in net.model.state_dict().items())


def test_a_model_without_published_weights(offline):
    with pytest.raises(ValueError, match='timm publishes no weights for resnet50_mlp'):
        published_weights('resnet50_mlp')


@pytest.fixture
def server():
    with socket.create_server(('127.0.0.1', 0)) as listening:
        yield listening.getsockname()[1]


def test_probe_finds_a_listening_host(server):
    assert published.is_reachable(f'https://127.0.0.1:{server}/weights')


def test_probe_misses_a_closed_port(server):
    with socket.create_server(('127.0.0.1', 0)) as closed:
        port = closed.getsockname()[1]
    assert not published.is_reachable(f'https://127.0.0.1:{port}/weights')


@pytest.mark.parametrize('scheme', ['http://', ''])
def test_probe_asks_the_proxy(server, scheme, monkeypatch):
    url = 'https://weights.invalid/file'
    assert not published.is_reachable(url)
    monkeypatch.setenv('HTTPS_PROXY', f'{scheme}127.0.0.1:{server}')
    assert published.is_reachable(url)
    monkeypatch.setenv('NO_PROXY', 'weights.invalid')
    assert not published.is_reachable(url)


def test_probe_gives_up_on_a_slow_lookup(monkeypatch):
    def never_answer(*args, **kwargs):
        time.sleep(1)
        raise OSError

    monkeypatch.setattr(socket, 'create_connection', never_answer)
    started = time.monotonic()
    assert not published.is_reachable('https://weights.invalid', seconds=0.1)
    assert time.monotonic() - started < 0.9

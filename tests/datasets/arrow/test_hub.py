"""Names on the Hugging Face Hub where there is no network: told at once, or found among what was downloaded before."""

import datasets
import pytest
from support.archive_layouts import jpeg
from support.command_runs import CONFIG, tool

from openmix_dm.datasets import HuggingFaceImages
from openmix_dm.errors import DataError

COMMIT = 'c2e1' * 10


@pytest.fixture(autouse=True)
def offline(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, 'HF_HUB_OFFLINE', True)
    monkeypatch.setattr(datasets.config, 'HF_DATASETS_CACHE', str(tmp_path / 'cache'))


@pytest.fixture
def downloaded(tmp_path):
    """What load_dataset leaves of a data set of the Hub."""
    folder = tmp_path / 'cache' / 'owner___pets' / 'default' / '0.0.0' / COMMIT
    folder.mkdir(parents=True)
    features = datasets.Features({'image': datasets.Image(), 'label': datasets.ClassLabel(names=['cat', 'dog'])})
    with datasets.arrow_writer.ArrowWriter(features=features, path=str(folder / 'pets-train.arrow')) as writer:
        for label in (1, 0, 1):
            writer.write({'image': {'bytes': jpeg(100 * label), 'path': None}, 'label': label})
        writer.finalize()
    splits = {'train': {'name': 'train', 'num_bytes': 0, 'num_examples': 3, 'dataset_name': 'pets'}}
    info = datasets.DatasetInfo(
        features=features, splits=splits, config_name='default', dataset_name='pets', builder_name='parquet',
        version='0.0.0',
    )  # fmt: skip
    info.write_to_directory(str(folder))


def test_a_name_that_was_never_downloaded():
    with pytest.raises(DataError, match=r'owner/pets of the Hugging Face Hub .*HF_HUB_OFFLINE is set.*copy HF_HOME'):
        HuggingFaceImages('owner/pets')


def test_what_was_downloaded_before_is_read(downloaded):
    data = HuggingFaceImages('owner/pets')
    assert (data.labels.tolist(), data.classes) == ([1, 0, 1], ['cat', 'dog'])
    assert [round(data[k]['inputs'].float().mean().item()) for k in range(3)] == [100, 0, 100]
    with pytest.raises(DataError, match='Unknown split "test"'):
        HuggingFaceImages('owner/pets', 'test')


def test_another_revision_is_not_taken_for_the_one_that_was_asked_for(downloaded):
    assert len(HuggingFaceImages('owner/pets', revision=COMMIT)) == 3
    with pytest.raises(DataError, match="not known to be revision='v2'"):
        HuggingFaceImages('owner/pets', revision='v2')


def test_a_hub_out_of_reach_is_asked_once(downloaded, monkeypatch):
    monkeypatch.setattr(datasets.config, 'HF_HUB_OFFLINE', False)
    monkeypatch.setattr(datasets.config, 'HF_ENDPOINT', 'http://127.0.0.1:9')  # nobody listens there
    asked = []  # each question of the package itself is repeated for half a minute
    monkeypatch.setattr('datasets.load.HfApi.hf_hub_download', lambda *_, **__: asked.append(1))
    with pytest.raises(DataError, match=r'127\.0\.0\.1:9 cannot be reached'):
        HuggingFaceImages('owner/birds')
    assert len(HuggingFaceImages('owner/pets')) == 3
    assert not asked


@pytest.mark.slow
def test_a_run_ends_with_the_code_of_missing_data(tmp_path):
    option = "train_dataloader.dataset=dict(_delete_=True,type='HuggingFaceImages',path='owner/pets')"
    code, _, said = tool(
        'train',
        CONFIG,
        '--work-dir',
        tmp_path / 'run',
        '--cfg-options',
        option,
        HF_HUB_OFFLINE='1',
        HF_HOME=str(tmp_path),
    )
    assert code == 3
    assert 'FAILED cause=data: owner/pets of the Hugging Face Hub' in said
    assert 'Traceback' not in said

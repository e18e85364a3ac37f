"""Mixers in a data loader of one's own, with and without workers."""

import pickle

import pytest
import torch
from support.mixer_examples import build, example, registered
from torch.utils.data import DataLoader, TensorDataset

from openmix_dm.losses import DecoupledCE
from openmix_dm.mixers import CutMix, ManifoldMix, MixCollate, Mixup
from openmix_dm.structures import MixedBatch


def data(size=24):
    return TensorDataset(torch.rand(size, 3, 8, 8), torch.arange(size) % 5)


@pytest.mark.parametrize('workers', [0, 2])
def test_loaders_give_mixed_batches(workers):
    loader = DataLoader(data(), batch_size=8, num_workers=workers, collate_fn=MixCollate(CutMix(alpha=1.0)))
    batches = list(loader)
    assert [len(batch.inputs) for batch in batches] == [8, 8, 8]
    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 64, 5))
    for number, batch in enumerate(batches):
        assert isinstance(batch, MixedBatch)
        own = torch.arange(8 * number, 8 * number + 8)
        images, labels = data_of(loader, own)
        assert torch.equal(batch.target.y_a, labels)
        assert torch.equal(batch.target.y_b, labels[batch.index])
        torch.testing.assert_close(batch.inputs, batch.mask * images + (1 - batch.mask) * images[batch.index])
        DecoupledCE(eta=0.1)(network(batch.inputs), batch.target).backward()


def data_of(loader, rows):
    images, labels = loader.dataset.tensors
    return images[rows], labels[rows]


def test_a_seed_gives_the_same_batches_again():
    def lams():
        torch.manual_seed(3)
        loader = DataLoader(data(), batch_size=8, num_workers=2, collate_fn=MixCollate(Mixup(alpha=1.0)))
        return [batch.target.lam[0].item() for batch in loader]

    assert lams() == lams()
    assert len(set(lams())) == 3  # workers do not draw the same


MODEL_NEEDED = {'AdAutoMix', 'AutoMix', 'MixPro', 'RecursiveMix', 'SAMix', 'SMMix', 'TransMix'}


@pytest.mark.parametrize('name', registered())
def test_every_mixer_mixes_in_a_loader_or_says_why_not(name):
    mixer = build(name, {**example(name), **({'stages': ['input']} if name == 'ManifoldMix' else {})})
    samples = [(torch.rand(3, 16, 16), label) for label in range(8)]
    if name in MODEL_NEEDED:
        with pytest.raises(
            ValueError, match=f'{name} (cannot mix in a data loader|needs labels and a model): .* in the training step'
        ):
            MixCollate(mixer)(samples)
        return
    batch = pickle.loads(pickle.dumps(MixCollate(mixer)(samples)))  # as it comes out of a worker
    assert batch.inputs.shape == (8, 3, 16, 16)
    assert batch.index.shape == (8,)


def test_what_is_mixed_inside_of_the_model_is_refused():
    collate = MixCollate(ManifoldMix(alpha=1.0, stages=['stage1']))
    with pytest.raises(ValueError, match=r"ManifoldMix cannot mix in a data loader.*'stage1'.*in the training step"):
        collate([(torch.rand(3, 16, 16), 0)] * 4)


def test_another_collate_function_can_be_given():
    mixed = MixCollate(Mixup(alpha=1.0), collate=lambda samples: (torch.stack(samples), torch.zeros(4).long()))
    assert mixed([torch.rand(3, 8, 8)] * 4).inputs.shape == (4, 3, 8, 8)

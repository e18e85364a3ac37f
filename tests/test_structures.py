import pickle
from functools import partial

import pytest
import torch
from torch.utils.data._utils.pin_memory import pin_memory

from openmix_dm.structures import AfterForward, Finished, FurtherBatch, HiddenMix, MixedBatch, MixTarget, tensors_in


def test_dense_rows_sum_to_one_and_add_up_for_one_class():
    target = MixTarget(torch.tensor([0, 2]), torch.tensor([1, 2]), torch.tensor([0.25, 0.4]))
    torch.testing.assert_close(target.dense(3), torch.tensor([[0.25, 0.75, 0.0], [0.0, 0.0, 1.0]]))


def test_hard_labels_are_one_hot():
    labels = torch.tensor([2, 0])
    assert torch.equal(MixTarget.hard(labels).dense(3), torch.nn.functional.one_hot(labels, 3).float())


def tensors_of(data):
    """The tensors of a batch by their names, further batches included."""
    found = {}
    for name, value in vars(data).items():
        if isinstance(value, MixTarget | FurtherBatch):
            found |= {f'{name}.{inner}': tensor for inner, tensor in tensors_of(value).items()}
        elif isinstance(value, tuple):
            found |= {f'{name}.{i}.{k}': v for i, each in enumerate(value) for k, v in tensors_of(each).items()}
        else:
            found |= dict.fromkeys([name], next(tensors_in(value), None))
    found = {name: tensor for name, tensor in found.items() if tensor is not None}
    return found


def whole_batch(**changes):
    labels = torch.tensor([0, 1, 2])
    target = MixTarget(labels, labels.roll(1), torch.rand(3), policy=2, lam_b=torch.rand(3), rows_b=torch.rand(3, 4))
    return MixedBatch(
        torch.rand(3, 3, 4, 4),
        target,
        partial(torch.arange, 3),
        mask=torch.rand(1, 1, 4, 4),
        losses={'loss_own': torch.tensor(1.0)},
        further=(FurtherBatch('plain', torch.rand(3, 3, 4, 4), MixTarget.hard(labels), 0.5),),
        partners=None,
        **changes,
    )


def test_a_batch_moves_with_all_that_it_holds():
    batch = whole_batch()
    assert len(tensors_of(batch)) == 12
    moved = batch.to('meta', non_blocking=True)
    assert {name: tensor.device.type for name, tensor in tensors_of(moved).items()} == dict.fromkeys(
        tensors_of(batch), 'meta'
    )
    assert moved.index.device.type == 'meta'
    assert moved.target.policy == 2
    assert moved.further[0].weight == 0.5
    assert all(tensor.device.type == 'cpu' for tensor in tensors_of(batch).values())


def test_what_is_there_already_is_not_copied():
    batch = whole_batch()
    again = batch.to(torch.device('cpu'))
    assert all(again_ is tensor for again_, tensor in zip(*map(tensors_in_order, (again, batch)), strict=True))
    assert torch.equal(again.index, batch.index)


def tensors_in_order(batch):
    return list(tensors_of(batch).values())


def test_unmixed_labels_stay_one_tensor():
    moved = MixTarget.hard(torch.tensor([1, 2])).to('meta')
    assert moved.y_a is moved.y_b


def test_loaders_pin_every_tensor_of_a_batch(monkeypatch):
    """torch's own function, on a machine that may have nothing to pin for."""
    pinned = []
    monkeypatch.setattr(torch.Tensor, 'pin_memory', lambda tensor: pinned.append(tensor) or tensor.clone())
    batch = whole_batch()
    after = pin_memory((batch, MixTarget.hard(torch.tensor([0]))))
    assert isinstance(after[0], MixedBatch)
    assert {id(tensor) for tensor in tensors_in_order(batch)} <= {id(tensor) for tensor in pinned}
    assert len(pinned) == len({id(tensor) for tensor in pinned})
    assert torch.equal(after[0].index, batch.index)


@pytest.mark.parametrize(
    ('left', 'said'),
    [
        ({'hidden': HiddenMix('stage2', torch.neg)}, "mixed after 'stage2'"),
        ({'after': AfterForward(lambda outputs: Finished())}, 'what the network says'),
    ],
)
def test_a_batch_that_is_to_be_finished_stays_where_it_was_made(left, said):
    batch = whole_batch(**left)
    assert batch.to('cpu').left_to_do == batch.left_to_do
    with pytest.raises(ValueError, match=f'from cpu to meta: .*{said}.*mix them there'):
        batch.to('meta')


def test_a_batch_can_be_sent_to_another_process():
    batch = pickle.loads(pickle.dumps(whole_batch().to('cpu')))
    assert torch.equal(batch.index, torch.arange(3))

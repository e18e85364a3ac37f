import pytest
import torch
from reference import transfer as reference
from support.two_ranks import on_two_ranks

from openmix_dm.semi.class_queue import ClassQueue

CLASSES, LENGTH, WIDTH, SIZE = 4, 3, 5, 8


def calls(count=6):
    generator = torch.Generator().manual_seed(1)
    # of few classes: a call often has more keys of a class than the queue has places
    return [
        (torch.randn(SIZE, WIDTH, generator=generator), torch.randint(CLASSES, (SIZE,), generator=generator) // 2 * 2)
        for _ in range(count)
    ]


def queue():
    torch.manual_seed(0)
    return ClassQueue(CLASSES, LENGTH, WIDTH)


def test_starts_with_unit_vectors():
    torch.testing.assert_close(queue().keys.norm(dim=2), torch.ones(CLASSES, LENGTH))


def test_is_a_ring_for_each_class():
    filled, start = queue(), queue().keys.clone()
    for keys, labels in calls():
        filled.add(keys, labels)
    expected, place = reference.class_queue(start, calls(), LENGTH)
    assert torch.equal(filled.keys, expected)
    assert filled.next.tolist() == place
    assert torch.equal(filled.keys[1], start[1])  # no key of this class came


def test_an_empty_queue_is_refused():
    with pytest.raises(ValueError, match='got 0 x 5'):
        ClassQueue(CLASSES, 0, WIDTH)


def fill_half(rank):
    filled, half = queue(), slice(rank * SIZE // 2, (rank + 1) * SIZE // 2)
    for keys, labels in calls():
        filled.add(keys[half], labels[half])
    return filled.state_dict()


@pytest.mark.slow
def test_two_ranks_fill_it_as_one(tmp_path):
    alone = queue()
    for keys, labels in calls():
        alone.add(keys, labels)
    for state in on_two_ranks(fill_half, tmp_path):
        assert torch.equal(state['keys'], alone.keys)
        assert torch.equal(state['next'], alone.next)

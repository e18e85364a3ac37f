import torch

from openmix_dm.structures import MixTarget


def test_dense_rows_sum_to_one_and_add_up_for_one_class():
    target = MixTarget(torch.tensor([0, 2]), torch.tensor([1, 2]), torch.tensor([0.25, 0.4]))
    torch.testing.assert_close(target.dense(3), torch.tensor([[0.25, 0.75, 0.0], [0.0, 0.0, 1.0]]))


def test_hard_labels_are_one_hot():
    labels = torch.tensor([2, 0])
    assert torch.equal(MixTarget.hard(labels).dense(3), torch.nn.functional.one_hot(labels, 3).float())

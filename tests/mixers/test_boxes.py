import torch

from openmix_dm.mixers.boxes import Box, Boxes, boxes_around, interval, outside_mask


def test_interval_is_cut_off_at_the_border():
    assert interval(0, 6, 10) == (0, 3)
    assert interval(9, 6, 10) == (6, 10)
    assert interval(5, 0, 10) == (5, 5)
    assert interval(5, 7, 10) == (2, 8)


def test_masks_by_hand():
    expected = [[[[1, 1], [0, 1], [0, 1]]]]
    cpu = torch.device('cpu')
    assert outside_mask(torch.tensor([[0.0, 1, 1]]), torch.tensor([[1.0, 0]])).tolist() == expected
    mask, shown = Box(1, 3, 0, 1).mask(3, 2, cpu)
    assert mask.tolist() == expected
    assert shown == 1 - 2 / 6
    masks, shares = Boxes(*(torch.tensor([value]) for value in (1, 3, 0, 1))).mask(3, 2, cpu)
    assert masks.tolist() == expected
    torch.testing.assert_close(shares, torch.tensor([1 - 2 / 6]))


def test_boxes_of_samples_are_those_of_numbers():
    lam = torch.linspace(0, 1, 41)
    centre_y, centre_x = torch.arange(41) % 10, torch.arange(41) % 13
    boxes = boxes_around(centre_y, centre_x, lam, 10, 13)
    for i, value in enumerate(lam.double().tolist()):
        side = (1 - value) ** 0.5
        expected = (*interval(i % 10, int(10 * side), 10), *interval(i % 13, int(13 * side), 13))
        assert tuple(int(part[i]) for part in boxes) == expected

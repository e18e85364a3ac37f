import pytest
import torch
from reference import mixers as reference

from openmix_dm.mixers import AttentiveMix
from openmix_dm.mixers.attentivemix import cells_mask

TEACHER = {'type': 'ThinResNet', 'depth': 8}


def mixer(**options):
    return AttentiveMix(alpha=1.0, teacher=TEACHER, input_size=16, **options)


@pytest.mark.parametrize(('height', 'width'), [(8, 8), (9, 14), (3, 5)])
@pytest.mark.parametrize('count', [1, 2, 5, 12])
def test_mask_equals_the_loop(height, width, count):
    scores = torch.randn(4, 3, 4)
    mask = cells_mask(scores, count, height, width)
    share = cells_mask(scores, torch.full((4,), (count + 0.5) / 12), height, width)
    for i in range(4):
        expected = reference.attentive_mask(scores[i].tolist(), count, height, width)
        assert torch.equal(mask[i, 0], expected)
        assert torch.equal(share[i, 0], expected)


def test_k_follows_lam_or_is_fixed():
    inputs, labels = torch.rand(4, 3, 32, 32), torch.arange(4)
    assert mixer()(inputs, labels, lam=0.5).target.lam.tolist() == [0.5] * 4  # 8 of 16 cells
    assert mixer()(inputs, labels, lam=0.0).target.lam.tolist() == [1 / 16] * 4  # at least one
    assert mixer(top_k=6)(inputs, labels, lam=0.9).target.lam.tolist() == [6 / 16] * 4
    each = torch.tensor([0.1, 0.3, 0.6, 1.0])
    assert mixer()(inputs, labels, lam=each).target.lam.tolist() == [1 / 16, 4 / 16, 9 / 16, 1.0]


def test_the_attended_cells_of_the_own_image_stay():
    """The teacher's score of a kept cell is never below that of a cell that the partner took."""
    attentive, inputs = mixer(), torch.rand(3, 3, 16, 16)
    scores = attentive.attention(inputs)
    mask = attentive(inputs, torch.arange(3), lam=0.4).mask
    cells = mask[:, 0, ::4, ::4]
    assert scores.shape == cells.shape == (3, 4, 4)
    for score, cell in zip(
        attentive.attention(
            (inputs - inputs.amin((1, 2, 3), True)) / (inputs.amax((1, 2, 3), True) - inputs.amin((1, 2, 3), True))
        ),
        cells,
        strict=True,
    ):
        assert score[cell == 1].min() >= score[cell == 0].max()


def test_the_teacher_is_frozen_in_eval_mode_and_not_saved():
    attentive = mixer().train()
    assert not attentive.teacher.training
    assert not any(parameter.requires_grad for parameter in attentive.teacher.parameters())
    before = {name: value.clone() for name, value in attentive.teacher.state_dict().items()}
    attentive(torch.rand(4, 3, 16, 16), torch.arange(4))
    assert all(torch.equal(value, before[name]) for name, value in attentive.teacher.state_dict().items())
    assert not attentive.state_dict()
    assert not torch.nn.Sequential(attentive).state_dict()


def test_the_teacher_sees_images_normalised_its_own_way():
    attentive = mixer(mean=(0.5, 0.5, 0.5), std=(0.25, 0.25, 0.25))
    seen = []
    attentive.teacher.register_forward_pre_hook(lambda module, args: seen.append(args[0]))
    attentive.attention(torch.full((1, 3, 16, 16), 1.0))
    assert seen[0].unique().tolist() == [2.0]


def test_weights_are_loaded_from_a_file(tmp_path):
    torch.manual_seed(1)
    trained = mixer().teacher
    torch.save(trained.state_dict(), tmp_path / 'teacher.pth')
    torch.manual_seed(2)
    attentive = AttentiveMix(alpha=1.0, teacher={**TEACHER, 'pretrained': str(tmp_path / 'teacher.pth')})
    assert not torch.equal(attentive.teacher.stem[0].weight, trained.stem[0].weight)
    attentive.init_weights()
    assert torch.equal(attentive.teacher.stem[0].weight, trained.stem[0].weight)


def test_too_many_cells_are_refused():
    with pytest.raises(ValueError, match='top_k=17 is more than the 16 cells'):
        mixer(top_k=17)(torch.rand(2, 3, 16, 16), torch.arange(2))
    with pytest.raises(ValueError, match='top_k'):
        mixer(top_k=0)

from dataclasses import replace

import pytest
import torch
from mixers.test_transmix import DECOUPLED, classifier
from reference import attention_labels as reference

from openmix_dm.mixers import Mixup, RandomMixer
from openmix_dm.mixers.tokenmix import BLOCKS, TokenMix, score_share, take_tokens
from openmix_dm.mixers.transmix import TransMix

TEACHER = {'type': 'TimmBackbone', 'name': 'vit_tiny_patch16_224', 'img_size': 32, 'options': {'depth': 1}}


class Attending:
    """A probe whose attention is a given map for each image, known by its first pixel."""

    def __init__(self, maps):
        self.maps, self.calls = maps, 0

    def attention(self, inputs):
        self.calls += 1
        return self.maps[inputs[:, 0, 0, 0].long()]


def numbered(size, height=8, width=8):
    """Images that hold their own number at every pixel."""
    return torch.arange(size).float().view(-1, 1, 1, 1).expand(size, 3, height, width).clone()


@pytest.mark.parametrize('grid', [(1, 1), (2, 2), (3, 5), (7, 7), (14, 14)], ids=str)
@pytest.mark.parametrize('blocks', [0, 1, BLOCKS])
@pytest.mark.parametrize('minimum', [1, 4, 14])
def test_tokens_equal_the_loop(grid, blocks, minimum):
    size, cells = 20, grid[0] * grid[1]
    count = torch.randint(cells + 1, (size,))
    count[:2] = torch.tensor([0, cells])
    order, draws = torch.rand(size, cells), torch.rand(blocks, 4, size)
    taken = take_tokens(count, order, draws, grid, minimum)
    assert torch.equal(taken.sum(dim=(1, 2)), count)
    for i in range(size):
        expected = reference.take_tokens(int(count[i]), order[i].tolist(), draws[..., i].tolist(), *grid, minimum)
        assert {(int(y), int(x)) for y, x in taken[i].nonzero()} == expected


def test_blocks_hang_together_and_random_tokens_do_not():
    """Of the pairs of neighbours, few are on different sides of the edge of a block; half of all at random."""

    def edges(**options):
        own = TokenMix(alpha=1.0, **options).draw_tokens(torch.full((200,), 0.5), 14, 14)
        return (own[:, 1:] != own[:, :-1]).float().mean().item()

    assert edges(mask='random') == pytest.approx(0.5, abs=0.02)
    assert 0.1 < edges(minimum_tokens=40) < edges() < edges(minimum_tokens=1) < 0.35


@pytest.mark.parametrize('mask', ['block', 'random'])
def test_tokens_are_taken_all_over_the_image(mask):
    own = TokenMix(alpha=1.0, mask=mask).draw_tokens(torch.full((4000,), 0.5), 6, 6).float()
    assert own.mean().item() == 0.5
    stays = own.mean(dim=0)
    assert (stays - 0.5).abs().max() < (0.04 if mask == 'random' else 0.25)  # blocks are in the middle more often
    for mirrored in (stays.flip(0), stays.flip(1)):
        torch.testing.assert_close(stays, mirrored, atol=0.06, rtol=0)


@pytest.mark.parametrize('per_sample', [False, True])
@pytest.mark.parametrize('partner', ['shift', 'permutation'])
@pytest.mark.parametrize(('size', 'patch'), [((16, 16), 4), ((9, 14), 4), ((8, 12), 1), ((5, 7), 16)])
def test_batch_equals_the_loop(size, patch, partner, per_sample):
    mixer = TokenMix(alpha=1.0, patch_size=patch, minimum_tokens=3, per_sample=per_sample, partner=partner)
    inputs, rows, columns = torch.rand(6, 3, *size), -(-size[0] // patch), -(-size[1] // patch)
    maps = torch.rand(6, 3, 4)
    inputs[:, 0, 0, 0] = torch.arange(6).float()
    batch = mixer(inputs, torch.arange(6), Attending(maps))
    own = batch.mask.expand(6, 1, *size)[:, 0, ::patch, ::patch].tolist()
    assert torch.equal(batch.inputs, reference.tokenmix(inputs, batch.index.tolist(), own, patch))
    assert (len(own[0]), len(own[0][0])) == (rows, columns)
    expected = [
        reference.tokenmix_lam(own[i], maps[i].tolist(), maps[batch.index[i]].tolist()) for i in range(len(inputs))
    ]
    torch.testing.assert_close(batch.target.lam, torch.tensor(expected))


def test_labels_follow_the_attention_of_each_sample():
    """The left half is the own image. Each row: where the own image is attended, where the partner is, and lam."""
    own = torch.tensor([[[1.0, 1.0, 0.0, 0.0]] * 4])
    left, right, everywhere, nowhere = torch.zeros(4, 4, 4).unbind()
    left[:, :2], right[:, 2:], everywhere[:] = 1, 3, 7
    truth = [
        (left, left, 1.0),  # only the own image is attended where it is shown
        (right, right, 0.0),  # only the partner is
        (left, right, 0.5),  # both are
        (everywhere, everywhere, 0.5),
        (left, everywhere, 2 / 3),
        (everywhere, right, 1 / 3),
        (right, left, 0.5),  # neither is: the share of the tokens
        (nowhere, nowhere, 0.5),
    ]
    maps_a, maps_b, lam = zip(*truth, strict=True)
    torch.testing.assert_close(score_share(own, torch.stack(maps_a), torch.stack(maps_b)), torch.tensor(lam))


def test_uniform_attention_gives_the_share_of_the_tokens():
    inputs, labels = numbered(6), torch.arange(6)
    each = torch.tensor([0.0, 0.2, 0.25, 0.5, 0.7, 1.0])
    expected = [0.0, 4 / 16, 4 / 16, 0.5, 12 / 16, 1.0]  # the partner's tokens are rounded down
    mixer = TokenMix(alpha=1.0, patch_size=2)
    for probe in (None, Attending(torch.full((6, 3, 3), 0.1))):
        torch.testing.assert_close(mixer(inputs, labels, probe, each).target.lam, torch.tensor(expected))
    pair = mixer.pair(inputs, inputs + 1, 0.25)
    assert pair.lam.tolist() == [0.25] * 6
    torch.testing.assert_close(pair.inputs, inputs + 1 - pair.mask)


def test_each_clean_image_is_looked_at_once():
    probe = Attending(torch.rand(5, 4, 4))
    inputs = numbered(5)
    TokenMix(alpha=1.0, patch_size=2)(inputs, torch.arange(5), probe)
    assert probe.calls == 1


def test_the_teacher_weighs_both_streams_of_a_pair():
    mixer = TokenMix(alpha=1.0, patch_size=4, teacher=TEACHER, input_size=32)
    mixer.teacher.model.blocks[-1].attn.qkv.weight.data.mul_(20)
    x_a, x_b = torch.rand(3, 3, 16, 16), torch.rand(3, 3, 16, 16)
    pair = mixer.pair(x_a, x_b, 0.5)
    own = pair.mask[:, 0, ::4, ::4].expand(3, 4, 4)
    maps = [mixer.attention(images, None) for images in (x_a, x_b)]
    expected = [reference.tokenmix_lam(own[i].tolist(), maps[0][i].tolist(), maps[1][i].tolist()) for i in range(3)]
    torch.testing.assert_close(pair.lam, torch.tensor(expected))
    assert len(set(pair.lam.tolist())) == 3


def test_the_teacher_is_frozen_in_eval_mode_not_saved_and_sees_its_own_normalisation():
    mixer = TokenMix(1.0, teacher=TEACHER, input_size=32, mean=(0.5,) * 3, std=(0.25,) * 3).train()
    assert not mixer.teacher.training
    assert not any(parameter.requires_grad for parameter in mixer.teacher.parameters())
    assert not torch.nn.Sequential(mixer).state_dict()
    seen = []
    mixer.teacher.register_forward_pre_hook(lambda module, args: seen.append(args[0]))
    pixels = torch.rand(2, 3, 32, 32)
    pixels[:, 0, 0, :2] = torch.tensor([0.0, 1.0])  # full range: nothing to stretch
    with torch.autocast('cpu', dtype=torch.bfloat16):
        attention = mixer.attention(pixels, None)
    torch.testing.assert_close(seen[0], (pixels - 0.5) / 0.25)
    torch.testing.assert_close(attention, reference.class_attention(mixer.teacher.model, seen[0]))


def test_the_weights_of_the_teacher_are_loaded_from_a_file(tmp_path):
    trained = TokenMix(alpha=1.0, teacher=TEACHER).teacher.model
    torch.save(trained.state_dict(), tmp_path / 'teacher.pth')
    mixer = TokenMix(alpha=1.0, teacher={**TEACHER, 'pretrained': str(tmp_path / 'teacher.pth')})
    assert not torch.equal(mixer.teacher.model.cls_token, trained.cls_token)
    mixer.init_weights()
    assert torch.equal(mixer.teacher.model.cls_token, trained.cls_token)


def test_wrong_settings_are_refused_at_build():
    for name in ('patch_size', 'minimum_tokens'):
        with pytest.raises(ValueError, match=f'{name} must be in'):
            TokenMix(alpha=1.0, **{name: 0})
    with pytest.raises(ValueError, match=r"mask must be one of \['block', 'random'\], got 'grid'"):
        TokenMix(alpha=1.0, mask='grid')
    with pytest.raises(ValueError, match='ThinResNet has no class-token attention'):
        TokenMix(alpha=1.0, teacher={'type': 'ThinResNet', 'depth': 8})
    with pytest.raises(ValueError, match='got TokenMix'):
        TransMix(TokenMix(alpha=1.0))


def test_a_cnn_is_refused_at_build_unless_there_is_a_teacher():
    cnn, mixer = {'type': 'ThinResNet', 'depth': 8}, {'type': 'TokenMix', 'alpha': 1.0}
    with pytest.raises(ValueError, match=r'TokenMix without a teacher .* but ThinResNet has no class-token attention'):
        classifier(mixer, backbone=cnn)
    model = classifier({**mixer, 'teacher': TEACHER, 'input_size': 32, 'patch_size': 8}, backbone=cnn)
    probe = Attending(torch.rand(4, 2, 2))
    probe.denormalise = lambda images: images
    assert model.mixer(numbered(4, 16, 16), torch.arange(4), probe).target.lam.shape == (4,)
    assert probe.calls == 0


def lam_by_hand(model, inputs, batch):
    """Return lam of the batch that was mixed of clean inputs, by the attention of the model, sample by sample."""
    size = len(inputs)
    own = batch.mask.expand(size, 1, 48, 48)[:, 0, ::16, ::16].tolist()
    maps = reference.class_attention(model.backbone.model, inputs).tolist()
    return torch.tensor([reference.tokenmix_lam(own[i], maps[i], maps[batch.index[i]]) for i in range(size)])


@pytest.mark.parametrize('per_sample', [False, True])
def test_the_loss_of_a_step_equals_the_computation_by_hand(per_sample):
    model = classifier({'type': 'TokenMix', 'alpha': 1.0, 'minimum_tokens': 2, 'per_sample': per_sample})
    inputs, labels = torch.randn(6, 3, 48, 48), torch.arange(6) % 5
    torch.manual_seed(5)
    loss = model(inputs, labels, mode='loss')['loss_cls']
    torch.manual_seed(5)
    batch = TokenMix(alpha=1.0, minimum_tokens=2, per_sample=per_sample)(inputs, labels)
    lam = lam_by_hand(model, inputs, batch)
    logits, sides = model(batch.inputs), (batch.target.y_a, batch.target.y_b)
    torch.testing.assert_close(loss, reference.mixed_ce(logits, *sides, lam))
    assert abs(loss - reference.mixed_ce(logits, *sides, lam.mean().expand(6))) > 1e-3  # not reduced before the loss
    assert abs(loss - reference.mixed_ce(logits, *sides, batch.target.lam)) > 1e-3  # not the share of the tokens


@pytest.mark.parametrize('loss', DECOUPLED, ids=lambda loss: loss['type'])
def test_decoupled_losses_train_on_it(loss):
    model = classifier({'type': 'TokenMix', 'alpha': 1.0, 'minimum_tokens': 2}, loss)
    inputs, labels = torch.randn(4, 3, 48, 48), torch.arange(4)
    torch.manual_seed(5)
    value = model(inputs, labels, mode='loss')['loss_cls']
    value.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
    assert model.backbone.model.patch_embed.proj.weight.grad.abs().sum() > 0
    torch.manual_seed(5)
    batch = TokenMix(alpha=1.0, minimum_tokens=2)(inputs, labels)
    logits, target = model(batch.inputs), replace(batch.target, lam=lam_by_hand(model, inputs, batch))
    torch.testing.assert_close(value, model.head.loss_fn(logits, target))
    assert abs(value - model.head.loss_fn(logits, batch.target)) > 1e-4


def test_the_policy_of_a_mixture_survives():
    mixture = RandomMixer([Mixup(alpha=0.8), TokenMix(alpha=1.0, patch_size=2)], probs=[0.0, 1.0])
    assert mixture.label_from != 'pixels'
    batch = mixture(numbered(4), torch.arange(4), Attending(torch.rand(4, 4, 4)))
    assert batch.target.policy == 1
    assert batch.after is None

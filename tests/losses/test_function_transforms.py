"""What docs/losses.md says of torch.func: the fused losses refuse it, the others take it."""

import pytest
import torch
from torch import func

from openmix_dm.losses import DecoupledBCE, DecoupledCE, MixedBCE, MixedCE
from openmix_dm.structures import MixTarget

TARGET = MixTarget(torch.tensor([0, 1]), torch.tensor([2, 3]), torch.tensor([0.3, 0.6]))
LOGITS = torch.linspace(-2, 2, 10).view(2, 5)
TRANSFORMS = {
    'grad': lambda loss: func.grad(loss)(LOGITS),
    'vmap': lambda loss: func.vmap(loss)(torch.stack([LOGITS, 2 * LOGITS])),
    'jvp': lambda loss: func.jvp(loss, (LOGITS,), (torch.ones_like(LOGITS),))[1],
}


@pytest.mark.parametrize('name', TRANSFORMS)
@pytest.mark.parametrize('loss', [MixedCE(), DecoupledCE(eta=1.0)], ids=repr)
def test_fused_losses_refuse_them_clearly(name, loss):
    with pytest.raises(RuntimeError, match=r'autograd\.Function with functorch transforms'):
        TRANSFORMS[name](lambda logits: loss(logits, TARGET))


@pytest.mark.parametrize('loss', [MixedCE(), DecoupledCE(eta=1.0)], ids=repr)
def test_fused_losses_refuse_forward_mode(loss):
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(LOGITS.clone(), torch.ones_like(LOGITS))
        with pytest.raises((RuntimeError, NotImplementedError)):
            loss(dual, TARGET)


@pytest.mark.parametrize('loss', [MixedBCE(), DecoupledBCE(t=0.5)], ids=repr)
def test_the_others_take_them(loss):
    def of(logits):
        return loss(logits, TARGET)

    logits = LOGITS.clone().requires_grad_()
    (expected,) = torch.autograd.grad(of(logits), logits)
    torch.testing.assert_close(TRANSFORMS['grad'](of), expected)
    torch.testing.assert_close(TRANSFORMS['vmap'](of), torch.stack([of(LOGITS), of(2 * LOGITS)]))
    torch.testing.assert_close(TRANSFORMS['jvp'](of), expected.sum())

"""The losses and their gradients against the paper's formulas, written out in tests/reference/losses.py."""

import pytest
import torch
from reference import losses as reference

from openmix_dm.losses import functional

LAMS = [0.0, 5e-4, 2e-3, 0.3, 0.5, 0.7, 0.9985, 1.0]


def batch(size=64, num_classes=7, scale=3.0, dtype=torch.float64):
    """Every kind of row: same class, lam at and near its ends, lam exactly 0.5."""
    logits = (torch.randn(size, num_classes, dtype=torch.float64) * scale).to(dtype)
    y_a, y_b = torch.randint(num_classes, (2, size))
    y_b[: size // 8] = y_a[: size // 8]
    lam = torch.rand(size)
    lam[: len(LAMS)] = torch.tensor(LAMS)
    lam[-len(LAMS) :] = torch.tensor(LAMS)
    return logits, y_a, y_b, lam


def bce_rows(targets):
    def loss(z, a, b, lam):
        return reference.bce(z, reference.bce_target(len(z), a, b, *targets(lam)))

    def gradient(z, a, b, lam):
        return reference.bce_gradient(z, reference.bce_target(len(z), a, b, *targets(lam)))

    return loss, gradient


def dm_bce_targets(t, xi):
    return lambda lam: (reference.rescale(lam, t, xi), reference.rescale(1 - lam, t, xi))


CASES = {
    'mce': (functional.mixed_ce, reference.mce, reference.mce_gradient, {}),
    'mce-smooth': (functional.mixed_ce, reference.mce, reference.mce_gradient, {'smoothing': 0.1}),
    'dm': (functional.decoupled_ce, reference.dm_ce, reference.dm_ce_gradient, {'eta': 0.1}),
    'dm-eta1': (functional.decoupled_ce, reference.dm_ce, reference.dm_ce_gradient, {'eta': 1.0}),
    'dm-a': (functional.decoupled_ce, reference.dm_ce, reference.dm_ce_gradient, {'eta': 1.0, 'sides': 'a'}),
    'dm-smooth': (functional.decoupled_ce, reference.dm_ce, reference.dm_ce_gradient, {'eta': 1.0, 'smoothing': 0.1}),
    'mbce1': (functional.mixed_bce, *bce_rows(lambda lam: (lam, 1 - lam)), {}),
    'mbce2': (functional.mixed_bce, *bce_rows(lambda lam: (1.0, 1.0)), {'two_hot': True}),
    'dmbce-cutting': (functional.decoupled_bce, *bce_rows(dm_bce_targets(1.0, 0.8)), {'t': 1.0, 'xi': 0.8}),
    'dmbce-mixing': (functional.decoupled_bce, *bce_rows(dm_bce_targets(0.5, 1.0)), {'t': 0.5, 'xi': 1.0}),
}


def both(name, logits, y_a, y_b, lam):
    """Return loss and gradient of ours and of the reference, all float64."""
    loss_of, reference_loss, reference_gradient, settings = CASES[name]
    ours = {'label_smoothing' if k == 'smoothing' else k: v for k, v in settings.items()}
    theirs = {} if 'bce' in name else settings
    logits = logits.detach().requires_grad_()
    loss = loss_of(logits, y_a, y_b, lam, **ours)
    loss.sum().backward()
    expected = (
        reference.rows(f, logits.detach(), y_a, y_b, lam, **theirs) for f in (reference_loss, reference_gradient)
    )
    return loss.detach().double(), logits.grad.double(), *expected


@pytest.mark.parametrize('num_classes', [2, 3, 7])
@pytest.mark.parametrize('name', CASES)
def test_loss_and_gradient_are_the_papers(name, num_classes):
    loss, gradient, expected_loss, expected_gradient = both(name, *batch(num_classes=num_classes))
    torch.testing.assert_close(loss, expected_loss, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(gradient, expected_gradient, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize('name', CASES)
def test_gradcheck(name):
    loss_of, _, _, settings = CASES[name]
    settings = {'label_smoothing' if k == 'smoothing' else k: v for k, v in settings.items()}
    logits, y_a, y_b, lam = batch(size=16, num_classes=5)
    assert torch.autograd.gradcheck(lambda z: loss_of(z, y_a, y_b, lam, **settings), logits.requires_grad_())


@pytest.mark.parametrize('scale', [1.0, 10.0, 30.0, 100.0])
@pytest.mark.parametrize('name', CASES)
def test_float32_gradient_is_right_to_a_millionth(name, scale):
    logits, y_a, y_b, lam = batch(size=256, num_classes=100, scale=1, dtype=torch.float32)
    logits = (logits / logits.abs().max() * scale).requires_grad_(False)
    _, gradient, _, expected = both(name, logits, y_a, y_b, lam)
    assert (gradient - expected).norm() <= 1e-6 * expected.norm()


@pytest.mark.parametrize('dtype', [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize('name', CASES)
def test_large_logits_stay_finite(name, dtype):
    """One class far above or below all others, on either side or on neither: where p / (1 - p) breaks."""
    rows = [torch.full((10,), low) for low in (-100.0, 0.0, 100.0) for _ in range(10)]
    logits = torch.stack(rows)
    logits[range(30), list(range(10)) * 3] = torch.tensor([100.0, -100.0] * 15)
    y_a = torch.arange(30) % 10
    y_b = torch.cat([(y_a[:15] + 1) % 10, y_a[15:].flip(0)])
    lam = torch.linspace(0, 1, 30)
    loss, gradient, expected_loss, expected = both(name, logits.to(dtype), y_a, y_b, lam)
    assert loss.isfinite().all()
    assert gradient.isfinite().all()
    torch.testing.assert_close(loss, expected_loss, rtol=1e-5, atol=1e-4)
    rounding = {torch.float32: 1e-6, torch.float16: 1e-3, torch.bfloat16: 8e-3}[dtype]
    torch.testing.assert_close(gradient, expected, rtol=rounding, atol=rounding)


def masked(num_classes=6):
    """Rows with classes at -inf: all but a and b, some of the others, a, b, and both; then one image's own class."""
    rows = torch.randn(6, num_classes, dtype=torch.float64)
    for row, out in enumerate(([2, 3, 4, 5], [3, 5], [0], [1], [0, 1], [1, 2, 3, 4, 5])):
        rows[row, out] = -torch.inf
    y_a = torch.zeros(6, dtype=torch.long)
    return rows, y_a, torch.tensor([1, 1, 1, 1, 1, 0]), torch.full((6,), 0.3)


@pytest.mark.parametrize('dtype', [torch.float64, torch.float32, torch.float16])
@pytest.mark.parametrize('name', CASES)
def test_classes_at_minus_infinity(name, dtype):
    """They have probability 0; a label on one has an infinite loss, and gradients are finite in any case."""
    logits, y_a, y_b, lam = masked()
    logits = logits.to(dtype)
    loss, gradient, expected_loss, expected = both(name, logits, y_a, y_b, lam)
    rounding = {torch.float64: 1e-10, torch.float32: 1e-6, torch.float16: 1e-3}[dtype]
    torch.testing.assert_close(loss, expected_loss, rtol=rounding, atol=rounding)
    assert gradient.isfinite().all()
    torch.testing.assert_close(gradient, expected, rtol=rounding, atol=rounding)


@pytest.mark.parametrize('name', CASES)
def test_a_row_of_one_possible_class_has_finite_gradients(name):
    """The other side's part of the regulariser is 0 / 0 here: nothing to compare with."""
    logits = torch.full((2, 6), -torch.inf, dtype=torch.float64)
    logits[0, 0], logits[1, 1] = 1.0, 2.0
    y = torch.zeros(2, dtype=torch.long)
    loss_of, _, _, settings = CASES[name]
    settings = {'label_smoothing' if k == 'smoothing' else k: v for k, v in settings.items()}
    loss = loss_of(logits.requires_grad_(), y, y + 1, torch.full((2,), 0.3), **settings)
    assert (loss == torch.inf).all()
    assert torch.autograd.grad(loss.sum(), logits)[0].isfinite().all()


@pytest.mark.parametrize('name', CASES)
def test_second_derivatives_with_classes_at_minus_infinity(name):
    """They are those of a row without these classes."""
    loss_of, _, _, settings = CASES[name]
    settings = {'label_smoothing' if k == 'smoothing' else k: v for k, v in settings.items()}
    logits, y_a, y_b, lam = masked()
    direction, products = torch.randn(6, 6, dtype=torch.float64), []
    for low in (-torch.inf, -700.0):
        z = logits.clamp(min=low).requires_grad_()
        (gradient,) = torch.autograd.grad(loss_of(z, y_a, y_b, lam, **settings).sum(), z, create_graph=True)
        products.append(torch.autograd.grad((gradient * direction).sum(), z)[0])
    torch.testing.assert_close(*products)


def test_two_classes_leave_nothing_to_decouple():
    logits, y_a, y_b, lam = batch(num_classes=2)
    assert torch.equal(
        functional.decoupled_ce(logits, y_a, y_b, lam, eta=1.0), functional.mixed_ce(logits, y_a, y_b, lam)
    )


def test_eta_zero_is_mce_bit_for_bit():
    logits, y_a, y_b, lam = batch(dtype=torch.float32)
    for sides in ('both', 'a'):
        assert torch.equal(
            functional.decoupled_ce(logits, y_a, y_b, lam, 0.0, sides), functional.mixed_ce(logits, y_a, y_b, lam)
        )


def test_swapping_the_sides_changes_nothing():
    logits, y_a, y_b, lam = batch()
    lam = lam.double()
    torch.testing.assert_close(
        functional.decoupled_ce(logits, y_a, y_b, lam, 1.0), functional.decoupled_ce(logits, y_b, y_a, 1 - lam, 1.0)
    )


@pytest.mark.parametrize('eta', [0.0, 0.1, 1.0])
def test_the_minimum_stays_at_the_mixed_label(eta):
    """The regulariser does not compete with MCE: p = (lam, 1 - lam) is stationary for every eta."""
    lam = torch.tensor([0.3], dtype=torch.float64)
    logits = torch.tensor([[lam.item(), 1 - lam.item(), 1e-30, 1e-30]], dtype=torch.float64).log().requires_grad_()
    functional.decoupled_ce(logits, torch.tensor([0]), torch.tensor([1]), lam, eta).sum().backward()
    assert logits.grad.abs().max() < 1e-12


def test_the_asymmetric_side_leaves_the_pseudo_class_alone():
    logits, y_a, y_b, lam = batch()
    gradients = []
    for eta in (0.0, 1.0):
        z = logits.clone().requires_grad_()
        functional.decoupled_ce(z, y_a, y_b, lam, eta, sides='a').sum().backward()
        gradients.append(z.grad.gather(1, y_b[:, None]))
    different = (y_a != y_b)[:, None]
    torch.testing.assert_close(gradients[0][different], gradients[1][different], rtol=0, atol=1e-12)


def test_the_loss_is_continuous_at_one_half():
    logits, y_a, y_b, _ = batch()
    at, beside = (
        functional.decoupled_ce(logits, y_a, y_b, torch.full((64,), lam, dtype=torch.float64), 1.0)
        for lam in (0.5, 0.5 + 1e-9)
    )
    torch.testing.assert_close(at, beside, rtol=0, atol=1e-6)


def test_autocast_computes_in_float32():
    logits, y_a, y_b, lam = batch(num_classes=100, dtype=torch.bfloat16)
    with torch.autocast('cpu', dtype=torch.bfloat16):
        for loss_of, settings in ((functional.mixed_ce, {}), (functional.decoupled_ce, {'eta': 1.0})):
            loss = loss_of(logits, y_a, y_b, lam, **settings)
            assert loss.dtype == torch.float32
            torch.testing.assert_close(loss, loss_of(logits.double(), y_a, y_b, lam, **settings).float())
        assert functional.mixed_bce(logits, y_a, y_b, lam).dtype == torch.float32


@pytest.mark.parametrize(
    ('t', 'xi', 'lam', 'expected'),
    [(1, 0.8, 0.1, 0.125), (1, 0.8, 0.5, 0.625), (1, 0.8, 0.75, 0.9375), (1, 0.8, 0.9, 1.0), (0.5, 1, 0.1, 0.316228),
     (0.5, 1, 0.5, 0.707107), (0.5, 1, 0.75, 0.866025), (0.5, 1, 0.9, 0.948683), (0, 0.3, 1e-9, 1.0), (0, 1, 0.0, 0.0)],
)  # fmt: skip
def test_rescaled_values_of_the_paper(t, xi, lam, expected):
    assert functional.rescale(torch.tensor([lam]), t, xi).item() == pytest.approx(expected, abs=1e-6)


def test_rescaling_is_a_monotone_map_into_the_unit_interval():
    lam = torch.linspace(0, 1, 101)
    torch.testing.assert_close(functional.rescale(lam, 1, 1), lam)
    for t in (0.3, 0.5, 1, 2):
        for xi in (0.7, 0.8, 0.9, 1):
            r = functional.rescale(lam, t, xi)
            assert r.max() <= 1
            assert (r.diff() >= 0).all()


def test_dm_bce_contains_both_mbce():
    logits, y_a, y_b, lam = batch()
    inside = (lam > 0) & (lam < 1)
    torch.testing.assert_close(
        functional.decoupled_bce(logits, y_a, y_b, lam, 1, 1), functional.mixed_bce(logits, y_a, y_b, lam)
    )
    torch.testing.assert_close(
        functional.decoupled_bce(logits, y_a, y_b, lam, 0, 1)[inside],
        functional.mixed_bce(logits, y_a, y_b, lam, two_hot=True)[inside],
    )


def test_same_class_targets_stop_at_one():
    """A target above 1 would reward a growing logit without end."""
    same, lam = torch.zeros(1, dtype=torch.long), torch.tensor([0.5])
    small, large = (torch.tensor([[z, -5.0]]) for z in (20.0, 90.0))
    for loss_of, settings in ((functional.mixed_bce, {'two_hot': True}), (functional.decoupled_bce, {'t': 0.5})):
        assert loss_of(large, same, same, lam, **settings) >= loss_of(small, same, same, lam, **settings) - 1e-4


def test_runs_on_meta_tensors():
    logits = torch.empty(4, 10, device='meta', requires_grad=True)
    y = torch.empty(4, dtype=torch.long, device='meta')
    lam = torch.empty(4, device='meta')
    for loss_of, settings in (
        (functional.mixed_ce, {}),
        (functional.decoupled_ce, {'eta': 1.0}),
        (functional.decoupled_bce, {}),
    ):
        loss_of(logits, y, y, lam, **settings).sum().backward()
        assert logits.grad.shape == (4, 10)

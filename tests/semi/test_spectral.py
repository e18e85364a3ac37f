import pytest
import torch

from openmix_dm.semi.terms.spectral import smallest_energy


@pytest.mark.parametrize('shape', [(4, 9), (9, 4)])
@pytest.mark.parametrize('k', [1, 3])
def test_equals_the_smallest_eigenvalues(shape, k):
    features = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    gram = features @ features.T if shape[0] < shape[1] else features.T @ features
    expected = torch.linalg.eigvalsh(gram.double())[:k].sum()
    torch.testing.assert_close(smallest_energy(features, k).double(), expected, rtol=1e-4, atol=1e-5)


def test_a_step_down_its_gradient_shrinks_it():
    features = torch.randn(5, 8, generator=torch.Generator().manual_seed(0)).requires_grad_()
    value = smallest_energy(features, 1)
    (gradient,) = torch.autograd.grad(value, features)
    assert smallest_energy(features - 0.1 * gradient, 1) < value


def test_is_float32_under_autocast():
    features = torch.randn(5, 8, generator=torch.Generator().manual_seed(0)).bfloat16()
    with torch.autocast('cpu', dtype=torch.bfloat16):
        assert smallest_energy(features, 1).dtype == torch.float32


def test_more_values_than_there_are_is_refused():
    with pytest.raises(ValueError, match='k=6'):
        smallest_energy(torch.randn(5, 8), 6)

import functools
import itertools
import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from reference import puzzle as reference

from openmix_dm.backbones import ThinResNet
from openmix_dm.mixers.puzzle.energy import Terms, _differences, build_energy
from openmix_dm.mixers.puzzle.exact import solve_exact
from openmix_dm.mixers.puzzle.lines import improve_lines
from openmix_dm.mixers.puzzle.saliency import gradient_norm, normalised
from openmix_dm.mixers.puzzle.solver import best_threshold, solve_relaxed
from openmix_dm.visualization.sample_images import digits, photographs


def make_energy(images, gradients, grid, lam, n_labels=3, neigh=4):
    """The energy of each image with the one before it."""
    saliency = normalised(F.avg_pool2d(gradient_norm(gradients), images.shape[-1] // grid))
    cells = F.avg_pool2d(images, min(neigh, images.shape[-1] // grid))
    lam = torch.full((len(images),), lam)
    pairs = ((saliency, saliency.roll(1, 0)), (cells, cells.roll(1, 0)))
    return build_energy(*pairs, lam, Terms(1.2, 0.5, 0.2, n_labels))


def literal(images, gradients, grid, lam, n_labels, i, neigh=4):
    saliency = [reference.block_saliency(gradients[j], grid) for j in (i, i - 1)]
    return reference.tables(saliency, (images[i], images[i - 1]), lam, grid, n_labels, neigh=neigh)


def labels_of(shown, n_labels):
    grid = range(len(shown))
    return {(y, x): round((1 - float(shown[y, x])) * (n_labels - 1)) for y, x in itertools.product(grid, grid)}


@functools.cache
def real(source):
    """Images with the gradients of a small network, as it is at first."""
    torch.manual_seed(0)
    images, labels, _ = digits(12) if source == 'digits' else photographs(8, 64)
    net, head = ThinResNet(8).train(), torch.nn.Linear(64, 10)
    images.requires_grad_()
    features = net(images)
    loss = F.cross_entropy(head(features.mean(dim=(2, 3)) if features.dim() == 4 else features), labels)
    (gradients,) = torch.autograd.grad(loss, images)
    return images.detach(), gradients.abs()


def value(energy, shown):
    """E for each sample, without the constant."""
    alone = energy.linear * shown + energy.curvature * (shown**2 - shown)
    below, beside = shown.roll(-1, 1), shown.roll(-1, 2)  # what comes around has weight 0
    edges = energy.down * (shown - below) ** 2 + energy.right * (shown - beside) ** 2
    return (alone + edges).double().sum(dim=(1, 2))


def constant(images, grid, lam, n_labels, neigh=4):
    """The literal energy where nothing is shown of the own image, which E leaves out."""
    cells = F.avg_pool2d(images, min(neigh, images.shape[-1] // grid))
    total = 1 - 0.2 * math.log((1 - lam) ** (n_labels - 1) + 1e-8)
    for own in (cells, cells.mT):
        other = own.roll(1, 0)
        ways = _differences(own, other, grid) + _differences(other, own, grid) + 2 * _differences(other, other, grid)
        total = total + 1.2 / (grid * 16) * 0.5 / 2 * ways.double().sum(dim=(1, 2))
    return total


@pytest.mark.parametrize('n_labels', [2, 3, 4])
@pytest.mark.parametrize('lam', [0.02, 0.3, 0.5, 0.9])
def test_the_exact_solver_finds_the_best_of_all_labelings(n_labels, lam):
    images, gradients = torch.rand(6, 3, 8, 8), torch.rand(6, 3, 8, 8) ** 4
    shown = solve_exact(make_energy(images, gradients, 2, lam, n_labels))
    for i in range(6):
        costs, edges = literal(images, gradients, 2, lam, n_labels, i)
        best = reference.best_labeling(costs, edges, 2, n_labels)
        assert labels_of(shown[i], n_labels) == best


@pytest.mark.parametrize('n_labels', [2, 3, 4])
@pytest.mark.parametrize(('grid', 'neigh'), [(2, 4), (4, 2), (4, 4)])
def test_the_energy_is_the_literal_one_but_for_a_constant(n_labels, grid, neigh):
    images, gradients = torch.rand(2, 3, 16, 16), torch.rand(2, 3, 16, 16)
    energy = make_energy(images, gradients, grid, 0.35, n_labels, neigh)
    left_out = constant(images, grid, 0.35, n_labels, neigh)
    costs, edges = literal(images, gradients, grid, 0.35, n_labels, 1, neigh)
    for _ in range(6):
        shown = torch.randint(n_labels, (2, grid, grid)) / (n_labels - 1)
        expected = reference.energy(labels_of(shown[1], n_labels), costs, edges, n_labels)
        assert float((value(energy, shown) + left_out)[1]) == pytest.approx(expected, abs=1e-5)


def gaps_of(source, n_labels, grid):
    """How far above the least energy the relaxed solver stays, for each image and some lam."""
    images, gradients = real(source)
    gaps = []
    for lam in (0.1, 0.3, 0.5, 0.7):
        energy, left_out = make_energy(images, gradients, grid, lam, n_labels), constant(images, grid, lam, n_labels)
        relaxed, exact = (value(energy, solve(energy)) + left_out for solve in (solve_relaxed, solve_exact))
        gaps.append(relaxed / exact - 1)
    return torch.cat(gaps)


@pytest.mark.parametrize('source', ['digits', 'photographs'])
@pytest.mark.parametrize('grid', [2, 4, 8, 16])
@pytest.mark.parametrize(('n_labels', 'mean', 'largest'), [(2, 0.001, 0.015), (3, 0.006, 0.025), (4, 0.003, 0.01)])
def test_the_relaxed_solver_is_close_to_the_least_energy(source, grid, n_labels, mean, largest):
    gaps = gaps_of(source, n_labels, grid)
    assert gaps.min() > -1e-5  # the exact one is exact
    assert gaps.mean() <= mean
    assert gaps.max() <= largest


def test_the_best_threshold_is_the_one_of_least_energy():
    images, gradients = real('photographs')
    energy, z = make_energy(images, gradients, 8, 0.4, 2), torch.rand(8, 8, 8)
    chosen = best_threshold(energy, z)
    ways = [torch.zeros_like(z), torch.ones_like(z), *((z > threshold / 10).float() for threshold in range(1, 10))]
    torch.testing.assert_close(value(energy, chosen), torch.stack([value(energy, way) for way in ways]).amin(dim=0))
    torch.testing.assert_close(energy.of(z).double(), value(energy, z))


@pytest.mark.parametrize('n_labels', [2, 3, 4])
def test_lines_never_raise_the_energy_and_lower_it(n_labels):
    images, gradients = real('photographs')
    energy = make_energy(images, gradients, 8, 0.4, n_labels)
    shown = torch.randint(n_labels, energy.linear.shape) / (n_labels - 1)
    before, after = value(energy, shown), value(energy, improve_lines(energy, shown))
    assert (after < before).all()


@pytest.mark.parametrize('n_labels', [2, 3, 4])
def test_lines_are_exact_where_there_is_one_chain(n_labels):
    """Without edges downwards each row is a chain of its own: the least energy is found in one pass."""
    energy = make_energy(torch.rand(4, 3, 16, 16), torch.rand(4, 3, 16, 16) ** 4, 8, 0.4, n_labels)
    energy = replace(energy, down=torch.zeros_like(energy.down))
    shown = improve_lines(energy, torch.zeros_like(energy.linear))
    torch.testing.assert_close(value(energy, shown), value(energy, solve_exact(energy)))


@pytest.mark.parametrize('solve', [solve_relaxed, solve_exact])
@pytest.mark.parametrize('n_labels', [2, 3, 4])
def test_only_labels_come_out_and_more_lam_shows_more(solve, n_labels):
    images, gradients = torch.rand(5, 3, 32, 32), torch.rand(5, 3, 32, 32) ** 4
    shares = []
    for lam in (0.0, 0.25, 0.5, 0.75, 1.0):
        shown = solve(make_energy(images, gradients, 8, lam, n_labels))
        assert set((shown * (n_labels - 1)).unique().tolist()) <= set(range(n_labels))
        shares.append(shown.mean().item())
    assert shares == sorted(shares)
    assert shares[-1] - shares[0] > 0.9

import os
import sys
from pathlib import Path

import pytest

# Before torch is imported, and for all processes that tests start: several of them share the cores.
os.environ.setdefault('OMP_NUM_THREADS', '1')

import torch

import openmix_dm  # noqa: F401  before anything that imports torchvision

sys.path.insert(0, str(Path(__file__).parent))  # `from reference.losses import ...`

from support import fault_matrix as matrix

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def root() -> Path:
    return ROOT


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)


ALONE = ('faults', 'slurm', 'browser')  # tiers that need the machine for themselves


def pytest_xdist_auto_num_workers(config):
    """Run a tier that needs the machine for itself in one process; None leaves the number to xdist."""
    chosen = config.option.markexpr.replace('not ', 'not-').split()
    return 0 if any(word in ALONE for word in chosen) else None


# The fault matrix: options and reports have to be known before tests/faults is looked at.


def pytest_addoption(parser):
    matrix.add_option(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    matrix.mark_quick_rows(config, items)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    outcome = yield
    matrix.note(item, outcome.get_result())


def pytest_sessionfinish(session):
    matrix.write(session.config)

import sys
from pathlib import Path

import pytest
import torch

import openmix_dm  # noqa: F401  before anything that imports torchvision

sys.path.insert(0, str(Path(__file__).parent))  # `from reference.losses import ...`

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def root() -> Path:
    return ROOT


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)

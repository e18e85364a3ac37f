"""openmix_dm: mixup image classification with decoupled losses, driven by configs."""

from openmix_dm import compat as compat  # first: it repairs what later imports would trip over

__version__ = '0.1.0'

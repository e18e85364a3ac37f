"""Labelled and unlabelled images side by side, as semi-supervised training needs them."""

from openmix_dm.datasets.streams.batches import StreamBatches, StreamPicks
from openmix_dm.datasets.streams.dataset import StreamFacts, Streams

__all__ = ['StreamBatches', 'StreamFacts', 'StreamPicks', 'Streams']

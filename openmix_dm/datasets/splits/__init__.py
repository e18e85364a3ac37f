"""Which images of a data set have a label, where only some do: drawn once, kept in files, verified by their labels."""

from openmix_dm.datasets.splits.labelled import labelled_indices

__all__ = ['labelled_indices']

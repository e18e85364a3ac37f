"""Metrics over a data set."""

from openmix_dm.evaluation.top_k import TopK

__all__ = ['TopK']

"""Metrics over a data set, and what a model does under attack, occlusion and doubt."""

from openmix_dm.evaluation.predictions import Predictions
from openmix_dm.evaluation.top_k import TopK

__all__ = ['Predictions', 'TopK']

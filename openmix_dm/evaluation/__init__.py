"""Metrics over a data set, and what a model does under attack, occlusion and doubt."""

from openmix_dm.evaluation.evaluator import BatchEvaluator
from openmix_dm.evaluation.predictions import Predictions
from openmix_dm.evaluation.top_k import TopK
from openmix_dm.evaluation.torch_metric import TorchMetric

__all__ = ['BatchEvaluator', 'Predictions', 'TopK', 'TorchMetric']

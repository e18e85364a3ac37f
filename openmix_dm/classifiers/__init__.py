"""The model that the runner trains: mixer, backbone and head in one training step."""

from openmix_dm.classifiers.mix_classifier import MixClassifier
from openmix_dm.classifiers.preprocessor import Normalise

__all__ = ['MixClassifier', 'Normalise']

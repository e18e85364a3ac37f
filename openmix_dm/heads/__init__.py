"""Heads: from a backbone's features to logits and to the loss that they own."""

from openmix_dm.heads.linear_head import LinearHead

__all__ = ['LinearHead']

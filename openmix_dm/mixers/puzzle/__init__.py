"""PuzzleMix: an energy over the blocks of two images, two solvers for it, and the transport of hidden blocks."""

from openmix_dm.mixers.puzzle.puzzlemix import PuzzleMix

__all__ = ['PuzzleMix']

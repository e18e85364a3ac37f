"""Bytes of images, wherever they are stored, and what they decode to."""

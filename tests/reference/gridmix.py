"""GridMix, hole by hole."""

import math

import numpy as np


def mask(lam, holes, area, aspect, place, height, width, hole_aspect=1.0):
    """Cut holes into ones; place (y, x) in [0, 1) says where the region lies in the room that it leaves."""
    cut_width = math.sqrt(area * height * width / aspect)
    cut_height = cut_width * aspect
    patch_width = min(max(round(cut_width / holes), 1), width // holes)
    patch_height = min(max(round(patch_width * hole_aspect), 1), height)
    rows = min(max(round(cut_height / patch_height), 1), height // patch_height)
    top = int(place[0] * (height - rows * patch_height + 1))
    left = int(place[1] * (width - holes * patch_width + 1))
    weights = np.ones((height, width))
    for row in range(rows):
        for column in range(holes):
            for y in range(int(patch_height * math.sqrt(1 - lam))):
                for x in range(int(patch_width * math.sqrt(1 - lam))):
                    weights[top + row * patch_height + y, left + column * patch_width + x] = 0
    return weights

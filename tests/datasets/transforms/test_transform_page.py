"""docs/transforms.md lists what there is, in the words of the code, with pictures of what it does."""

import re

import numpy as np
from PIL import Image
from support.transform_page import FOLDER, MARK, PAGE, file_of, page, pictures

from openmix_dm.registry import TRANSFORMS
from openmix_dm.visualization.transform_examples import known_names

HOW = 'run: PYTHONPATH=. python tests/support/transform_page.py'


def test_the_page_is_up_to_date():
    written = PAGE.read_text().partition(MARK)[2]
    assert written == page(), HOW


def test_every_transform_is_on_the_page():
    lists = PAGE.read_text().partition(MARK)[2]
    named = set(re.findall(r'`((?:torchvision/|mmcv/)?[A-Z]\w+)`', lists))
    refused = {f'{package}/{name}' for package in TRANSFORMS.bridges for name in TRANSFORMS.bridge(package).refused}
    assert set(known_names()) | refused == named


def test_pictures_show_what_the_transforms_do():
    assert {file_of(name) for name in pictures()} == set(FOLDER.iterdir()), HOW
    for name, picture in pictures().items():
        stored = np.asarray(Image.open(file_of(name)).convert('RGB'), dtype=float)
        # in the large: files are compressed
        apart = (stored - picture.pixels).reshape(25, 8, 25, 8, 3).mean(axis=(1, 3))
        assert np.abs(apart).mean() < 2.5, f'{name}: {HOW}'


def test_pictures_are_small_files():
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 400_000

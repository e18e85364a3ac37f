"""docs/transforms.md lists what there is, in the words of the code."""

import re

from support.transform_page import MARK, PAGE, page

from openmix_dm.registry import TRANSFORMS
from openmix_dm.visualization.transform_examples import known_names


def test_the_page_is_up_to_date():
    written = PAGE.read_text().partition(MARK)[2]
    assert written == page(), 'run: PYTHONPATH=. python tests/support/transform_page.py'


def test_every_transform_is_on_the_page():
    lists = PAGE.read_text().partition(MARK)[2]
    named = set(re.findall(r'`((?:torchvision/|mmcv/)?[A-Z]\w+)`', lists))
    refused = {f'{package}/{name}' for package in TRANSFORMS.bridges for name in TRANSFORMS.bridge(package).refused}
    assert set(known_names()) | refused == named

"""Batches of streams are prepared as plain ones are."""

import torch

from openmix_dm.classifiers import Normalise
from openmix_dm.semi.stream_preprocessor import StreamPreprocessor

PLAIN = Normalise(mean=[10.0, 20.0, 30.0], std=[1.0, 2.0, 4.0])


def images(n):
    return torch.randint(256, (n, 3, 4, 4), dtype=torch.uint8)


def test_every_view_is_normalised_and_nothing_else_is_touched():
    views, labels = (images(2), images(2)), torch.arange(2)
    data = {'labelled': {'inputs': (images(3),), 'labels': torch.arange(3)},
            'unlabelled': {'inputs': views, 'index': labels}, 'truth': labels, 'progress': 0.25}  # fmt: skip
    made = StreamPreprocessor(PLAIN)(data, training=True)
    for before, after in zip(views, made['unlabelled']['inputs'], strict=True):
        assert torch.equal(after, PLAIN({'inputs': before}, True)['inputs'])
    assert made['labelled']['inputs'][0].dtype == torch.float32
    assert made['progress'] == 0.25
    assert torch.equal(made['truth'], labels)
    assert data['labelled']['inputs'][0].dtype == torch.uint8


def test_a_plain_batch_and_the_way_back():
    both = StreamPreprocessor(PLAIN)
    data = {'inputs': images(2), 'labels': torch.arange(2)}
    assert torch.equal(both(data)['inputs'], PLAIN(data)['inputs'])
    torch.testing.assert_close(both.denormalise(both(data)['inputs']) * 255, data['inputs'].float())


def test_the_memory_format_is_that_of_the_images():
    both = StreamPreprocessor(Normalise(mean=[0.0] * 3, std=[1.0] * 3))
    both.memory_format = torch.channels_last
    assert both.memory_format is both.images.memory_format is torch.channels_last
    made = both({'labelled': {'inputs': (images(2),), 'labels': torch.arange(2)}})
    assert made['labelled']['inputs'][0].is_contiguous(memory_format=torch.channels_last)

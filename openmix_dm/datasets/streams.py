"""One data set seen as two streams."""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from openmix_dm.datasets.samplers.sample_index import SampleBatch, SampleIndex
from openmix_dm.datasets.splits import labelled_indices
from openmix_dm.datasets.splits import unlabelled as split
from openmix_dm.errors import ConfigError
from openmix_dm.registry import DATASETS, TRANSFORMS
from openmix_dm.utils.checks import one_of, positive
from openmix_dm.utils.keys import keys

if TYPE_CHECKING:
    from openmix_dm.datasets.samplers.stream_batches import StreamSamples

Transforms = Sequence[dict[str, Any]]
STUDIED = 64  # images at a time, where all labelled ones are looked at


@dataclass(frozen=True)
class StreamFacts:
    """What a model may know of its streams before it sees them."""

    class_counts: Tensor  # (C,) how many labelled images each class has
    unlabelled: int  # how many unlabelled images there are: indices of the stream are below it
    labelled_views: int = 1
    unlabelled_views: int = 1
    ratio: float = 1  # unlabelled images for each labelled one in a batch
    can_be_studied: bool = False  # there is a view of the labelled images without draws


@DATASETS.register_module()
class Streams(Dataset):
    """Serve batches of a labelled and an unlabelled stream of one data set, each image in several views.

    A batch is {'labelled': {'inputs': (view, ...), 'labels'}, 'unlabelled': {'inputs': (view, ...), 'index'}, 'truth'}.
    `index` counts within the unlabelled stream. `truth` holds the labels of the unlabelled images, for metrics only:
    models hand it to no term of their loss. Every view has random draws of its own.

    Exactly one of count, fraction and labelled_file says which images have a label. Where a file of the split is
    stored, it is read instead of drawing anew.

    Args:
        dataset: config of the images, without transforms. Its labels are read for the labelled images alone, and for
            metrics. It may not skip damaged images, which would put another image under a label.
        labelled_views: a list of configs of transforms for each view of the labelled images.
        unlabelled_views: the same for the unlabelled images; needed if there are any. Default: ().
        count: number of labelled images in all, the same number for each class. Default: None.
        fraction: share of each class that has a label, at least one image. Default: None.
        split_seed: seed of that draw. None is filled in with the seed of the run (0 without one). Default: None.
        labelled_file: text file with the numbers of the labelled images, one a line. Default: None.
        unlabelled: 'all' images with their labels dropped, the 'rest' without a label, or None for no unlabelled
            stream. Default: 'all'.
        unlabelled_file: text file with the numbers of the unlabelled images, used instead of `unlabelled`; none of them
            may be labelled. Default: None.
        ratio: unlabelled images for each labelled one in a batch; must give a whole number of them on a rank.
            Default: 1.
        study_view: transforms, without random draws, of the labelled images for a method that studies them before
            training (Co-Tuning). Default: None.

    Example:
        dataset = dict(type='Streams', dataset=images, count=40, labelled_views=[weak], unlabelled_views=[weak, strong])
    """

    metainfo: dict[str, Any] = {}  # mmengine asks for it
    takes_samples = True  # asked by StreamSamples
    builds = {
        'dataset': DATASETS,
        'labelled_views': TRANSFORMS,
        'unlabelled_views': TRANSFORMS,
        'study_view': TRANSFORMS,
    }

    def __init__(
        self,
        dataset: dict[str, Any],
        labelled_views: Sequence[Transforms],
        unlabelled_views: Sequence[Transforms] = (),
        count: int | None = None,
        fraction: float | None = None,
        split_seed: int | None = None,
        labelled_file: str | None = None,
        unlabelled: str | None = 'all',
        unlabelled_file: str | None = None,
        ratio: float = 1,
        study_view: Transforms | None = None,
    ) -> None:
        if dataset.get('on_error') == 'skip':
            raise ConfigError("on_error='skip' would put another image under a label; streams take 'raise' only")
        self.source = DATASETS.build(dataset)
        if self.source.transforms:
            raise ConfigError('transforms of streams belong into labelled_views and unlabelled_views, not to dataset')
        self.num_classes, self.ratio = self.source.num_classes, positive('ratio', ratio)
        if unlabelled is not None:
            one_of('unlabelled', unlabelled, ('all', 'rest'))
        truth = np.asarray(self.source.labels)
        self._labelled = self._draw(truth, count, fraction, split_seed or 0, labelled_file)
        if unlabelled_file is None:
            self._unlabelled = split.unlabelled_indices(self._labelled, len(truth), unlabelled)
        else:
            self._unlabelled = split.read_indices(unlabelled_file, len(truth), 'unlabelled')
            split.check_apart(self._labelled, self._unlabelled)
        self._labels = torch.from_numpy(truth[self._labelled])  # the only labels that training sees
        self._truth = torch.from_numpy(truth[self._unlabelled])
        self._labelled_views = self._views('labelled_views', labelled_views, bool(len(self._labelled)))
        self._unlabelled_views = self._views('unlabelled_views', unlabelled_views, bool(len(self._unlabelled)))
        self._study_view = None if study_view is None else seen_through(self.source, study_view)

    @property
    def sizes(self) -> tuple[int, int]:
        """How many images each stream has, labelled first."""
        return len(self._labelled), len(self._unlabelled)

    @property
    def labels(self) -> Tensor:
        """The labels of the labelled images: all that training sees."""
        return self._labels

    @property
    def facts(self) -> StreamFacts:
        """What a model may know of the streams."""
        return StreamFacts(
            torch.bincount(self._labels, minlength=self.num_classes),
            len(self._unlabelled),
            len(self._labelled_views),
            len(self._unlabelled_views),
            self.ratio,
            self._study_view is not None,
        )

    def labelled_images(self, batch_size: int = STUDIED) -> Iterator[tuple[Tensor, Tensor]]:
        """Go once through the labelled images as `study_view` shows them, with their labels."""
        for start in range(0, len(self._labelled), batch_size):
            rows = [int(row) for row in self._labelled[start : start + batch_size]]
            yield images_of(self._study_view, rows), self._labels[start : start + batch_size]

    def __len__(self) -> int:
        return sum(self.sizes)

    def __getitems__(self, samples: 'StreamSamples') -> dict[str, Any]:
        """Return a whole batch."""
        labelled, unlabelled = map(SampleBatch.of, samples)
        batch: dict[str, Any] = {
            'labelled': {
                'inputs': load(self._labelled_views, self._labelled, labelled),
                'labels': self._labels[torch.from_numpy(labelled.images)],
            }
        }
        if unlabelled:
            index = torch.from_numpy(unlabelled.images)
            inputs = load(self._unlabelled_views, self._unlabelled, unlabelled)
            batch |= {'unlabelled': {'inputs': inputs, 'index': index}, 'truth': self._truth[index]}
        return batch

    def _draw(
        self, truth: np.ndarray, count: int | None, fraction: float | None, seed: int, file: str | None
    ) -> np.ndarray:
        if sum(option is not None for option in (count, fraction, file)) != 1:
            raise ConfigError(
                'say which images have labels by exactly one of count, fraction and labelled_file, '
                f'got count={count!r}, fraction={fraction!r}, labelled_file={file!r}'
            )
        if file is not None:
            return split.read_indices(file, len(truth), 'labelled')
        name = getattr(self.source, 'name', '') or type(self.source).__name__.lower()
        folder = getattr(self.source, 'folder', None)
        return labelled_indices(name, truth, count=count, fraction=fraction, seed=seed, folder=folder)

    def _views(self, name: str, views: Sequence[Transforms], wanted: bool) -> list[Any]:
        if wanted and not views:
            raise ConfigError(f'{name} must name the transforms of at least one view, got {views!r}')
        return [seen_through(self.source, transforms) for transforms in views]


def seen_through(source: Any, transforms: Transforms) -> Any:
    """Return the data set with other transforms; the images are shared."""
    view = copy.copy(source)
    view.transforms = [TRANSFORMS.build(transform) for transform in transforms]
    return view


def load(views: Sequence[Any], images: np.ndarray, samples: SampleBatch) -> tuple[Tensor, ...]:
    """Return a batch in each view; every view has draws of its own."""
    places = images[samples.images]
    seen = [SampleBatch(places, keys(samples.keys, number)) for number in range(len(views))]
    if hasattr(views[0], 'decode') and not any(view.takes_batches for view in views):
        return _decoded_once(views, seen)
    return tuple(map(images_of, views, seen))


def _decoded_once(views: Sequence[Any], seen: Sequence[SampleBatch]) -> tuple[Tensor, ...]:
    """Decode each file once for all views: that takes longer than most transforms."""
    rows: list[list[Tensor]] = [[] for _ in views]
    for samples in zip(*seen, strict=True):
        image = views[0].decode(samples[0].image)
        for row, view, sample in zip(rows, views, samples, strict=True):
            row.append(view.transform(image.copy(), sample.key))  # a transform may write into what it is given
    return tuple(torch.stack(row) for row in rows)


def images_of(view: Any, samples: Sequence[SampleIndex | int]) -> Tensor:
    """Return images of a data set as one batch."""
    if hasattr(view, '__getitems__'):
        return view.__getitems__(samples)['inputs']
    return torch.stack([view[sample]['inputs'] for sample in samples])

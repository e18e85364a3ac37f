"""HuggingFaceImages: the pixels of the files, the labels of the table, and errors that say what to do."""

import io
import json
import pickle
from pathlib import Path

import datasets
import numpy as np
import pyarrow as pa
import pytest
import torch
from PIL import Image
from support.archive_layouts import jpeg

from openmix_dm.commands.prepare_data import main as prepare_data
from openmix_dm.datasets import HuggingFaceImages, ImageFolder, SampleIndex
from openmix_dm.datasets.streams import Streams
from openmix_dm.errors import ConfigError, DataError

NAMES = ['cat', 'dog', 'emu']
CROP = {'type': 'BatchRandomCrop', 'padding': 2, 'mode': 'constant'}
FLIP = {'type': 'RandomFlip'}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """What load_dataset builds, it builds here."""
    monkeypatch.setattr(datasets.config, 'HF_DATASETS_CACHE', str(tmp_path / 'cache'))
    datasets.disable_progress_bars()


def encoded(kind, seed, size=(20, 30), turned=False):
    """A picture of smooth colours as a file; `turned` says that the camera was held upright."""
    pixels = np.random.default_rng(seed).integers(0, 256, (4, 6, 3), dtype=np.uint8)
    exif = Image.Exif()
    if turned:
        exif[0x0112] = 6
    file = io.BytesIO()
    Image.fromarray(pixels).resize(size[::-1], Image.Resampling.BICUBIC).save(file, kind, exif=exif)
    return file.getvalue()


FILES = [encoded('JPEG', 0), encoded('PNG', 1), encoded('JPEG', 2, turned=True), encoded('JPEG', 3, (18, 9))]


def table(files=FILES, labels=(0, 1, 2, 1), label=None, **more):
    columns = {'image': [{'bytes': file, 'path': None} for file in files], 'label': list(labels), **more}
    features = datasets.Features({'image': datasets.Image(), 'label': label or datasets.ClassLabel(names=NAMES)})
    for name in more:
        features[name] = datasets.Value('string')
    return datasets.Dataset.from_dict(columns, features=features)


def image_folder(root, files=FILES, labels=(0, 1, 2, 1)):
    for number, (file, label) in enumerate(zip(files, labels, strict=True)):
        path = root / 'train' / NAMES[label] / f'{number}.{"png" if file[1:4] == b"PNG" else "jpg"}'
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file)
    return root


@pytest.fixture
def saved(tmp_path):
    several = datasets.DatasetDict({'train': table(), 'test': table(FILES[:2], (2, 2))})
    several.save_to_disk(tmp_path / 'saved')
    return tmp_path / 'saved'


# ---- where it is ----


@pytest.mark.parametrize('layout', ['dict', 'single', 'parquet', 'images'])
def test_pixels_are_those_of_the_files(tmp_path, saved, layout):
    if layout == 'single':
        table().save_to_disk(tmp_path / 'single')
    elif layout == 'parquet':
        (tmp_path / 'parquet').mkdir()
        table().to_parquet(tmp_path / 'parquet' / 'train.parquet')
    elif layout == 'images':
        image_folder(tmp_path / 'images')
    data = HuggingFaceImages(str(saved if layout == 'dict' else tmp_path / layout))
    files = ImageFolder(str(image_folder(tmp_path / 'files')), 'train')
    assert data.classes == files.classes == NAMES
    assert sorted(data.labels.tolist()) == files.labels.tolist() == [0, 1, 1, 2]
    own = {data.decode(k).tobytes(): (data.decode(k).shape, int(data[k]['labels'])) for k in range(4)}
    theirs = {files.decode(k).tobytes(): (files.decode(k).shape, int(files[k]['labels'])) for k in range(4)}
    assert own == theirs
    if layout != 'images':  # sorted by their folders there
        assert data.labels.tolist() == [0, 1, 2, 1]
        reference = [np.array(Image.open(io.BytesIO(file)).convert('RGB')).astype(int) for file in FILES]
        assert all(np.abs(data.decode(k) - reference[k]).max() <= 1 for k in range(4))


def test_relative_folders_are_below_the_data_folder(saved, monkeypatch):
    monkeypatch.setenv('OPENMIX_DM_DATA', str(saved.parent))
    assert HuggingFaceImages('saved', 'test').labels.tolist() == [2, 2]
    monkeypatch.setenv('OPENMIX_DM_DATA', str(saved.parent / 'elsewhere'))
    with pytest.raises(DataError, match=r'elsewhere/saved is none.*set OPENMIX_DM_DATA'):
        HuggingFaceImages('saved', 'test')
    monkeypatch.chdir(saved.parent)
    assert len(HuggingFaceImages('saved')) == 4


def test_a_split_that_is_not_there_is_named(saved, tmp_path):
    with pytest.raises(ConfigError, match=r"has no split 'val', expected one of \['train', 'test'\]"):
        HuggingFaceImages(str(saved), 'val')
    (tmp_path / 'parquet').mkdir()
    table().to_parquet(tmp_path / 'parquet' / 'train.parquet')
    with pytest.raises(DataError, match='Unknown split "val"'):
        HuggingFaceImages(str(tmp_path / 'parquet'), 'val')
    part = datasets.load_dataset(str(tmp_path / 'parquet'), split='train')
    part.save_to_disk(tmp_path / 'single')
    with pytest.raises(ConfigError, match="holds the split 'train', got split='test'"):
        HuggingFaceImages(str(tmp_path / 'single'), 'test')


def test_parts_of_a_split_are_those_rows(tmp_path):
    (tmp_path / 'parquet').mkdir()
    table().to_parquet(tmp_path / 'parquet' / 'train.parquet')
    whole, part = (HuggingFaceImages(str(tmp_path / 'parquet'), split) for split in ('train', 'train[2:]+train[:1]'))
    assert part.labels.tolist() == [2, 1, 0]
    assert all(np.array_equal(part.decode(k), whole.decode(row)) for k, row in enumerate((2, 3, 0)))


def test_options_that_would_do_nothing_are_refused(saved):
    with pytest.raises(ConfigError, match='revision'):
        HuggingFaceImages(str(saved), revision='main')
    with pytest.raises(ConfigError, match='config_name'):
        HuggingFaceImages(str(saved), config_name='plain')


def test_the_images_stay_on_disk(tmp_path):
    size = 20 * 1_000_000
    table([bytes(size // 4)] * 4).save_to_disk(tmp_path / 'large')
    before = pa.total_allocated_bytes()
    data = HuggingFaceImages(str(tmp_path / 'large'))
    assert pa.total_allocated_bytes() - before < size / 100
    assert str(tmp_path / 'large' / 'data-0') in Path('/proc/self/maps').read_text()
    assert len(data.read_bytes(3)[0]) == size // 4


# ---- what is in it ----


def test_a_column_that_is_not_there(saved):
    with pytest.raises(ConfigError, match=r"no column 'img'.*did you mean image.*try image_key='image'"):
        HuggingFaceImages(str(saved), image_key='img')
    with pytest.raises(ConfigError, match=r'label_key .* got the columns image \(Image\), label \(ClassLabel\)'):
        HuggingFaceImages(str(saved), label_key='fine_label')


def test_a_column_of_something_else(tmp_path):
    table(text=list('abcd')).save_to_disk(tmp_path / 'a')
    with pytest.raises(DataError, match=r"expected images .* column 'text'.* try image_key='image'"):
        HuggingFaceImages(str(tmp_path / 'a'), image_key='text')
    with pytest.raises(DataError, match=r"expected labels .* column 'image'.* try label_key='label'"):
        HuggingFaceImages(str(tmp_path / 'a'), label_key='image')
    datasets.Dataset.from_dict({'text': ['a'], 'label': [0]}).save_to_disk(tmp_path / 'words')
    with pytest.raises(ConfigError, match=r"no column 'image'.* try other data"):
        HuggingFaceImages(str(tmp_path / 'words'))


def test_names_of_classes_are_not_numbered(tmp_path):
    table(labels=['cat', 'dog', 'emu', 'dog'], label=datasets.Value('string')).save_to_disk(tmp_path / 'a')
    with pytest.raises(DataError, match=r"cast_column\('label', datasets.ClassLabel"):
        HuggingFaceImages(str(tmp_path / 'a'))


def test_plain_numbers_are_classes(tmp_path):
    table(labels=[0, 5, 2, 5], label=datasets.Value('uint8')).save_to_disk(tmp_path / 'a')
    data = HuggingFaceImages(str(tmp_path / 'a'))
    assert (data.num_classes, data.classes[5], data.labels.dtype) == (6, '5', np.int64)


@pytest.mark.parametrize(
    ('labels', 'kind', 'reason'),
    [
        ([-1, -1, -1, -1], None, 'labels of this split are not published'),
        ([0, -1, 0, 0], 'int64', 'label -1 of row 1'),
        ([0, None, 0, 0], 'int64', '1 rows without a label'),
        ([0.0, 1.0, 0.0, 0.0], 'float32', 'expected labels'),
    ],
)
def test_labels_that_are_none(tmp_path, labels, kind, reason):
    table(labels=labels, label=kind and datasets.Value(kind)).save_to_disk(tmp_path / 'a')
    with pytest.raises(DataError, match=reason):
        HuggingFaceImages(str(tmp_path / 'a'))


def test_images_as_bytes_alone_and_as_paths(tmp_path):
    image_folder(tmp_path / 'files')
    bare = datasets.Dataset.from_dict({'image': FILES, 'label': [0, 1, 2, 1]})
    bare.save_to_disk(tmp_path / 'bare')
    assert np.array_equal(
        HuggingFaceImages(str(tmp_path / 'bare')).decode(1), np.array(Image.open(io.BytesIO(FILES[1])))
    )
    by_path = HuggingFaceImages(str(tmp_path / 'files'))  # load_dataset leaves images where they are
    (tmp_path / 'files' / 'train' / 'cat' / '0.jpg').unlink()
    with pytest.raises(DataError, match=r'cat/0\.jpg cannot be read: No such file'):
        by_path[0]
    empty = table()
    empty = empty.map(lambda row: {**row, 'image': None}, features=empty.features)
    empty.save_to_disk(tmp_path / 'empty')
    with pytest.raises(DataError, match='row 2 has neither bytes nor the path'):
        HuggingFaceImages(str(tmp_path / 'empty'))[2]


# ---- as a data set ----


def test_a_damaged_image_names_its_row_or_is_skipped(tmp_path, capfd):
    table([FILES[0], jpeg(9)[:-40], FILES[1], FILES[2]]).save_to_disk(tmp_path / 'a')
    with pytest.raises(DataError, match=r'a \(train\), row 1 cannot be decoded as an image'):
        HuggingFaceImages(str(tmp_path / 'a'))[SampleIndex(1, 7)]
    data = HuggingFaceImages(str(tmp_path / 'a'), on_error='skip', skip_limit=1)
    assert int(data[SampleIndex(1, 7)]['labels']) == 2
    assert 'skipped (1 of at most 1)' in capfd.readouterr().err
    with pytest.raises(DataError, match='row 1'):
        data[1]  # an evaluation never skips


def test_an_image_that_is_too_large_is_refused(saved):
    with pytest.raises(
        DataError, match=r'row 0 is refused: its header promises 30 x 20 pixels, more than max_pixels=599'
    ):
        HuggingFaceImages(str(saved), max_pixels=599)[0]


def test_backends_are_those_of_image_files(saved):
    by_pillow = HuggingFaceImages(str(saved), imdecode_backend='pillow')
    assert np.array_equal(by_pillow.decode(0), np.array(Image.open(io.BytesIO(FILES[0]))))
    with pytest.raises(ValueError, match='imdecode_backend must be one of'):
        HuggingFaceImages(str(saved), imdecode_backend='guess')


def test_draws_follow_the_key(saved):
    resized = [{'type': 'RandomResizedCrop', 'size': 8}, FLIP]
    data = HuggingFaceImages(str(saved), transforms=resized)
    assert not data.takes_batches
    assert torch.equal(data[SampleIndex(0, 5)]['inputs'], data[SampleIndex(0, 5)]['inputs'])
    assert not torch.equal(data[SampleIndex(0, 5)]['inputs'], data[SampleIndex(0, 6)]['inputs'])


def test_ten_crops(saved):
    data = HuggingFaceImages(
        str(saved), 'test', transforms=[{'type': 'Resize', 'size': 12}, {'type': 'TenCrop', 'size': 8}]
    )
    assert data[1]['inputs'].shape == (10, 3, 8, 8)


def test_batch_transforms_need_one_size(saved):
    data = HuggingFaceImages(str(saved), transforms=[CROP])
    with pytest.raises(DataError, match=r'row 0 \(30 x 20 pixels\) and .*row 3 \(9 x 18 pixels\)'):
        data.__getitems__([SampleIndex(0, 1), SampleIndex(3, 2)])


def test_both_kinds_of_transforms_are_refused(saved):
    with pytest.raises(ConfigError, match=r'whole batches \(BatchRandomCrop\) .* one image \(RandomFlip\).*BatchEach'):
        HuggingFaceImages(str(saved), transforms=[FLIP, CROP])
    with pytest.raises(ConfigError, match='BatchEach'):
        Streams({'type': 'HuggingFaceImages', 'path': str(saved)}, [[CROP, FLIP]], fraction=1.0, unlabelled=None)


def test_older_versions_of_the_package_are_refused(saved, monkeypatch):
    monkeypatch.setattr(datasets, '__version__', '3.6.0')
    with pytest.raises(ConfigError, match='can run scripts'):
        HuggingFaceImages(str(saved))


# ---- what a stranger's folder may hold ----

EVIL = 'from pathlib import Path\nPath({!r}).write_text("run")\n'


@pytest.mark.parametrize('script', ['mine.py', 'other.py', '__init__.py', 'train/loader.py'])
def test_scripts_are_never_run(tmp_path, script):
    root = image_folder(tmp_path / 'mine')
    (root / script).write_text(EVIL.format(str(tmp_path / 'was run')))
    if script == 'mine.py':  # where older versions looked for one
        with pytest.raises(DataError, match='scripts are no longer supported'):
            HuggingFaceImages(str(root))
    else:
        assert len(HuggingFaceImages(str(root))) == 4
    assert not (tmp_path / 'was run').exists()


class Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, 'w')


def test_pickles_are_never_opened(tmp_path):
    (tmp_path / 'mine').mkdir()
    for name in ('train.pkl', 'train.pickle', 'train.pt'):
        (tmp_path / 'mine' / name).write_bytes(pickle.dumps(Evil(str(tmp_path / 'was run'))))
    with pytest.raises(DataError, match='cannot be opened'):
        HuggingFaceImages(str(tmp_path / 'mine'))
    assert not (tmp_path / 'was run').exists()


def test_a_list_of_splits_that_is_none(saved):
    for content in ('{"x": 1}', '[]', '{"splits": '):
        (saved / 'dataset_dict.json').write_text(content)
        with pytest.raises(DataError, match=r'dataset_dict\.json cannot be read'):
            HuggingFaceImages(str(saved))


@pytest.mark.parametrize('damage', ['cut', 'empty', 'words', 'no state', 'no file'])
def test_damaged_folders_are_refused(saved, damage):
    file, state = saved / 'train' / 'data-00000-of-00001.arrow', saved / 'train' / 'state.json'
    if damage == 'no state':
        state.unlink()
    elif damage == 'no file':
        file.unlink()
    elif damage == 'words':
        state.write_text('[1, 2')
    else:
        file.write_bytes(file.read_bytes()[: 700 if damage == 'cut' else 0])
    with pytest.raises(DataError, match='damaged or not whole'):
        HuggingFaceImages(str(saved))


@pytest.mark.fault(
    53,
    'A number in an Arrow file that says where an image begins is damaged, which pyarrow follows out of the file: '
    'exit 3 instead of the end of the process.',
)
def test_places_that_lead_out_of_the_file_are_refused(saved):
    file = saved / 'train' / 'data-00000-of-00001.arrow'
    ends = np.cumsum([0, *map(len, FILES)]).astype('<i4').tobytes()
    content = file.read_bytes()
    assert content.count(ends) == 1
    file.write_bytes(content.replace(ends, ends[:-4] + (2**31 - 1).to_bytes(4, 'little')))
    with pytest.raises(DataError, match=r"the column 'image' is damaged .*write it again"):
        HuggingFaceImages(str(saved))


def test_other_names_of_classes_than_were_packed_are_refused(tmp_path):
    image_folder(tmp_path / 'images')
    packed = tmp_path / 'packed'
    assert prepare_data(['pack', 'folder', '--root', str(tmp_path / 'images'), '--out', str(packed)]) == 0
    assert HuggingFaceImages(str(packed)).classes == NAMES
    info = packed / 'train' / 'dataset_info.json'
    info.write_text(info.read_text().replace('"dog"', '"dot"'))
    with pytest.raises(DataError, match='other names of classes than were packed'):
        HuggingFaceImages(str(packed))
    record = json.loads((packed / 'train' / 'pack.json').read_text())
    for key in ('sha256', 'classes_sha256'):  # as older versions wrote it
        del record[key]
    (packed / 'train' / 'pack.json').write_text(json.dumps(record))
    assert HuggingFaceImages(str(packed)).classes == ['cat', 'dot', 'emu']

import pytest
from support.archive_layouts import jpeg

from openmix_dm.datasets import ImageList
from openmix_dm.errors import DataError


@pytest.fixture
def root_dir(tmp_path):
    for k, name in enumerate(('a.jpg', 'sub dir/b.jpg', 'c.jpg')):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(jpeg(60 * k))
    (tmp_path / 'train.txt').write_text('a.jpg 0\nsub dir/b.jpg 2\nc.jpg,1\n')
    return tmp_path


def test_lines_are_paths_and_labels(root_dir):
    data = ImageList(str(root_dir), 'train.txt')
    assert (len(data), data.num_classes, data.labels.tolist()) == (3, 3, [0, 2, 1])
    for index, sample in enumerate(data[k] for k in range(3)):
        assert abs(sample['inputs'].float().mean().item() - 60 * index) < 3
        assert sample['labels'] == data.labels[index]
    assert ImageList(str(root_dir), str(root_dir / 'train.txt'), num_classes=5).num_classes == 5


def test_a_comma_may_be_followed_by_a_blank(root_dir):
    (root_dir / 'train.txt').write_text('a.jpg, 0\nsub dir/b.jpg ,1\nc.jpg\t 1\n')
    data = ImageList(str(root_dir), 'train.txt')
    assert [data.file_name(index) for index in range(3)] == ['a.jpg', 'sub dir/b.jpg', 'c.jpg']


def test_one_absurd_label_does_not_fill_the_memory_with_classes(root_dir):
    (root_dir / 'train.txt').write_text('a.jpg 0\nc.jpg 900000000000000000\n')
    with pytest.raises(DataError, match=r'train\.txt: the label 900000000000000000 makes .* at most 10,000,000'):
        ImageList(str(root_dir), 'train.txt')


def test_the_root_is_below_the_data_folder(root_dir, monkeypatch):
    monkeypatch.setenv('OPENMIX_DM_DATA', str(root_dir.parent))
    assert len(ImageList(root_dir.name, 'train.txt')) == 3


@pytest.mark.parametrize(
    ('text', 'said'),
    [
        ('a.jpg 0\nb.jpg 3\n', r'train\.txt, line 2: label 3 is out of range, expected 0 to 2'),
        ('a.jpg -1\n', 'line 1: label -1 is out of range'),
        ('a.jpg\n', r"line 1: expected \"path label\", got 'a\.jpg'"),
        ('a.jpg 0\n\nb.jpg 1\n', 'line 2: expected'),
        ('', r'train\.txt lists no images'),
        ('a\0.jpg 0\n', 'line 1: expected'),
        (f'a.jpg {"1" * 5000}\n', 'line 1: expected'),
    ],
)
def test_a_wrong_line_is_named(root_dir, text, said):
    (root_dir / 'train.txt').write_text(text)
    with pytest.raises(DataError, match=said):
        ImageList(str(root_dir), 'train.txt', num_classes=3)


def test_a_missing_list_is_named(root_dir):
    with pytest.raises(DataError, match=r'test\.txt is not there'):
        ImageList(str(root_dir), 'test.txt')
    (root_dir / 'test.txt').write_bytes(b'\xff\xfe\x00')
    with pytest.raises(DataError, match=r'test\.txt cannot be read as text'):
        ImageList(str(root_dir), 'test.txt')

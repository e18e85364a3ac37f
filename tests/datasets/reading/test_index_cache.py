"""The index of a large data set is kept beside it, and believed only while it is certainly right."""

import hashlib
import json
import multiprocessing
import os
import shutil
import time

import numpy as np
import pytest

from openmix_dm.datasets import CUB200, ImageFolder, ImageList
from openmix_dm.datasets import image_folder as listing
from openmix_dm.datasets import image_list as list_reading
from openmix_dm.datasets.reading import index_cache
from openmix_dm.errors import DataError

NAMES = {'b': ['2.JPEG', '1.jpg', 'note.txt'], 'a': ['x.png'], 'ä c': ['größe 1.jpg', 'b..c.jpg', '\udcff.jpg']}
FOUND = [
    ('a/x.png', 0),
    ('b/1.jpg', 1),
    ('b/2.JPEG', 1),
    ('ä c/b..c.jpg', 2),
    ('ä c/größe 1.jpg', 2),
    ('ä c/\udcff.jpg', 2),
]


@pytest.fixture(autouse=True)
def _large_and_settled(monkeypatch):
    """Let a few files made a moment ago be worth a cache."""
    monkeypatch.setattr(index_cache, 'WORTH', 1)
    monkeypatch.setattr(index_cache, 'SETTLED', -(10**10))


@pytest.fixture
def data(tmp_path):
    """Class folders, and a list of the same images beside them."""
    for name, files in NAMES.items():
        (tmp_path / 'train' / name).mkdir(parents=True)
        for file in files:
            (tmp_path / 'train' / name / file).touch()
    (tmp_path / 'list.txt').write_text('b/1.jpg 1\na/x.png 0\nb c/3.jpg 2\n')
    return tmp_path


@pytest.fixture
def listed(monkeypatch):
    """Return what is listed or parsed from now on."""
    calls = []
    for module, name in ((listing, 'list_images'), (list_reading, 'parse_list')):
        make = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given, make=make, name=name: calls.append(name) or make(*given))
    return calls


def folder_index(data, **options):
    images = ImageFolder(str(data), 'train', **options)
    return [(os.fsdecode(path), int(label)) for path, label in zip(images.paths, images.labels, strict=True)]


def list_index(data, **options):
    images = ImageList(str(data), 'list.txt', **options)
    return [(os.fsdecode(path), int(label)) for path, label in zip(images.paths, images.labels, strict=True)]


def cache(data, name='train'):
    return data / '.openmix_dm' / f'{name}.index'


# ---- what is kept, and used ----


def test_the_second_start_lists_nothing(data, listed):
    assert folder_index(data) == FOUND
    assert listed == ['list_images']
    assert folder_index(data) == FOUND
    assert ImageFolder(str(data), 'train').classes == ['a', 'b', 'ä c']
    assert listed == ['list_images']
    images = ImageFolder(str(data), 'train')
    assert (images.paths.dtype.kind, images.labels.dtype) == ('S', np.int64)
    assert images.labels.flags.writeable  # torch warns of others
    assert images.path(1) == str(data / 'train' / 'b' / '1.jpg')


def test_a_list_is_parsed_once(data, listed):
    found = [('b/1.jpg', 1), ('a/x.png', 0), ('b c/3.jpg', 2)]
    assert list_index(data) == list_index(data) == list_index(data, num_classes=5) == found
    assert listed == ['parse_list']
    with pytest.raises(DataError, match=r'list\.txt, line 3: label 2 is out of range, expected 0 to 1'):
        ImageList(str(data), 'list.txt', num_classes=2)


def test_a_changed_list_is_read_anew_however_old_it_looks(data, listed):
    before, times = list_index(data), (data / 'list.txt').stat()
    (data / 'list.txt').write_text('b/1.jpg 1\na/x.png 1\nb c/3.jpg 2\n')
    os.utime(data / 'list.txt', ns=(times.st_atime_ns, times.st_mtime_ns))
    assert list_index(data) == [before[0], ('a/x.png', 1), before[2]]
    assert len(listed) == 2


def test_prepared_lists_are_kept_too(tmp_path, listed):
    (tmp_path / 'classes.txt').write_text('one\ntwo\n')
    (tmp_path / 'train.txt').write_text('a.jpg 0\nb.jpg 1\n')
    for _ in range(2):
        assert CUB200(str(tmp_path)).labels.tolist() == [0, 1]
    assert listed == ['parse_list']


@pytest.mark.parametrize(
    'change',
    [
        lambda folder: (folder / 'b' / '3.jpg').touch(),
        lambda folder: (folder / 'b' / '1.jpg').unlink(),
        lambda folder: (folder / 'b' / '1.jpg').rename(folder / 'b' / '4.jpg'),
        lambda folder: (folder / 'b' / '1.jpg').rename(folder / 'a' / '1.jpg'),
        lambda folder: (folder / 'c').mkdir(),
        lambda folder: (folder / 'b').rename(folder / 'b2'),
    ],
    ids=['added', 'removed', 'renamed', 'moved', 'a class added', 'a class renamed'],
)
def test_a_changed_folder_is_listed_anew(data, listed, change):
    folder_index(data)
    time.sleep(0.02)  # two ticks of the clock that file systems use
    change(data / 'train')
    after = folder_index(data)
    classes = sorted(path.name for path in (data / 'train').iterdir())
    files = [(path.relative_to(data / 'train').as_posix(), classes.index(path.parent.name))
             for name in classes for path in sorted((data / 'train' / name).iterdir())]  # fmt: skip
    assert after == [found for found in files if not found[0].endswith('.txt')]
    assert listed == ['list_images'] * 2


def test_a_time_that_was_set_back_deceives_nobody(data, listed):
    """As rsync and tar do, which give a folder the times of its source after filling it."""
    folder_index(data)
    times = (data / 'train' / 'b').stat()
    time.sleep(0.02)
    (data / 'train' / 'b' / '3.jpg').touch()
    os.utime(data / 'train' / 'b', ns=(times.st_atime_ns, times.st_mtime_ns))
    assert ('b/3.jpg', 1) in folder_index(data)


def test_what_has_just_changed_is_not_kept(data, listed, monkeypatch):
    """A file that comes within the same tick of the clock would not be seen."""
    monkeypatch.setattr(index_cache, 'SETTLED', 2 * 10**9)
    assert folder_index(data) == folder_index(data) == FOUND
    assert not cache(data).exists()
    assert len(listed) == 2
    there = index_cache.time_there
    monkeypatch.setattr(index_cache, 'time_there', lambda *given: there(*given) + 3 * 10**9)  # three seconds later
    folder_index(data), folder_index(data)
    assert len(listed) == 3


def test_the_clock_of_the_file_system_counts_from_before_the_listing(tmp_path):
    began = time.time_ns()
    moment = time.monotonic_ns()
    time.sleep(0.5)
    assert abs(index_cache.time_there(tmp_path, moment) - began) < 0.4e9
    assert not list(tmp_path.iterdir())


def test_a_small_data_set_is_not_kept(data, monkeypatch, listed):
    monkeypatch.setattr(index_cache, 'WORTH', len(FOUND) + 1)
    assert folder_index(data) == folder_index(data)
    assert not cache(data).parent.exists()
    assert len(listed) == 2


def test_the_folder_may_be_deleted_and_is_no_class(data, listed):
    (data / 'train' / 'list.txt').write_text('b/1.jpg 1\n')
    ImageList(str(data / 'train'), 'list.txt')  # its index is among the class folders
    assert (data / 'train' / '.openmix_dm').is_dir()
    assert folder_index(data) == FOUND
    shutil.rmtree(cache(data).parent)
    assert folder_index(data) == FOUND
    assert listed == ['parse_list', 'list_images', 'list_images']


def test_other_extensions_are_another_index(data, listed, monkeypatch):
    folder_index(data)
    monkeypatch.setattr(listing, 'EXTENSIONS', ('.png',))
    assert folder_index(data) == [('a/x.png', 0)]


# ---- what is not believed ----


def rewritten(content, change):
    """Return a cache with another header or body, and the hash that belongs to it."""
    header, body = content.split(b'\n', 2)[1:]
    header, body = change(json.loads(header), body)
    rest = json.dumps(header).encode() + b'\n' + body
    return hashlib.sha256(rest).hexdigest().encode() + b'\n' + rest


def with_path(path):
    """Put another path into the place of the first."""

    def change(header, body):
        return header, path.ljust(header['width'], b'\0')[: header['width']] + body[header['width'] :]

    return change


def with_label(label):
    return lambda header, body: (header, body[:-8] + label.to_bytes(8, 'little', signed=True))


def with_header(**values):
    return lambda header, body: ({**header, **values}, body)


FORGED = {
    'another version': with_header(format=2),
    'no version': lambda header, body: ({name: header[name] for name in header if name != 'format'}, body),
    'a list as header': lambda header, body: ([header], body),
    'one image less': lambda header, body: ({**header, 'images': header['images'] - 1}, body),
    'one image more': lambda header, body: ({**header, 'images': header['images'] + 1}, body),
    'no images': lambda header, body: ({**header, 'images': 0}, b''),
    'a width of nothing': lambda header, body: ({**header, 'width': 0}, body[-8 * header['images'] :]),
    'negative numbers': lambda header, body: ({**header, 'images': -1, 'width': -len(body) - 8}, body),
    'words for numbers': with_header(images='6', width='12'),
    'fractions': lambda header, body: ({**header, 'images': float(header['images'])}, body),
    'a part too much': lambda header, body: (header, body + b'x'),
    'another state': lambda header, body: ({**header, 'state': {}}, body),
    'out of the folder': with_path(b'../x.png'),
    'out of a class': with_path(b'a/../../x.p'),
    'the folder above': with_path(b'a/..'),
    'absolute': with_path(b'/etc/x.png'),
    'a NUL inside': with_path(b'a\0b.png'),
    'no path': with_path(b''),
    'a label too high': with_label(3),
    'a negative label': with_label(-1),
    'a label of 64 bits': with_label(2**62),
}


@pytest.mark.parametrize('change', FORGED.values(), ids=FORGED.keys())
def test_a_forged_cache_is_made_anew(data, listed, change):
    folder_index(data)
    good = cache(data).read_bytes()
    assert rewritten(good, lambda header, body: (header, body)) == good
    cache(data).write_bytes(rewritten(good, change))
    assert folder_index(data) == FOUND
    assert listed == ['list_images'] * 2
    assert cache(data).read_bytes() == good


def test_a_damaged_cache_is_made_anew(data, listed):
    folder_index(data)
    good = cache(data).read_bytes()
    flipped = [good[:place] + bytes([good[place] ^ 4]) + good[place + 1 :] for place in range(0, len(good), 7)]
    cut = [good[:length] for length in range(0, len(good), 11)]
    for content in (*flipped, *cut, good + b'\0', b'\n' * 100, b'[' * 10**5, os.urandom(500)):
        cache(data).write_bytes(content)
        assert folder_index(data) == FOUND
        assert cache(data).read_bytes() == good
    assert len(listed) == 1 + len(flipped) + len(cut) + 4


def test_links_pipes_and_folders_are_not_read(data, listed):
    folder_index(data)
    cache(data).rename(data / 'elsewhere')
    for make in (
        lambda: cache(data).symlink_to(data / 'elsewhere'),
        lambda: os.mkfifo(cache(data)),
        lambda: cache(data).mkdir(),
    ):
        make()
        before = len(listed)
        assert folder_index(data) == FOUND
        assert len(listed) == before + 1
        cache(data).rmdir() if cache(data).is_dir() else cache(data).unlink()
    assert (data / 'elsewhere').is_file()
    cache(data).parent.rmdir()
    (data / 'other').mkdir()
    cache(data).parent.symlink_to(data / 'other')
    assert folder_index(data) == folder_index(data) == FOUND
    assert not list((data / 'other').iterdir())


def test_a_list_that_leads_out_of_its_folder_is_not_kept(data, listed):
    (data / 'list.txt').write_text('b/1.jpg 1\n../a/x.png 0\n')
    assert list_index(data) == list_index(data) == [('b/1.jpg', 1), ('../a/x.png', 0)]
    assert len(listed) == 2
    assert not cache(data, 'list.txt').exists()


# ---- what cannot be written or read ----


@pytest.mark.parametrize('seconds', [0.0, 1e9])
def test_data_that_cannot_be_written_is_listed_each_time(data, listed, monkeypatch, capfd, seconds):
    """An empty file of its name is a way to do without the folder; root may write anywhere else."""
    monkeypatch.setattr(index_cache, 'SLOW', seconds)
    cache(data).parent.touch()
    assert folder_index(data) == folder_index(data) == FOUND
    assert len(listed) == 2
    said = capfd.readouterr().err
    assert said.count('openmix_dm: listing 6 images of') == (0 if seconds else 2)
    assert ('.openmix_dm (File exists)' in said) == (not seconds)


def test_a_full_disk_leaves_nothing_behind(data, listed, monkeypatch):
    def full(path, content, **options):
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(index_cache, 'write_atomically', full)
    assert folder_index(data) == FOUND
    assert not list(cache(data).parent.iterdir())


def test_rests_of_a_crash_are_removed(data):
    cache(data).parent.mkdir()
    (cache(data).parent / 'train.index.12345678.tmp').write_bytes(b'half')
    folder_index(data)
    assert [path.name for path in cache(data).parent.iterdir()] == ['train.index']


def test_a_class_folder_that_disappears_is_named(data, monkeypatch):
    look = listing.look_at

    def remove(folder, classes):
        source = look(folder, classes)
        (folder / 'a' / 'x.png').unlink()
        (folder / 'a').rmdir()
        return source

    monkeypatch.setattr(listing, 'look_at', remove)
    with pytest.raises(DataError, match=r'train/a cannot be listed \(No such file or directory\)'):
        folder_index(data)


def test_a_class_folder_that_cannot_be_read_is_named(data, monkeypatch):
    scan = os.scandir

    def refuse(folder):
        if str(folder).endswith('train/b'):
            raise PermissionError(13, 'Permission denied')
        return scan(folder)

    monkeypatch.setattr(os, 'scandir', refuse)
    with pytest.raises(DataError, match=r'train/b cannot be listed \(Permission denied\)'):
        folder_index(data)


# ---- several processes ----


def list_slowly(folder, classes, log):
    with log.open('a') as file:
        file.write('listed\n')
    time.sleep(0.5)
    return FOUND_BY_LISTING(folder, classes)


FOUND_BY_LISTING = listing.list_images


def build(data, log, barrier, results):
    index_cache.WORTH, index_cache.SETTLED = 1, -(10**10)
    listing.list_images = lambda folder, classes: list_slowly(folder, classes, log)
    barrier.wait()
    results.put(folder_index(data))


def run_processes(data, log, count=4):
    context = multiprocessing.get_context('fork')
    barrier, results = context.Barrier(count), context.Queue()
    processes = [context.Process(target=build, args=(data, log, barrier, results)) for _ in range(count)]
    for process in processes:
        process.start()
    found = [results.get(timeout=60) for _ in processes]
    for process in processes:
        process.join()
    return found


def test_processes_of_a_machine_list_once(data, tmp_path):
    log = tmp_path / 'log'
    assert run_processes(data, log) == [FOUND] * 4
    assert log.read_text() == 'listed\n'
    assert [path.name for path in cache(data).parent.iterdir()] == ['train.index']


def test_processes_without_a_cache_list_each_for_itself(data, tmp_path):
    log = tmp_path / 'log'
    cache(data).parent.touch()
    assert run_processes(data, log) == [FOUND] * 4
    assert log.read_text() == 'listed\n' * 4


def test_nobody_waits_for_a_process_that_is_gone_or_hangs(data, monkeypatch, listed):
    monkeypatch.setattr(index_cache, 'WAIT', 0.2)
    source = listing.look_at(data / 'train', sorted(NAMES))
    with index_cache.one_at_a_time(source):  # as another process would hold it
        assert folder_index(data) == FOUND
    assert len(listed) == 1


def test_nobody_reads_half_a_cache_while_others_write_it(data):
    """Two processes write the same file over and over; a third one reads only whole ones."""
    source = listing.look_at(data / 'train', sorted(NAMES))
    paths, labels = np.array([f'a/{number:07d}.jpg'.encode() for number in range(50_000)]), np.zeros(50_000, np.int64)

    def write():
        for _ in range(30):
            source.cache.unlink(missing_ok=True)
            index_cache.keep(source, paths, labels, 3)

    context = multiprocessing.get_context('fork')
    writers = [context.Process(target=write) for _ in range(2)]
    for writer in writers:
        writer.start()
    looks = 0
    while any(writer.is_alive() for writer in writers) or not looks:
        try:
            content = index_cache.read_file(source.cache)
        except FileNotFoundError:
            continue
        found = index_cache.parse(content, source, 3)  # raises for half a file
        assert len(found[0]) == 50_000
        looks += 1
    for writer in writers:
        writer.join()

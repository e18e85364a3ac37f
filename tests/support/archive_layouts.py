"""Tiny copies of the data sets as they are published: files by name, to be put into folders or archives."""

import io
import json
import pickle
import struct
import tarfile
import zipfile
import zlib
from functools import cache
from pathlib import Path

import cv2
import numpy as np
from scipy.io import savemat


def jpeg(shade: int, size: tuple[int, int] = (8, 12)) -> bytes:
    return cv2.imencode('.jpg', np.full((*size, 3), shade, np.uint8))[1].tobytes()


def promising_png(width, height):
    """A PNG that promises more than it holds."""
    header = struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0)
    chunks = [(b'IHDR', header), (b'IDAT', zlib.compress(b'')), (b'IEND', b'')]
    written = (
        struct.pack('>I', len(data)) + kind + data + zlib.crc32(kind + data).to_bytes(4) for kind, data in chunks
    )
    return b'\x89PNG\r\n\x1a\n' + b''.join(written)


def noise(images: int, side: int = 32, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (images, 3, side, side), dtype=np.uint8)


class Python2Pickler(pickle._Pickler):
    """Pickle bytes as the str of Python 2, which is what wrote the official files: each reader picks an encoding."""

    dispatch = dict(pickle._Pickler.dispatch)

    def save_str(self, content: bytes) -> None:
        self.write(pickle.BINSTRING + struct.pack('<i', len(content)) + content)

    dispatch[bytes] = save_str


def pickled(batch: dict[bytes, object]) -> bytes:
    buffer = io.BytesIO()
    Python2Pickler(buffer, protocol=2).dump(batch)
    return buffer.getvalue()


@cache
def cifar10(per_batch: int = 20) -> dict[str, bytes]:
    """The official pickles: five training files and a test file, planes of R, G and B."""
    files = {}
    for number, name in enumerate([*(f'data_batch_{k}' for k in range(1, 6)), 'test_batch']):
        labels = [(k + number) % 10 for k in range(per_batch)]
        batch = {b'batch_label': b'x', b'labels': labels, b'data': noise(per_batch, seed=number).reshape(per_batch, -1)}
        files[f'cifar-10-batches-py/{name}'] = pickled(batch)
    names = b'airplane automobile bird cat deer dog frog horse ship truck'.split()
    files['cifar-10-batches-py/batches.meta'] = pickled({b'label_names': names})
    return files


@cache
def cifar100(train: int = 200, test: int = 100) -> dict[str, bytes]:
    files = {}
    for name, count in (('train', train), ('test', test)):
        fine = [k % 100 for k in range(count)]
        batch = {
            b'data': noise(count, seed=count).reshape(count, -1),
            b'fine_labels': fine,
            b'coarse_labels': [0] * count,
        }
        files[f'cifar-100-python/{name}'] = pickled(batch)
    meta = {b'fine_label_names': [f'fine{k}'.encode() for k in range(100)], b'coarse_label_names': [b'coarse']}
    files['cifar-100-python/meta'] = pickled(meta)
    return files


@cache
def cifar10_npm(per_batch: int = 20) -> dict[str, bytes]:
    """The same images and labels as in cifar10(), as the npm package has them."""
    official = {
        name.split('/')[1]: pickle.loads(content, encoding='bytes') for name, content in cifar10(per_batch).items()
    }
    files, labels = {'package/package.json': b'{}'}, {'train': [], 'test': []}
    for name, batch in official.items():
        if name == 'batches.meta':
            continue
        rows = batch[b'data'].reshape(-1, 3, 1024).transpose(0, 2, 1)
        files[f'package/{name}.png'] = cv2.imencode('.png', rows[:, :, ::-1])[1].tobytes()
        labels['test' if name == 'test_batch' else 'train'] += batch[b'labels']
    for split, values in labels.items():
        files[f'package/{split}_lables.json'] = json.dumps(values).encode()
    return files


WNIDS = ('n02124075', 'n04067472', 'n01443537')


@cache
def tiny_imagenet(per_class: int = 2) -> dict[str, bytes]:
    """Shade of each image: 60 times the place of its class in sorted order, plus its number."""
    files = {'tiny-imagenet-200/wnids.txt': '\n'.join(WNIDS).encode()}
    order = sorted(WNIDS)
    annotations = []
    for wnid in WNIDS:
        for k in range(per_class):
            picture = jpeg(60 * order.index(wnid) + k, (64, 64))
            files[f'tiny-imagenet-200/train/{wnid}/images/{wnid}_{k}.JPEG'] = picture
            annotations.append((f'val_{len(annotations)}.JPEG', wnid, picture))
        files[f'tiny-imagenet-200/train/{wnid}/{wnid}_boxes.txt'] = b'boxes'
    for name, _, picture in annotations:
        files[f'tiny-imagenet-200/val/images/{name}'] = picture
    lines = [f'{name}\t{wnid}\t0\t32\t44\t62\n' for name, wnid, _ in annotations]
    files['tiny-imagenet-200/val/val_annotations.txt'] = ''.join(lines).encode()
    files['tiny-imagenet-200/test/images/test_0.JPEG'] = jpeg(0, (64, 64))
    return files


BIRDS = ('001.Black_footed_Albatross', '002.Laysan_Albatross', '003.Sooty_Albatross')


@cache
def cub200() -> dict[str, bytes]:
    """Four images of each of three birds; odd numbers are for training. Shade: 60 times the label."""
    numbers = range(1, 4 * len(BIRDS) + 1)
    label = {number: (number - 1) // 4 for number in numbers}
    image = {number: f'{BIRDS[label[number]]}/bird_{number:04d}.jpg' for number in numbers}
    lists = {
        'images.txt': ''.join(f'{number} {image[number]}\n' for number in numbers),
        'image_class_labels.txt': ''.join(f'{number} {label[number] + 1}\n' for number in numbers),
        'train_test_split.txt': ''.join(f'{number} {number % 2}\n' for number in numbers),
        'classes.txt': ''.join(f'{k + 1} {bird}\n' for k, bird in enumerate(BIRDS)),
        'bounding_boxes.txt': '1 60.0 27.0 325.0 304.0\n',
        'parts/part_locs.txt': '1 1 0.0 0.0 0\n',
    }
    files = {f'CUB_200_2011/{name}': text.encode() for name, text in lists.items()}
    files |= {f'CUB_200_2011/images/{image[number]}': jpeg(60 * label[number]) for number in numbers}
    return files | {'attributes.txt': b'1 has_bill_shape::curved\n'}


VARIANTS = ('707-320', 'Boeing 717', 'F-16A/B')


@cache
def aircraft() -> dict[str, bytes]:
    """Two training, one validation and one test image of each of three variants. Shade: 60 times the label."""
    lists: dict[str, str] = {'train': '', 'val': '', 'trainval': '', 'test': ''}
    files = {}
    for label, variant in enumerate(VARIANTS):
        for k, split in enumerate(('train', 'train', 'val', 'test')):
            number = f'{1000003 + 10 * k + label:07d}'
            files[f'fgvc-aircraft-2013b/data/images/{number}.jpg'] = jpeg(60 * label)
            for each in {split, 'trainval' if split != 'test' else 'test'}:
                lists[each] += f'{number} {variant}\n'
    for split, text in lists.items():
        files[f'fgvc-aircraft-2013b/data/images_variant_{split}.txt'] = text.encode()
    files['fgvc-aircraft-2013b/data/variants.txt'] = '\n'.join(VARIANTS).encode() + b'\n'
    return files | {'fgvc-aircraft-2013b/README.md': b'# FGVC', 'fgvc-aircraft-2013b/evaluation.m': b'%'}


MODELS = ('AM General Hummer SUV 2000', 'Acura RL Sedan 2012', 'Acura TL Sedan 2012')


def mat(**variables: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    savemat(buffer, variables)
    return buffer.getvalue()


def table(rows: list[dict[str, object]]) -> np.ndarray:
    array = np.zeros((1, len(rows)), dtype=[(field, object) for field in rows[0]])
    for place, row in enumerate(rows):
        array[0, place] = tuple(row.values())
    return array


@cache
def cars() -> dict[str, bytes]:
    """Two training and one test image of each of three models. Shade: 60 times the label."""
    names = np.array([list(MODELS)], dtype=object)
    files = {'devkit/cars_meta.mat': mat(class_names=names)}
    for split, count in (('train', 2), ('test', 1)):
        labels = [label for label in range(3) for _ in range(count)]
        rows = [
            {'bbox_x1': 1, 'bbox_y1': 1, 'bbox_x2': 9, 'bbox_y2': 9, 'class': label + 1, 'fname': f'{k + 1:05d}.jpg'}
            for k, label in enumerate(labels)
        ]
        place = 'devkit/cars_train_annos.mat' if split == 'train' else 'cars_test_annos_withlabels.mat'
        files[place] = mat(annotations=table(rows))
        files |= {f'cars_{split}/{row["fname"]}': jpeg(60 * (row['class'] - 1)) for row in rows}
    return files


@cache
def cars_joint() -> dict[str, bytes]:
    """The same in the layout with all images in one folder."""
    rows = [
        {'relative_im_path': f'car_ims/{k + 1:06d}.jpg', 'bbox_x1': 1, 'class': k // 3 + 1, 'test': int(k % 3 == 2)}
        for k in range(9)
    ]
    names = np.array([list(MODELS)], dtype=object)
    images = {row['relative_im_path']: jpeg(60 * (row['class'] - 1)) for row in rows}
    return images | {'cars_annos.mat': mat(annotations=table(rows), class_names=names)}


def tar(path: Path, files: dict[str, bytes], mode: str = 'w:gz') -> Path:
    with tarfile.open(path, mode) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def zipped(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, 'w') as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def folder(path: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    return path


def below(path: Path) -> set[str]:
    return {str(file.relative_to(path)) for file in path.rglob('*') if file.is_file()}

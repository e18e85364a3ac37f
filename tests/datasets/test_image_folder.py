import cv2
import numpy as np
import pytest
import torch

from openmix_dm.datasets import ImageFolder, ImageNet, SampleIndex
from openmix_dm.errors import DataError

COLOURS = {'n01': (200, 10, 10), 'n02': (10, 200, 10), 'n03': (10, 10, 200)}


@pytest.fixture
def images(tmp_path):
    """Three classes of two plain images each, in the layout of ImageNet, beside a file that is no image."""
    for split in ('train', 'val'):
        for name, colour in COLOURS.items():
            folder = tmp_path / 'imagenet' / split / name
            folder.mkdir(parents=True)
            for number, size in enumerate([(40, 60), (60, 40)]):
                picture = np.full((*size, 3), colour, dtype=np.uint8)
                cv2.imwrite(str(folder / f'{name}_{number}.JPEG'), picture[:, :, ::-1])
            (folder / 'notes.txt').write_text('no image')
    return tmp_path


def test_classes_are_sorted_folders_and_colours_are_rgb(images):
    data = ImageNet(root=str(images / 'imagenet'), split='val')
    assert (len(data), data.num_classes) == (6, 3)
    for index in range(6):
        sample = data[index]
        assert sample['inputs'].dtype == torch.uint8
        assert sample['labels'] == index // 2
        colour = sample['inputs'].float().mean(dim=(1, 2)).tolist()
        assert colour == pytest.approx(COLOURS[f'n0{index // 2 + 1}'], abs=4)


def test_relative_roots_are_below_the_data_folder(images, monkeypatch):
    monkeypatch.setenv('OPENMIX_DM_DATA', str(images))
    assert len(ImageNet(root='imagenet', split='train')) == 6


def test_random_transforms_follow_the_key_alone(images):
    transforms = [{'type': 'RandomResizedCrop', 'size': 16}, {'type': 'RandomFlip'}]
    data = ImageFolder(root=str(images / 'imagenet'), split='train', transforms=transforms)
    first = data[SampleIndex(0, 5)]['inputs']
    torch.rand(7), np.random.rand(3)
    assert torch.equal(data[SampleIndex(0, 5)]['inputs'], first)
    assert first.shape == (3, 16, 16)


def test_missing_data_names_folder_and_command(tmp_path):
    with pytest.raises(DataError, match=r'\bdata imagenet') as error:
        ImageNet(root=str(tmp_path / 'nowhere'), split='train')
    assert str(tmp_path / 'nowhere' / 'train') in str(error.value)


def test_folders_without_images_are_refused(tmp_path):
    (tmp_path / 'train' / 'a').mkdir(parents=True)
    with pytest.raises(DataError, match='no images'):
        ImageFolder(root=str(tmp_path), split='train')


@pytest.mark.parametrize('content', [b'', b'<html>not found</html>', b'\xff\xd8\xff\xe0broken'])
def test_undecodable_files_are_named(images, content):
    path = images / 'imagenet' / 'train' / 'n01' / 'n01_0.JPEG'
    path.write_bytes(content)
    with pytest.raises(DataError, match=r'n01_0\.JPEG'):
        ImageFolder(root=str(images / 'imagenet'), split='train')[0]


def test_files_of_other_types_are_left_out_and_counted(tmp_path, capsys):
    for name in ('a', 'b'):
        (tmp_path / 'train' / name).mkdir(parents=True)
        cv2.imwrite(str(tmp_path / 'train' / name / '0.png'), np.zeros((4, 5, 3), dtype=np.uint8))
    for file in ('1.GIF', '2.gif', '3.tiff', '.hidden', 'README'):
        (tmp_path / 'train' / 'a' / file).write_bytes(b'')
    assert len(ImageFolder(str(tmp_path), 'train')) == 2
    said = capsys.readouterr().err
    assert '4 files in' in said
    assert 'left out: 2 .gif, 1 .tiff, 1 without a type (read: .jpg' in said

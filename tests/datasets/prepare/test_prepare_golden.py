"""What is written stays what it is, byte for byte: runs that go on find the same labels, splits and order."""

import hashlib

import pytest
from support import archive_layouts as layouts

from openmix_dm.commands.prepare_data import main

# Of names and contents of all that is written beside the published files; images only where no encoder made them.
# CIFAR's is of the version since which index.json carries a hash of itself; the arrays are older.
CASES = {
    'cifar10 --source npm': (layouts.cifar10_npm, 'b3e50dfaba1ce2dc'),
    'tiny-imagenet': (layouts.tiny_imagenet, '00b1c977920c636a'),
    'cub200': (layouts.cub200, 'd01379cb509da76a'),
    'aircraft': (layouts.aircraft, 'b23f25f877880beb'),
    'cars': (layouts.cars, '7724c643d815c6c6'),
    'cars --no-verify': (layouts.cars_joint, '5ba8bab06e143e3f'),
}


@pytest.mark.parametrize('case', CASES)
def test_written_files_are_those_of_the_first_version(tmp_path, case):
    layout, expected = CASES[case]
    root = layouts.folder(tmp_path / 'root', {} if 'npm' in case else layout())
    archive = ['--archive', str(layouts.tar(tmp_path / 'a.tgz', layout()))] if 'npm' in case else []
    assert main([*case.split(), '--root', str(root), '--no-verify', *archive]) == 0
    digest = hashlib.sha256()
    for name in sorted(layouts.below(root) - {*layout()}):
        if case != 'tiny-imagenet' or name.endswith('_labels.npy'):
            digest.update(name.encode() + (root / name).read_bytes())
    assert digest.hexdigest()[:16] == expected

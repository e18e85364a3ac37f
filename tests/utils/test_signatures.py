from typing import Literal

from openmix_dm.utils.signatures import arguments_of, describe, fits


class Base:
    def __init__(self, size: int, name: str = 'x') -> None: ...


class Child(Base):
    def __init__(self, extra: float, **options) -> None: ...


class Open:
    def __init__(self, **options) -> None: ...


def test_kwargs_are_followed_to_the_base_class():
    arguments = arguments_of(Child)
    assert arguments.known == {'extra', 'size', 'name'}
    assert arguments.required == {'extra', 'size'}
    assert not arguments.open
    assert arguments_of(Open).open


def test_types():
    assert fits(1, float)
    assert fits(1.0, float | None)
    assert fits(None, float | None)
    assert fits('anything', Literal['both', 'a'])
    for value, annotation in ((True, int), (1, bool), ('1', float), (1.5, int), (None, str)):
        assert not fits(value, annotation)
    assert describe(int | None) == 'a whole number or None'

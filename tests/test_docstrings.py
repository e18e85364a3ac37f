"""Every class that a config can name documents each argument with its default, and shows one line of a config."""

import ast
import inspect
import re

import pytest
from mmengine.registry import Registry

from openmix_dm import registry
from openmix_dm.utils.signatures import arguments_of

TAKEN_BY_BUILDERS = ('priority', 'constructor', 'paramwise_cfg', 'optimizer', 'convert_to_iter_based')
SIMPLE = (bool, int, float, str, tuple, type(None))


def documented() -> list:
    """All classes and functions of this package in all of its registries."""
    found = {}
    for each in vars(registry).values():
        if isinstance(each, Registry) and each.scope == registry.SCOPE:
            each.import_from_location()
            found |= {name: target for name, target in each.module_dict.items() if _is_ours(target)}
    return [pytest.param(name, target, id=name) for name, target in sorted(found.items())]


def _is_ours(target) -> bool:
    """Leave out classes whose constructor is another package's, which documents it."""
    constructor = target.__init__ if inspect.isclass(target) else target
    return getattr(constructor, '__module__', target.__module__).split('.')[0] == registry.SCOPE


def arguments_in(text: str) -> dict[str, str]:
    """Read the entries below `Args:`."""
    section = re.search(r'^Args:\n((?:    .*\n?|\n)+)', text + '\n', re.M)
    entries = re.split(r'^    (?=\w[\w, ]*:)', section[1], flags=re.M)[1:] if section else []
    return {name: ' '.join(words.split()) for name, _, words in (entry.partition(':') for entry in entries)}


def defaults_of(target) -> dict:
    """Collect the defaults of a constructor and of those that its **kwargs go on to."""
    classes = target.__mro__ if inspect.isclass(target) else ()
    functions = [cls.__dict__['__init__'] for cls in classes if '__init__' in cls.__dict__] or [target]
    defaults: dict = {}
    for function in functions:
        for parameter in inspect.signature(function).parameters.values():
            defaults.setdefault(parameter.name, parameter.default)
    return defaults


@pytest.mark.parametrize(('name', 'target'), documented())
def test_every_argument_is_documented(name, target):
    entries = arguments_in(inspect.getdoc(target) or '')
    assert list(entries) == sorted(entries, key=list(defaults_of(target)).index), 'in the order of the signature'
    assert set(entries) == set(arguments_of(target).known)
    assert all(len(words) > 10 for words in entries.values()), entries


@pytest.mark.parametrize(('name', 'target'), documented())
def test_defaults_are_said(name, target):
    entries, defaults = arguments_in(inspect.getdoc(target) or ''), defaults_of(target)
    for argument, words in entries.items():
        default = defaults[argument]
        if default is not inspect.Parameter.empty and isinstance(default, SIMPLE):
            assert f'Default: {default!r}' in words, (argument, words)


@pytest.mark.parametrize(('name', 'target'), documented())
def test_a_line_of_a_config_is_shown(name, target):
    example = re.search(r'^Example:\n    (.+)', inspect.getdoc(target) or '', re.M)
    assert example, 'Example: and below it one line of a config'
    calls = [node for node in ast.walk(ast.parse(example[1])) if isinstance(node, ast.Call)]
    named = {keyword.arg: keyword.value for call in calls for keyword in call.keywords if _type_of(call) == name}
    assert set(named) - {'type', *TAKEN_BY_BUILDERS} <= set(arguments_of(target).known)
    assert 'type' in named


def _type_of(call: ast.Call) -> str | None:
    values = [keyword.value for keyword in call.keywords if keyword.arg == 'type']
    return values[0].value if values and isinstance(values[0], ast.Constant) else None

"""A hook of mkdocs: the pages of all that a config can name, made of the registries, so that nothing is forgotten.

A page has a table of its classes; mkdocstrings renders each of them with its arguments, out of its docstring.
"""

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mmengine.registry import Registry

from openmix_dm import registry
from openmix_dm.utils.signatures import arguments_of


@dataclass(frozen=True)
class Page:
    """One page of the reference: its file below api/, its title, where a config names its classes, its registries."""

    file: str
    title: str
    where: str
    registries: tuple[str, ...]


PAGES = (
    Page('mixers', 'Mixers', "`model.mixer=dict(type='CutMix', alpha=0.2)`; alone: `CutMix(alpha=0.2)`", ('MIXERS',)),
    Page('losses', 'Losses', '`model.head.loss`; their formulas are in [losses](../losses.md)', ('LOSSES',)),
    Page('backbones', 'Backbones', '`model.backbone`, and teachers of mixers', ('BACKBONES',)),
    Page('models', 'Models and heads', '`model`, `model.data_preprocessor`, `model.head`', ('MODELS', 'HEADS')),
    Page(
        'semi',
        'Semi-supervised parts',
        '`model.terms`, `model.labeler` and what is below them ([how they fit together](../semi.md))',
        ('TERMS', 'SEMI_PARTS'),
    ),
    Page(
        'datasets',
        'Data sets',
        '`train_dataloader.dataset`, `val_dataloader.dataset` ([how to get them](../data.md))',
        ('DATASETS',),
    ),
    Page(
        'transforms',
        'Transforms',
        '`train_dataloader.dataset.transforms`. With pictures, and with those of torchvision and mmcv: '
        '[transforms](../transforms.md)',
        ('TRANSFORMS',),
    ),
    Page('samplers', 'Samplers', '`train_dataloader.batch_sampler`', ('DATA_SAMPLERS',)),
    Page('metrics', 'Metrics and evaluators', '`val_evaluator`, `test_evaluator`', ('METRICS', 'EVALUATORS')),
    Page('hooks', 'Hooks', '`default_hooks` by a name, or `custom_hooks`', ('HOOKS',)),
    Page(
        'optim',
        'Optimisers and schedules',
        '`optim_wrapper`, `optim_wrapper.optimizer`, `param_scheduler`; torch and mmengine have more, by their names',
        ('OPTIMIZERS', 'OPTIM_WRAPPERS', 'OPTIM_WRAPPER_CONSTRUCTORS', 'PARAM_SCHEDULERS'),
    ),
    Page('loops', 'Loops and runner', '`train_cfg`, `val_cfg`, `test_cfg`, `runner_type`', ('LOOPS', 'RUNNERS')),
    Page(
        'trackers',
        'Trackers',
        '`visualizer`, `visualizer.vis_backends` ([where the numbers go](../tracking.md))',
        ('VISUALIZERS', 'VISBACKENDS'),
    ),
    Page('wrappers', 'Wrappers of models', '`model_wrapper_cfg`', ('MODEL_WRAPPERS',)),
)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the pages to the navigation."""
    config.nav.append({'Reference': [{page.title: f'api/{page.file}.md'} for page in filled_pages()]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Write the pages."""
    for page in filled_pages():
        files.append(File.generated(config, f'api/{page.file}.md', content=text_of(page)))
    return files


def filled_pages() -> list[Page]:
    """Return the pages that have something on them."""
    return [page for page in PAGES if registered(page.registries)]


def registered(names: Iterable[str]) -> dict[str, Any]:
    """Return the classes and functions of this package in some registries, by the names that configs use."""
    found = {}
    for name in names:
        each: Registry = getattr(registry, name)
        each.import_from_location()
        found |= {
            key: target
            for key, target in sorted(each.module_dict.items())
            if target.__module__.split('.')[0] == registry.SCOPE
        }
    return found


def text_of(page: Page) -> str:
    """Return the Markdown of a page: what there is, and each class with its arguments."""
    targets = registered(page.registries)
    lines = [
        f'# {page.title}',
        '',
        f'A config names them under {page.where}.',
        '',
        '| name | what it does |',
        '|---|---|',
    ]
    lines += [f'| [`{name}`](#{path_of(target)}) | {first_words(target)} |' for name, target in targets.items()]
    for name, target in targets.items():
        lines += ['', f'::: {path_of(target)}', '    options:', f'      heading: {name}', f'      toc_label: {name}']
        lines += ['', *foreign_arguments(target)]
    return '\n'.join(lines) + '\n'


def path_of(target: Any) -> str:
    """Return where a class is defined, which is also the anchor of its entry."""
    return f'{target.__module__}.{target.__qualname__}'


def foreign_arguments(target: Any) -> list[str]:
    """Name the arguments of a class whose constructor is another package's, which documents them."""
    owner = next(cls for cls in inspect.getmro(target) if '__init__' in vars(cls))
    known = [name for name in inspect.signature(target).parameters if name in arguments_of(target).known]
    if owner.__module__.split('.')[0] == registry.SCOPE or not known:
        return []
    return [f'Arguments, those of `{path_of(owner)}`: {", ".join(f"`{name}`" for name in known)}.']


def first_words(target: Any) -> str:
    """Return the first paragraph of a docstring as one line of a table."""
    return ' '.join(inspect.getdoc(target).split('\n\n')[0].split()).replace('|', r'\|')

"""A classifier that learns from labelled and unlabelled images; nothing here knows any one method."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from mmengine.model import BaseModel
from torch import Tensor, nn

from openmix_dm.backbones import Backbone
from openmix_dm.classifiers.mix_classifier import average_crops
from openmix_dm.datasets.samplers.stream_batches import StreamSamples
from openmix_dm.datasets.streams import StreamFacts
from openmix_dm.errors import ConfigError
from openmix_dm.registry import BACKBONES, HEADS, MODELS, SEMI_PARTS, TERMS, Built
from openmix_dm.semi.executor import Pass, Plan, check_teacher, execute, read_passes
from openmix_dm.semi.labeler import Labeler
from openmix_dm.semi.momentum_teacher import MomentumTeacher
from openmix_dm.semi.step_parts import Labelled, Outputs, Part, PseudoLabels, Step, Unlabelled
from openmix_dm.semi.stream_preprocessor import StreamPreprocessor
from openmix_dm.semi.terms import Term
from openmix_dm.utils.modules import evaluating
from openmix_dm.utils.stopwatch import stopwatch

REHEARSAL, PIXELS = 4, 16  # images, and their sides, of a step that is only planned


@MODELS.register_module()
class SemiClassifier(BaseModel):
    """Train a network on a labelled and an unlabelled stream by a sum of terms (docs/semi.md).

    In each step the terms plan which images go through the network, the network runs, the labeler makes pseudo-labels
    of its predictions, and the terms return their losses. Labeler, terms and teacher are no part of what is evaluated.

    Args:
        backbone: config of the network from images to features.
        head: config of the classifier; its `in_features` is filled in.
        terms: configs of the terms of the loss by name; None leaves an inherited one out.
        labeler: config of the part that makes the pseudo-labels of the unlabelled images; None if no term needs them.
            Default: None.
        passes: changes of, and additions to, the ways through the network (`executor.PASSES`). Default: None.
        data_preprocessor: config of the preprocessor of images, which every view of both streams goes through.
            Default: None.
        teacher_decay: of an average of backbone and head, which the pass 'teacher' goes through: decay * teacher +
            (1 - decay) * network, at the start of each iteration. It normalises by the batch, like the network, and
            makes the pseudo-labels with labeler=dict(where='teacher'), as in the released DMixMatch; it is not what
            EmaHook evaluates. None: no teacher. Default: None.

    Example:
        model = dict(type='SemiClassifier', backbone=backbone, head=head, terms=dict(labelled=dict(type='Supervised')))
    """

    training_only = ('labeler', 'terms', 'teacher')  # not part of what is evaluated
    builds = {
        'backbone': BACKBONES,
        'head': Built(HEADS, filled=('in_features',)),
        'terms': Built(TERMS, named=True),
        'labeler': SEMI_PARTS,
        'passes': Built(Pass, named=True),
        'data_preprocessor': MODELS,
    }

    def __init__(
        self,
        backbone: dict[str, Any],
        head: dict[str, Any],
        terms: dict[str, Any],
        labeler: dict[str, Any] | None = None,
        passes: dict[str, Any] | None = None,
        data_preprocessor: dict[str, Any] | None = None,
        teacher_decay: float | None = None,
    ) -> None:
        images = MODELS.build(data_preprocessor) if data_preprocessor else None
        super().__init__(data_preprocessor=StreamPreprocessor(images) if images is not None else None)
        self.backbone: Backbone = BACKBONES.build(backbone)
        self.head = HEADS.build({'in_features': self.backbone.num_features, **head})
        self.passes = read_passes(passes)
        self.labeler: Labeler | None = None if labeler is None else SEMI_PARTS.build(labeler)
        self.terms = nn.ModuleDict({name: TERMS.build(term) for name, term in terms.items() if term is not None})
        if not self.terms:
            raise ConfigError('the model has no terms: nothing would be learned')
        for term in self._terms.values():
            term.attach(self)
        self.teacher = None if teacher_decay is None else MomentumTeacher(self._network, teacher_decay)

    @property
    def _network(self) -> nn.Sequential:
        """What the teacher is an average of."""
        return nn.Sequential(self.backbone, self.head)

    @property
    def _terms(self) -> Mapping[str, Term]:
        return self.terms  # type: ignore[return-value]

    def init_weights(self) -> None:
        """Load what the config names as pretrained; all else was initialised when it was built."""
        self.backbone.init_weights()
        self.start_parts(list(self.state_dict()))

    def start_parts(self, missing: Sequence[str]) -> None:
        """Let terms and teacher start from the weights that the network has, if all of their state is missing."""
        state = list(self.state_dict())
        for name, term in self._terms.items():
            if {key for key in state if key.startswith(f'terms.{name}.')} <= set(missing):
                term.init_weights(self)
        if self.teacher is not None and any(key.startswith('teacher.') for key in missing):
            self.teacher.copy_from(self._network)

    @property
    def studies(self) -> bool:
        """Whether a term wants to look at the labelled images before training."""
        return any(type(term).study is not Term.study for term in self._terms.values())

    def study(self, images: Callable[[], Iterator[tuple[Tensor, Tensor]]]) -> None:
        """Let the terms look at the labelled images, each once; called before the first step of a training."""
        with evaluating(self):
            for term in self._terms.values():
                if type(term).study is not Term.study:
                    term.study(self, (self._ready(*batch) for batch in images()))

    def _ready(self, images: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        data = self.data_preprocessor({'inputs': images, 'labels': labels})
        return data['inputs'], data['labels']

    def setup(self, facts: StreamFacts) -> None:
        """Learn about the streams before training: how many images there are and how often each class is labelled."""
        if self.studies and not facts.can_be_studied:
            raise ConfigError(
                'a term of this method studies the labelled images before training; give the data set a study_view: '
                'transforms without draws, such as those of the test images'
            )
        self._rehearse(facts)
        for part in (self.labeler, *self._terms.values()):
            if part is not None:
                part.setup(facts)

    def _rehearse(self, facts: StreamFacts) -> None:
        """Plan a step of blank images: a missing view, stream or pass shows before training."""
        size = math.ceil(REHEARSAL * facts.ratio)
        images = [torch.zeros(each, 3, PIXELS, PIXELS) for each in (REHEARSAL, size)]
        labels, index = (torch.zeros(each, dtype=torch.int64) for each in (REHEARSAL, size))
        others = Unlabelled((images[1],) * facts.unlabelled_views, index) if facts.unlabelled else None
        step = Step(Labelled((images[0],) * facts.labelled_views, labels), others, progress=0.0)
        plan = Plan(step, self.passes)
        with torch.random.fork_rng(devices=[]):
            for part in self._terms.values():
                part.plan(step, plan)
            if self.labeler is not None:
                self.labeler.plan(plan)
        check_teacher(plan, self.passes, self.teacher is not None)

    def forward(
        self,
        inputs: Tensor | None = None,
        labels: Tensor | None = None,
        mode: str = 'tensor',
        labelled: dict[str, Any] | None = None,
        unlabelled: dict[str, Any] | None = None,
        truth: Tensor | None = None,
        progress: float = 0.0,
    ) -> Any:
        """Run one of mmengine's three modes.

        'loss': take a batch of streams, return losses and numbers to record. 'predict' and 'tensor': as MixClassifier.
        """
        if mode == 'loss':
            if labelled is None:
                raise ValueError("mode 'loss' needs a batch of streams: use a data set of type Streams")
            return self.loss(Step.of(labelled, unlabelled, progress), truth)
        if inputs is None:
            raise ValueError(f'mode {mode!r} needs images, got none')
        logits = average_crops(lambda images: self.head(self.backbone(images)), inputs)
        if mode == 'predict':
            return [{'logits': logits, 'labels': labels}]
        if mode == 'tensor':
            return logits
        raise ValueError(f"mode must be 'loss', 'predict' or 'tensor', got {mode!r}")

    def loss(self, step: Step, truth: Tensor | None = None) -> dict[str, Tensor]:
        """Return weighted losses as `loss_*`, the same before weighting as `term_*`, and what else is recorded.

        truth: labels of the unlabelled images; they reach `watch` and nothing else.
        """
        plan = Plan(step, self.passes)
        with stopwatch.span('mix'):
            finishes = {name: term.plan(step, plan) for name, term in self._terms.items()}
            asked = self.labeler.plan(plan) if self.labeler is not None else []
        with stopwatch.span('forward'):
            outputs = self._run(plan, chunk=len(step.labelled.labels))
            pseudo = self.labeler.label(step, outputs, asked) if self.labeler is not None else None
            parts: dict[str, Part] = {}
            for name, finish in finishes.items():
                parts |= {f'{name}_{part}' if part else name: value for part, value in finish(outputs, pseudo).items()}
        return {
            **{f'loss_{name}': part.value * part.weight for name, part in parts.items()},
            **{f'term_{name}': part.value.detach() for name, part in parts.items()},
            **watch(pseudo, truth),
        }

    def _run(self, plan: Plan, chunk: int) -> Outputs:
        teacher: Any = None
        if self.teacher is not None:
            self.teacher.follow(self._network)  # of the last step: a saved teacher lacks nothing but this
            teacher = self.teacher.network
        return execute(plan, self.passes, self.backbone, self.head, chunk, teacher)

    def parse_losses(self, losses: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        """Add up what is named `loss_*`; all else is recorded as it is."""
        first, *others = (value for name, value in losses.items() if name.startswith('loss_'))
        total = sum(others, start=first)
        return total, {'loss': total, **losses}

    def explain(self, data: dict[str, Any], samples: StreamSamples) -> dict[str, Any]:
        """Say which samples make the loss of a batch, for a report about it."""
        return {
            'terms': repr(self.terms),
            'progress': data.get('progress'),
            'labelled': [sample.image for sample in samples.labelled],
            'unlabelled': [sample.image for sample in samples.unlabelled],
        }


def watch(pseudo: PseudoLabels | None, truth: Tensor | None) -> dict[str, Tensor]:
    """Return how many pseudo-labels are trusted and how many are right, of all and of the trusted, in percent.

    A name `part/whole` is recorded as the mean of the part over the mean of the whole.
    """
    if pseudo is None:
        return {}
    logs = {'mask': pseudo.mask.mean(), **pseudo.logs}
    if truth is not None:
        right = (pseudo.hard == truth).float()
        logs['pseudo_top1'] = 100 * right.mean()
        logs['pseudo_top1_kept/mask'] = 100 * (right * pseudo.mask).mean()
    return logs

from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F
from reference import transfer as reference
from torch import nn

from openmix_dm.errors import ConfigError
from openmix_dm.semi.executor import Plan, read_passes
from openmix_dm.semi.step_parts import Labelled, Output, PseudoLabels, Step, Unlabelled
from openmix_dm.semi.terms import GroupContrast
from openmix_dm.semi.terms.group_contrast import group_contrast

CLASSES, LENGTH, WIDTH, FEATURES = 3, 2, 4, 6


def small_model():
    backbone = nn.Sequential(nn.Flatten(), nn.Linear(12, FEATURES))
    backbone.num_features = FEATURES
    return SimpleNamespace(backbone=backbone, head=SimpleNamespace(num_classes=CLASSES))


def small_term(**options):
    torch.manual_seed(0)
    term, model = GroupContrast(width=WIDTH, length=LENGTH, **options), small_model()
    term.attach(model)
    term.init_weights(model)
    return term, model


def run(term, model, views=2):
    """Make one step by hand; return its parts, the step and the guesses."""
    torch.manual_seed(1)
    images = [tuple(torch.randn(4, 3, 2, 2) for _ in range(views)) for _ in range(2)]
    labels, guessed = torch.tensor([0, 1, 1, 2]), torch.tensor([2, 2, 0, 1])
    step = Step(Labelled(images[0], labels), Unlabelled(images[1], torch.arange(4)), progress=0.5)
    plan = Plan(step, read_passes({'unlabelled': {}}))
    finish = term.plan(step, plan)
    from openmix_dm.semi.step_parts import Request

    outputs = {
        Request(where, name): Output(model.backbone(inputs), torch.zeros(4, CLASSES))
        for where, requests in plan.requests.items()
        for name, inputs in requests.items()
    }
    ones = torch.ones(4)
    return finish(outputs, PseudoLabels(guessed, F.one_hot(guessed, CLASSES).float(), ones, ones)), step, guessed


def test_equals_the_loop():
    generator = torch.Generator().manual_seed(0)
    queries, keys = (F.normalize(torch.randn(5, WIDTH, generator=generator, dtype=torch.float64), dim=1) for _ in '12')
    queue = F.normalize(torch.randn(CLASSES, LENGTH, WIDTH, generator=generator, dtype=torch.float64), dim=2)
    labels = torch.tensor([0, 2, 2, 1, 0])
    value = group_contrast(queries, keys, queue, labels, 0.07)
    torch.testing.assert_close(float(value), reference.group_contrast(queries, keys, queue, labels, 0.07))


def test_is_zero_where_all_similarities_are_those_of_one_class():
    same = F.normalize(torch.ones(2, WIDTH), dim=1)
    value = group_contrast(same, same, same[:1].expand(1, LENGTH, WIDTH), torch.zeros(2, dtype=torch.int64), 0.07)
    torch.testing.assert_close(value, torch.tensor(0.0), atol=1e-5, rtol=0)


def test_a_step_uses_the_queue_before_each_call_and_fills_it_labelled_first():
    term, model = small_term()
    start = term.queue.keys.clone()
    parts, step, guessed = run(term, model)
    # the key network follows before each call; the query network did not move, so it stays what it was
    keys = [F.normalize(term.key_projector(term.key_backbone(views[1])), dim=1) for views in
            (step.labelled.views, step.others.views)]  # fmt: skip
    queries = [F.normalize(term.projector(model.backbone(views[0])), dim=1) for views in
               (step.labelled.views, step.others.views)]  # fmt: skip
    after_labelled, _ = reference.class_queue(start, [(keys[0], step.labelled.labels)], LENGTH)
    after_both, place = reference.class_queue(start, [(keys[0], step.labelled.labels), (keys[1], guessed)], LENGTH)
    for name, number, queue, labels in (
        ('labelled', 0, start, step.labelled.labels),
        ('unlabelled', 1, after_labelled, guessed),
    ):
        expected = reference.group_contrast(queries[number], keys[number], queue, labels, 0.07)
        torch.testing.assert_close(float(parts[name].value), expected, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(term.queue.keys, after_both)
    assert term.queue.next.tolist() == place


def test_the_key_network_follows_twice_a_step_and_gets_no_gradient():
    term, model = small_term(decay=0.9)
    before = term.key_projector.network.weight.clone()
    with torch.no_grad():
        term.projector.weight += 1
    parts, _, _ = run(term, model)
    torch.testing.assert_close(term.key_projector.network.weight, before + 1 - 0.9**2)
    sum(part.value for part in parts.values()).backward()
    assert term.projector.weight.grad.abs().sum() > 0
    assert model.backbone[1].weight.grad.abs().sum() > 0
    assert all(p.grad is None for teacher in (term.key_backbone, term.key_projector) for p in teacher.parameters())
    assert not any(p.requires_grad for p in term.key_backbone.parameters())


def test_the_model_is_no_part_of_its_term():
    term, _ = small_term()
    assert {name.split('.')[0] for name in term.state_dict()} == {'projector', 'queue', 'key_backbone', 'key_projector'}


def test_a_missing_second_view_is_named():
    term, model = small_term()
    with pytest.raises(ConfigError, match='view 1 of the labelled stream'):
        run(term, model, views=1)

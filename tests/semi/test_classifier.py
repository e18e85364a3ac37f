"""The model as a whole: what it logs, what it keeps from its terms, and that every method learns."""

import pytest
import torch
from support.semi_steps import IMAGES, METHODS, batch, facts, model

from openmix_dm.datasets.samplers.sample_index import SampleIndex
from openmix_dm.datasets.samplers.stream_batches import StreamSamples
from openmix_dm.engine.hooks.ema import averaged_copy
from openmix_dm.engine.hooks.recording import names_of, with_ratios
from openmix_dm.engine.optim.wrapper import MixOptimWrapper
from openmix_dm.errors import ConfigError
from openmix_dm.registry import TERMS
from openmix_dm.semi import SemiClassifier, Term
from openmix_dm.semi.classifier import watch
from openmix_dm.semi.step_parts import Part, PseudoLabels


@pytest.mark.parametrize('method', METHODS)
def test_every_method_learns_by_the_plain_api(method):
    """Ten steps without a runner: every weight of the network moves, and of the terms too."""
    built = model(method).train()
    before = {name: value.detach().clone() for name, value in built.named_parameters()}
    wrapper = MixOptimWrapper(torch.optim.SGD(built.parameters(), lr=0.1))
    for number in range(10):
        data = batch(method, seed=number)
        losses = built(**data, mode='loss')
        total, logs = built.parse_losses(losses)
        wrapper.update_params(total)
    still = [name for name, value in built.named_parameters() if torch.equal(value, before[name])]
    assert not still
    assert total.item() == pytest.approx(sum(v.item() for n, v in losses.items() if n.startswith('loss_')), rel=1e-5)
    assert logs['loss'] is total


@pytest.mark.parametrize('method', METHODS)
def test_every_term_is_logged_before_and_after_weighting(method):
    losses = model(method).train()(**batch(method), mode='loss')
    weighted = {name.removeprefix('loss_') for name in losses if name.startswith('loss_')}
    plain = {name.removeprefix('term_') for name in losses if name.startswith('term_')}
    assert weighted == plain != set()
    assert not any(value.requires_grad for name, value in losses.items() if not name.startswith('loss_'))
    if method != 'supervised':
        assert {'mask', 'threshold', 'pseudo_top1', 'pseudo_top1_kept/mask'} <= set(losses)


def test_a_weight_of_the_log_is_that_of_the_ramp():
    data = batch('mixmatch')
    losses = model('mixmatch').train()(**{**data, 'progress': 0.1}, mode='loss')
    torch.testing.assert_close(losses['loss_mixed_unlabelled'], 25 * losses['term_mixed_unlabelled'])


@pytest.mark.parametrize('method', [method for method in METHODS if method != 'supervised'])
def test_true_labels_change_numbers_of_the_record_only(method):
    results = []
    for truth in (0, 1):
        torch.manual_seed(0)
        built = model(method).train()
        data = batch(method)
        data['truth'] = torch.full_like(data['truth'], truth)
        torch.manual_seed(1)
        losses = built(**data, mode='loss')
        results.append({name: value for name, value in losses.items() if not name.startswith('pseudo')})
    for name in results[0]:
        assert torch.equal(results[0][name], results[1][name]), name


def test_no_term_is_given_the_truth():
    seen = []

    @TERMS.register_module(name='Nosy', force=True)
    class Nosy(Term):
        def plan(self, step, plan):
            seen.append(step)
            key = plan.labelled()
            return lambda outputs, pseudo: {'': Part(outputs[key].logits.sum())}

    built = model('fixmatch', **{'model.terms.nosy': {'type': 'Nosy'}})
    built(**batch('fixmatch'), mode='loss')
    assert set(vars(seen[0])) == {'labelled', 'unlabelled', 'progress'}
    assert set(vars(seen[0].unlabelled)) == {'views', 'index'}


def test_labels_in_the_unlabelled_stream_are_refused():
    data = batch('fixmatch')
    data['unlabelled']['labels'] = data['truth']
    with pytest.raises(ConfigError, match=r"unlabelled stream holds .*got \['labels'\] too"):
        model('fixmatch')(**data, mode='loss')


def test_dm_leaves_the_rest_of_the_method_alone():
    """Same batch, same weights: the terms of FixMatch are those without DM, to the bit."""
    losses = []
    for method in ('fixmatch', 'fixmatch_dm'):
        torch.manual_seed(0)
        built = model(method).train()
        losses.append(built(**batch('fixmatch'), mode='loss'))
    for name, value in losses[0].items():
        assert torch.equal(value, losses[1][name]), name
    assert {'loss_mix_ll', 'loss_mix_lu'} <= set(losses[1])


def test_the_record_counts_images_and_not_iterations():
    pseudo = PseudoLabels(torch.tensor([0, 1, 2, 3]), torch.eye(4), torch.ones(4), torch.tensor([1.0, 1.0, 0.0, 0.0]))
    logs = watch(pseudo, torch.tensor([0, 2, 2, 0]))
    assert logs['mask'] == 0.5
    assert logs['pseudo_top1'] == 50
    assert with_ratios({name: float(value) for name, value in logs.items()})['pseudo_top1_kept'] == 50
    assert watch(None, None) == {}
    assert 'pseudo_top1' not in watch(pseudo, None)


def test_names_of_a_record():
    assert names_of('threshold', torch.zeros(3)) == ['threshold_0', 'threshold_1', 'threshold_2']
    assert names_of('mask', torch.zeros(())) == ['mask']
    assert str(with_ratios({'kept/mask': 0.0, 'mask': 0.0})['kept']) == 'nan'


def test_prediction_is_that_of_a_classifier():
    built = model('fixmatch').eval()
    images = torch.randn(3, 3, 8, 8)
    logits = built(images)
    assert logits.shape == (3, 10)
    assert torch.equal(built(images, torch.arange(3), mode='predict')[0]['logits'], logits)
    with pytest.raises(ValueError, match='mode'):
        built(images, mode='train')
    with pytest.raises(ValueError, match='batch of streams'):
        built(images, torch.arange(3), mode='loss')


def test_the_average_has_no_terms():
    average = averaged_copy(model('flexmatch'))
    names = set(average.state_dict())
    assert names
    assert not any(name.startswith(('terms.', 'labeler.', 'teacher.')) for name in names)
    built = model('flexmatch')
    assert built.labeler.threshold.remembered.shape == (IMAGES,)


def test_a_model_needs_terms_that_exist():
    with pytest.raises(ConfigError, match='no terms'):
        model('fixmatch', **{'model.terms.labelled': None, 'model.terms.unlabelled': None})


def test_meeting_streams_sizes_the_state():
    built = model('flexmatch')
    built.setup(facts(unlabelled=7))
    assert built.labeler.threshold.remembered.tolist() == [-1] * 7
    assert isinstance(built, SemiClassifier)


def test_a_report_names_the_images():
    samples = StreamSamples([SampleIndex(3, 0)], [SampleIndex(5, 0), SampleIndex(6, 0)])
    said = model('fixmatch').explain(batch('fixmatch'), samples)
    assert said['labelled'] == [3]
    assert said['unlabelled'] == [5, 6]
    assert 'Consistency' in said['terms']

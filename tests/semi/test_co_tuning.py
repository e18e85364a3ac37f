import pytest
import torch
from reference import transfer as reference
from support.transfer_runs import FOLDER, run, source_file

from openmix_dm.backbones.pretrained import classifier_in
from openmix_dm.config.load import load_config
from openmix_dm.config.resolve import resolve
from openmix_dm.engine.build import build_loader
from openmix_dm.errors import ConfigError
from openmix_dm.runs.checkpoints import load_file
from openmix_dm.runs.model import build_model
from openmix_dm.semi.terms import CoTuning


@pytest.fixture
def config(tmp_path):
    config = load_config(FOLDER / 'r8_cotuning.py')
    config.model.backbone.pretrained = str(source_file(tmp_path))
    return resolve(config, world_size=1)


def test_takes_head_and_relation_from_the_source(config):
    model = build_model(config)
    model.init_weights()
    term, weights = model.terms['source'], load_file(config.model.backbone.pretrained)['state_dict']
    assert torch.equal(term.source.weight, weights['head.fc.weight'])
    dataset = build_loader(config, 'train').dataset
    statistics = {name: buffer.clone() for name, buffer in model.backbone.named_buffers()}
    model.train()
    model.study(dataset.labelled_images)
    assert model.training
    assert all(torch.equal(buffer, statistics[name]) for name, buffer in model.backbone.named_buffers())
    model.eval()
    images, labels = map(torch.cat, zip(*dataset.labelled_images(), strict=True))
    assert len(labels) == 20
    with torch.no_grad():
        features = model.backbone(model.data_preprocessor({'inputs': images})['inputs'])
        answers = term.source(features).softmax(dim=1)
    torch.testing.assert_close(term.relation, reference.mean_by_class(answers, labels, 5))


def test_the_source_head_learns_as_slowly_as_the_backbone(tmp_path):
    assert run('cotuning', tmp_path / 'run', tmp_path) == 0
    groups = load_file(tmp_path / 'run' / 'iter_4.pth')['optimizer']['param_groups']
    model = build_model(load_config(FOLDER / 'r8_cotuning.py'))
    named = dict(model.named_parameters())
    assert 'terms.source.source.weight' in named
    assert len({group['lr'] for group in groups}) == 2
    fast = [size for group in groups if group['lr'] == max(g['lr'] for g in groups) for size in group['params']]
    assert len(fast) == 2  # weight and bias of the new head


def test_what_is_missing_is_named(config, tmp_path):
    config.model.terms.source.source_classes = 7
    with pytest.raises(ConfigError, match=r'\(5, 64\), expected \(7, 64\)'):
        build_model(config).init_weights()
    config.model.backbone.pretrained = None
    with pytest.raises(ConfigError, match='needs a pretrained backbone'):
        build_model(config)
    with pytest.raises(ValueError, match='expected a linear classifier'):
        classifier_in({'backbone.stem.weight': torch.zeros(3)}, 'a.pth')
    with pytest.raises(ValueError, match='kind must be one of'):
        CoTuning(kind='sideways')


def test_without_a_study_view_nothing_starts(tmp_path, capsys):
    code = run('cotuning', tmp_path / 'run', tmp_path, 'train_dataloader.dataset.study_view=None')
    assert code == 2
    assert 'study_view' in capsys.readouterr().err

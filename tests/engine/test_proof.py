from support.short_runs import train

from openmix_dm.runs.folder import RunFolder


def proof(folder):
    return RunFolder(folder).read()['proof']


def test_the_same_run_has_the_same_proof_and_another_has_not(tmp_path):
    for name, options in (('a', ()), ('b', ()), ('c', ('randomness.seed=1',)), ('d', ('model.mixer.alpha=1.0',))):
        assert train(tmp_path / name, 'train_cfg.max_epochs=1', *options) == 0
    a, b, c, d = (proof(tmp_path / name) for name in 'abcd')
    assert set(a) == {'weights', 'batch', 'lam', 'config'}
    assert a == b
    assert all(a[key] != c[key] for key in a)
    assert (a['weights'], a['batch']) == (d['weights'], d['batch'])
    assert a['lam'] != d['lam']
    assert f'proof: weights {a["weights"]}' in (tmp_path / 'a' / 'train.log').read_text()

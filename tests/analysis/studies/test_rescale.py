import pytest
from support.study_calls import study

from openmix_dm.commands.analyze import main


def test_values_of_the_specification(tmp_path):
    record = study('rescale', tmp_path / 'a.png', '--points', 201)
    curves = {
        (curve['t'], curve['xi']): dict(zip(record['lam'], curve['r'], strict=True)) for curve in record['curves']
    }

    def r(lam, t, xi):
        return next(value for at, value in curves[t, xi].items() if abs(at - lam) < 1e-9)

    assert [r(lam, 1, 0.8) for lam in (0.1, 0.5, 0.75, 0.9)] == pytest.approx([0.125, 0.625, 0.9375, 1])
    assert [r(lam, 0.5, 1) for lam in (0.1, 0.5, 0.75, 0.9)] == pytest.approx([0.316, 0.707, 0.866, 0.949], abs=1e-3)
    assert [r(lam, 0, 1) for lam in (0, 0.1, 1)] == [0, 1, 1]
    assert all(value == pytest.approx(lam) for lam, value in curves[1, 1].items())


def test_mistakes_are_refused(tmp_path):
    for wrong in ('1', '1,0', '-1,1', 'a,b'):
        assert main(['rescale', f'--settings={wrong}', '--out', str(tmp_path / 'a.png')]) == 2

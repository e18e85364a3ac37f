import pytest
from support.table_folders import write_run, write_table

from openmix_dm.tables.catalogue import read_table
from openmix_dm.tables.job_display import JobDisplay
from openmix_dm.tables.jobs import Outcome, RunsFailed, judge
from openmix_dm.tables.plan import runs_of


@pytest.mark.parametrize('terminal', [False, True])
def test_starts_ends_and_the_rest_are_told(terminal, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr('sys.stderr.isatty', lambda: terminal)
    first, second, *_ = runs_of(read_table(write_table(tmp_path)), tmp_path)
    progress = JobDisplay()
    progress.begin(2)
    progress.started(first)
    progress.started(second)
    write_run(first, [91.25])
    progress.tick([first, second])
    progress.finished(judge(first, 0, 61.0))
    progress.finished(Outcome(second, 'failed', 3.0, 5, 'numeric: loss [nan]'))
    progress.stopping(0)
    progress.end()
    said = ' '.join(capsys.readouterr().err.split())
    assert '[1/2] digits/r8_vanilla seed 0 done: top-1 91.25 % in 0:01:01' in said
    assert '[2/2] digits/r8_mixup seed 0 FAILED with exit code 5: numeric: loss [nan]' in said


def test_what_became_of_a_run(tmp_path):
    run, *_ = runs_of(read_table(write_table(tmp_path)), tmp_path)
    write_run(run, [50.0, 60.0, 70.0], state='preempted')
    stopped = judge(run, 75, 1.0)
    assert (stopped.kind, str(stopped)) == ('stopped', 'digits/r8_vanilla seed 0 stopped in epoch 3')
    assert judge(run, 7, 1.0).cause == 'it said nothing'
    (run.folder / 'output.log').write_text(
        '$ train\nopenmix_dm: FAILED cause=data: old\n$ train\nTraceback\nOops: new\n'
    )
    assert judge(run, 1, 1.0).cause == 'Oops: new'  # of the last start only


def test_the_exit_code_is_that_of_the_runs_where_they_agree(tmp_path):
    run, *_ = runs_of(read_table(write_table(tmp_path)), tmp_path)
    data, killed = Outcome(run, 'failed', 1.0, 3, 'data'), Outcome(run, 'failed', 1.0, -9, 'killed')
    assert RunsFailed([data, data]).exit_code == 3
    assert RunsFailed([data, killed]).exit_code == 1
    assert RunsFailed([killed]).exit_code == 1

"""What train's command line adds to the first words: the paper's number, and what can be pasted to go on."""

import shlex
import sys

import pytest
from conftest import ROOT

from openmix_dm.commands.run_words import how_to_go_on, how_to_stop, paper_words, resume_arguments
from openmix_dm.commands.train import parse

CONFIGS = ROOT / 'configs'


def test_a_cell_names_table_row_column_and_number():
    assert paper_words(CONFIGS / 'cifar100/r18_mixup_dm.py') == {
        'paper': 'Table 1, row Mixup, column CIFAR-100, ResNet-18, DM(CE): 80.44 % (median of the last 10 validations)'
    }


def test_a_spread_and_another_protocol_are_said():
    said = paper_words(CONFIGS / 'cifar10_semi/wrn28-2_fixmatch_dm_250.py')['paper']
    assert said.endswith('95.23 ± 0.09 % (best validation, averaged weights)')


def test_a_changed_cell_says_whose_number_it_is():
    said = paper_words(CONFIGS / 'cifar100/r18_mixup_dm.py', changed=True)['paper']
    assert said.endswith('; of the config without your --cfg-options')


def test_what_is_no_cell_has_no_number(tmp_path):
    copy = tmp_path / 'cifar100' / 'r18_mixup_dm.py'
    copy.parent.mkdir()
    copy.write_text((CONFIGS / 'cifar100/r18_mixup_dm.py').read_text())
    assert paper_words(copy) == {}
    assert paper_words(CONFIGS / 'digits/r8_mixup_dm.py') == {}


GIVEN = ['my config.py', '--cfg-options', "_note='it is'", 'model.mixer.alpha=1', '--work-dir', 'a b', '--amp']


@pytest.mark.parametrize('resume', [[], ['--resume'], ['--resume', 'old.pth'], ['--resume=auto']])
def test_going_on_has_the_options_that_were_given_and_resumes_the_folder(resume):
    again = parse(resume_arguments(parse([*GIVEN, '--seed', '3', *resume])))
    assert again == parse([*GIVEN, '--seed', '3', '--resume'])


def test_it_can_be_pasted_into_a_shell(monkeypatch):
    monkeypatch.setattr(sys, 'argv', ['tools/train.py'])
    monkeypatch.chdir(ROOT)
    words = shlex.split(how_to_go_on(parse(GIVEN), {}))
    assert words[1:3] == ['tools/train.py', 'my config.py']
    assert parse(words[2:]) == parse([*GIVEN, '--resume'])


def test_ranks_go_on_by_what_started_them(monkeypatch):
    monkeypatch.setattr(sys, 'argv', ['tools/train.py'])
    monkeypatch.chdir(ROOT)
    args = parse(['digits/r8', '--launcher', 'pytorch', '--seed', '1'])
    assert how_to_go_on(args, {'WORLD_SIZE': '2'}) == 'tools/dist_train.sh digits/r8 2 --seed 1 --resume'
    assert how_to_go_on(args, {'TORCHELASTIC_RUN_ID': 'x'}) == 'the same command with --resume'
    assert how_to_go_on(args, {'NNODES': '2'}) == 'the same command with --resume'


def test_a_job_is_stopped_by_its_scheduler():
    assert how_to_stop('slurm', {'SLURM_JOB_ID': '17'}) == 'scancel 17'
    assert how_to_stop('none', {}).startswith('Ctrl-C, or kill ')

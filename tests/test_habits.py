"""The files that a public project is expected to have: they agree with each other and with the code."""

import re
import tomllib
from importlib.util import find_spec

import pytest
import yaml
from conftest import ROOT

from openmix_dm import __version__

CHANGELOG = (ROOT / 'CHANGELOG.md').read_text()
FORMS = sorted((ROOT / '.github' / 'ISSUE_TEMPLATE').glob('*.yml'))
TITLE = re.compile(r'^## (\S+)(?: - (\d{4}-\d{2}-\d{2}))?$', re.MULTILINE)


def read_yaml(*path):
    return yaml.safe_load(ROOT.joinpath(*path).read_text())


def test_the_newest_version_of_the_changelog_is_that_of_the_package():
    versions = TITLE.findall(CHANGELOG)
    assert versions[0] == ('Unreleased', '')
    assert versions[1][0] == __version__
    assert versions[1][1], 'a version has a date'


def test_changes_are_grouped_by_the_names_of_keep_a_changelog():
    groups = re.findall(r'^### (.+)$', CHANGELOG, re.MULTILINE)
    assert {*groups} <= {'Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'}
    assert len(groups) >= 4


def test_the_citation_is_of_this_version_and_names_the_paper():
    citation = read_yaml('CITATION.cff')
    _, (version, date), *_ = TITLE.findall(CHANGELOG)
    assert (citation['version'], str(citation['date-released'])) == (version, date)
    paper = citation['preferred-citation']
    assert paper['title'] in (ROOT / 'README.md').read_text().replace('\n', ' ')
    assert paper['identifiers'][0]['value'] == 'arXiv:2203.10761'


def test_the_workflow_runs_what_everybody_runs():
    (job,) = read_yaml('.github', 'workflows', 'ci.yml')['jobs'].values()
    assert [step['run'] for step in job['steps'] if 'run' in step] == ['bash .ci/run']
    assert {'python-version': '3.11'} in [step.get('with') for step in job['steps']]


@pytest.mark.parametrize('form', FORMS, ids=lambda form: form.stem)
def test_forms_of_issues_ask_for_something(form):
    content = read_yaml(form)
    if form.stem == 'config':
        assert content == {'blank_issues_enabled': True}
        return
    assert content['name']
    assert content['description']
    names = [field['id'] for field in content['body']]
    assert len(names) == len({*names}) >= 4
    assert all(field['attributes']['label'] for field in content['body'])


def test_hooks_before_a_commit_fetch_nothing():
    (repository,) = read_yaml('.pre-commit-config.yaml')['repos']
    assert repository['repo'] == 'local'
    for hook in repository['hooks']:
        program, *arguments = hook['entry'].split()
        assert hook['language'] == 'system'
        assert (program == 'python' and (ROOT / arguments[0]).exists()) or find_spec(program), hook['entry']


def test_every_tier_of_tests_is_explained():
    markers = tomllib.loads((ROOT / 'pyproject.toml').read_text())['tool']['pytest']['ini_options']['markers']
    tiers = {marker.split(':')[0] for marker in markers if '(' not in marker.split(':')[0]}
    explained = re.findall(r'^\| `(\w+)` \|', (ROOT / 'CONTRIBUTING.md').read_text(), re.MULTILINE)
    assert tiers == {*explained}


def test_what_holds_a_promise_exists():
    table = (ROOT / 'CONTRIBUTING.md').read_text().split('| promise | held by |')[1].split('\n\n')[0]
    held = re.findall(r'`(tests/[\w./]+)`', table)
    assert len(held) > 10
    assert [path for path in held if not (ROOT / path).exists()] == []


def test_the_image_is_given_all_that_the_wheel_is_built_of():
    kept = {line[1:] for line in (ROOT / '.dockerignore').read_text().splitlines() if line.startswith('!')}
    assert all((ROOT / name).exists() for name in kept)
    assert {'configs', 'openmix_dm', 'setup.py', 'requirements.txt', 'README.md', 'LICENSE'} <= kept

"""A small Hub on 127.0.0.1 that speaks what huggingface_hub asks for: login, repositories, LFS uploads, commits, files.

Written by reading the requests of huggingface_hub 2.4.0; the real Hub was never asked. Xet, its own protocol for large
files, is not spoken: clients have to disable it (HF_HUB_DISABLE_XET=1) and upload by LFS.
"""

import base64
import hashlib
import json
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

WRITER, READER = 'hf_writes', 'hf_reads'  # tokens that it knows
OWNER = 'jane'
REPO = r'(?P<repo>[^/]+/[^/]+)'


@dataclass
class StandIn:
    """What the server holds, and what it was asked."""

    url: str = ''
    repos: dict = field(default_factory=dict)  # OWNER/NAME -> {'private', 'commits': {oid: {path: bytes}}, 'main'}
    large: dict = field(default_factory=dict)  # sha256 -> bytes
    asked: list = field(default_factory=list)  # 'METHOD path'
    broken: int | None = None  # a status that every request gets

    def files(self, repo, revision=None):
        return self.repos[repo]['commits'][revision or self.repos[repo]['main']]

    def commit(self, repo, changes):
        """Change files as somebody does on the web page; None removes one."""
        files = {**self.files(repo), **changes}
        files = {path: content for path, content in files.items() if content is not None}
        number = len(self.repos[repo]['commits'])
        oid = hashlib.sha1(repr((repo, number, sorted(files))).encode()).hexdigest()
        self.repos[repo]['commits'][oid] = files
        self.repos[repo]['main'] = oid
        return oid

    def create(self, repo, private=False):
        oid = hashlib.sha1(repo.encode()).hexdigest()
        first = {
            '.gitattributes': b'*.safetensors filter=lfs diff=lfs merge=lfs -text\n'
        }  # as the Hub's own first commit
        self.repos[repo] = {'private': private, 'commits': {oid: first}, 'main': oid}


class Problem(Exception):
    """An answer that is no success."""

    def __init__(self, status, code='', message='', content=None):
        super().__init__(status, code, message)
        self.status, self.content = status, content or {'error': message}
        self.headers = {'X-Error-Code': code, 'X-Error-Message': message}


def blob_id(content):
    return hashlib.sha1(b'blob %d\0' % len(content) + content).hexdigest()


class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    hub: StandIn

    def log_message(self, *args):
        pass

    def answer(self):
        path = unquote(urlsplit(self.path).path)
        self.body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        self.hub.asked.append(f'{self.command} {path}')
        try:
            if self.hub.broken:
                raise Problem(self.hub.broken)
            for method, pattern, action in ROUTES:
                found = re.fullmatch(pattern, path)
                if found and self.command in method:
                    self.send(200, *action(self, **found.groupdict()))
                    return
            raise Problem(404)
        except Problem as problem:
            self.send(problem.status, problem.content, problem.headers)

    do_GET = do_HEAD = do_POST = do_PUT = answer  # noqa: N815

    def send(self, status, content=b'', headers=None):
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            if value:
                self.send_header(name, str(value))
        self.send_header('Content-Length', str(len(content)))
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(content)

    @property
    def token(self):
        return (self.headers.get('Authorization') or '').removeprefix('Bearer ')

    def must_know(self):
        if self.token not in (WRITER, READER):
            raise Problem(401, message='Invalid credentials in Authorization header')

    def must_write(self, repo):
        self.must_know()
        if self.token != WRITER or repo.split('/')[0] != OWNER:
            raise Problem(403, message=f"You don't have the rights to write to {repo}")

    def repo_of(self, repo):
        found = self.hub.repos.get(repo)
        if found is None or (found['private'] and self.token not in (WRITER, READER)):
            raise Problem(401 if found is None and not self.token else 404, 'RepoNotFound', 'Repository not found')
        return found

    def revision_of(self, repo, revision):
        found = self.repo_of(repo)
        oid = found['main'] if revision in (None, 'main') else revision
        if oid not in found['commits']:
            raise Problem(404, 'RevisionNotFound', f'Invalid rev id: {revision}')
        return oid

    def who(self):
        self.must_know()
        return ({'type': 'user', 'name': OWNER, 'orgs': [], 'auth': {'type': 'access_token'}},)

    def create(self):
        asked = json.loads(self.body)
        repo = f'{asked["organization"] or OWNER}/{asked["name"]}'
        self.must_write(repo)
        url = {'url': f'{self.hub.url}/{repo}', 'name': repo}
        if repo in self.hub.repos:
            raise Problem(409, content={**url, 'error': 'You already created this model repo'})
        self.hub.create(repo, asked.get('visibility') == 'private' or bool(asked.get('private')))
        return (url,)

    def validate(self):
        text = json.loads(self.body)['content']
        if not re.search(r'^license: (apache-2\.0|mit|other)$', text, re.MULTILINE):
            raise Problem(400, content={'errors': [{'message': '"license" must be one of ...'}], 'warnings': []})
        return ({'errors': [], 'warnings': []},)

    def preupload(self, repo, revision):
        self.must_write(repo)
        self.revision_of(repo, revision)
        paths = [file['path'] for file in json.loads(self.body)['files']]
        modes = {path: 'lfs' if path.endswith(('.safetensors', '.png')) else 'regular' for path in paths}
        return ({'files': [{'path': path, 'uploadMode': modes[path], 'shouldIgnore': False} for path in paths]},)

    def batch(self, repo):
        self.must_write(repo)
        wanted = json.loads(self.body)['objects']
        objects = [
            each
            if each['oid'] in self.hub.large
            else {**each, 'actions': {'upload': {'href': f'{self.hub.url}/large/{each["oid"]}'}}}
            for each in wanted
        ]
        return ({'transfer': 'basic', 'objects': objects},)

    def put_large(self, oid):
        if hashlib.sha256(self.body).hexdigest() != oid:
            raise Problem(400, message='the content is not that of its name')
        self.hub.large[oid] = self.body
        return (b'',)

    def commit(self, repo, revision):
        self.must_write(repo)
        self.revision_of(repo, revision)
        changes = {}
        for line in self.body.splitlines():
            entry = json.loads(line)
            value = entry['value']
            if entry['key'] == 'file':
                changes[value['path']] = base64.b64decode(value['content'])
            elif entry['key'] == 'lfsFile':
                changes[value['path']] = self.hub.large[value['oid']]
        oid = self.hub.commit(repo, changes)
        return ({'success': True, 'commitUrl': f'{self.hub.url}/{repo}/commit/{oid}', 'commitOid': oid},)

    def info(self, repo, revision=None):
        oid, private = self.revision_of(repo, revision), self.repo_of(repo)['private']
        siblings = [{'rfilename': path} for path in self.hub.files(repo, oid)]
        return ({'id': repo, 'modelId': repo, 'sha': oid, 'private': private, 'tags': [], 'siblings': siblings},)

    def tree(self, repo, revision):
        files = self.hub.files(repo, self.revision_of(repo, revision))
        return ([self.entry(path, content) for path, content in files.items()],)

    def entry(self, path, content):
        sha = hashlib.sha256(content).hexdigest()
        found = {'type': 'file', 'oid': blob_id(content), 'size': len(content), 'path': path}
        large = {'oid': sha, 'size': len(content), 'pointerSize': 134}
        return {**found, 'lfs': large} if sha in self.hub.large else found

    def resolve(self, repo, revision, path):
        oid = self.revision_of(repo, revision)
        content = self.hub.files(repo, oid).get(path)
        if content is None:
            raise Problem(404, 'EntryNotFound', f'{path} does not exist')
        sha = hashlib.sha256(content).hexdigest()
        large = {'X-Linked-Etag': f'"{sha}"', 'X-Linked-Size': len(content)} if sha in self.hub.large else {}
        return content, {'ETag': f'"{blob_id(content)}"', 'X-Repo-Commit': oid, **large}


ROUTES = [
    (('GET',), '/api/whoami-v2', Handler.who),
    (('POST',), '/api/repos/create', Handler.create),
    (('POST',), '/api/validate-yaml', Handler.validate),
    (('POST',), f'/api/models/{REPO}/preupload/(?P<revision>.+)', Handler.preupload),
    (('POST',), rf'/{REPO}\.git/info/lfs/objects/batch', Handler.batch),
    (('PUT',), '/large/(?P<oid>[0-9a-f]+)', Handler.put_large),
    (('POST',), f'/api/models/{REPO}/commit/(?P<revision>.+)', Handler.commit),
    (('GET',), f'/api/models/{REPO}/tree/(?P<revision>.+)', Handler.tree),
    (('GET',), f'/api/models/{REPO}/revision/(?P<revision>.+)', Handler.info),
    (('GET',), f'/api/models/{REPO}', Handler.info),
    (('HEAD', 'GET'), f'/{REPO}/resolve/(?P<revision>[^/]+)/(?P<path>.+)', Handler.resolve),
]


@contextmanager
def running_hub():
    """Start a Hub without models; it ends with the block."""
    hub = StandIn()
    handler = type('HubHandler', (Handler,), {'hub': hub})
    server = ThreadingHTTPServer(('127.0.0.1', 0), handler)
    server.daemon_threads = True
    hub.url = f'http://127.0.0.1:{server.server_port}'
    thread = threading.Thread(target=server.serve_forever, kwargs={'poll_interval': 0.05}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()


def use_hub(monkeypatch, hub, cache, token=WRITER):
    """Point huggingface_hub, which reads its settings once, to a Hub, a cache and a login of the test."""
    from huggingface_hub import constants

    settings = {
        'ENDPOINT': hub.url,
        'HUGGINGFACE_CO_URL_TEMPLATE': hub.url + '/{repo_id}/resolve/{revision}/{filename}',
        'HF_HUB_CACHE': str(cache),
        'HF_HUB_DISABLE_XET': True,
        'HF_HUB_OFFLINE': False,
        'HF_TOKEN_PATH': str(cache / 'no-token'),
    }
    for name, value in settings.items():
        monkeypatch.setattr(constants, name, value)
    monkeypatch.delenv('HF_TOKEN', raising=False)
    monkeypatch.delenv('HUGGING_FACE_HUB_TOKEN', raising=False)
    if token:
        monkeypatch.setenv('HF_TOKEN', token)

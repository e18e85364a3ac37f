"""A hook of mkdocs: links to files of the repository that are no pages of the site.

Pages are read in two places, on a host of repositories and on the site, and link to files by relative paths, which work
on the host. Here those that leave docs/ lead to the page that shows the file, or to the repository: `extra.repository`
of mkdocs.yml. While no address is written there, they become plain text.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

LOG = get_plugin_logger('links')
LINK = re.compile(r'\[(?P<words>[^\]]*)\]\((?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?\)')
SHOWN = {  # files outside of docs/, and their pages
    'README.md': 'overview.md',
    'configs/README.md': 'config_names.md',
    'CHANGELOG.md': 'changelog.md',
    'CONTRIBUTING.md': 'contributing.md',
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files of the repository that are pages here."""
    root = Path(config.docs_dir).parent
    for name, page in SHOWN.items():
        text = (root / name).read_text(encoding='utf-8')
        moved = rewrite(text, posixpath.dirname(name), config.extra.get('repository'), root)
        files.append(File.generated(config, page, content=moved))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite the links of a page that is in docs/."""
    if page.file.generated_by:
        return markdown
    folder = posixpath.join('docs', posixpath.dirname(page.file.src_uri))
    return rewrite(markdown, folder, config.extra.get('repository'), Path(config.docs_dir).parent)


def rewrite(text: str, folder: str, repository: str | None, root: Path) -> str:
    """Return a text of a folder of the repository with its links as the site needs them.

    Args:
        text: Markdown with links that are relative to the folder.
        folder: where the text is, relative to the root of the repository.
        repository: the address of the repository, None for plain text instead of links to it.
        root: the repository on disk; what is linked to has to be there.
    """

    def replaced(link: re.Match[str]) -> str:
        target, anchor = link['target'], link['anchor'] or ''
        if '://' in target or target.startswith('mailto:'):
            return link[0]
        path = posixpath.normpath(posixpath.join(folder, target))
        inside = path.removeprefix('docs/') if path.startswith('docs/') else SHOWN.get(path)
        if inside is not None:
            here = posixpath.relpath(folder, 'docs') if folder.startswith('docs') else '.'
            return f'[{link["words"]}]({posixpath.relpath(inside, here)}{anchor})'
        if not (root / path).exists():
            LOG.warning("A page of '%s' links to '%s', which is not in the repository.", folder, target)
        kind = 'tree' if (root / path).is_dir() else 'blob'
        if repository:
            return f'[{link["words"]}]({repository}/{kind}/HEAD/{path}{anchor})'
        is_path = re.fullmatch(r'[\w./-]*[_/.][\w./-]*', link['words'])  # its underlines are no emphasis
        return f'`{link["words"]}`' if is_path else link['words']

    return LINK.sub(replaced, text)

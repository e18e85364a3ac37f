"""Package description. Exact pins are in requirements.txt; here are the ranges that are meant to work.

The configs are kept beside the package, where people look for them; the wheel has them inside, as openmix_dm/configs.
"""

import re
import shutil
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
VERSION = re.search(r"__version__ = '(.+)'", (ROOT / 'openmix_dm' / 'version.py').read_text())[1]
EXPORT = ['onnx>=1.16', 'onnxscript>=0.5', 'onnxruntime>=1.18']  # for `export onnx`
TEST = ['pytest>=8', 'pytest-xdist>=3.6', 'hypothesis>=6.100', 'ruff==0.17.4', 'mypy==2.4.1']
NOTEBOOK = ['nbclient>=0.10', 'nbformat>=5.10', 'ipykernel>=6.29']  # the tests run docs/tutorial.ipynb
METRICS = ['torchmetrics>=1.4']  # for TorchMetric
HUGGING_FACE = [
    'datasets>=4.0',
    'pyarrow>=15',
]  # for HuggingFaceImages and `data pack`; older ones run scripts of data sets
LIGHTNING = ['lightning>=2.4']  # for docs/examples/lightning_module.py alone
DOCS = ['mkdocs>=1.6,<2', 'mkdocs-material>=9.6,<10', 'mkdocstrings>=0.28', 'mkdocstrings-python>=1.15']  # for the site
TRACK = ['wandb>=0.17', 'mlflow>=2.15']  # for visualizer backends
BESIDE = ('configs', 'tools', 'tests', 'docs')  # folders of the source distribution that are no part of the package
LOOSE = ('requirements.txt', 'CHANGELOG.md', 'CONTRIBUTING.md', 'CITATION.cff', 'mkdocs.yml')


class BuildWithConfigs(build_py):
    """Put the configs into the package, and what stands beside it into the source distribution."""

    def run(self) -> None:
        """Copy; an editable install finds the configs where they are."""
        super().run()
        if not self.editable_mode:
            shutil.rmtree(self._inside, ignore_errors=True)  # a folder of an earlier build has what is no longer there
            for file, target in self._copies().items():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)

    @property
    def _inside(self) -> Path:
        return Path(self.build_lib) / 'openmix_dm' / 'configs'

    def _copies(self) -> dict[Path, Path]:
        return {file: self._inside / file.relative_to(ROOT / 'configs') for file in kept('configs')}

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """Name what was copied, too."""
        copied = [] if self.editable_mode else [str(target) for target in self._copies().values()]
        return super().get_outputs(include_bytecode) + copied

    def get_source_files(self) -> list[str]:
        """Name all that a source distribution needs: the same wheel is built of it."""
        beside = [str(file.relative_to(ROOT)) for folder in BESIDE for file in kept(folder)]
        return [*super().get_source_files(), *beside, *LOOSE]


def kept(folder: str) -> list[Path]:
    """Return the files of a folder without what Python and editors leave there."""
    files = (file for file in (ROOT / folder).rglob('*') if file.is_file())
    return sorted(
        file
        for file in files
        if not any(part == '__pycache__' or part.startswith('.') for part in file.relative_to(ROOT).parts)
    )


def long_description() -> str:
    """Return the README without what leads nowhere outside of the repository: pictures and relative links."""
    text = re.sub(r'^!\[.*\n\n?', '', (ROOT / 'README.md').read_text(encoding='utf-8'), flags=re.MULTILINE)
    text = re.sub(r'<!--.*?-->\n', '', text)
    return re.sub(r'\[([^\]]+)\]\((?!https?://)[^)]+\)', r'\1', text)


setup(
    name='openmix_dm',
    version=VERSION,
    description='Config-driven training for mixup image classification: the open home of Decoupled Mixup',
    long_description=long_description(),
    long_description_content_type='text/markdown',
    license='Apache-2.0',
    license_files=['LICENSE'],
    keywords=['mixup', 'cutmix', 'decoupled mixup', 'data augmentation', 'image classification', 'pytorch', 'mmengine'],
    classifiers=[
        'Development Status :: 4 - Beta',
        'Environment :: Console',
        'Environment :: GPU :: NVIDIA CUDA',
        'Intended Audience :: Science/Research',
        'Operating System :: POSIX :: Linux',
        'Programming Language :: Python :: 3',
        'Programming Language :: Python :: 3.11',
        'Topic :: Scientific/Engineering :: Artificial Intelligence',
        'Topic :: Scientific/Engineering :: Image Recognition',
        'Typing :: Typed',
    ],
    python_requires='>=3.11',
    packages=find_packages(include=['openmix_dm', 'openmix_dm.*']),
    package_data={
        'openmix_dm': ['py.typed'],
        'openmix_dm.datasets.prepare': ['published.json'],
        'openmix_dm.datasets.splits': ['drawn/*.json'],
        'openmix_dm.paper': ['tables.json'],
    },
    cmdclass={'build_py': BuildWithConfigs},
    entry_points={'console_scripts': ['openmix-dm = openmix_dm.commands.console:main']},
    install_requires=[
        'torch>=2.6',
        'torchvision>=0.21',
        'mmengine>=0.10.7,<0.11',
        'mmcv-lite>=2.2,<3',  # imports as mmcv; nothing here needs its compiled operators
        'timm>=1.0.12,<2',
        'tensorboard>=2.21',  # its command needs pkg_resources before, which setuptools no longer has
        # the first of each that were built for numpy 2
        'scikit-learn>=1.4.2',
        'scipy>=1.13',
        'numpy>=2',
        'matplotlib>=3.8.4',
        'rich>=13',
        'safetensors>=0.4',
        'opencv-python>=4.11',
        'pillow>=10',
        'huggingface_hub>=0.23',
    ],
    extras_require={
        'fast': ['simplejpeg>=1.7'],  # for imdecode_backend='simplejpeg'
        'turbojpeg': ['PyTurboJPEG>=1.7'],  # for imdecode_backend='turbojpeg'; needs the library libturbojpeg
        'test': [*TEST, *NOTEBOOK, *EXPORT, *TRACK, *METRICS, *HUGGING_FACE, *LIGHTNING],
        'export': EXPORT,
        'track': TRACK,
        'metrics': METRICS,
        'hf': HUGGING_FACE,
        'docs': DOCS,
    },
)

"""Package description. Exact pins are in requirements.txt; here are the ranges that are meant to work."""

import re
from pathlib import Path

from setuptools import find_packages, setup

VERSION_FILE = Path(__file__).with_name('openmix_dm') / 'version.py'
VERSION = re.search(r"__version__ = '(.+)'", VERSION_FILE.read_text())[1]
EXPORT = ['onnx>=1.16', 'onnxscript>=0.5', 'onnxruntime>=1.18']  # for tools/export.py onnx
TEST = ['pytest>=8', 'pytest-xdist>=3.6', 'hypothesis>=6.100', 'ruff==0.17.4', 'mypy==2.4.1']
METRICS = ['torchmetrics>=1.4']  # for TorchMetric
HUGGING_FACE = [
    'datasets>=4.0',
    'pyarrow>=15',
]  # for HuggingFaceImages and prepare_data.py pack; older ones run scripts of data sets
TRACK = ['wandb>=0.17', 'mlflow>=2.15']  # for visualizer backends

setup(
    name='openmix_dm',
    version=VERSION,
    description='Config-driven training for mixup image classification: the open home of Decoupled Mixup',
    license='Apache-2.0',
    python_requires='>=3.11',
    packages=find_packages(include=['openmix_dm', 'openmix_dm.*']),
    package_data={'openmix_dm.datasets.splits': ['drawn/*.json'], 'openmix_dm.paper': ['tables.json']},
    install_requires=[
        'torch>=2.6',
        'torchvision>=0.21',
        'mmengine>=0.10.7,<0.11',
        'mmcv-lite>=2.2,<3',  # imports as mmcv; nothing here needs its compiled operators
        'timm>=1.0.12,<2',
        'tensorboard>=2.15',
        'scikit-learn>=1.4',
        'scipy>=1.11',
        'numpy>=2',
        'rich>=13',
        'matplotlib>=3.8',
        'safetensors>=0.4',
        'opencv-python>=4.11',
        'pillow>=10',
        'huggingface_hub>=0.23',
    ],
    extras_require={
        'fast': ['simplejpeg>=1.7'],  # for imdecode_backend='simplejpeg'
        'turbojpeg': ['PyTurboJPEG>=1.7'],  # for imdecode_backend='turbojpeg'; needs the library libturbojpeg
        'test': [*TEST, *EXPORT, *TRACK, *METRICS, *HUGGING_FACE],
        'export': EXPORT,
        'track': TRACK,
        'metrics': METRICS,
        'hf': HUGGING_FACE,
    },
)

# An image with the command `openmix-dm` and all configs inside.
#
#   docker build -t openmix_dm .
#   docker run --rm -v "$PWD:/workspace" --user "$(id -u):$(id -g)" openmix_dm train digits/r8_mixup_dm
#
# Other bases, such as one with CUDA's tools: --build-arg BASE=IMAGE. It has to be of the Debian family; where it has no
# Python, that of its packages is taken, which has to be 3.11 or newer.
# torch: pip takes the build with CUDA, which runs on a CPU, too. For the smaller one of the CPU, or one for another
# CUDA: --build-arg PIP_EXTRA_INDEX_URL=URL, with the index that pytorch.org names.
# Workers hand batches over in shared memory: give them more than docker's 64 MB by --ipc=host or --shm-size=8g.
ARG BASE=python:3.11-slim
FROM ${BASE}

# libgl1 and libglib2.0-0 are what OpenCV is linked to. Their versions are those of the base.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libgl1 libglib2.0-0 \
    && { command -v python3 || apt-get install --yes --no-install-recommends python3 python3-venv; } \
    && rm -rf /var/lib/apt/lists/* \
    && python3 -m venv /venv
ENV PATH=/venv/bin:$PATH

# The packages first: they stay in the cache of the engine while only the source changes.
ARG PIP_EXTRA_INDEX_URL
COPY requirements.txt /openmix_dm/
RUN grep -v '^-e' /openmix_dm/requirements.txt > /openmix_dm/pins.txt \
    && pip install --no-cache-dir -r /openmix_dm/pins.txt
COPY . /openmix_dm
RUN pip install --no-cache-dir --no-deps /openmix_dm

# Data sets are looked for in /workspace/data, runs go to /workspace/work_dirs. Matplotlib and others want a home to write to.
RUN mkdir -m 777 /workspace /home/user && useradd --uid 10001 --home-dir /home/user user
ENV HOME=/home/user
USER 10001
WORKDIR /workspace
ENTRYPOINT ["openmix-dm"]
CMD ["--help"]

# Build the wheel with the browser bundle, then install it for an ordinary user.
#
#   docker build -t triton-explorer .
#   docker run --rm -p 127.0.0.1:8000:8000 -v triton-explorer:/data \
#     --security-opt seccomp=docker/seccomp.json --security-opt systempaths=unconfined \
#     --memory 8g --pids-limit 1024 triton-explorer
#
# The two security options let the sandbox make its own namespaces (SECURITY.md, "Walls"). On a machine with a
# GPU, add `--gpus all`.

FROM python:3.12-slim-bookworm AS build
WORKDIR /source
COPY . .
RUN pip install --no-cache-dir build && python -m build --wheel --outdir /wheels

FROM python:3.12-slim-bookworm
# bubblewrap makes the sandbox; gcc builds the small launcher that Triton needs to run a kernel on a GPU.
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
# Every package has a locked version and a hash. The build of torch from PyPI contains CUDA, and also runs without a
# GPU; --build-arg TORCH_INDEX_URL=… names a different index, without known hashes. A second Triton is installed
# beside the first.
ARG TORCH_INDEX_URL=""
COPY tritons.txt docker/requirements.txt docker/torch-requirements.txt tools/install-torch /tmp/
COPY --from=build /wheels /wheels/
RUN PIP_NO_CACHE_DIR=1 sh /tmp/install-torch pip /tmp/torch-requirements.txt \
    && pip install --no-cache-dir --no-deps --require-hashes -r /tmp/requirements.txt \
    && pip install --no-cache-dir --no-deps /wheels/*.whl && rm -rf /wheels \
    && PIP_NO_CACHE_DIR=1 triton-explorer toolchain add $(cat /tmp/tritons.txt)
RUN useradd --create-home --uid 10001 explorer && install -d -o explorer -g explorer /data
USER explorer
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT ["triton-explorer", "serve", "--host", "0.0.0.0", "--port", "8000", "--data-dir", "/data"]

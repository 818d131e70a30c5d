# One file for every service: docker build -f infra/docker/python.Dockerfile --build-arg SERVICE=retrieval .
ARG PYTHON_IMAGE=python:3.11-slim

FROM ${PYTHON_IMAGE} AS builder
ARG SERVICE
# The lock of the image, if it is not the service's own (ingestion-worker).
ARG LOCK=${SERVICE}
# The libraries of the workspace that the service depends on.
ARG LIBS="contracts service-kit"
# 1: the ingestion worker also has Docling's own models for PDF files (PDF_ENGINE=docling; about 1.5 GB more). They are
# in no lock: torch comes from PyTorch's index for CPUs. Packages that are also in the lock keep their versions, except
# huggingface-hub, of which an older one is needed.
ARG INSTALL_TORCH=0
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
WORKDIR /build
RUN ["pip", "install", "--no-cache-dir", "uv==0.13.9"]
COPY requirements/${LOCK}.txt requirements.txt
RUN uv venv /venv && VIRTUAL_ENV=/venv uv pip sync --no-cache --compile-bytecode --require-hashes requirements.txt
COPY services/${SERVICE}/pyproject.toml extras/pyproject.toml
RUN if [ "${INSTALL_TORCH}" = 1 ]; then \
      sed -n '/^huggingface-hub/d; s/^\([a-z0-9].*[^ \\]\) *\\$/\1/p' requirements.txt > pins.txt \
      && sed -n 's/^torch = \["\(.*\)"\]$/\1/p' extras/pyproject.toml > torch.txt \
      && printf "opencv-python ; python_version < '0'\n" > overrides.txt \
      && VIRTUAL_ENV=/venv uv pip install --no-cache --index "${TORCH_INDEX}" --index-strategy unsafe-best-match \
         --constraints pins.txt --overrides overrides.txt torch torchvision -r torch.txt; \
    fi
COPY libs libs
COPY services/${SERVICE} services/${SERVICE}
RUN for lib in ${LIBS}; do set -- "$@" "libs/$lib"; done \
 && for path in "$@" "services/${SERVICE}"; do VIRTUAL_ENV=/venv uv pip install --no-cache --no-deps --no-sources --compile-bytecode "./$path" || exit 1; done
# 1: the gateway has the web UI, built by Node.js from a wheel; without the npm registry its front page says that it is absent.
ARG INSTALL_WEB_UI=0
COPY services/web services/web
RUN if [ "${INSTALL_WEB_UI}" = 1 ]; then \
      NODE_USE_SYSTEM_CA=1 VIRTUAL_ENV=/venv uv pip install --no-cache --no-deps ./services/web \
      || echo "The web UI could not be built: the front page will say so."; \
    fi

FROM ${PYTHON_IMAGE}
# 1: the ingestion worker also reads .doc, .ppt and .rtf, by LibreOffice (about 330 MB; Debian-based images).
ARG INSTALL_LIBREOFFICE=0
# hadolint ignore=DL3008
RUN if [ "${INSTALL_LIBREOFFICE}" = 1 ]; then \
      apt-get update \
      && apt-get install -y --no-install-recommends libreoffice-calc-nogui libreoffice-impress-nogui libreoffice-writer-nogui \
      && rm -rf /var/lib/apt/lists/*; \
    fi
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 HOST=0.0.0.0 HOME=/tmp
COPY --from=builder /venv /venv
COPY infra/docker/healthy /usr/local/bin/healthy
# Volumes in Compose: disk space for uploads and conversions, and the converter's socket.
RUN install -d -o 10001 -g 10001 -m 700 /spool /run/converter
USER 10001:10001
WORKDIR /tmp
# Ends it when it is asked to, while it still imports too.
ENTRYPOINT ["python", "-m", "service_kit"]

# The container `backup`: PostgreSQL's own image, so that its tools are those of the server, and Python.
# docker build -f infra/docker/backup.Dockerfile --build-arg POSTGRES_IMAGE=pgvector/pgvector:pg18 .
ARG POSTGRES_IMAGE=pgvector/pgvector:pg18

FROM ${POSTGRES_IMAGE} AS builder
WORKDIR /build
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 python3-venv \
 && rm -rf /var/lib/apt/lists/*
RUN python3 -m venv /uv && /uv/bin/pip install --no-cache-dir uv==0.13.9
COPY requirements/backup.txt requirements.txt
RUN /uv/bin/uv venv --python /usr/bin/python3 /venv \
 && VIRTUAL_ENV=/venv /uv/bin/uv pip sync --no-cache --compile-bytecode --require-hashes requirements.txt
COPY libs libs
COPY services services
# Of the services it needs the names of their migrations, by which it refuses a backup of a newer version.
RUN VIRTUAL_ENV=/venv /uv/bin/uv pip install --no-cache --no-deps --no-sources --compile-bytecode \
    ./libs/contracts ./libs/service-kit ./libs/backup ./services/gateway ./services/orchestrator ./services/ingestion \
    ./services/retrieval ./services/knowledge-graph ./services/memory

FROM ${POSTGRES_IMAGE}
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 \
 && rm -rf /var/lib/apt/lists/*
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 HOME=/tmp
COPY --from=builder /venv /venv
RUN install -d -o postgres -g postgres -m 700 /backups
# hadolint ignore=DL3066
USER postgres
WORKDIR /tmp
ENTRYPOINT ["python", "-m", "service_kit", "backup"]
CMD ["serve"]

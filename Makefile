# Everything here needs only Python 3.11+, unless it says that it needs Docker.
PYTHON ?= python3
VENV := .venv/bin
BOOTSTRAP := $(PYTHON) infra/embedded/bootstrap.py
ENGINES ?= embedded
# Parallel test processes, each with its own engines: tests wait more than they compute.
JOBS ?= 3
# The longest first, so that no process is left alone with them at the end.
LONGEST := $(addprefix tests/faults/test_,replicated_stack.py engines_killed.py runs_killed.py hostile_files.py)
FAULTS := $(LONGEST) $(filter-out $(LONGEST),$(wildcard tests/faults/test_*.py)) tests/upgrade \
	tests/e2e/test_forgetting.py # which opens the engines of its stack, unlike a stack that runs elsewhere
# Tests start hundreds of processes, each of which would recompile its imports without bytecode on disk.
unexport PYTHONDONTWRITEBYTECODE

help: ## list these commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

run: ## start Attractor on embedded engines, ingest the examples, ask a question
	@$(BOOTSTRAP) run

stop: ## stop what `make run` started
	@$(BOOTSTRAP) stop

reset: ## stop and delete all data of `make run`
	@$(BOOTSTRAP) reset

backup: ## back up the data of `make run`, running or stopped, into .data-backups (BACKUP_FOLDER)
	@$(BOOTSTRAP) backup

restore: ## restore a backup and start; TO="2026-11-20 14:03" restores that moment, otherwise the latest state
	@$(BOOTSTRAP) restore $(if $(TO),--to "$(TO)")

setup: ## create the development environment
	@$(BOOTSTRAP) setup --dev

test: setup ## unit, integration and contract tests; ENGINES=containers runs them on the public images (needs Docker)
	@ENGINES=$(ENGINES) $(VENV)/pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder $(ARGS)

faults: setup ## kill -9 under load: nothing is lost, stuck or duplicated; an upgrade in place keeps all data
	@env -u ATTRACTOR_URL $(VENV)/pytest -n 2 --dist loadfile --no-loadscope-reorder $(FAULTS) $(ARGS)

cluster: setup ## the chart on the cluster of KUBECONFIG, which is changed: ATTRACTOR_CLUSTER=node (this machine, with images) or api
	@$(VENV)/pytest tests/cluster $(ARGS)

e2e: setup ## the end-to-end tests, against a running stack: ATTRACTOR_URL and ATTRACTOR_API_KEY
	@$(VENV)/pytest -n 2 --dist loadfile --no-loadscope-reorder tests/e2e $(ARGS)

web-test: setup ## check the web UI and test it in a browser (Chromium), against a stack of its own
	@PYTHONPATH=tests $(VENV)/python -m web_ui.run

bench: setup ## the project's figures, as a table
	@PYTHONPATH=tests $(VENV)/python -m benchmarks.run $(ARGS)

figures-code: ## figures of the code: lines, floors, circles, names; ARGS="CHECKOUT ..." compares checkouts
	@$(PYTHON) tests/code_figures.py $(ARGS)

check: setup ## lint, types, import contracts, locks, licences, secrets, Compose, Dockerfile, documentation site
	@$(VENV)/ruff check .
	@$(VENV)/ruff format --check .
	@$(VENV)/mypy
	@$(VENV)/lint-imports
	@$(VENV)/check-jsonschema --builtin-schema vendor.compose-spec compose.yaml
	@$(VENV)/check-jsonschema --schemafile infra/grafana/dashboard.schema.json infra/grafana/dashboards/*.json
	@$(VENV)/hadolint infra/docker/python.Dockerfile infra/docker/backup.Dockerfile
	@PYTHONPATH=tests $(VENV)/python -m security.lint_patterns
	@requirements/refresh --check
	@$(VENV)/python infra/release/dependencies.py licences >/dev/null
	@git ls-files -z | xargs -0 $(VENV)/kingfisher scan --no-validate --no-update-check --git-history none --quiet
	@$(VENV)/python infra/site/build.py

contracts: setup ## write the OpenAPI and AsyncAPI documents and the reference pages
	@PYTHONPATH=tests $(VENV)/python -m contract.generate

site: setup ## build the documentation site in build/site; fails on a broken link
	@$(VENV)/python infra/site/build.py

locks: setup ## compile the locks; ARGS=--upgrade takes newer versions
	@requirements/refresh $(ARGS)

sbom: setup ## write a CycloneDX document for each image and for the embedded stack; ARGS=--images adds Debian packages
	@$(VENV)/python infra/release/dependencies.py sbom $(ARGS)

audit: setup ## check the locks against the database of known vulnerabilities (needs the internet)
	@for lock in requirements/*.txt; do \
	  $(VENV)/pip-audit --strict --disable-pip --require-hashes --progress-spinner off -r $$lock || exit 1; \
	done

version: ## print the version; NEW=0.2.0 sets it in every package and in the changelog
	@$(PYTHON) infra/release/set_version.py $(NEW)

env: ## write .env for Compose, with fresh secrets
	@$(PYTHON) infra/docker/new_env.py

pin: ## pin Compose's images to digests in .env (needs Docker and a registry)
	@$(PYTHON) infra/docker/pin_images.py

up: env ## start the Compose stack (needs Docker)
	docker compose up --build --wait

.DEFAULT_GOAL := help
.PHONY: help run stop reset backup restore setup test faults cluster e2e web-test bench figures-code check contracts site locks sbom audit version env pin up

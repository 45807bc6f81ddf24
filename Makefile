# The only commands a newcomer needs: `make run` and `make test`. Each sets up what it needs by itself.

PYTHON ?= python3
PORT ?= 8000
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check --quiet
WORKERS ?= 2
ONLY ?= all
DIR ?= var/sheet
OF_JOBS := -m "deep or not deep" tests/memories/jobs tests/faults/test_worker_kills.py

# Where it is forbidden to keep what was compiled, each of the many processes that tests start compiles all anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test test-deep test-brokers lint format bench sheet clean

run: $(VENV)/.runtime
	exec $(BIN)/python manage.py serve --demo --port $(PORT)

test: $(VENV)/.development
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(PYTEST_ARGS)

test-deep: $(VENV)/.development
	$(BIN)/python -m pytest -n $(WORKERS) -m deep $(PYTEST_ARGS)
	HYPOTHESIS_PROFILE=deep $(BIN)/python -m pytest -n $(WORKERS) tests/engine tests/attacks \
		tests/teams/versioned_text/test_merging.py tests/teams/versioned_text/test_many_editors.py tests/config/http/test_openapi_contract.py \
		tests/faults/test_connections.py tests/memories/embeddings/test_splitting.py \
		tests/assembly/why_not/test_fix_search.py tests/assembly/records/test_replay.py \
		tests/assembly/profiles/test_parser.py tests/assembly/comparison/test_diff_sentences.py \
		tests/assembly/contract/test_round_trip.py tests/assembly/conflicts/detection/test_comparison.py \
		tests/assembly/conflicts/detection/test_inference.py $(PYTEST_ARGS)
	$(MAKE) test-brokers

# Debian's pgbouncer, redis-server and rabbitmq-server must be there: without one, it fails.
test-brokers: $(VENV)/.development
	$(BIN)/python -m pytest -n $(WORKERS) -p tests.scaling.through_pgbouncer tests/memories/search tests/memories/jobs \
		tests/assembly/pipeline tests/assembly/contexts $(PYTEST_ARGS)
	$(BIN)/python -m pytest -p tests.scaling.through_broker --broker redis $(OF_JOBS) $(PYTEST_ARGS)
	$(BIN)/python -m pytest -p tests.scaling.through_broker --broker rabbitmq $(OF_JOBS) $(PYTEST_ARGS)

lint: $(VENV)/.development
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy .
	$(BIN)/djangofmt --check --quiet templates
	$(BIN)/python -m tests.web_style --check

format: $(VENV)/.development
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/djangofmt --quiet templates
	$(BIN)/python -m tests.web_style

bench: $(VENV)/.development
	$(BIN)/python -m tests.benchmarks $(ONLY)

sheet: $(VENV)/.development
	$(BIN)/python -m tests.browser.contact_sheet $(DIR)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# Hashes in the lock files see to it that two installations get the same bytes.
$(VENV)/.runtime: requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --require-hashes -r requirements.lock
	touch $@

$(VENV)/.development: requirements-dev.lock $(VENV)/.runtime
	$(PIP) install --require-hashes -r requirements-dev.lock
	touch $@

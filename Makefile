# Two commands for a fresh machine with Python >= 3.11, a C++20 compiler and make:
#   make demo    set up what it needs and print certified equations from the bundled data
#   make test    set up everything and check everything: lint, format, types, documentation, C++ tests, Python tests
# and one for contributors:
#   make check   the same with the thread sanitizer, the long campaigns and the oldest supported NumPy and SciPy
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-compile
NATIVE := $(shell find cpp bindings -name '*.[ch]pp') CMakeLists.txt pyproject.toml
CMAKE := $(BIN)/cmake -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja -DEXACTSINDY_TESTS=ON

.PHONY: demo test check lint format types stub docs cpp cpp-address cpp-thread cpp-long kernels pytest campaign oldest bench reproduce \
  torture torture-solver torture-files examples clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# What the demonstration needs: the package and its report.
$(VENV)/.demo: $(NATIVE) | $(BIN)/python
	$(PIP) -e '.[report]'
	@touch $@

# Everything else: all extras, the experiments, the proof checker, linters and the documentation.
$(VENV)/.dev: $(VENV)/.demo experiments/pyproject.toml checker/pyproject.toml
	$(PIP) -e '.[dev]' -e ./experiments -e ./checker
	@touch $@

demo: $(VENV)/.demo
	@$(BIN)/exactsindy demo

test: lint types docs cpp-address pytest

check: test cpp-thread cpp-long campaign oldest

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $$(git ls-files '*.cpp' '*.hpp')

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $$(git ls-files '*.cpp' '*.hpp')

types: $(VENV)/.dev
	$(BIN)/mypy

# What type checkers read about the native module, generated from it (tests/test_native_stub.py compares).
stub: $(VENV)/.dev
	$(BIN)/python -m nanobind.stubgen -q -m exactsindy._native -o src/exactsindy/_native.pyi

# The documentation, warnings as errors; `make examples` writes into the pages what their examples print.
docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict

examples: $(VENV)/.dev
	$(BIN)/python tests/doc_examples.py

# The C++ tests under sanitizers.
cpp: cpp-address cpp-thread

cpp-address: SANITIZE := address,undefined
cpp-thread: SANITIZE := thread
cpp-address cpp-thread: $(VENV)/.dev
	@$(CMAKE) -S . -B build/$@ -DEXACTSINDY_SANITIZE=$(SANITIZE) -DCMAKE_BUILD_TYPE=RelWithDebInfo > /dev/null
	@$(BIN)/cmake --build build/$@
	@$(BIN)/ctest --test-dir build/$@ --output-on-failure

# All repetitions of the C++ tests, of which sanitized builds run a quarter.
cpp-long: cpp-address
	@EXACTSINDY_LONG=1 $(BIN)/ctest --test-dir build/cpp-address --output-on-failure

# How fast the hot loops run on this machine (docs/performance.md).
kernels: $(VENV)/.dev
	@$(CMAKE) -S . -B build/cpp-release -DCMAKE_BUILD_TYPE=Release > /dev/null
	@$(BIN)/cmake --build build/cpp-release --target kernel_times > /dev/null
	@build/cpp-release/kernel_times

# One process of tests for each core; tests that need a process of their own start it themselves.
pytest: $(VENV)/.dev
	$(BIN)/python -m pytest -q -m "not campaign" --numprocesses auto --dist worksteal --durations=20

campaign: $(VENV)/.dev
	$(BIN)/python -m pytest -q -m campaign --numprocesses auto --dist worksteal

# The package's own tests with the oldest versions of NumPy and SciPy that pyproject.toml allows.
oldest: $(NATIVE) | $(BIN)/python
	$(PYTHON) -m venv build/oldest
	build/oldest/bin/python -m pip --disable-pip-version-check install --quiet -c tests/oldest.txt '.[data,sympy]' pytest hypothesis
	build/oldest/bin/python -m pytest -q -m "not campaign" -p no:cacheprovider tests/problem tests/library tests/forms \
	  tests/selection tests/constraints tests/solver/test_api.py

# The solver against its peers, and a small part of each of the paper's experiments (experiments/README.md has the rest).
bench: $(VENV)/.dev
	$(BIN)/exactsindy bench solver --out build/benchmark

# Campaigns that try to break it; the solver's: hostile problems against the exact value of every support.
torture: torture-solver torture-files

torture-solver: $(VENV)/.dev
	$(BIN)/exactsindy bench torture --instances 20000

# Readers of files and text against random damage, and writers that are killed.
FUZZ_SECONDS ?= 60
torture-files: $(VENV)/.dev
	$(BIN)/python tests/fuzz_files.py --seconds $(FUZZ_SECONDS)
	$(BIN)/python tests/fuzz_files.py --seconds $(FUZZ_SECONDS) --only "term,open term,constraint,condition"
	$(BIN)/python tests/fuzz_files.py --seconds $(FUZZ_SECONDS) --only "proof,sealed proof,checkpoint,sealed checkpoint"
	$(BIN)/exactsindy bench faults --kills 200

reproduce: $(VENV)/.dev
	$(BIN)/exactsindy reproduce all --quick --store build/paper.csv

clean:
	rm -rf build $(VENV) .pytest_cache .mypy_cache .ruff_cache

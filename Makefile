# Two commands for a fresh machine with Python >= 3.11, a C++20 compiler and make:
#   make demo    set up and print certified equations from the bundled data
#   make test    set up and run the tests
# and one for contributors:
#   make check   lint, format, types, C++ tests under sanitizers, long campaigns
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find cpp bindings -name '*.[ch]pp') CMakeLists.txt pyproject.toml

.PHONY: demo test check lint format types cpp kernels campaign bench docs examples clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed: $(SOURCES) | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e '.[test]' -e ./experiments
	@touch $@

$(VENV)/.dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	@touch $@

demo: $(VENV)/.installed
	@$(BIN)/exactsindy demo

test: $(VENV)/.installed
	$(BIN)/python -m pytest -q -m "not campaign"

check: lint types cpp test campaign docs

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

cpp: $(VENV)/.dev
	@for sanitizer in address,undefined thread; do \
	  $(BIN)/cmake -S . -B build/cpp-$${sanitizer%%,*} -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja \
	    -DEXACTSINDY_TESTS=ON -DEXACTSINDY_SANITIZE=$$sanitizer -DCMAKE_BUILD_TYPE=RelWithDebInfo > /dev/null && \
	  $(BIN)/cmake --build build/cpp-$${sanitizer%%,*} && \
	  $(BIN)/ctest --test-dir build/cpp-$${sanitizer%%,*} --output-on-failure || exit 1; \
	done

# How fast the hot loops run on this machine (docs/performance.md).
kernels: $(VENV)/.dev
	@$(BIN)/cmake -S . -B build/cpp-release -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja \
	  -DEXACTSINDY_TESTS=ON -DCMAKE_BUILD_TYPE=Release > /dev/null
	@$(BIN)/cmake --build build/cpp-release --target kernel_times > /dev/null
	@build/cpp-release/kernel_times

campaign: $(VENV)/.installed
	$(BIN)/python -m pytest -q -m campaign

bench: $(VENV)/.installed
	$(BIN)/python experiments/benchmarks/solver.py

# The documentation, warnings as errors; `make examples` writes into the pages what their examples print.
$(VENV)/.docs: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet -e '.[docs]'
	@touch $@

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

examples: $(VENV)/.installed
	$(BIN)/python tests/doc_examples.py

clean:
	rm -rf build $(VENV) .pytest_cache .mypy_cache .ruff_cache

# Two commands matter: `make demo` and `make test`. Each does all its own set-up in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo smollm2 test test-slow test-all docs web browser conformance fuzz soak lint check-wheel proto clean

$(STAMP): requirements/dev.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet -r requirements/dev.txt
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

demo: $(STAMP)
	$(BIN)/python -m examples.silero_vad.demo

smollm2: $(STAMP)
	$(BIN)/python -m examples.smollm2.demo

test: $(STAMP) browser
	$(BIN)/python -m pytest -n 2 -m "not slow"

test-slow: $(STAMP) browser
	$(BIN)/python -m pytest -n 2 -m slow

test-all: test test-slow

# The report is tested in Debian's Chromium, which is installed where that is possible.
browser:
	tests/report/install-chromium

# The report's page, from its sources into src/pteron/report/assets. It wants Node.js.
web: web/node_modules
	cd web && npm run --silent build

web/node_modules: web/package.json web/package-lock.json
	cd web && npm ci --silent --no-audit --no-fund
	touch $@

# The site, in build/docs/html. Its notebooks are run, which needs the demo's data.
docs: $(STAMP)
	$(BIN)/python -m sphinx -b html -q -W --keep-going -d build/docs/doctrees docs build/docs/html

# coremltools' own tests of its MIL ops, predicting here; hours long. CASES=3 runs that many cases
# of every test, TESTS picks one of its modules.
CASES ?= 0
TESTS ?= coremltools.converters.mil.mil.ops.tests

conformance: $(STAMP)
	RUN_BACKWARD_COMPATIBILITY=1 $(BIN)/python -m pytest -c /dev/null --rootdir build -p no:cacheprovider \
		-p tests.conformance.coremltools_on_pteron --pyargs $(TESTS) --cases $(CASES) -q --tb=line

fuzz: $(STAMP)
	$(BIN)/python -m tests.fuzz

soak: $(STAMP)
	$(BIN)/python -m tests.cache.crash --kills 5000

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# grpcio-tools 1.73.1 writes code for protobuf 6.31.0, the oldest runtime we allow; a newer one
# would shut that out. It wants an older protobuf than the tests use, so it gets its own place.
PROTO_VENV := build/proto-venv
PROTO_DIR := src/pteron/payloads/coreml/proto

proto:
	$(PYTHON) -m venv $(PROTO_VENV)
	$(PROTO_VENV)/bin/pip install --quiet grpcio-tools==1.73.1
	$(PROTO_VENV)/bin/python -m grpc_tools.protoc -I src --python_out=src --pyi_out=src $(PROTO_DIR)/*.proto

check-wheel: $(STAMP)
	.ci/check-wheel

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Every target sets up .venv by itself; only python3 (3.11 or later), make and Java 17 or later are needed.
# SPARK=4.1 and PYTHON=python3.13 have environments of their own beside .venv: .venv-spark-4.1, .venv-python3.13.
PYTHON ?= python3
NEWEST := 4.3
OTHER_SPARK := $(filter-out $(NEWEST),$(SPARK))
OTHER_PYTHON := $(filter-out python3,$(PYTHON))
ENV := .venv$(if $(OTHER_SPARK),-spark-$(OTHER_SPARK))$(if $(OTHER_PYTHON),-$(notdir $(OTHER_PYTHON)))
BIN := $(ENV)/bin
READY := $(ENV)/.ready
WORKERS ?= 2

.PHONY: demo test smoke versions check format bench clean java

demo: $(READY) java
	$(BIN)/muntin demo

# After make check, CHECKED=1 leaves out the tests that it has run.
test: $(READY) java
	$(BIN)/pytest -n $(WORKERS) --dist worksteal $(if $(CHECKED),-m "slow or spark") $(if $(RECORD),--record suite)

# One file of tests each for batch, rolling windows and streams: what runs on every supported version.
smoke: $(READY) java
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m smoke $(if $(RECORD),--record smoke) $$(grep -l mark.smoke tests/spark/*.py)

# All supported versions of Spark, and of Python as far as they are installed; about three minutes each, the first time.
versions:
	failed=; \
	for spark in 4.0 4.1 4.2 4.3; do $(MAKE) smoke RECORD=1 SPARK=$$spark || failed=1; done; \
	for python in python3.12 python3.13; do \
	  if tools/python $$python > /dev/null; then $(MAKE) smoke RECORD=1 PYTHON=$$python || failed=1; fi; done; \
	.venv/bin/python -m tests.versions; \
	test -z "$$failed"

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n $(WORKERS) -m "not slow and not spark" --hypothesis-profile quick

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY) java
	$(BIN)/muntin bench model
	$(BIN)/muntin bench quality
	$(BIN)/muntin bench planning
	$(BIN)/muntin bench kernels
	$(BIN)/muntin bench cutty
	$(BIN)/muntin bench weave
	$(BIN)/muntin bench woven
	$(BIN)/muntin bench subsume
	for experiment in paper-1m paper-10m fine peers growth shapes transfer frames holistic; do $(BIN)/muntin bench batch $$experiment; done
	for experiment in keyed mixed; do $(BIN)/muntin bench batch $$experiment --rounds 5; done
	$(BIN)/muntin bench rolling
	$(BIN)/muntin bench join
	$(BIN)/muntin bench queries
	$(BIN)/muntin bench stream
	if tools/flink; then $(BIN)/muntin bench stream flink; fi
	$(BIN)/muntin bench distinct-stream
	$(BIN)/muntin bench soak
	$(BIN)/muntin bench calibrate
	$(BIN)/muntin bench report

# Spark needs Java 17 or later. Debian as root can install it; elsewhere we say how to get it.
java:
	@tools/java

clean:
	rm -rf .venv .venv-* build dist

$(READY): pyproject.toml benchmarks/pyproject.toml constraints.txt tools/constraints
	@$$(tools/python $(PYTHON)) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Muntin needs Python 3.11 or later, and $(PYTHON) is older or missing. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$$(tools/python $(PYTHON)) -m venv $(ENV) || { \
	  echo "python3 cannot make a virtual environment. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	@echo "Setting up $(ENV) (once, about a minute) ..."
	@tools/constraints $(OTHER_SPARK) > $(ENV)/constraints.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint $(ENV)/constraints.txt --editable '.[dev]' --editable benchmarks
	@touch $@

include tools/lakehouse.mk
include tools/kafka.mk
include tools/docs.mk

# Every target sets up .venv by itself; only python3 (3.11 or later), make and Java 17 or later are needed.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
WORKERS ?= 2

.PHONY: demo test check format bench clean java

demo: $(READY) java
	$(BIN)/muntin demo

# After make check, CHECKED=1 leaves out the tests that it has run.
test: $(READY) java
	$(BIN)/pytest -n $(WORKERS) --dist worksteal $(if $(CHECKED),-m "slow or spark")

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
	for experiment in paper-1m paper-10m keyed mixed fine peers growth shapes transfer frames; do $(BIN)/muntin bench batch $$experiment; done
	$(BIN)/muntin bench rolling
	$(BIN)/muntin bench join
	$(BIN)/muntin bench queries
	$(BIN)/muntin bench stream
	$(BIN)/muntin bench distinct-stream
	$(BIN)/muntin bench soak
	$(BIN)/muntin bench calibrate
	$(BIN)/muntin bench report

# Spark needs Java 17 or later. Debian as root can install it; elsewhere we say how to get it.
java:
	@tools/java

clean:
	rm -rf .venv build dist

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Muntin needs Python 3.11 or later, and $(PYTHON) is older. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv .venv || { \
	  echo "python3 cannot make a virtual environment. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	@echo "Setting up .venv (once, about a minute) ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

include tools/docs.mk

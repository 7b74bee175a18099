# Every target sets up .venv by itself; only python3 (3.11 or later) and make are needed.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
WORKERS ?= 2

.PHONY: demo test check format bench clean

demo: $(READY)
	@echo '$$ muntin plan "20 minutes, 30 minutes, 40 minutes" --aggregate min --algorithm independent'
	@$(BIN)/muntin plan "20 minutes, 30 minutes, 40 minutes" --aggregate min --algorithm independent
	@echo
	@echo '$$ muntin plan "20 minutes, 30 minutes, 40 minutes" --aggregate min'
	@$(BIN)/muntin plan "20 minutes, 30 minutes, 40 minutes" --aggregate min
	@echo
	@echo '$$ muntin plan "1 min, 5 min, 15 min, 1 hour/5 min, 6 hours/15 min, 1 day/1 hour, 7 days/1 hour, 30 days/1 day" -a sum -a count -a max --rate 100/s'
	@$(BIN)/muntin plan "1 min, 5 min, 15 min, 1 hour/5 min, 6 hours/15 min, 1 day/1 hour, 7 days/1 hour, 30 days/1 day" -a sum -a count -a max --rate 100/s

test: $(READY)
	$(BIN)/pytest -n $(WORKERS)

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n $(WORKERS) -m "not slow and not spark" --hypothesis-profile quick

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY)
	$(BIN)/muntin bench model
	$(BIN)/muntin bench quality
	$(BIN)/muntin bench planning
	$(BIN)/muntin bench report

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

# make docs builds the documentation into site/ and fails on any warning: a broken link, a page without a place.
.PHONY: docs pictures

DOCS := .venv/.docs

docs: $(DOCS)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@$(BIN)/python tools/offline.py site
	@echo "Open site/index.html"

# Draw docs/pictures/windows anew.
pictures: $(READY)
	@$(BIN)/python -m tools.pictures

$(DOCS): $(READY)
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[docs]'
	@touch $@

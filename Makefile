# Two commands on a fresh machine: `make run` and `make test`. `make run` works in the folder
# `agreement-demo`, and `make ui` opens the Dagster UI on it.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The lowest versions of what the package needs, for the Python that all of them have wheels for.
LOWEST_PYTHON ?= python3.11
LOWEST := .venv-lowest
LABEL_STUDIO := .venv-label-studio
LABEL_STUDIO_SERVER := .venv-label-studio-server
ARGILLA := .venv-argilla
PPI := .venv-ppi
# A recipe of the guide runs in the environment of the program that it is for.
RECIPES := dvc prefect airflow dbt
# Some tests wait for other processes, so there are two workers more than cores. They take the files
# in the order of `tests/conftest.py`: the slow ones first.
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 2)))
export DAGSTER_HOME := $(CURDIR)/.agreement/dagster
export AGREEMENT_ROOT := $(CURDIR)
export DAGSTER_DISABLE_TELEMETRY := 1
# Modules are compiled when they are first imported. Some machines forbid to keep the result.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run ui test tests test-lowest lint types definitions docs pages pictures notebook \
  round-trips label-studio vectors recipes deployment benchmarks format clean

run: $(VENV)/.runs
	@$(BIN)/agreement-pipeline demo

ui: $(VENV)/.runs
	-@$(BIN)/agreement-pipeline demo > /dev/null
	$(BIN)/agreement-pipeline ui --root agreement-demo

test: lint types definitions tests

tests: $(VENV)/.installed
	$(BIN)/pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder

test-lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/pytest -m "not slow" --numprocesses $(WORKERS) --dist loadfile \
	  --ignore tests/report/test_browser.py --ignore tests/projects/test_settings.py

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy

definitions: $(VENV)/.installed
	@mkdir -p $(DAGSTER_HOME) $(addprefix .agreement/inbox/,moderation entities cells)
	$(BIN)/dg check defs

docs: $(VENV)/.installed
	$(BIN)/python -m tools.pages.measures_page --check docs/measures.md
	$(BIN)/python -m tools.pages.reasons_page --check docs/reasons.md
	$(BIN)/python -m tools.pages.degenerate_page --check docs/proofs/degenerate-inputs.md
	$(BIN)/python -m tools.pages.reproduction_page --check docs/proofs/reproduction.md

pages: $(VENV)/.installed
	$(BIN)/python -m tools.pages.measures_page docs/measures.md
	$(BIN)/python -m tools.pages.reasons_page docs/reasons.md
	$(BIN)/python -m tools.pages.degenerate_page docs/proofs/degenerate-inputs.md
	$(BIN)/python -m tools.pages.reproduction_page docs/proofs/reproduction.md

# The pictures of the docs, from a demo of their own. Chromium must be installed.
pictures: $(VENV)/.installed
	$(BIN)/python -m tools.pictures docs/images

notebook: $(VENV)/.installed
	$(BIN)/python -m tools.notebook docs/notebook.ipynb

# The exports that the packages of two labelling tools write, for the tests of the readers. Each
# package has an environment of its own.
round-trips: $(LABEL_STUDIO)/.installed $(ARGILLA)/.installed
	$(LABEL_STUDIO)/bin/python -m tools.round_trips.label_studio tests/readers/exports/label_studio
	PYTHONHASHSEED=0 $(ARGILLA)/bin/python -m tools.round_trips.argilla_client \
	  tests/readers/exports/argilla

# What a server of Label Studio answers, for the tests of rounds that lie on one.
label-studio: $(VENV)/.installed $(LABEL_STUDIO_SERVER)/.installed
	$(BIN)/python -m tools.record_label_studio $(LABEL_STUDIO_SERVER)/bin/label-studio

# What the package of the authors of PPI++ computes, for the tests of corrected shares.
vectors: $(PPI)/.installed
	$(PPI)/bin/python -m tools.vectors.prediction_powered tests/models/ppi_python.json

recipes: $(addprefix recipe-,$(RECIPES))

recipe-%: $(VENV)/.installed .venv-%/.installed
	$(BIN)/python -m tools.recipes $* .venv-$*/bin

# A code location has the package and dbt in one environment.
recipe-dbt: .venv-dbt/.installed
	.venv-dbt/bin/python -m tools.recipe_dbt

deployment: $(VENV)/.installed
	$(BIN)/python -m tests.deployment.thirty > thirty-rounds.md
	mv thirty-rounds.md docs/proofs/thirty-rounds.md

benchmarks: $(VENV)/.installed
	$(BIN)/python -m benchmarks

format: $(VENV)/.installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) $(addprefix .venv-,$(RECIPES)) $(LOWEST) $(LABEL_STUDIO) $(LABEL_STUDIO_SERVER) \
	  $(ARGILLA) $(PPI) .agreement agreement-demo

INSTALL := -m pip install --quiet --disable-pip-version-check
PIP := $(BIN)/python $(INSTALL) --constraint constraints.txt --editable

# Of the two environments, the one for tests holds the other. Each is one installation, since an
# installer takes long to find out what is already there.
$(VENV)/.runs: pyproject.toml constraints.txt
	@echo "make: making an environment in $(VENV), once" >&2
	@$(PYTHON) -m venv $(VENV)
	@echo "make: installing Dagster, Great Expectations and what they need: about 900 MB, two to four minutes" >&2
	@$(PIP) ".[ui]"
	@echo "make: installed" >&2
	@touch $@

$(VENV)/.installed: pyproject.toml constraints.txt
	@echo "make: making an environment in $(VENV), with what only tests need" >&2
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) ".[ui,postgres,s3,spark,dev]"
	@echo "make: installed" >&2
	@touch $(VENV)/.runs $@

# What tests import. Spark, a browser, Hugging Face and tools for types and style are not among it.
TEST_TOOLS := create-dagster flask flask-cors hatchling hypothesis ipykernel krippendorff matplotlib \
  "moto[s3]" mpmath nbclient opentelemetry-sdk polars pytest pytest-xdist scikit-learn statsmodels

$(LOWEST)/.installed: pyproject.toml constraints-lowest.txt
	@echo "make: making an environment of the lowest versions in $(LOWEST), once" >&2
	@$(LOWEST_PYTHON) -m venv $(LOWEST)
	@$(LOWEST)/bin/python $(INSTALL) --constraint constraints-lowest.txt \
	  --editable ".[ui,excel,images,metrics,postgres,s3,signing,sql]" $(TEST_TOOLS)
	@touch $@

$(LABEL_STUDIO_SERVER)/.installed:
	@$(PYTHON) -m venv $(LABEL_STUDIO_SERVER)
	@$(LABEL_STUDIO_SERVER)/bin/python $(INSTALL) label-studio==1.23.2
	@touch $@

# Most of what Label Studio's package requires is for other parts of it, and takes very long.
$(LABEL_STUDIO)/.installed: tools/round_trips/label_studio.txt
	@$(PYTHON) -m venv $(LABEL_STUDIO)
	@$(LABEL_STUDIO)/bin/python $(INSTALL) --no-deps label-studio-sdk==2.1.2
	@$(LABEL_STUDIO)/bin/python $(INSTALL) --requirement tools/round_trips/label_studio.txt
	@touch $@

$(ARGILLA)/.installed: tools/round_trips/argilla.txt
	@$(PYTHON) -m venv $(ARGILLA)
	@$(ARGILLA)/bin/python $(INSTALL) --requirement tools/round_trips/argilla.txt
	@touch $@

$(PPI)/.installed:
	@$(PYTHON) -m venv $(PPI)
	@$(PPI)/bin/python $(INSTALL) ppi-python==0.2.3
	@touch $@

.venv-dvc/.installed: PACKAGE := dvc==3.67.1
.venv-prefect/.installed: PACKAGE := prefect==3.9.1
.venv-airflow/.installed: PACKAGE := apache-airflow==3.3.2
.venv-dbt/.installed: PACKAGE := --editable . dagster-dbt==0.29.27 dbt-core==1.11.16 \
  dbt-duckdb==1.11.1

$(addsuffix /.installed,$(addprefix .venv-,$(RECIPES))): .venv-%/.installed:
	@$(PYTHON) -m venv .venv-$*
	@.venv-$*/bin/python $(INSTALL) $(PACKAGE)
	@touch $@

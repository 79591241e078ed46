# make demo       train a small net, see it win, learn how to play it
# make test       the gate: style, types, import contracts, what each part does, a few pages in Chromium
# make docs       the documentation as a site, build/site/index.html; its blocks, the notebooks and the examples
# make slow       processes, kills, workers, sweeps, watching, clients, Chromium; SINCE=COMMIT those of the rooms that
#                 changed since.  A release runs all three
# make style      style, types and import contracts alone; make page: the tests of the page alone
# make matrix     the tests in every surrounding: other processors, Pythons, users (tests/matrix.py)
# make campaign   an hour at most of damaged files, full disks, kills and junk, as an ordinary user; SCALE=0.1 a tenth
#                 of it; ONLY=test_protocols.py a file of tests/campaign, MINUTES=60 for each of its loops instead of 4
# make cluster    install Ray, and run the tests that kill workers and drivers: at most ten minutes
# make format     put the code into shape
# make benchmark  figures for this machine
# make gpu        tests, figures and a slice of training on a GPU; installs nothing, PYTHON names the Python,
#                 ONLY="wave network" the parts; benchmarks/gpu_slices.py runs them where a GPU is there for minutes
# make strength   the baseline of 7x7 by one seed: ten minutes of one core, the exam, two matches
# make clean      remove the virtual environment and all caches (not your runs)
#
# All but `make gpu` use an environment of their own in .venv; PYTHON names the Python that makes it.

PYTHON = python3
VENV = .venv
BIN = $(VENV)/bin
INSTALLED = $(VENV)/installed
FOR_USERS = $(VENV)/installed-for-users
# Three tests at a time, those of a file one after the other: on two cores one waits for a process or a clock.  Files
# begin in the order of tests/conftest.py.
PYTEST_ARGUMENTS = -n 3 --dist loadfile --no-loadscope-reorder --durations=15
# Where `make slow` looks.  Since a commit: at tests of no one room, and those of the rooms of which anything changed;
# everywhere if what all tests share did.
CHANGED = $(shell git diff --name-only $(SINCE) --)
SHARED = pyproject.toml constraints.txt $(filter-out tests/test_%,$(wildcard tests/*.py))
ROOMS = $(shell printf '%s\n' $(CHANGED) | sed -nE 's:^((alphago|tests)/)?([a-z]+)/.*:tests/\3:p')
SLOW_TESTS = $(if $(and $(SINCE),$(if $(filter $(SHARED),$(CHANGED)),,rooms)),\
    $(wildcard tests/test_*.py $(sort $(ROOMS))),tests)

.PHONY: demo test tests looks slow style page matrix campaign cluster format docs benchmark gpu strength clean

demo: $(FOR_USERS)
	@$(BIN)/python examples/demo.py

# Style, types and then the page beside the tests, so that two cores always have work.
test: $(INSTALLED)
	@$(MAKE) --no-print-directory -j 2 tests looks

tests: $(INSTALLED)
	$(BIN)/python -m pytest $(PYTEST_ARGUMENTS)

looks: $(INSTALLED)
	@$(MAKE) --no-print-directory -j 1 style page

# Those that need another program, a browser or a compiler leave themselves out where there is none.
slow: $(INSTALLED)
	$(if $(SINCE),@git diff --shortstat $(SINCE) --)
	$(BIN)/python -m pytest -m "slow and not gpu and not browser and not campaign and not cluster" $(PYTEST_ARGUMENTS) \
	    $(SLOW_TESTS)
	$(if $(filter tests tests/ui,$(SLOW_TESTS)),$(BIN)/python -m pytest -q -m "slow and browser" -n 0 tests/ui)

style: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# The kernels run in plain Python there: compiling them takes longer than the boards' few readouts do.
page: $(INSTALLED)
	@if command -v chromium || command -v chromium-browser || command -v google-chrome; then \
	    NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -m "browser and not slow" -n 0 tests/ui; \
	else echo "No Chromium here: the tests of the page are left out."; fi

matrix: $(INSTALLED)
	$(BIN)/python tests/matrix.py $(if $(ROWS),--only $(ROWS))

# In a copy of the checkout that is nobody's, where root runs it: a fuzz may write anywhere.
campaign: $(INSTALLED)
	CAMPAIGN_SCALE=$(or $(SCALE),1) $(if $(MINUTES),CAMPAIGN_MINUTES=$(MINUTES)) \
	    $(BIN)/python tests/matrix.py --only ordinary-user -- tests/campaign/$(ONLY) -m campaign; \
	    status=$$?; grep -A40 "^campaign at scale" build/matrix/ordinary-user.log; exit $$status

cluster: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --prefer-binary -c constraints.txt -e ".[ray]"
	$(BIN)/python -m pytest -q -m cluster -n 0 --durations=10 tests/workers tests/training/workers

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo build/site/index.html
	$(BIN)/python -m pytest -m docs $(PYTEST_ARGUMENTS) tests/test_*.py

benchmark: $(INSTALLED)
	$(BIN)/python benchmarks/quick.py

# Whoever has a GPU for minutes has no time to install, and perhaps no network.
gpu:
	PYTHONPATH=. $(PYTHON) benchmarks/gpu.py $(addprefix --only ,$(ONLY))

strength: $(INSTALLED)
	$(BIN)/python benchmarks/baseline.py 7x7:10 gumbel --seeds 1 --rows runs/strength.json \
	    --folder runs/strength-$$(git describe --always --dirty)

# Installs again only when what is to be installed has changed.  Python compiles what is imported, a fifth of it all.
$(INSTALLED): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --prefer-binary --no-compile -c constraints.txt -e ".[dev]"
	@touch $@ $(FOR_USERS)

# The demo needs none of the developers' tools, a quarter of it all.
$(FOR_USERS): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --prefer-binary --no-compile -c constraints.txt -e ".[plot,web]"
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info
	rm -rf .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis
	find alphago tests examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

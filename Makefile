# The commands of the README. Each sets up what it needs in .venv/ (and typings/ for the firmware's type check).
PYTHON ?= python3
BIN := .venv/bin
STUBS := micropython-rp2-rpi-pico-stubs==1.26.0.post1

.PHONY: setup browser demo test prove lint bench hardware clean
setup: .venv/.ready

.venv/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "dealershoe needs Python 3.11 or newer, this is %d.%d: run make PYTHON=python3.11" % sys.version_info[:2])'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[emulator,dev]'
	@touch $@

# Debian's Chromium, for the tests of the console's pages. Without it they skip, and say why.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
		{ test "$$(id -u)" = 0 && apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium; } || \
		echo "make browser: no Chromium here, and it can be installed only as root and with apt; tests in a browser will skip"

typings/.ready: .venv/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade --target typings $(STUBS)
	@touch $@

demo: setup
	$(BIN)/dealershoe demo

test: setup
	$(BIN)/python -m pytest -n auto --dist worksteal

prove: setup
	PYTHONPATH=tests $(BIN)/python tests/rules/prove.py

lint: setup typings/.ready
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy --config-file mypy.firmware.ini

bench: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[compare]'
	$(BIN)/python tests/bench/run.py

hardware: setup
	PYTHONPATH=hardware $(BIN)/python -m sheets

clean:
	rm -rf .venv typings build .mypy_cache .ruff_cache .hypothesis

#!/bin/sh
# Make .venv with what requirements.txt locks, or leave it alone when it is up to date.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}

if ! command -v "$python" >/dev/null 2>&1; then
    echo "There is no $python here. Install Python 3.11 or later, or name it: make up PYTHON=/path/to/python3" >&2
    exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    found=$("$python" -c 'import platform; print(platform.python_version())')
    echo "Routines needs Python 3.11 or later, and $python is $found. Name another: make up PYTHON=/path/to/python3.12" >&2
    exit 1
fi

# The stamp is written last, so that an interrupted install is done again.
stamp=.venv/installed
wanted=$("$python" -c '
import hashlib, pathlib, sys
print(hashlib.sha256(pathlib.Path("requirements.txt").read_bytes()).hexdigest(), *sys.version_info[:2])')
if [ -x .venv/bin/python ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi

echo "Installing what Routines needs into .venv (once; a minute or two)..."
version='import sys; print(*sys.version_info[:2])'
# One of the same Python is filled up; any other is made anew.
make_venv() {
    [ "$(.venv/bin/python -c "$version" 2>/dev/null)" = "$("$python" -c "$version")" ] \
        && [ -x .venv/bin/pip ] && return
    "$python" -m venv --clear .venv >.venv.log 2>&1
}
if ! make_venv; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        (apt-get update -qq && apt-get install -y -qq python3-venv) >>.venv.log 2>&1 || true
        make_venv || true
    fi
    if ! [ -x .venv/bin/pip ]; then
        cat .venv.log >&2
        echo "Python couldn't make a virtual environment. On Debian and Ubuntu: sudo apt-get install python3-venv" >&2
        exit 1
    fi
fi
rm -f .venv.log
# pip compiles fourteen thousand files one after another, which is half of its time.
if ! .venv/bin/python -m pip install -qq --disable-pip-version-check --no-compile --require-hashes -r requirements.txt; then
    echo "The packages couldn't be installed; pip says why above. Then run the command again." >&2
    exit 1
fi
# What can't be compiled, such as a package's templates, is left; nothing imports it.
.venv/bin/python -m compileall -q -j 0 .venv/lib >/dev/null 2>&1 || true
echo "$wanted" >"$stamp"

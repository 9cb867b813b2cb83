# Sourced by quickstart, test and check: what a machine needs, then the virtual environment.
# Sets ROOT and PYTHON. Installs with apt where it may, else says in one line what is missing.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
VENV=${IOI_EVAL_VENV:-$ROOT/.venv}

say() { printf '%s\n' "$*" >&2; }

# packages_for COMMAND:PACKAGE… : the packages whose command is not there
missing_packages() {
    local pair
    for pair in "$@"; do
        command -v "${pair%%:*}" >/dev/null 2>&1 || printf '%s ' "${pair##*:}"
    done
}

install_packages() {
    local missing
    missing=$(missing_packages "$@")
    [ -z "$missing" ] || apt_install $missing
}

apt_install() {
    local sudo=
    if [ "$(id -u)" -ne 0 ]; then
        if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
            sudo="sudo -n"
        else
            say "Missing: $* - as an administrator run: apt-get install $*"
            return 1
        fi
    fi
    if ! command -v apt-get >/dev/null 2>&1; then
        say "Missing: $* - install them with this system's package manager (the names are Debian's)"
        return 1
    fi
    say "Installing $*"
    $sudo apt-get update -qq >&2 && DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq "$@" >&2
}

find_python() {
    local candidate
    for candidate in python3 python3.13 python3.12 python3.11; do
        if command -v "$candidate" >/dev/null 2>&1 &&
            "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s' "$candidate"
            return 0
        fi
    done
    return 1
}

# setup_environment EXTRAS : a virtual environment with the project in it, made again when pyproject.toml changes
setup_environment() {
    local extras=$1 base stamp
    PYTHON=$VENV/bin/python
    stamp=$VENV/.installed-$(printf '%s' "$extras" | tr -c 'a-z' '-')
    if [ -x "$PYTHON" ] && [ "$stamp" -nt "$ROOT/pyproject.toml" ]; then
        return 0
    fi
    if ! base=$(find_python); then
        apt_install python3 python3-venv || return 1
        base=$(find_python) || { say "Python 3.11 or newer with venv is needed"; return 1; }
    fi
    say "Setting up $VENV with $($base --version)"
    [ -x "$PYTHON" ] || "$base" -m venv "$VENV" || return 1
    "$PYTHON" -m pip install --quiet --disable-pip-version-check -e "$ROOT$extras" >&2 || return 1
    touch "$stamp"
}

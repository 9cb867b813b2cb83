# The other scripts source this file. It sets ROOT, VENV and PYTHON. `set_up` installs missing packages, then makes the virtual
# environment. As root, or with passwordless sudo, it installs packages by apt; otherwise it prints what is missing.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
VENV=${IOI_EVAL_VENV:-$ROOT/.venv}
PYTHON=$VENV/bin/python

# The tests start Python more than a thousand times, so compiled modules must be kept (in __pycache__, which git ignores).
unset PYTHONDONTWRITEBYTECODE

say() { printf '%s\n' "$*" >&2; }

# help_if_asked ARGUMENTS… : with --help, prints the comment at the top of the script and ends it
help_if_asked() {
    case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
}

# quietly COMMAND… : runs the command, and prints its output only if it fails
quietly() {
    local output
    output=$("$@" 2>&1 </dev/null) || { say "$output"; return 1; }
}

# set_up EXTRAS [COMMAND:PACKAGE…] : makes sure that these commands exist, and the virtual environment with the project
set_up() {
    local extras=$1 stamp missing
    shift
    stamp=$VENV/.installed-$(printf '%s' "$extras" | tr -c 'a-z' '-')
    missing=$(missing_packages "$@")
    if ! is_installed "$stamp" && ! find_python >/dev/null; then
        missing="$missing python"
    fi
    [ -z "$missing" ] || install_packages $missing || return 1
    is_installed "$stamp" || install_project "$extras" "$stamp"
}

# missing_packages COMMAND:PACKAGE… : prints the packages whose command does not exist
missing_packages() {
    local pair
    for pair in "$@"; do
        command -v "${pair%%:*}" >/dev/null 2>&1 || printf '%s ' "${pair##*:}"
    done
}

# is_installed STAMP : whether the project is in the environment, and pyproject.toml has not changed since
is_installed() {
    [ "$1" -nt "$ROOT/pyproject.toml" ] && "$PYTHON" -Ic 'import ioi_eval' 2>/dev/null
}

find_python() {
    local candidate
    for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
        if command -v "$candidate" >/dev/null 2>&1 &&
            "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s' "$candidate"
            return 0
        fi
    done
    return 1
}

# as_root : prints what to put before a command that needs root (nothing as root); fails without root and passwordless sudo
as_root() {
    [ "$(id -u)" -ne 0 ] || return 0
    command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null && printf 'sudo -n'
}

# can_install : whether install_packages can install anything
can_install() {
    command -v apt-get >/dev/null 2>&1 && as_root >/dev/null
}

# install_packages PACKAGE… : installs them by apt; `python` stands for a Python ≥ 3.11 and its venv package
install_packages() {
    local root packages
    root=$(as_root) || root=none
    if ! command -v apt-get >/dev/null 2>&1; then
        say "Missing: ${*/#python/Python 3.11 or newer with venv}"
        say "Install these with your system's package manager (the names are Debian's), then start this script again."
        return 1
    fi
    [ "$root" = none ] || quietly $root apt-get update -qq ||
        say "apt-get update failed; trying with the packages that apt knows"
    packages=$(with_python "$@") || return 1
    if [ "$root" = none ]; then
        say "Missing: $packages. As root, run"
        say "    apt-get update && apt-get install $packages"
        say "then start this script again."
        return 1
    fi
    say "Installing $packages"
    quietly $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $packages
}

# with_python PACKAGE… : prints the names, with the packages of a suitable Python in place of `python`
with_python() {
    local found others
    if [ "${*: -1}" != python ]; then
        printf '%s' "$*"
        return
    fi
    others=${*:1:$#-1}
    if found=$(python_packages); then
        printf '%s' "${others:+$others }$found"
        return
    fi
    say "Missing: Python 3.11 or newer with venv; this system has no package for it. Put it on PATH as python3.13"
    say "(\`uv python install 3.13\` does this without root), or use Debian 12, Ubuntu 22.04 or newer, for example in a container."
    [ -z "$others" ] || say "Other packages are missing too. As root, run
    apt-get update && apt-get install $others"
    say "Then start this script again."
    return 1
}

# python_packages : prints the packages of a Python ≥ 3.11 that apt offers; without apt's lists, those known for the release
python_packages() {
    local name candidate known=
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        candidate=$(LC_ALL=C apt-cache policy "$name-venv" 2>/dev/null | sed -n 's/^  Candidate: //p')
        case $candidate in
        3.1[1-9].* | 3.[2-9][0-9].*)
            printf '%s' "$name $name-venv"
            return
            ;;
        3.*)
            known=yes
            ;;
        esac
    done
    [ -z "$known" ] || return 1
    case $(. /etc/os-release && printf '%s' "$ID $VERSION_ID") in
    "ubuntu 22.04") printf 'python3.11 python3.11-venv' ;;
    "debian 10" | "debian 11" | "ubuntu 18.04" | "ubuntu 20.04") return 1 ;;
    *) printf 'python3 python3-venv' ;;
    esac
}

# install_project EXTRAS STAMP : makes the virtual environment, and installs the project and its dependencies
install_project() {
    local extras=$1 stamp=$2 base
    base=$(find_python) || { say "Python 3.11 or newer with venv is needed: install it, then start this script again"; return 1; }
    say "Setting up $VENV with $("$base" --version); fetching the libraries takes some minutes on a slow network"
    if ! "$PYTHON" -Im pip --version >/dev/null 2>&1; then
        quietly "$base" -m venv "$VENV" || {
            say "The virtual environment $VENV cannot be made: remove that directory, or set IOI_EVAL_VENV to another one; then start this script again"
            return 1
        }
    fi
    "$PYTHON" -m pip install --quiet --disable-pip-version-check -e "$ROOT$extras" >&2 || {
        say "pip could not install the project and its dependencies into $VENV: its message is above."
        say "If it cannot reach the package index, set https_proxy or PIP_INDEX_URL; then start this script again"
        return 1
    }
    touch "$stamp"
}

# has_site_tools : whether the tools for the site can be had, which are not part of [dev]. Without them, everything else is checked.
has_site_tools() {
    [ -x "$VENV/bin/mkdocs" ] || {
        quietly "$PYTHON" -m pip install --quiet --disable-pip-version-check --retries 1 -e "$ROOT[dev,site]"
        [ -x "$VENV/bin/mkdocs" ]
    }
}

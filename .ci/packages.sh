# packages.sh - which Debian 12 packages fabricast needs, and how they get there. Sourced by quickstart and
# runtests, after `set -eu`. FABRICAST_NO_INSTALL=1 turns installing off (the list of what is missing is printed).
# shellcheck shell=bash disable=SC2034 # the lists are used by those who source this

fab_build_packages=(
    build-essential cmake ninja-build pkg-config
    libglib2.0-dev libhdf5-dev libcmocka-dev libjson-glib-dev libprotobuf-c-dev protobuf-c-compiler
    gnuplot-nox
)
# cmocka is in the list above because the build tree always holds the tests.
fab_test_packages=(
    clang libclang-rt-14-dev libomp-14-dev valgrind universal-ctags
    hdf5-tools python3-minimal python3-h5py jq tshark opensm ibsim-utils
)

# Prints those of the named packages that are not installed, one a line.
fab_missing_packages() {
    local package state
    for package in "$@"; do
        state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
        [ "$state" = installed ] || printf '%s\n' "$package"
    done
}

# Runs a command as root: directly, or through sudo.
fab_as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "error: '$*' needs root, and there is no sudo; install as root: ${fab_missing[*]}" >&2
        return 1
    fi
}

# True when apt's lists name a candidate for every package.
fab_lists_know() {
    local package
    for package in "$@"; do
        apt-cache policy "$package" 2>/dev/null | grep -q 'Candidate: [^(]' || return 1
    done
}

# Installs what is missing of the named packages; says what it does. Without effect when all are there.
fab_install_packages() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "packages: no apt-get here; these Debian packages, or what they are called here, must be installed:"
        echo "  $*"
        return 0
    fi
    local -a fab_missing
    mapfile -t fab_missing < <(fab_missing_packages "$@")
    if [ "${#fab_missing[@]}" = 0 ]; then
        echo "packages: all $# are installed"
        return 0
    fi
    if [ "${FABRICAST_NO_INSTALL:-0}" = 1 ]; then
        echo "error: missing packages: ${fab_missing[*]}" >&2
        return 1
    fi
    echo "packages: installing ${fab_missing[*]}"
    fab_lists_know "${fab_missing[@]}" || fab_as_root apt-get update -qq
    local -a install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends)
    fab_as_root "${install[@]}" "${fab_missing[@]}" && return 0
    echo "packages: the package lists seem old; refreshing them once"
    fab_as_root apt-get update -qq
    fab_as_root "${install[@]}" "${fab_missing[@]}"
}

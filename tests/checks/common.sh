# common.sh - what the checks share; sourced by them. Each check is called as `check.sh ROOT`, prints one line a
# finding ("file:line: what is wrong, what is allowed") and exits 1 when there is any.
# shellcheck shell=bash disable=SC2034

checks_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
libraries="sim models topologies scenarios analysis calibration"
folders="$libraries cli"
findings=0

finding() {
    printf '%s\n' "$*"
    findings=$((findings + 1))
}

# Ends the check. WHAT names what was looked at, so that an empty look is no pass.
finish() { # CHECK N_LOOKED_AT WHAT
    if [ "$2" -eq 0 ]; then
        printf '%s: found no %s to look at\n' "$1" "$3"
        exit 1
    fi
    printf '%s: %d findings in %d %s\n' "$1" "$findings" "$2" "$3"
    [ "$findings" -eq 0 ] || exit 1
    exit 0
}

# Source files below the named folders of the current directory, sorted, one a line.
sources() { # GLOB FOLDER...
    local glob=$1 folder
    shift
    for folder in "$@"; do
        if [ -d "$folder" ]; then find "$folder" -name "$glob" -type f; fi
    done | LC_ALL=C sort
}

# The entries of an allow-list: lines without "# why" and without blanks at the end.
allow_entries() { # FILE
    if [ -f "$1" ]; then sed -e 's/[[:space:]]*#.*//' -e '/^[[:space:]]*$/d' "$1"; fi
}

# Every entry of an allow-list has its reason on the same line.
require_reasons() { # FILE
    local line
    [ -f "$1" ] || return 0
    while IFS= read -r line; do
        finding "${1##*/}: entry without '# why': $line"
    done < <(grep -v '^[[:space:]]*#' "$1" | grep -v '^[[:space:]]*$' | grep -v '#[[:space:]]*[^[:space:]]')
}

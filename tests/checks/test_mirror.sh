#!/usr/bin/env bash
# test_mirror.sh ROOT [ALLOW] - <folder>/.../<module>.c has tests/<folder>/test_<module>.c.
# ALLOW (default: test_mirror_allow.txt beside this script): lines "file # what tests it". It can only shrink: an
# entry whose file is gone, or which has its test by now, is a finding.
set -eu
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
allow=$(realpath "${2:-$checks_dir/test_mirror_allow.txt}")
cd "$1"

mirror_of() {
    local base=${1##*/}
    echo "tests/${1%%/*}/test_${base%.c}.c"
}

require_reasons "$allow"
n=0
# shellcheck disable=SC2086
while IFS= read -r file; do
    n=$((n + 1))
    test=$(mirror_of "$file")
    [ -f "$test" ] || allow_entries "$allow" | grep -qxF "$file" || finding "$file: has no $test"
done < <(sources '*.c' $libraries)
while IFS= read -r file; do
    if [ ! -f "$file" ]; then
        finding "${allow##*/}: $file is gone"
    elif [ -f "$(mirror_of "$file")" ]; then
        finding "${allow##*/}: $file has its test by now"
    fi
done < <(allow_entries "$allow")
finish test_mirror "$n" "modules"

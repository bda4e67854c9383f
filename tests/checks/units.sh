#!/usr/bin/env bash
# units.sh ROOT [ALLOW] - conversions between units live in sim/units.[ch] alone: no powers of ten by hand, no
# bits-to-bytes by hand. ALLOW (default: units_allow.txt beside this script): lines "file<TAB>text # why", where the
# text is part of the code line that is meant.
set -eu
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
allow=$(realpath "${2:-$checks_dir/units_allow.txt}")
cd "$1"

require_reasons "$allow"
mapfile -t all < <(for glob in '*.c' '*.h'; do
    # shellcheck disable=SC2086
    sources "$glob" $folders
done | grep -v '^sim/units\.[ch]$')
pattern='(^|[^A-Za-z0-9_.])(1(\.0*)?[eE][+]?(3|6|9|12|15)|10{6}|10{9}|10{12}|[81](\.0*)?[eE][+]?12)[uUlLfF]*([^A-Za-z0-9_.]|$)'
pattern="$pattern|INT64_C\\((10{6}|10{9}|10{12})\\)"
pattern="$pattern|[*/][[:space:]]*8(\\.0*)?([^0-9A-Za-z_.]|\$)|(^|[^0-9A-Za-z_.])8(\\.0*)?[[:space:]]*\\*[^/]"
used=""
while IFS= read -r hit; do
    file=${hit%%:*}
    rest=${hit#*:}
    ok=0
    while IFS=$'\t' read -r entry_file text; do
        if [ "$entry_file" = "$file" ] && [[ "$rest" == *"$text"* ]]; then
            ok=1
            used="$used|$entry_file	$text"
        fi
    done < <(allow_entries "$allow")
    [ "$ok" = 1 ] || finding "$file:${rest%%:*}: unit conversion outside sim/units:${rest#*:}"
done < <([ "${#all[@]}" = 0 ] || awk -f "$checks_dir/code.awk" "${all[@]}" | grep -E "^[^:]*:[0-9]+:.*($pattern)" || true)
while IFS= read -r entry; do
    case "$used|" in
        *"|$entry|"*) ;;
        *) finding "${allow##*/}: '$entry' is not needed any more" ;;
    esac
done < <(allow_entries "$allow")
finish units "${#all[@]}" "files"

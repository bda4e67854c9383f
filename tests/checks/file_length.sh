#!/usr/bin/env bash
# file_length.sh ROOT - a .c has at most 700 lines, a function at most 100 (where universal-ctags is installed).
set -eu
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
cd "$1"
max_file=700
max_function=100

# shellcheck disable=SC2086
mapfile -t all < <(sources '*.c' $folders tests | grep -v '^tests/checks/fixtures/')
for file in "${all[@]}"; do
    lines=$(wc -l <"$file")
    [ "$lines" -le "$max_file" ] || finding "$file:1: $lines lines; allowed: $max_file"
done
if ctags --version 2>/dev/null | grep -q '^Universal'; then
    while IFS= read -r long; do
        finding "$long lines; allowed: $max_function"
    done < <(printf '%s\n' "${all[@]}" | ctags -L - --languages=C --kinds-C=f --fields=ne -f - 2>/dev/null |
        awk -F'\t' -v max="$max_function" '{
            for (i = 4; i <= NF; i++) { if ($i ~ /^line:/) a = substr($i, 6); if ($i ~ /^end:/) b = substr($i, 5) }
            if (b - a + 1 > max) print $2 ":" a ": " $1 "() has " b - a + 1
        }')
else
    echo "file_length: no universal-ctags: functions are not measured"
fi
finish file_length "${#all[@]}" "files"

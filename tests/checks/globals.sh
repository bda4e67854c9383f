#!/usr/bin/env bash
# globals.sh ALLOW LIBRARY... - no mutable globals in the built static libraries: two runs share a process. Sections
# .data, .bss, their thread-local forms and COMMON count; .data.rel.ro (constant tables of pointers) does not.
# ALLOW: lines "symbol-regex # why".
set -eu
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
allow=$1
shift

require_reasons "$allow"
n=0
for library in "$@"; do
    n=$((n + 1))
    while read -r object section symbol; do
        ok=0
        while IFS= read -r regex; do
            [[ "$symbol" =~ ^($regex)$ ]] && ok=1
        done < <(allow_entries "$allow")
        [ "$ok" = 1 ] || finding "${library##*/}: $object: $symbol lies in $section; state belongs to a run's struct"
    done < <(objdump -t "$library" | awk '
        /file format/ { object = $1; sub(/:$/, "", object) }
        # value flags section<TAB>size name; section and file symbols carry the flags "d" and "df"
        /\t/ {
            split($0, half, "\t")
            k = split(half[1], left, " "); section = left[k]
            split(half[2], right, " "); symbol = right[2]
            flags = substr(half[1], 18, 7)
            if (symbol == "" || flags ~ /d/ || symbol == section) next
            if (section ~ /^\.(data|bss|tdata|tbss)/ && section !~ /^\.data\.rel\.ro/ || section == "*COM*")
                print object, section, symbol
        }')
done
finish globals "$n" "libraries"

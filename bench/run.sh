#!/usr/bin/env bash
# run.sh BENCH [--instructions-only CASE LIMIT] - the table of docs/PERFORMANCE.md on this machine.
#
# Times are the best of three runs (a shared machine only ever adds); instructions come from callgrind and repeat
# exactly. With --instructions-only: counts one case and fails above LIMIT instructions a packet-hop.
set -euo pipefail
bench=$1

field() { grep -oE "$1" <<<"$line" | grep -oE '[0-9.]+' | head -n 1; }

instructions() { # CASE: instructions a packet-hop
    local log hops
    log=$(mktemp)
    hops=$(valgrind --tool=callgrind --toggle-collect=net_run --callgrind-out-file=/dev/null \
        "$bench" "$1" 2>"$log" | grep -oE 'hops [0-9]+' | grep -oE '[0-9]+')
    awk -v hops="$hops" '/Collected/ {printf "%.0f\n", $NF / hops}' "$log"
    rm -f "$log"
}

if [ "${2:-}" = --instructions-only ]; then
    command -v valgrind >/dev/null || { echo "no valgrind here"; exit 77; }
    n=$(instructions "$3")
    echo "$3: $n instructions a packet-hop, limit $4"
    [ "$n" -gt 100 ] && [ "$n" -le "$4" ] # far fewer: callgrind did not see net_run
    exit
fi

best() { # CASE THREADS: the line with the least time
    for _ in 1 2 3; do "$bench" "$1" "$2"; done | sort -t ' ' -k 1,1 | awk '{
        match($0, /[0-9.]+ ns\/hop/); t = substr($0, RSTART, RLENGTH) + 0
        if (least == "" || t < least) {least = t; line = $0}} END {print line}'
}

printf '%-14s %7s %12s %8s %11s %11s %9s %8s\n' case threads packet-hops ns/hop events/hop instr/hop RSS/MB digest
for case in leafspine128 fat1024 fat8192; do
    for threads in 1 2; do
        line=$(best "$case" "$threads")
        count=-
        [ "$threads" = 1 ] && command -v valgrind >/dev/null && count=$(instructions "$case")
        printf '%-14s %7s %12s %8s %11s %11s %9s %s\n' "$case" "$threads" "$(field 'hops [0-9]+')" \
            "$(field '[0-9.]+ ns/hop')" "$(field '[0-9.]+ events/hop')" "$count" "$(field 'peak RSS [0-9.]+')" \
            "$(grep -oE 'digest [0-9a-f]+' <<<"$line" | cut -d ' ' -f 2)"
    done
done

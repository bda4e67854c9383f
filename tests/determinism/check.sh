#!/usr/bin/env bash
# check.sh FABRICAST SCENARIO - one digest whatever the threads and the recording, and equal to golden.txt.
# check.sh FABRICAST --update - rewrites golden.txt; the changelog must say why results moved ([Results]).
set -euo pipefail
fabricast=$1 scenario=$2
golden=$(dirname "$0")/golden.txt

digest() { "$fabricast" run --no-progress --digest "$@"; }

if [ "$scenario" = --update ]; then
    grep '^#' "$golden" > "$golden.new"
    grep -v '^#' "$golden" | while read -r path _; do
        echo "$path $(digest "$path" -j 1)"
    done >> "$golden.new"
    mv "$golden.new" "$golden"
    exit 0
fi

want=$(awk -v s="$scenario" '$1 == s {print $2}' "$golden")
status=0
same() { # LABEL OPTIONS...
    local label=$1 got
    shift
    got=$(digest "$scenario" "$@")
    if [ "$got" = "$want" ]; then
        echo "$scenario: $label: $got"
    else
        echo "$scenario: $label: digest $got, expected $want"
        status=1
    fi
}
same "1 thread" -j 1
same "2 threads" -j 2
same "4 threads" -j 4
same "series on" -j 2 --set run.series_grain=20us
same "recording off" -j 1 --set run.series_grain=0 --set run.record_events=false --set run.record_flows=false
exit $status

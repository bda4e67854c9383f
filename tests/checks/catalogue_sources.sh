#!/usr/bin/env bash
# catalogue_sources.sh ROOT - every catalogue file opens with a one-line description, and every value in it says
# where it comes from: a comment on its own line or on the lines just above it, since the last value or [group].
set -eu
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
cd "$1"

n=0
while IFS= read -r file; do
    n=$((n + 1))
    while IFS= read -r line; do
        finding "$line"
    done < <(awk -v file="$file" '
        FNR == 1 && !/^# [^ ]/ { print file ":1: the first line is no # description" }
        FNR == 1 { next }
        /^#/ { said = 1; next }
        /^\[/ || /^[ \t]*$/ { said = 0; next }
        /^[ \t]*include[ \t]*=/ { next }
        /=/ { if (!said && !/[ \t]#/) print file ":" FNR ": value without a source"; if (/[ \t]#/) said = 0 }
    ' "$file")
done < <(sources '*.ini' topologies/catalogue)
finish catalogue_sources "$n" "files"

#!/usr/bin/env bash
# man.sh ROOT FABRICAST - the man page formats without a warning and describes every command that the binary lists.
set -eu
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
page=$1/docs/fabricast.1

if command -v groff >/dev/null; then
    while IFS= read -r warning; do
        finding "$warning"
    done < <(groff -man -ww -z "$page" 2>&1)
else
    echo "man: no groff: the layout is not checked"
fi
n=0
while IFS= read -r command; do
    n=$((n + 1))
    grep -qE "^\.(SS|B) \"?fabricast $command\b" "$page" || finding "$page: has no section 'fabricast $command'"
done < <("$2" help | awk '/^commands:/ { on = 1; next } on && NF == 0 { exit } on { print $1 }')
finish man "$n" "commands"

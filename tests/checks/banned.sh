#!/usr/bin/env bash
# banned.sh ROOT [ALLOW] - calls that have no place here: unbounded string functions, parsers that cannot fail,
# hidden state (rand, strtok, time), allocation without a check, and ends or output from a library.
# ALLOW (default: banned_allow.txt beside this script): lines "file word # why".
set -eu
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
allow=$(realpath "${2:-$checks_dir/banned_allow.txt}")
cd "$1"

everywhere="sprintf vsprintf strcpy strncpy strcat strncat gets atoi atol atoll atof rand srand random srandom
drand48 g_random_int g_random_double time strtok localtime gmtime asctime ctime malloc calloc realloc alloca"
in_libraries="exit abort printf puts putchar perror g_print g_printerr"

# Prints "file:line:word" of each call of one of WORDS in FILES.
calls() { # WORDS FILES...
    local words=$1
    shift
    [ $# -gt 0 ] || return 0
    awk -f "$checks_dir/code.awk" "$@" | awk -v words="$words" '
        BEGIN { n = split(words, word) }
        {
            at = match($0, /:[0-9]+:/)
            code = " " substr($0, at + RLENGTH)
            for (i = 1; i <= n; i++)
                if (code ~ ("[^A-Za-z0-9_>.]" word[i] "[ \t]*\\("))
                    print substr($0, 1, at + RLENGTH - 2) ":" word[i]
        }'
}

require_reasons "$allow"
mapfile -t all < <(for glob in '*.c' '*.h'; do
    # shellcheck disable=SC2086
    sources "$glob" $folders
done)
mapfile -t library < <(printf '%s\n' "${all[@]}" | grep -v '^cli/')
used=""
while IFS=: read -r file line word; do
    if allow_entries "$allow" | grep -qxF "$file $word"; then
        used="$used|$file $word"
        continue
    fi
    finding "$file:$line: $word() is banned (CONTRIBUTING.md)"
done < <(calls "$everywhere" "${all[@]}"; calls "$in_libraries" "${library[@]}")
while IFS= read -r entry; do
    case "$used|" in
        *"|$entry|"*) ;;
        *) finding "${allow##*/}: '$entry' is not needed any more" ;;
    esac
done < <(allow_entries "$allow")
finish banned "${#all[@]}" "files"

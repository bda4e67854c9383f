#!/usr/bin/env bash
# selftest.sh CHECK WORK_DIR [CC] - a check that cannot fail checks nothing: CHECK passes on fixtures/CHECK/good and
# finds exactly the lines of fixtures/CHECK/EXPECTED in fixtures/CHECK/bad.
set -eu
check=$1
mkdir -p "$2"
work=$(cd "$2" && pwd)
compiler=${3:-cc}
here=$(cd "$(dirname "$0")" && pwd)
fixtures=$here/fixtures/$check

run_tree() { # good|bad
    if [ -f "$fixtures/$1/allow.txt" ]; then
        "$here/$check.sh" "$fixtures/$1" "$fixtures/$1/allow.txt"
    else
        "$here/$check.sh" "$fixtures/$1"
    fi
}

run_globals() {
    "$compiler" -O0 -fPIC -c "$fixtures/$1.c" -o "$work/$1.o"
    rm -f "$work/$1.a"
    ar rcs "$work/$1.a" "$work/$1.o"
    "$here/globals.sh" "$fixtures/allow.txt" "$work/$1.a"
}

statements() { for ((i = 0; i < $1; i++)); do echo '    x++;'; done; }

function_of() { # NAME LINES
    printf 'int %s(int x)\n{\n' "$1"
    statements $(($2 - 4))
    printf '    return x;\n}\n'
}

# Long files are made here, not kept. A function of N lines counts its own name's line.
run_file_length() {
    local root=$work/$1 extra=0
    [ "$1" = good ] || extra=1
    mkdir -p "$root/sim"
    { echo; function_of too_long $((100 + extra)); } >"$root/sim/long_function.c"
    for ((i = 0; i < 700 + extra; i++)); do echo; done >"$root/sim/long_file.c"
    "$here/file_length.sh" "$root"
}

run() {
    case "$check" in
        globals | file_length) "run_$check" "$1" ;;
        *) run_tree "$1" ;;
    esac
}

expected=$fixtures/EXPECTED
if [ "$check" = file_length ] && ! ctags --version 2>/dev/null | grep -q '^Universal'; then
    grep -v '()' "$expected" >"$work/expected"
    expected=$work/expected
fi

if ! run good >"$work/good.out" 2>&1; then
    echo "$check finds something in good code:"
    cat "$work/good.out"
    exit 1
fi
if run bad >"$work/bad.out" 2>&1; then
    echo "$check passes bad code:"
    cat "$work/bad.out"
    exit 1
fi
grep -v "^$check: " "$work/bad.out" | LC_ALL=C sort >"$work/found"
if ! LC_ALL=C sort "$expected" | diff -u - "$work/found"; then
    echo "$check does not find what fixtures/$check/EXPECTED says"
    exit 1
fi
echo "$check: good code passes, $(wc -l <"$work/found") faults of bad code are found"

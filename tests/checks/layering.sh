#!/usr/bin/env bash
# layering.sh ROOT - include lines against the picture in docs/ARCHITECTURE.md:
#   cli -> { scenarios, analysis, calibration } ; scenarios -> topologies -> models -> sim
#   analysis -> sim alone ; calibration -> sim, and scenarios for fits
# cli sees public headers of topologies and models because scenarios/ hands out their structs.
# *_priv.h stays in its folder; hdf5 in analysis; verbs in calibration.
set -eu
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
cd "$1"

allowed_of() {
    case "$1" in
        sim) echo "sim" ;;
        models) echo "models sim" ;;
        topologies) echo "topologies models sim" ;;
        scenarios) echo "scenarios topologies models sim" ;;
        analysis) echo "analysis sim" ;;
        calibration) echo "calibration scenarios sim" ;;
        cli) echo "cli scenarios analysis calibration topologies models sim" ;;
    esac
}

# The one folder that may include a system header, empty when any may.
owner_of() {
    case "$1" in
        hdf5.h | hdf5_hl.h | H5*.h) echo analysis ;;
        infiniband/* | rdma/*) echo calibration ;;
    esac
}

check_own() { # WHERE FOLDER HEADER
    local to=${3%%/*} allowed
    allowed=$(allowed_of "$2")
    case "$3" in
        */*) ;;
        *) finding "$1: \"$3\": write includes from the root, \"folder/file.h\""; return ;;
    esac
    case " $allowed " in
        *" $to "*) ;;
        *) finding "$1: $2 may not include \"$3\"; allowed: $allowed" ;;
    esac
    case "$3" in
        *_priv.h) [ "$to" = "$2" ] || finding "$1: \"$3\" is private to $to" ;;
    esac
}

check_system() { # WHERE FOLDER HEADER
    local owner
    owner=$(owner_of "$3")
    [ -z "$owner" ] || [ "$owner" = "$2" ] || finding "$1: only $owner may include <$3>"
}

n=0
while IFS= read -r line; do # file:line:#include "x/y.h"
    where=$(cut -d: -f1,2 <<<"$line")
    header=$(sed -E 's/^[^:]*:[0-9]+:[[:space:]]*#[[:space:]]*include[[:space:]]*["<]([^">]*)[">].*/\1/' <<<"$line")
    folder=${line%%/*}
    n=$((n + 1))
    # A system header in quotes is still that system header.
    check_system "$where" "$folder" "$header"
    case "$line" in
        *include*\"*) [ -n "$(owner_of "$header")" ] || check_own "$where" "$folder" "$header" ;;
    esac
done < <(for f in $folders; do
    if [ -d "$f" ]; then
        grep -rHnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]' --include='*.[ch]' --include='*.def' "$f" || true
    fi
done)
finish layering "$n" "include lines"

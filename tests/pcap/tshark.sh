#!/usr/bin/env bash
# tshark.sh FABRICAST - captures three links of incast.ini and reads them with tshark.
set -euo pipefail
fabricast=$1
here=$(dirname "$0")
command -v tshark >/dev/null || { echo "no tshark here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$fabricast" run -q "$here/incast.ini" -o "$work/run.h5" --pcap "link=node0/leaf0,file=$work/a.pcap" --pcap link=leaf0/node0 \
    --pcap link=node2/leaf0

fields() { # FILTER FIELD...
    local filter=$1 field args=()
    shift
    for field in "$@"; do args+=(-e "$field"); done
    tshark -r "$work/a.pcap" -Y "$filter" -T fields "${args[@]}" 2>/dev/null
}
fail() { echo "tshark: $*"; exit 1; }
is() { [ "$2" = "$3" ] || fail "$1: $2, expected $3"; }

is "malformed or in error" "$(fields '_ws.malformed || _ws.expert.severity == error' frame.number | wc -l)" 0
# Node 0 writes 400,000 B in 98 packets of 4096 B: each of its PSNs is there, packets 50 (PSN 49) to the NAK twice.
data='ip.src == 10.0.0.1 && infiniband.bth.opcode >= 6 && infiniband.bth.opcode <= 10'
is "PSNs of node 0" "$(fields "$data" infiniband.bth.psn | sort -un | tr '\n' ' ')" "$(seq -s ' ' 0 97) "
is "PSNs up to the loss" "$(fields "$data" infiniband.bth.psn | head -n 50 | tr '\n' ' ')" "$(seq -s ' ' 0 49) "
is "first packet" "$(fields "$data" infiniband.bth.opcode infiniband.bth.destqp infiniband.reth.dmalen | head -n 1)" \
    "$(printf '6\t0x000003\t400000')"
is "last opcode" "$(fields "$data" infiniband.bth.opcode | tail -n 1)" 8
is "DSCPs of data" "$(fields "$data" ip.dsfield.dscp | sort -u)" 26
# The receiver: ACKs, one NAK (PSN sequence error) that names PSN 49, CNPs with opcode 0x81 on DSCP 48.
is "NAKs" "$(fields 'ip.src == 10.0.0.3 && infiniband.aeth.syndrome == 96' infiniband.bth.psn | sort -u)" 49
[ "$(fields 'ip.src == 10.0.0.3 && infiniband.aeth.syndrome == 31' frame.number | wc -l)" -gt 100 ] || fail "too few ACKs"
[ "$(fields 'infiniband.bth.opcode == 129' frame.number | wc -l)" -ge 2 ] || fail "no CNPs"
is "DSCPs of CNPs" "$(fields 'infiniband.bth.opcode == 129' ip.dsfield.dscp | sort -u)" 48
# The switch pauses priority 3 of node 0, and lets it go on.
is "class-enable vectors" "$(fields macc macc.cbfc.enbv | sort -u)" 0x0008
fields macc macc.cbfc.pause_time.c3 | grep -qx 65535 || fail "no XOFF"
fields macc macc.cbfc.pause_time.c3 | grep -qx 0 || fail "no XON"
echo "tshark: $(fields 'frame' frame.number | wc -l) frames read, all as they should be"

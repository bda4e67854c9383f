/* pcap.h - frames of a captured port as a capture file that Wireshark and tshark read.
 *
 * Input is the table "events/capture" of a run (scenarios/capture.c). Classic pcap with nanosecond times and link type
 * Ethernet, without FCS, as such files have none: a frame is four bytes shorter than in the run.
 *
 * Addresses, from numbers of ranks and nodes: IPv4 10.a.b.c with a.b.c = rank + 1; MAC 02:00:00 and the node's or
 * rank's number + 1 in the last three bytes. Queue pair q of a run: requester's number 2q + 2, responder's 2q + 3.
 * Data packets are RDMA WRITEs with zero payload, RETH in the first one. SACKs have no opcode in the standard: they
 * are written as ACKs of the packet they name.
 */
#ifndef FABRICAST_ANALYSIS_PCAP_H
#define FABRICAST_ANALYSIS_PCAP_H

#include "sim/record.h"
#include <glib.h>

#define PCAP_ERROR (pcap_error_quark())
typedef enum { PCAP_ERROR_FILE, PCAP_ERROR_INPUT } pcap_error;
GQuark pcap_error_quark(void);

/* Writes the captured frames of BOOK to PATH (replaced when complete). SNAP_BYTES: most bytes kept of a frame, 0: all.
 * False with ERR set: no capture in BOOK, or the file cannot be written. */
bool pcap_write(const char *path, const struct record_book *book, uint32_t snap_bytes, GError **err);

/* CRC of RoCEv2 (IBTA annex A17): of an IPv4 packet of N_BYTES that ends before its ICRC, fields that change on the way
 * taken as ones. */
uint32_t pcap_icrc(const uint8_t *ip, size_t n_bytes);

#endif

/* packet.h - a packet is three words: which queue pair and direction, PSN, sizes and flags.
 *
 *   a   queue pair << 1 | direction   (0: requester to responder, 1: back)
 *   b   PSN
 *   c   bit 0-15 frame bytes, 16-18 kind, 19-21 code, 22 CE, 23 last of message,
 *       24 congestion echo (ACK), 25-29 switches passed, 30 timed (answers), 31 sent again
 *
 * A timed answer was caused by a packet sent once: an ACK by the one before its PSN, a SACK by the one of its PSN.
 * Round trip and telemetry are that packet's.
 *
 * The PSN is 24 bits on the wire; here it counts on in 32 so that any packet of
 * a run has a name of its own. The code stands for the packet's DSCP and PCP (net.h:
 * net_code_dscp): what class it gets is each hop's own affair. Of a pause frame it is the
 * priority; such a frame has quanta in a (0: XON, PACKET_PAUSE_FOREVER: until XON) and no queue pair.
 *
 * PSN of the answers: ACK and NAK name the next one that is expected (all before it are in), SACK the packet that
 * came out of order, RNR the packet that found no receive, CREDIT the first one that may not be sent yet.
 */
#ifndef FABRICAST_MODELS_PACKET_H
#define FABRICAST_MODELS_PACKET_H

#include <stdint.h>

enum packet_kind {
    PACKET_DATA, PACKET_ACK, PACKET_NAK, PACKET_CNP, PACKET_PAUSE, PACKET_SACK, PACKET_RNR, PACKET_CREDIT,
};

#define PACKET_MAX_BYTES 0xffffu
#define PACKET_CE (1u << 22)
#define PACKET_LAST (1u << 23)
#define PACKET_ECHO (1u << 24)
#define PACKET_HOP (1u << 25)
#define PACKET_TIMED (1u << 30)
#define PACKET_AGAIN (1u << 31)
#define PACKET_MAX_HOPS 32
#define PACKET_PAUSE_FOREVER UINT32_MAX

static inline uint32_t packet_make(enum packet_kind kind, uint32_t code, uint32_t frame_bytes)
{
    return frame_bytes | (uint32_t)kind << 16 | code << 19;
}
static inline uint32_t packet_bytes(uint32_t c) { return c & 0xffffu; }
static inline enum packet_kind packet_kind(uint32_t c) { return (enum packet_kind)(c >> 16 & 7u); }
static inline uint32_t packet_code(uint32_t c) { return c >> 19 & 7u; }
static inline uint32_t packet_hops(uint32_t c) { return c >> 25 & 31u; }
/* Flag of the answer to data packet C. */
static inline uint32_t packet_timed(uint32_t c) { return ~c >> 1 & PACKET_TIMED; }

#endif

/* packet.h - a packet is three words: which queue pair and direction, PSN, sizes and flags.
 *
 *   a   queue pair << 1 | direction   (0: requester to responder, 1: back)
 *   b   PSN
 *   c   bit 0-15 frame bytes, 16-18 kind, 19-21 class, 22 CE, 23 last of message,
 *       24 congestion echo (ACK), 25-29 switches passed
 *
 * The PSN is 24 bits on the wire; here it counts on in 32 so that any packet of
 * a run has a name of its own. A pause frame has quanta in a (0: XON,
 * PACKET_PAUSE_FOREVER: until XON) and no queue pair.
 */
#ifndef FABRICAST_MODELS_PACKET_H
#define FABRICAST_MODELS_PACKET_H

#include <stdint.h>

enum packet_kind { PACKET_DATA, PACKET_ACK, PACKET_NAK, PACKET_CNP, PACKET_PAUSE };

#define PACKET_MAX_BYTES 0xffffu
#define PACKET_CE (1u << 22)
#define PACKET_LAST (1u << 23)
#define PACKET_ECHO (1u << 24)
#define PACKET_HOP (1u << 25)
#define PACKET_MAX_HOPS 32
#define PACKET_PAUSE_FOREVER UINT32_MAX

static inline uint32_t packet_make(enum packet_kind kind, uint32_t class, uint32_t frame_bytes)
{
    return frame_bytes | (uint32_t)kind << 16 | class << 19;
}
static inline uint32_t packet_bytes(uint32_t c) { return c & 0xffffu; }
static inline enum packet_kind packet_kind(uint32_t c) { return (enum packet_kind)(c >> 16 & 7u); }
static inline uint32_t packet_class(uint32_t c) { return c >> 19 & 7u; }
static inline uint32_t packet_hops(uint32_t c) { return c >> 25 & 31u; }

#endif

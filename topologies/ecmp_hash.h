/* ecmp_hash.h - the hash by which a switch picks one of several equally short ways.
 *
 * mix is an ideal 64-bit mixer. The others are what ASICs have: a CRC or a fold over the chosen fields, as bytes in the
 * order of a packet's headers (network byte order): src and dst as IPv4 addresses (4 each; those of --pcap), protocol (1), sport
 * and dport (2 each), qpn (3: the destination queue pair of the BTH).
 *
 *   crc16   polynomial 0x1021, initial 0xFFFF, not reflected (CRC-16/IBM-3740, "CCITT-FALSE"): "123456789" gives 0x29B1
 *   crc32   IEEE 802.3, reflected:                             0xCBF43926
 *   crc32c  Castagnoli (RFC 3720), reflected:                  0xE3069283
 *   xor     16-bit words XORed; a last odd byte counts as the upper half of a word
 *
 * A switch's seed changes the register's initial value (xor: it is one more word). These hashes are linear over GF(2): a seed
 * adds the same constant to the hash of every key, so that with 2^n candidates two switches of different seeds still part
 * the same keys from each other. What parts them anew is to use other bits of the hash at each tier: offset_per_tier.
 */
#ifndef FABRICAST_TOPOLOGIES_ECMP_HASH_H
#define FABRICAST_TOPOLOGIES_ECMP_HASH_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What can be hashed. Addresses are endpoint numbers. */
struct route_key { uint32_t src, dst; uint16_t sport, dport; uint32_t qpn; };

enum ecmp_field {
    ECMP_SRC = 1, ECMP_DST = 2, ECMP_PROTOCOL = 4, ECMP_SPORT = 8, ECMP_DPORT = 16, ECMP_QPN = 32,
};
#define ECMP_FIVE_TUPLE (ECMP_SRC | ECMP_DST | ECMP_PROTOCOL | ECMP_SPORT | ECMP_DPORT)

struct ecmp_hash {
    int kind;             /* enum routing_hash */
    unsigned fields;      /* enum ecmp_field */
    uint64_t seed;
    bool seed_per_switch; /* false: all switches have the same one */
    uint32_t offset_per_tier; /* bits by which the hash is rotated right once for each tier above the leaf */
};

/* The ideal hash over the five-tuple. */
static inline struct ecmp_hash ecmp_hash_mix(uint64_t seed, bool seed_per_switch)
{
    return (struct ecmp_hash){.fields = ECMP_FIVE_TUPLE, .seed = seed, .seed_per_switch = seed_per_switch};
}

/* "src,dst,sport" to bits of enum ecmp_field. False with ERR set: an unknown or repeated field, or none. */
bool ecmp_parse_fields(const char *text, unsigned *fields, GError **err);

struct routing_params; /* topologies/topology_params.h; checked: its fields are known to parse */
struct ecmp_hash ecmp_hash_of(const struct routing_params *params);

/* Hash of KEY at graph node NODE of TIER (net_graph.h); which of N candidates: that mod N. Pure. */
uint64_t ecmp_hash_at(const struct ecmp_hash *hash, const struct route_key *key, uint32_t node, uint32_t tier);

/* The bare codes; STATE is the register before the first byte: 0xFFFF for crc16, 0xFFFFFFFF for the others. Results are
 * as published (crc32 and crc32c inverted at the end). */
uint16_t ecmp_crc16(uint16_t state, const uint8_t *bytes, size_t n);
uint32_t ecmp_crc32(uint32_t state, const uint8_t *bytes, size_t n);
uint32_t ecmp_crc32c(uint32_t state, const uint8_t *bytes, size_t n);
uint16_t ecmp_xor16(uint16_t state, const uint8_t *bytes, size_t n);

#endif

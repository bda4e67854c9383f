/* ecmp_hash.c - see ecmp_hash.h. Computed when paths and tables are made, bit by bit: no table is worth its lines. */
#include "topologies/ecmp_hash.h"

#include "sim/params.h"
#include "sim/rng.h"
#include "topologies/topology_params.h"

#include <string.h>

/* 2^64 / golden ratio: spreads consecutive numbers before they are mixed. */
#define MIX_STEP UINT64_C(0x9e3779b97f4a7c15)

#define CRC16_POLY   0x1021u
#define CRC32_POLY   0xEDB88320u /* 0x04C11DB7, bits reversed */
#define CRC32C_POLY  0x82F63B78u /* 0x1EDC6F41, bits reversed */
#define PROTOCOL_UDP 17
#define MAX_KEY_BYTES 16

/* ---- fields ------------------------------------------------------------------ */
static const struct { const char *name; unsigned field; uint8_t bytes; } fields_known[] = {
    {"src", ECMP_SRC, 4},     {"dst", ECMP_DST, 4},     {"protocol", ECMP_PROTOCOL, 1},
    {"sport", ECMP_SPORT, 2}, {"dport", ECMP_DPORT, 2}, {"qpn", ECMP_QPN, 3},
};

static unsigned field_named(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(fields_known); i++)
        if (g_ascii_strcasecmp(fields_known[i].name, name) == 0)
            return fields_known[i].field;
    return 0;
}

bool ecmp_parse_fields(const char *text, unsigned *fields, GError **err)
{
    g_auto(GStrv) words = g_strsplit_set(text ? text : "", ", \t", -1);
    unsigned found = 0;
    for (char **word = words; *word; word++) {
        if (**word == '\0')
            continue;
        unsigned field = field_named(*word);
        if (field && !(found & field)) {
            found |= field;
            continue;
        }
        g_set_error(err, PARAM_ERROR, PARAM_ERROR_CROSS, "'%s' is %s; allowed: src, dst, protocol, sport, dport, qpn, each once", *word,
                    field ? "named twice" : "no field");
        return false;
    }
    *fields = found;
    if (found)
        return true;
    g_set_error_literal(err, PARAM_ERROR, PARAM_ERROR_CROSS, "no field; allowed: one or more of src, dst, protocol, sport, dport, qpn");
    return false;
}

struct ecmp_hash ecmp_hash_of(const struct routing_params *params)
{
    struct ecmp_hash hash = {.kind = params->hash,
                             .seed = (uint64_t)params->ecmp_seed,
                             .seed_per_switch = params->ecmp_seed_per_switch,
                             .offset_per_tier = (uint32_t)params->hash_offset_per_tier};
    bool known = ecmp_parse_fields(params->hash_fields, &hash.fields, NULL);
    g_return_val_if_fail(known, ecmp_hash_mix(hash.seed, hash.seed_per_switch));
    return hash;
}

/* ---- codes --------------------------------------------------------------------- */
uint16_t ecmp_crc16(uint16_t state, const uint8_t *bytes, size_t n)
{
    uint32_t crc = state;
    for (size_t i = 0; i < n; i++) {
        crc ^= (uint32_t)bytes[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc << 1 ^ (crc & 0x8000 ? CRC16_POLY : 0)) & 0xffff;
    }
    return (uint16_t)crc;
}

static uint32_t crc_reflected(uint32_t poly, uint32_t crc, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? poly : 0);
    }
    return ~crc;
}

uint32_t ecmp_crc32(uint32_t state, const uint8_t *bytes, size_t n) { return crc_reflected(CRC32_POLY, state, bytes, n); }
uint32_t ecmp_crc32c(uint32_t state, const uint8_t *bytes, size_t n) { return crc_reflected(CRC32C_POLY, state, bytes, n); }

uint16_t ecmp_xor16(uint16_t state, const uint8_t *bytes, size_t n)
{
    uint32_t sum = state;
    for (size_t i = 0; i < n; i++)
        sum ^= i % 2 ? bytes[i] : (uint32_t)bytes[i] << 8;
    return (uint16_t)sum;
}

/* ---- keys ------------------------------------------------------------------------ */
/* IPv4 address of an endpoint: 10.0.0.0/8 and its number, counted from 1. */
static uint32_t address(uint32_t endpoint) { return 10u << 24 | ((endpoint + 1) & 0xffffff); }

static size_t key_bytes(const struct route_key *key, unsigned fields, uint8_t *out)
{
    const uint32_t values[G_N_ELEMENTS(fields_known)] = {address(key->src), address(key->dst), PROTOCOL_UDP, key->sport, key->dport, key->qpn};
    size_t n = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(fields_known); i++)
        for (unsigned byte = fields_known[i].bytes; (fields & fields_known[i].field) && byte-- > 0;)
            out[n++] = (uint8_t)(values[i] >> (byte << 3));
    return n;
}

/* Ports are mixed in after the addresses, so that swapping fields never gives the same sum. */
static uint64_t mix_key(const struct route_key *key, unsigned fields, uint64_t seed)
{
    uint64_t src = fields & ECMP_SRC ? key->src : 0, dst = fields & ECMP_DST ? key->dst : 0;
    uint64_t sport = fields & ECMP_SPORT ? key->sport : 0, dport = fields & ECMP_DPORT ? key->dport : 0;
    uint64_t hash = sim_mix64(sim_mix64(seed ^ (src << 32 | dst)) + MIX_STEP * (1 + (sport << 16 | dport)));
    return fields & ECMP_QPN ? sim_mix64(hash + MIX_STEP * (1 + (uint64_t)key->qpn)) : hash;
}

static uint64_t rotate_right(uint64_t value, unsigned width, uint64_t by)
{
    unsigned k = (unsigned)(by % width);
    if (k == 0)
        return value;
    uint64_t mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    return (value >> k | value << (width - k)) & mask;
}

uint64_t ecmp_hash_at(const struct ecmp_hash *hash, const struct route_key *key, uint32_t node, uint32_t tier)
{
    uint64_t seed = sim_mix64(hash->seed_per_switch ? hash->seed + MIX_STEP * ((uint64_t)node + 1) : hash->seed);
    uint64_t by = (uint64_t)hash->offset_per_tier * (tier > 1 ? tier - 1 : 0);
    uint8_t bytes[MAX_KEY_BYTES];
    size_t n = hash->kind == ROUTING_HASH_MIX ? 0 : key_bytes(key, hash->fields, bytes);
    switch ((enum routing_hash)hash->kind) {
    case ROUTING_HASH_CRC16:
        return rotate_right(ecmp_crc16((uint16_t)(0xffff ^ seed), bytes, n), 16, by);
    case ROUTING_HASH_CRC32:
        return rotate_right(ecmp_crc32((uint32_t)(0xffffffff ^ seed), bytes, n), 32, by);
    case ROUTING_HASH_CRC32C:
        return rotate_right(ecmp_crc32c((uint32_t)(0xffffffff ^ seed), bytes, n), 32, by);
    case ROUTING_HASH_XOR:
        return rotate_right(ecmp_xor16((uint16_t)seed, bytes, n), 16, by);
    default:
        return rotate_right(mix_key(key, hash->fields, seed), 64, by);
    }
}

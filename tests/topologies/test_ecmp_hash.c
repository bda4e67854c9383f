/* test_ecmp_hash.c - codes against their published check values, fields, balance, polarisation. */
#include "topologies/ecmp_hash.h"

#include "sim/rng.h"
#include "topologies/topology_params.h"
#include "topology_fixture.h"
#include <math.h>

#define CHECK_TEXT "123456789"
#define CHECK_BYTES ((const uint8_t *)CHECK_TEXT), 9

/* The check values of the catalogue of CRC algorithms. */
static void test_ecmp_hash__codes_give_their_check_values(void **state)
{
    (void)state;
    assert_int_equal(ecmp_crc16(0xffff, CHECK_BYTES), 0x29B1);
    assert_int_equal(ecmp_crc32(0xffffffff, CHECK_BYTES), 0xCBF43926);
    assert_int_equal(ecmp_crc32c(0xffffffff, CHECK_BYTES), 0xE3069283);
    /* '1' ^ '3' ^ '5' ^ '7' ^ '9' and '2' ^ '4' ^ '6' ^ '8', by hand. */
    assert_int_equal(ecmp_xor16(0, CHECK_BYTES), 0x3908);
}

static const struct route_key some_key = {.src = 3, .dst = 0x10203, .sport = 0xC123, .dport = 4791, .qpn = 0x40302};

/* The whole key as an ASIC sees it: 10.0.0.4, 10.1.2.4, UDP, ports, destination queue pair. */
static void test_ecmp_hash__keys_are_header_bytes(void **state)
{
    (void)state;
    const uint8_t bytes[] = {10, 0, 0, 4, 10, 1, 2, 4, 17, 0xC1, 0x23, 0x12, 0xB7, 4, 3, 2};
    struct ecmp_hash hash = {.kind = ROUTING_HASH_CRC32, .fields = ECMP_FIVE_TUPLE | ECMP_QPN};
    /* sim_mix64(0) is 0: no seed. */
    assert_int_equal(ecmp_hash_at(&hash, &some_key, 0, 1), ecmp_crc32(0xffffffff, bytes, sizeof bytes));
    hash.kind = ROUTING_HASH_CRC16;
    assert_int_equal(ecmp_hash_at(&hash, &some_key, 0, 1), ecmp_crc16(0xffff, bytes, sizeof bytes));
    hash.fields = ECMP_DST;
    assert_int_equal(ecmp_hash_at(&hash, &some_key, 0, 1), ecmp_crc16(0xffff, bytes + 4, 4));
    hash.kind = ROUTING_HASH_XOR;
    hash.fields = ECMP_SRC | ECMP_DST;
    assert_int_equal(ecmp_hash_at(&hash, &some_key, 0, 1), 0x0A00 ^ 0x0004 ^ 0x0A01 ^ 0x0204);
}

/* A field counts if and only if it is chosen, whatever the hash. */
static void test_ecmp_hash__only_chosen_fields_count(void **state)
{
    (void)state;
    static const struct { unsigned field; struct route_key key; } changes[] = {
        {ECMP_SRC, {4, 0x10203, 0xC123, 4791, 0x40302}},   {ECMP_DST, {3, 0x10204, 0xC123, 4791, 0x40302}},
        {ECMP_SPORT, {3, 0x10203, 0xC124, 4791, 0x40302}}, {ECMP_DPORT, {3, 0x10203, 0xC123, 4792, 0x40302}},
        {ECMP_QPN, {3, 0x10203, 0xC123, 4791, 0x40303}},
    };
    for (int kind = ROUTING_HASH_MIX; kind <= ROUTING_HASH_XOR; kind++)
        for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
            struct ecmp_hash hash = {.kind = kind, .fields = ECMP_FIVE_TUPLE | ECMP_QPN, .seed = 5, .seed_per_switch = true};
            assert_int_not_equal(ecmp_hash_at(&hash, &some_key, 7, 1), ecmp_hash_at(&hash, &changes[i].key, 7, 1));
            hash.fields &= ~changes[i].field;
            assert_int_equal(ecmp_hash_at(&hash, &some_key, 7, 1), ecmp_hash_at(&hash, &changes[i].key, 7, 1));
        }
}

static void test_ecmp_hash__lists_of_fields(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    unsigned fields = 0;
    assert_true(ecmp_parse_fields("src,dst,sport,dport", &fields, &error));
    assert_int_equal(fields, ECMP_SRC | ECMP_DST | ECMP_SPORT | ECMP_DPORT);
    assert_true(ecmp_parse_fields(" QPN protocol,dst", &fields, &error));
    assert_int_equal(fields, ECMP_QPN | ECMP_PROTOCOL | ECMP_DST);
    static const char *const bad[][2] = {{"src,vlan", "'vlan' is no field; allowed: src, dst, protocol, sport, dport, qpn"},
                                         {"src,dst,src", "'src' is named twice"},
                                         {"", "no field; allowed"},
                                         {" , ", "no field; allowed"}};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        assert_false(ecmp_parse_fields(bad[i][0], &fields, &error));
        assert_non_null(strstr(error->message, bad[i][1]));
        g_clear_error(&error);
    }
}

/* Rotation moves bits of the hash within its width, none at the leaf. */
static void test_ecmp_hash__offset_rotates_by_tier(void **state)
{
    (void)state;
    static const unsigned width[] = {64, 16, 32, 32, 16};
    for (int kind = ROUTING_HASH_MIX; kind <= ROUTING_HASH_XOR; kind++) {
        struct ecmp_hash plain = {.kind = kind, .fields = ECMP_FIVE_TUPLE, .seed = 9}, hash = plain;
        hash.offset_per_tier = 5;
        uint64_t value = ecmp_hash_at(&plain, &some_key, 1, 3);
        assert_int_equal(ecmp_hash_at(&hash, &some_key, 1, 0), value);
        assert_int_equal(ecmp_hash_at(&hash, &some_key, 1, 1), value);
        for (uint32_t tier = 2; tier < 4; tier++)
            for (unsigned bit = 0; bit < width[kind]; bit++)
                assert_int_equal(ecmp_hash_at(&hash, &some_key, 1, tier) >> bit & 1, value >> (bit + 5 * (tier - 1)) % width[kind] & 1);
    }
}

/* Mean of the largest number of 8 flows, i to 8 + i with a drawn source port, on one of 8 ports. */
static double mean_largest_load(int kind, const char *fields)
{
    double sum = 0;
    for (uint64_t seed = 0; seed < 4000; seed++) {
        int load[8] = {0}, most = 0;
        struct ecmp_hash hash = {.kind = kind, .seed = 1, .seed_per_switch = true};
        assert_true(ecmp_parse_fields(fields, &hash.fields, NULL));
        for (uint32_t i = 0; i < 8; i++) {
            uint16_t sport = (uint16_t)(0xC000 | (sim_rng(seed, i, SIM_RNG_SPORT, 0) & 0x3fff));
            struct route_key key = {.src = i, .dst = 8 + i, .sport = sport, .dport = 4791, .qpn = 2 * i + 3};
            int now = ++load[ecmp_hash_at(&hash, &key, 16, 1) % 8];
            most = MAX(most, now);
        }
        sum += most;
    }
    return sum / 4000;
}

/* Balls in bins: 2.597 for every hash as long as source ports are drawn; the addresses of a shifted permutation alone have
 * one XOR, and all eight flows meet. */
static void test_ecmp_hash__largest_load_is_that_of_balls_in_bins(void **state)
{
    (void)state;
    for (int kind = ROUTING_HASH_MIX; kind <= ROUTING_HASH_XOR; kind++) {
        double load = mean_largest_load(kind, "src,dst,protocol,sport,dport");
        if (fabs(load - 2.597) > 0.03)
            fail_msg("hash %d: %.3f", kind, load);
    }
    assert_true(mean_largest_load(ROUTING_HASH_XOR, "src,dst") == 8);
    assert_true(mean_largest_load(ROUTING_HASH_CRC16, "src,dst") < 8);
}

/* Ports of the second switch, of 8, that the flows use which the first sends to port 0 of 8. */
static int used_at_second(const struct ecmp_hash *hash)
{
    unsigned used = 0;
    for (uint32_t i = 0; i < 4000; i++) {
        struct route_key key = {.src = i % 64, .dst = 64 + i / 64, .sport = (uint16_t)(0xC000 | (sim_mix64(i) & 0x3fff)), .dport = 4791};
        if (ecmp_hash_at(hash, &key, 100, 1) % 8 == 0)
            used |= 1u << ecmp_hash_at(hash, &key, 200, 2) % 8;
    }
    return __builtin_popcount(used);
}

/* One seed: the second tier sees equal low bits. Seeds of their own help the mixer alone, for the others are linear and 8 is
 * a power of two; other bits help all. */
static void test_ecmp_hash__polarisation(void **state)
{
    (void)state;
    for (int kind = ROUTING_HASH_MIX; kind <= ROUTING_HASH_XOR; kind++) {
        struct ecmp_hash hash = {.kind = kind, .fields = ECMP_FIVE_TUPLE, .seed = 1};
        assert_int_equal(used_at_second(&hash), 1);
        hash.seed_per_switch = true;
        assert_int_equal(used_at_second(&hash), kind == ROUTING_HASH_MIX ? 8 : 1);
        hash.offset_per_tier = 3;
        assert_int_equal(used_at_second(&hash), 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ecmp_hash__codes_give_their_check_values),
        cmocka_unit_test(test_ecmp_hash__keys_are_header_bytes),
        cmocka_unit_test(test_ecmp_hash__only_chosen_fields_count),
        cmocka_unit_test(test_ecmp_hash__lists_of_fields),
        cmocka_unit_test(test_ecmp_hash__offset_rotates_by_tier),
        cmocka_unit_test(test_ecmp_hash__largest_load_is_that_of_balls_in_bins),
        cmocka_unit_test(test_ecmp_hash__polarisation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

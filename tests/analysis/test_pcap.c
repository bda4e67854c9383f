/* test_pcap.c - bytes of captured frames, checked field by field. */
#include "analysis/pcap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const struct record_column_spec columns[] = {
    {"t_ps", RECORD_I64, "ps", ""}, {"node_id", RECORD_I64, "1", ""}, {"src_rank", RECORD_I64, "1", ""}, {"dst_rank", RECORD_I64, "1", ""},
    {"queue_pair", RECORD_I64, "1", ""}, {"sport", RECORD_I64, "1", ""}, {"psn", RECORD_I64, "1", ""}, {"payload_bytes", RECORD_I64, "bytes", ""},
    {"message_bytes", RECORD_I64, "bytes", ""}, {"dscp", RECORD_I64, "1", ""}, {"priorities", RECORD_I64, "1", ""}, {"quanta", RECORD_I64, "1", ""},
    {"first", RECORD_I64, "1", ""}, {"last", RECORD_I64, "1", ""}, {"ce", RECORD_I64, "1", ""}, {"kind", RECORD_TEXT, "name", ""},
};

struct row { int64_t t_ps, node, src, dst, qp, sport, psn, payload, message, dscp, priorities, quanta, first, last, ce; const char *kind; };

static uint8_t *written(const struct row *rows, int n, uint32_t snap, gsize *size)
{
    g_autoptr(GError) err = NULL;
    struct record_book *book = record_book_new();
    struct record_table *t = record_table_add(book, "events/capture", "", columns, G_N_ELEMENTS(columns));
    for (int i = 0; i < n; i++) {
        const struct row *r = &rows[i];
        record_append(t, r->t_ps, r->node, r->src, r->dst, r->qp, r->sport, r->psn, r->payload, r->message, r->dscp, r->priorities,
                      r->quanta, r->first, r->last, r->ce, r->kind);
    }
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), "fabricast-test.pcap", NULL);
    if (!pcap_write(path, book, snap, &err))
        fail_msg("%s", err->message);
    record_book_free(book);
    char *data = NULL;
    assert_true(g_file_get_contents(path, &data, size, NULL));
    remove(path);
    return (uint8_t *)data;
}

static uint32_t le32(const uint8_t *p) { return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24; }
static uint32_t be16(const uint8_t *p) { return (uint32_t)p[0] << 8 | p[1]; }
static uint32_t be24(const uint8_t *p) { return (uint32_t)p[0] << 16 | be16(p + 1); }

/* Bit by bit, as the standard's polynomial is written: another way than the table's. */
static uint32_t slow_crc(const uint8_t *data, size_t n)
{
    uint32_t reg = 0xffffffffu;
    for (size_t i = 0; i < n; i++)
        for (int b = 0; b < 8; b++) {
            uint32_t in = (data[i] >> b & 1u) ^ (reg >> 31);
            reg = reg << 1 ^ (in ? 0x04c11db7u : 0);
        }
    uint32_t out = 0;
    for (int b = 0; b < 32; b++)
        out |= (reg >> b & 1u) << (31 - b);
    return ~out;
}

static void check_icrc(const uint8_t *ip, size_t n)
{
    g_autofree uint8_t *copy = g_malloc(n + 8);
    memset(copy, 0xff, 8);
    memcpy(copy + 8, ip, n);
    copy[9] = copy[16] = copy[18] = copy[19] = copy[34] = copy[35] = copy[40] = 0xff;
    assert_int_equal(slow_crc(copy, n + 8), pcap_icrc(ip, n));
    assert_int_equal(le32(ip + n), pcap_icrc(ip, n));
}

static void test_pcap__data_packet(void **state)
{
    (void)state;
    const struct row r = {1500000000123456, 0, 4, 300, 7, 50000, 0x1000005, 1001, 5000, 26, 0, 0, 1, 0, 1, "data"};
    gsize size;
    g_autofree uint8_t *d = written(&r, 1, 0, &size);
    assert_int_equal(le32(d), 0xa1b23c4d);
    assert_int_equal(le32(d + 20), 1);
    assert_int_equal(le32(d + 24), 1500);
    assert_int_equal(le32(d + 28), 123); /* ns */
    uint32_t n = le32(d + 32);
    assert_int_equal(n, 1001 + 3 + 62 + 16 - 4); /* three of padding; no FCS */
    assert_int_equal(size, 40 + n);
    const uint8_t *eth = d + 40, *ip = eth + 14, *udp = ip + 20, *bth = udp + 8;
    assert_int_equal(be16(eth + 12), 0x0800);
    assert_int_equal(ip[1], 26 << 2 | 3);
    assert_int_equal(be16(ip + 2), n - 14);
    assert_memory_equal(ip + 12, ((uint8_t[]){10, 0, 0, 5}), 4);
    assert_memory_equal(ip + 16, ((uint8_t[]){10, 0, 1, 45}), 4);
    uint32_t sum = 0;
    for (int i = 0; i < 20; i += 2)
        sum += be16(ip + i);
    assert_int_equal((sum & 0xffff) + (sum >> 16), 0xffff);
    assert_int_equal(be16(udp), 50000);
    assert_int_equal(be16(udp + 2), 4791);
    assert_int_equal(bth[0], 0x06);
    assert_int_equal(bth[1] >> 4, 3);
    assert_int_equal(be24(bth + 5), 17);
    assert_int_equal(be24(bth + 9), 5); /* 24 bits */
    assert_int_equal(le32(bth + 24), 0x88130000); /* DMA length 5000, big endian */
    check_icrc(ip, n - 14 - 4);
}

static void test_pcap__answers_and_pauses(void **state)
{
    (void)state;
    const struct row rows[] = {{1, 0, 1, 0, 0, 1, 9, 0, 0, 24, 0, 0, 0, 0, 0, "ack"},
                               {2, 0, 1, 0, 0, 1, 9, 0, 0, 24, 0, 0, 0, 0, 0, "nak"},
                               {3, 0, 1, 0, 0, 1, 0, 0, 0, 48, 0, 0, 0, 0, 0, "cnp"},
                               {4, 5, -1, -1, -1, 0, 0, 0, 0, 0, 0x18, 65535, 0, 0, 0, "pause"}};
    gsize size;
    g_autofree uint8_t *d = written(rows, 4, 0, &size);
    const uint8_t *p = d + 24;
    assert_int_equal(le32(p + 8), 62); /* 66 with FCS */
    assert_int_equal(p[16 + 42], 0x11);
    assert_int_equal(be24(p + 16 + 51), 8);
    assert_int_equal(p[16 + 54], 0x1f);
    p += 16 + 62;
    assert_int_equal(p[16 + 54], 0x60);
    assert_int_equal(be24(p + 16 + 51), 9);
    p += 16 + 62;
    assert_int_equal(le32(p + 8), 74); /* 78 with FCS */
    assert_int_equal(p[16 + 42], 0x81);
    assert_int_equal(p[16 + 46], 0x40);
    check_icrc(p + 16 + 14, 74 - 14 - 4);
    p += 16 + 74;
    assert_int_equal(le32(p + 8), 60);
    assert_int_equal(be16(p + 16 + 12), 0x8808);
    assert_int_equal(be16(p + 16 + 14), 0x0101);
    assert_int_equal(be16(p + 16 + 16), 0x18);
    assert_int_equal(be16(p + 16 + 18 + 6), 65535);
    assert_int_equal(be16(p + 16 + 18 + 4), 0);
    assert_true(p + 16 + 60 == d + size);
}

static void test_pcap__snap_keeps_the_length(void **state)
{
    (void)state;
    const struct row r = {0, 0, 0, 1, 0, 1, 0, 4096, 4096, 24, 0, 0, 1, 1, 0, "data"};
    gsize size;
    g_autofree uint8_t *d = written(&r, 1, 96, &size);
    assert_int_equal(size, 24 + 16 + 96);
    assert_int_equal(le32(d + 32), 96);
    assert_int_equal(le32(d + 36), 4096 + 62 + 16 - 4);
}

static void test_pcap__errors(void **state)
{
    (void)state;
    g_autoptr(GError) err = NULL, none = NULL;
    struct record_book *book = record_book_new();
    assert_false(pcap_write("/tmp/x.pcap", book, 0, &none));
    assert_true(g_error_matches(none, PCAP_ERROR, PCAP_ERROR_INPUT));
    record_table_add(book, "events/capture", "", columns, G_N_ELEMENTS(columns));
    assert_false(pcap_write("/nowhere/x.pcap", book, 0, &err));
    assert_true(g_error_matches(err, PCAP_ERROR, PCAP_ERROR_FILE));
    record_book_free(book);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pcap__data_packet),
        cmocka_unit_test(test_pcap__answers_and_pauses),
        cmocka_unit_test(test_pcap__snap_keeps_the_length),
        cmocka_unit_test(test_pcap__errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

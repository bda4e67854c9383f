/* pcap.c - see pcap.h. Sources: IEEE 802.3 annex 31D (PFC frame), RFC 791, 768, IBTA RoCEv2 annex A17 (BTH, RETH, AETH, CNP,
 * ICRC). Left out: IPv6, atomics and reads, VLAN tags (priority is in the DSCP). */
#include "analysis/pcap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

G_DEFINE_QUARK(fabricast-pcap-error, pcap_error)

#define PCAP_MAGIC_NS 0xa1b23c4du
#define LINKTYPE_ETHERNET 1u
#define SNAP_ALL 262144u
#define ETHERNET_BYTES 14
#define IPV4_BYTES 20
#define UDP_BYTES 8
#define BTH_BYTES 12
#define RETH_BYTES 16
#define AETH_BYTES 4
#define CNP_PAD_BYTES 16
#define ICRC_BYTES 4
#define PFC_FRAME_BYTES 60 /* minimum frame without FCS */
#define MAX_FRAME_BYTES 65536
#define ROCE_PORT 4791u
#define PS_PER_NS 1000

enum { OP_WRITE_FIRST = 0x06, OP_WRITE_MIDDLE = 0x07, OP_WRITE_LAST = 0x08, OP_WRITE_ONLY = 0x0a, OP_ACK = 0x11, OP_CNP = 0x81 };
enum { SYNDROME_ACK = 0x1f, SYNDROME_NAK_PSN = 0x60, SYNDROME_RNR = 0x2c }; /* ACK without credits; RNR with timer 12 */

struct frame {
    int64_t t_ps, node, src, dst, qp, sport, psn, payload_bytes, message_bytes, dscp, priorities, quanta;
    bool first, last, ce;
    const char *kind;
};

struct out { uint8_t bytes[MAX_FRAME_BYTES]; size_t n; };

static void put8(struct out *o, uint32_t x) { o->bytes[o->n++] = (uint8_t)x; }
static void put16(struct out *o, uint32_t x)
{
    put8(o, x >> 8);
    put8(o, x);
}
static void put24(struct out *o, uint32_t x)
{
    put8(o, x >> 16);
    put16(o, x);
}
static void put32(struct out *o, uint32_t x)
{
    put16(o, x >> 16);
    put16(o, x);
}
static void put_zeros(struct out *o, size_t n)
{
    memset(o->bytes + o->n, 0, n);
    o->n += n;
}

/* ---- checksums ------------------------------------------------------------------ */
static uint32_t crc32_byte(uint32_t crc, uint8_t byte)
{
    crc ^= byte;
    for (int i = 0; i < 8; i++)
        crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    return crc;
}

static void crc_table(uint32_t table[256])
{
    for (uint32_t i = 0; i < 256; i++)
        table[i] = crc32_byte(0, (uint8_t)i);
}

static uint32_t icrc(const uint32_t table[256], const uint8_t *ip, size_t n_bytes)
{
    uint32_t crc = 0xffffffffu;
    for (int i = 0; i < 8; i++) /* where a local routing header would be */
        crc = table[(crc ^ 0xff) & 0xff] ^ crc >> 8;
    for (size_t i = 0; i < n_bytes; i++) {
        /* Type of service, TTL, header checksum, UDP checksum, and the byte of the BTH that holds FECN and BECN. */
        bool varies = i == 1 || i == 8 || i == 10 || i == 11 || i == IPV4_BYTES + 6 || i == IPV4_BYTES + 7 ||
                      i == IPV4_BYTES + UDP_BYTES + 4;
        crc = table[(crc ^ (varies ? 0xff : ip[i])) & 0xff] ^ crc >> 8;
    }
    return ~crc;
}

uint32_t pcap_icrc(const uint8_t *ip, size_t n_bytes)
{
    uint32_t table[256];
    crc_table(table);
    return icrc(table, ip, n_bytes);
}

static uint16_t ipv4_checksum(const uint8_t *header)
{
    uint32_t sum = 0;
    for (int i = 0; i < IPV4_BYTES; i += 2)
        sum += (uint32_t)header[i] << 8 | header[i + 1];
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

/* ---- frames ------------------------------------------------------------------------ */
static void put_mac(struct out *o, int64_t number)
{
    put24(o, 0x020000);
    put24(o, (uint32_t)number + 1);
}

static void put_address(struct out *o, int64_t rank)
{
    put8(o, 10);
    put24(o, (uint32_t)rank + 1);
}

static bool is(const struct frame *f, const char *kind) { return strcmp(f->kind, kind) == 0; }

static uint32_t opcode(const struct frame *f)
{
    if (is(f, "cnp"))
        return OP_CNP;
    if (!is(f, "data"))
        return OP_ACK;
    return f->first ? f->last ? OP_WRITE_ONLY : OP_WRITE_FIRST : f->last ? OP_WRITE_LAST : OP_WRITE_MIDDLE;
}

static void put_bth(struct out *o, const struct frame *f)
{
    uint32_t op = opcode(f), pad = op == OP_ACK || op == OP_CNP ? 0 : (uint32_t)(-f->payload_bytes & 3);
    bool to_responder = is(f, "data");
    put8(o, op);
    put8(o, pad << 4);
    put16(o, 0xffff);
    put8(o, op == OP_CNP ? 0x40 : 0); /* BECN */
    put24(o, (uint32_t)f->qp * 2 + (to_responder ? 3 : 2));
    put8(o, to_responder && f->last ? 0x80 : 0); /* asks for an ACK */
    /* ACK, NAK: the newest packet that it covers; the model names the one that is expected next. */
    put24(o, (uint32_t)f->psn - (is(f, "ack") ? 1 : 0));
}

static void put_transport(struct out *o, const struct frame *f)
{
    put_bth(o, f);
    if (is(f, "cnp")) {
        put_zeros(o, CNP_PAD_BYTES);
    } else if (is(f, "data")) {
        if (f->first) {
            put_zeros(o, 8);
            put32(o, 0x1000u + (uint32_t)f->qp);
            put32(o, (uint32_t)f->message_bytes);
        }
        put_zeros(o, (size_t)f->payload_bytes + (size_t)(-f->payload_bytes & 3));
    } else {
        put8(o, is(f, "nak") ? SYNDROME_NAK_PSN : is(f, "rnr") ? SYNDROME_RNR : SYNDROME_ACK);
        put24(o, 0);
    }
}

static void put_roce(struct out *o, const uint32_t table[256], const struct frame *f)
{
    uint8_t *ip;
    o->n = 0;
    put_mac(o, f->dst);
    put_mac(o, f->src);
    put16(o, 0x0800);
    ip = o->bytes + o->n;
    put8(o, 0x45);
    put8(o, (uint32_t)f->dscp << 2 | (is(f, "data") ? f->ce ? 3u : 2u : 0));
    put16(o, 0); /* total length, below */
    put16(o, 0);
    put16(o, 0x4000);
    put8(o, 64);
    put8(o, 17);
    put16(o, 0);
    put_address(o, f->src);
    put_address(o, f->dst);
    put16(o, (uint32_t)f->sport);
    put16(o, ROCE_PORT);
    put16(o, 0); /* UDP length, below */
    put16(o, 0);
    put_transport(o, f);
    size_t ip_bytes = o->n - ETHERNET_BYTES + ICRC_BYTES, udp_bytes = ip_bytes - IPV4_BYTES;
    ip[2] = (uint8_t)(ip_bytes >> 8);
    ip[3] = (uint8_t)ip_bytes;
    ip[IPV4_BYTES + 4] = (uint8_t)(udp_bytes >> 8);
    ip[IPV4_BYTES + 5] = (uint8_t)udp_bytes;
    uint16_t checksum = ipv4_checksum(ip);
    ip[10] = (uint8_t)(checksum >> 8);
    ip[11] = (uint8_t)checksum;
    uint32_t crc = icrc(table, ip, ip_bytes - ICRC_BYTES);
    for (int i = 0; i < ICRC_BYTES; i++) /* the least significant byte goes first, as with an Ethernet FCS */
        put8(o, crc >> 8 * i);
}

static void put_pause(struct out *o, const struct frame *f)
{
    o->n = 0;
    put24(o, 0x0180c2);
    put24(o, 0x000001);
    put_mac(o, f->node);
    put16(o, 0x8808);
    put16(o, 0x0101);
    put16(o, (uint32_t)f->priorities & 0xff);
    for (int p = 0; p < 8; p++)
        put16(o, f->priorities >> p & 1 ? (uint32_t)f->quanta : 0);
    put_zeros(o, PFC_FRAME_BYTES - o->n);
}

/* ---- the file --------------------------------------------------------------------------- */
static bool write_header(FILE *file, uint32_t snap_bytes)
{
    const uint32_t words[] = {PCAP_MAGIC_NS, 2 | 4u << 16, 0, 0, snap_bytes, LINKTYPE_ETHERNET};
    return fwrite(words, sizeof words, 1, file) == 1;
}

static bool write_frame(FILE *file, const struct out *o, int64_t t_ps, uint32_t snap_bytes)
{
    uint64_t ns = (uint64_t)(t_ps / PS_PER_NS);
    uint32_t kept = MIN((uint32_t)o->n, snap_bytes);
    const uint32_t words[] = {(uint32_t)(ns / 1000000000u), (uint32_t)(ns % 1000000000u), kept, (uint32_t)o->n};
    return fwrite(words, sizeof words, 1, file) == 1 && fwrite(o->bytes, kept, 1, file) == 1;
}

struct capture { const int64_t *column[12]; const int64_t *first, *last, *ce; const char *const *kind; int64_t n; };

static const char *const names[] = {"t_ps", "node_id", "src_rank", "dst_rank", "queue_pair", "sport", "psn", "payload_bytes",
                                    "message_bytes", "dscp", "priorities", "quanta"};

static bool capture_of(const struct record_book *book, struct capture *c, GError **err)
{
    const struct record_table *table = record_table_get(book, "events/capture");
    if (!table) {
        g_set_error(err, PCAP_ERROR, PCAP_ERROR_INPUT, "the results hold no captured frames");
        return false;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        c->column[i] = record_column_i64(table, record_table_column(table, names[i]));
    c->first = record_column_i64(table, record_table_column(table, "first"));
    c->last = record_column_i64(table, record_table_column(table, "last"));
    c->ce = record_column_i64(table, record_table_column(table, "ce"));
    c->kind = record_column_text(table, record_table_column(table, "kind"));
    c->n = record_table_n_rows(table);
    return true;
}

static struct frame frame_at(const struct capture *c, int64_t i)
{
    const int64_t *const *x = c->column;
    return (struct frame){.t_ps = x[0][i], .node = x[1][i], .src = x[2][i], .dst = x[3][i], .qp = x[4][i], .sport = x[5][i], .psn = x[6][i],
                          .payload_bytes = x[7][i], .message_bytes = x[8][i], .dscp = x[9][i], .priorities = x[10][i], .quanta = x[11][i],
                          .first = c->first[i] != 0, .last = c->last[i] != 0, .ce = c->ce[i] != 0, .kind = c->kind[i]};
}

static bool write_all(FILE *file, const struct capture *c, uint32_t snap_bytes)
{
    uint32_t table[256];
    g_autofree struct out *o = g_new(struct out, 1);
    crc_table(table);
    bool ok = write_header(file, snap_bytes);
    for (int64_t i = 0; ok && i < c->n; i++) {
        struct frame f = frame_at(c, i);
        if (f.payload_bytes < 0 || f.payload_bytes > MAX_FRAME_BYTES - 256 || is(&f, "credit"))
            continue; /* grants have no form on a RoCEv2 wire */
        if (is(&f, "pause"))
            put_pause(o, &f);
        else
            put_roce(o, table, &f);
        ok = write_frame(file, o, f.t_ps, snap_bytes);
    }
    return ok;
}

bool pcap_write(const char *path, const struct record_book *book, uint32_t snap_bytes, GError **err)
{
    struct capture c;
    if (!capture_of(book, &c, err))
        return false;
    g_autofree char *part = g_strdup_printf("%s.part", path);
    FILE *file = fopen(part, "wb");
    bool ok = file && write_all(file, &c, snap_bytes ? snap_bytes : SNAP_ALL);
    ok = (!file || fclose(file) == 0) && ok;
    ok = ok && rename(part, path) == 0;
    if (!ok) {
        g_set_error(err, PCAP_ERROR, PCAP_ERROR_FILE, "%s: cannot be written: %s", path, g_strerror(errno));
        remove(part);
    }
    return ok;
}

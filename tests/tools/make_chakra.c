/* make_chakra.c - writes a folder of Chakra traces: per rank LAYERS times compute, then all-reduce.
 *
 *   make_chakra FOLDER PREFIX RANKS LAYERS COMPUTE_US BYTES
 *
 * Node 2k computes, node 2k+1 all-reduces; each depends on the one before. The traces in
 * scenarios/examples/rail64/trace are: make_chakra trace rail64 64 2 200 33554432
 */
#include "scenarios/chakra.pb-c.h"

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct plan {
    const char *folder, *prefix;
    uint64_t ranks, layers, compute_micros, bytes;
};

static void put_varint(GByteArray *out, uint64_t value)
{
    do {
        guint8 byte = (guint8)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        g_byte_array_append(out, &byte, 1);
        value >>= 7;
    } while (value > 0);
}

static void put_message(GByteArray *out, const ProtobufCMessage *message)
{
    size_t n = protobuf_c_message_get_packed_size(message);
    put_varint(out, n);
    guint at = out->len;
    g_byte_array_set_size(out, at + (guint)n);
    protobuf_c_message_pack(message, out->data + at);
}

static Fabricast__Chakra__Attribute count_attribute(char *name, uint64_t value)
{
    Fabricast__Chakra__Attribute a = FABRICAST__CHAKRA__ATTRIBUTE__INIT;
    a.name = name;
    a.value_case = FABRICAST__CHAKRA__ATTRIBUTE__VALUE_COUNT64;
    a.count64 = value;
    return a;
}

static Fabricast__Chakra__Attribute flag_attribute(char *name, bool value)
{
    Fabricast__Chakra__Attribute a = FABRICAST__CHAKRA__ATTRIBUTE__INIT;
    a.name = name;
    a.value_case = FABRICAST__CHAKRA__ATTRIBUTE__VALUE_FLAG;
    a.flag = value;
    return a;
}

static void put_node(GByteArray *out, const struct plan *plan, uint64_t id)
{
    bool computes = id % 2 == 0;
    g_autofree char *name = g_strdup_printf("%s%u", computes ? "compute" : "grads", (unsigned)(id / 2));
    uint64_t before = id - 1;
    Fabricast__Chakra__Attribute cpu = flag_attribute("is_cpu_op", false);
    Fabricast__Chakra__Attribute type = count_attribute("comm_type", 0), size = count_attribute("comm_size", plan->bytes);
    type.value_case = FABRICAST__CHAKRA__ATTRIBUTE__VALUE_WHOLE64; /* comm_type is an int64, its value 0: all-reduce */
    type.whole64 = 0;
    Fabricast__Chakra__Attribute *attributes[] = {&cpu, &type, &size};
    Fabricast__Chakra__Node node = FABRICAST__CHAKRA__NODE__INIT;
    node.id = id;
    node.name = name;
    node.kind = computes ? 4 : 7;
    node.duration_micros = computes ? plan->compute_micros : 0;
    node.data_deps = &before;
    node.n_data_deps = id > 0 ? 1 : 0;
    node.attributes = attributes;
    node.n_attributes = computes ? 1 : 3;
    put_message(out, &node.base);
}

static bool write_rank(const struct plan *plan, unsigned rank, GError **err)
{
    g_autoptr(GByteArray) out = g_byte_array_new();
    Fabricast__Chakra__Metadata metadata = FABRICAST__CHAKRA__METADATA__INIT;
    metadata.version = "0.0.4";
    put_message(out, &metadata.base);
    for (uint64_t id = 0; id < 2 * plan->layers; id++)
        put_node(out, plan, id);
    g_autofree char *file = g_strdup_printf("%s.%u.et", plan->prefix, rank);
    g_autofree char *path = g_build_filename(plan->folder, file, NULL);
    return g_file_set_contents(path, (const char *)out->data, (gssize)out->len, err);
}

static bool take_number(const char *text, uint64_t max, uint64_t *out)
{
    return g_ascii_string_to_unsigned(text, 10, 0, max, out, NULL);
}

int main(int argc, char **argv)
{
    struct plan plan = {0};
    if (argc != 7 || !take_number(argv[3], 65536, &plan.ranks) || !take_number(argv[4], 1000000, &plan.layers) ||
        !take_number(argv[5], UINT32_MAX, &plan.compute_micros) || !take_number(argv[6], INT64_MAX, &plan.bytes)) {
        fprintf(stderr, "usage: make_chakra FOLDER PREFIX RANKS LAYERS COMPUTE_US BYTES\n");
        return 2;
    }
    plan.folder = argv[1];
    plan.prefix = argv[2];
    if (g_mkdir_with_parents(plan.folder, 0755) != 0) {
        fprintf(stderr, "make_chakra: %s: %s\n", plan.folder, g_strerror(errno));
        return 1;
    }
    for (unsigned rank = 0; rank < plan.ranks; rank++) {
        g_autoptr(GError) err = NULL;
        if (!write_rank(&plan, rank, &err)) {
            fprintf(stderr, "make_chakra: %s\n", err->message);
            return 1;
        }
    }
    return 0;
}

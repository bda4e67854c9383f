/* fuzz_lft.c - forwarding tables read by topologies/lft_file.c, and ways by what was read. */
#include "fuzz_fabric.h"
#include "topologies/fabric_priv.h"
#include "topologies/lft.h"

static struct fabric *tree(void)
{
    struct fabric_builder *b = fabric_builder_new("edges");
    for (int i = 0; i < 6; i++)
        fabric_add_node(b, i < 4 ? NET_HOST : NET_SWITCH, i < 4 ? 0 : 1, "n%d", i);
    for (uint32_t i = 0; i < 4; i++)
        fabric_add_link(b, i, 4 + i / 2, 100 * UNIT_GBPS, UNIT_NS);
    fabric_add_link(b, 4, 5, 100 * UNIT_GBPS, UNIT_NS);
    g_autoptr(GError) err = NULL;
    struct fabric *f = fabric_builder_finish(b, 1, 1, &err);
    FUZZ_REQUIRE(f && subnet_label(f, &err));
    return f;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    static struct fabric *f;
    if (!f)
        f = tree();
    struct fuzz_file file;
    fuzz_file_init(&file, data, n_bytes);
    GError *err = NULL;
    struct lft *lft = lft_read(f, file.path, &err);
    if (!lft)
        fuzz_take_error(&err, NULL);
    for (uint32_t a = 0; lft && a < 4; a++)
        for (uint32_t b = 0; b < 4; b++) {
            uint32_t ports[8];
            int n = a == b ? 0 : lft_rank_path(lft, f, a, b, 0, ports, 8, &err);
            if (n < 0)
                fuzz_take_error(&err, NULL);
            else if (n > 0)
                fuzz_check_path(f, ports, n, a, b);
        }
    lft_free(lft);
    fuzz_file_release(&file);
    return 0;
}

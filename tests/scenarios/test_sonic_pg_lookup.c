/* Tests of scenarios/sonic_pg_lookup.c: the table, what it says of itself, and which groups use it. */
#include "tests/scenarios/sonic_fixture.h"

#include "scenarios/sonic_priv.h"

#define HEAD "# speed cable size xon xoff threshold\n"
#define DB "{'PORT':{'E0':{'speed':'100000'}},'CABLE_LENGTH':{'AZURE':{'E0':'40m'}}," SONIC_POOLS "," SONIC_PROFILES

static void test_sonic_pg_lookup__rows_are_read(void **state)
{
    (void)state;
    static const char text[] = HEAD " 100000\t5m 50176 19456 30720 0\r\n100000 300m 1 2 3 -3 4\n";
    g_autoptr(GError) err = NULL;
    g_autoptr(GPtrArray) rows = sonic_pg_lookup_parse("t", (const uint8_t *)text, strlen(text), &err);
    assert_non_null(rows);
    assert_int_equal(rows->len, 2);
    const struct sonic_pg_row *row = sonic_pg_lookup_find(rows, 100 * UNIT_GBPS, 300 * UNIT_M);
    assert_int_equal(row->size, 1);
    assert_int_equal(row->xon, 2);
    assert_int_equal(row->xoff, 3);
    assert_int_equal(row->threshold, -3);
    assert_int_equal(row->xon_offset, 4);
    assert_null(sonic_pg_lookup_find(rows, 100 * UNIT_GBPS, 40 * UNIT_M));
    assert_null(sonic_pg_lookup_find(NULL, 100 * UNIT_GBPS, 5 * UNIT_M));
}

static void test_sonic_pg_lookup__wrong_rows_name_their_line(void **state)
{
    (void)state;
    static const struct { const char *text, *message; } rows[] = {
        {HEAD, "lookup.ini:1: no rows; allowed: speed cable size xon xoff threshold [xon_offset]"},
        {HEAD "100000 5m 1 2 3\n", "lookup.ini:2: 5 columns; allowed: speed cable size xon xoff threshold, and perhaps xon_offset"},
        {HEAD "100000 5 1 2 3 0\n", "lookup.ini:2: cable: '5'; allowed: a length such as 40m, up to 800 km"},
        {HEAD "100000 5m 1 2 x 0\n", "lookup.ini:2: xoff: 'x' is not a whole number"},
        {HEAD "100000 5m 1 2 3 9\n", "lookup.ini:2: threshold: 9 is outside -8..8"},
        {HEAD "100000 5m 1 2 3 0\n100000 5m 1 2 3 0\n", "lookup.ini:3: speed and cable twice; allowed: one row for each pair"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) err = NULL;
        struct sonic_overlay o;
        assert_false(sonic_try_all(DB "}", rows[i].text, NULL, NULL, &o, &err));
        assert_string_equal(err->message, rows[i].message);
    }
}

static void test_sonic_pg_lookup__fills_groups_that_the_switch_would(void **state)
{
    (void)state;
    static const char table[] = HEAD "100000 40m 58368 19456 38912 -1\n";
    static const char *const configs[] = {
        DB ",'BUFFER_PG':{'E0|3-4':{'profile':'NULL'}}}",          /* dynamic model */
        DB ",'PORT_QOS_MAP':{'E0':{'pfc_enable':'3,4'}}}",         /* traditional: nothing in the file */
        DB ",'PORT_QOS_MAP':{'E0':{'pfc_enable':'3,4'}},'BUFFER_PG':{'E0|0':{'profile':'in_lossy'}}}",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(configs); i++) {
        struct sonic_overlay o = sonic_of_all(configs[i], table, NULL, NULL);
        sonic_has(&o, "buffer:*#3-4", "headroom", "38912B");
        sonic_has(&o, "buffer:*#3-4", "reserved", "19456B"); /* size - xoff */
        sonic_has(&o, "buffer:*#3-4", "xon", "19456B");
        sonic_has(&o, "buffer:*#3-4", "alpha", "1/2");
        sonic_overlay_release(&o);
        o = sonic_of(configs[i]);
        assert_int_equal(sonic_warns(&o, "no profile for lossless priority groups 3,4 (2 over all ports) and no --pg-lookup"), 1);
        sonic_has(&o, "buffer:*#3-4", "headroom", NULL);
        sonic_overlay_release(&o);
        o = sonic_of_all(configs[i], HEAD "100000 5m 50176 19456 30720 0\n", NULL, NULL);
        assert_int_equal(sonic_warns(&o, "the lookup table has no row for their speed and cable"), 1);
        sonic_overlay_release(&o);
    }
}

static void test_sonic_pg_lookup__describes_the_cable_term(void **state)
{
    (void)state;
    /* 2 x 260 m x 5 ns x 12.5 B/ns = 32,500 B; the table has 65,536 more */
    struct sonic_overlay o = sonic_of_all(DB "}", HEAD "100000 300m 123904 19456 104448 0\n100000 40m 58368 19456 38912 0\n", NULL, NULL);
    assert_non_null(strstr(o.text, "100Gbps, 40m to 300m: xoff grows by 65536 B, 2 x cable delay x rate by 32500 B: x2.02"));
    assert_non_null(strstr(o.text, "2 rows; size = xon + xoff in all of them"));
    sonic_overlay_release(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sonic_pg_lookup__rows_are_read),
        cmocka_unit_test(test_sonic_pg_lookup__wrong_rows_name_their_line),
        cmocka_unit_test(test_sonic_pg_lookup__fills_groups_that_the_switch_would),
        cmocka_unit_test(test_sonic_pg_lookup__describes_the_cable_term),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* fuzz_sonic.c - SONiC configurations, headroom tables and port maps; what is imported must be a scenario.
 *
 * Input: the three texts, with a NUL byte between them; without one there is only the configuration.
 */
#include "fuzz.h"

#include "scenarios/scenario.h"
#include "scenarios/sonic.h"
#include <string.h>

static struct sonic_bytes take(const uint8_t **at, const uint8_t *end)
{
    const uint8_t *nul = *at < end ? memchr(*at, 0, (size_t)(end - *at)) : NULL;
    const uint8_t *stop = nul ? nul : end;
    struct sonic_bytes bytes = {*at, (size_t)(stop - *at)};
    *at = nul ? nul + 1 : end;
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    const uint8_t *at = data, *end = data + n_bytes;
    struct sonic_bytes config = take(&at, end), lookup = take(&at, end), ports = take(&at, end);
    const struct sonic_options options = {.pg_lookup_path = "lookup.ini", .ports_path = ports.n_bytes ? "ports.csv" : NULL};
    struct sonic_overlay overlay;
    GError *err = NULL;
    bool ok = sonic_import_bytes("fuzz.json", &config, lookup.n_bytes ? &lookup : NULL, ports.n_bytes ? &ports : NULL, &options, &overlay, &err);
    fuzz_show("%s\n", ok ? overlay.text : err->message);
    FUZZ_REQUIRE(ok == (err == NULL));
    if (!ok) {
        FUZZ_REQUIRE(!overlay.text && !overlay.links && !overlay.warnings);
        fuzz_take_error(&err, NULL);
        return 0;
    }
    struct scenario *scenario = scenario_parse("fuzz.ini", overlay.text, strlen(overlay.text), &err);
    FUZZ_REQUIRE_TEXT(scenario, err ? err->message : NULL);
    scenario_free(scenario);
    sonic_overlay_release(&overlay);
    return 0;
}

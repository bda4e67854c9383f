/* fuzz_job.h - what must hold for a job that a workload reader returned. */
#ifndef FABRICAST_TESTS_FUZZ_JOB_H
#define FABRICAST_TESTS_FUZZ_JOB_H

#include "fuzz.h"
#include "scenarios/workload_read.h"

#define FUZZ_NAME "fuzz.in"

/* Seals JOB, checks it and frees it. JOB NULL: ERR must say why, and name FUZZ_NAME. */
void fuzz_take_job(struct job *job, GError **err);

/* Every warning is a line of text. Frees WARNINGS. */
void fuzz_take_warnings(GPtrArray *warnings);

#endif

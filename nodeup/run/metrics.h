/* metrics.h - what the last run and the guard's last look found, for node_exporter's textfile collector
 * The file is nodeup.prom, in the folder that the status names. It is made of the status and of the guard's record
 * alone, so a run and the guard write the same metrics.
 * Invariant: a reader sees a whole file or none. No failure to write it changes anything else.
 * Owner: none. Errors: a warning. Units: seconds, bytes. Threads: one.
 * Source: Prometheus' exposition formats and its naming of metrics.
 * Tests: test_metrics.c, test_metrics.py. */
#pragma once

/* Writes the metrics, if the status names a folder. */
void metrics_write(int root_fd);

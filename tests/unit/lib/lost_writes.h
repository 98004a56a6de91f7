/* lost_writes.h - a disk that loses what was written, and says so when it is flushed
 * Owner: none. Errors: the process ends with status 99. Threads: one; call it in a child of the test. */
#pragma once

/* From here on this process' syncfs fails, and its fsync: of all (fd -1), or of one descriptor. */
void lose_writes(int fd);

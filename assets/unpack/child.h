/* child.h - the unpacking child: this program, started by extract_start under another name
 * It has three descriptors: 0 the archive, 1 its report, 2 the directory. It confines itself before it
 * reads a byte, and its last record says how it went.
 * Owner: the process. Errors: in the report. Threads: one. */
#pragma once

/* As its argv[0]; then the archive's name and the two limits. */
#define EXTRACT_CHILD "nodeup-unpack"

/* If argv is a child's: do its work and end the process, with nothing run at its exit. */
void extract_child(char *const *argv);

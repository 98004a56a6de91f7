/* child.h - the unpacking child: this program, started by extract_start under another name
 * It has four descriptors: 0 the archive, 1 its report, 2 a file for the bytes of all files, one after another, or the
 * archive once more, and one that is only held. One that takes members has one for each from there on. It confines itself
 * before it reads a byte, and the last that it tells says how it went.
 * Owner: the process. Errors: in the report. Threads: one.
 * Tests: test_extract.c, test_unpack.py. */
#pragma once

/* As its argv[0]; then the archive's name, the two limits, and EXTRACT_GIVE, or EXTRACT_TAKE and a word for each
 * member: "FD,MAX,ENTRY,NAME" (take.h). */
#define EXTRACT_CHILD "nodeup-unpack"
#define EXTRACT_GIVE "give"
#define EXTRACT_TAKE "take"

/* If argv is a child's: do its work and end the process, with nothing run at its exit. */
void extract_child(char *const *argv);

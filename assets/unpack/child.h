/* child.h - the unpacking child: this program, started by extract_start under another name
 * The child's descriptors: 0 the archive, 1 its report, 2 a file for the bytes of all files (or the archive again),
 * and one that it only holds. If it takes members, one more descriptor follows for each of them. The child confines
 * itself before it reads a byte. The last entry of its report tells the result.
 * Owner: the process. Errors: in the report. Threads: one.
 * Tests: test_extract.c, test_unpack.py. */
#pragma once

/* argv[0] of the child. Then follow the archive's name, the two limits, and EXTRACT_GIVE, or EXTRACT_TAKE and a word
 * for each member: "FD,MAX,ENTRY,NAME" (take.h). */
#define EXTRACT_CHILD "nodeup-unpack"
#define EXTRACT_GIVE "give"
#define EXTRACT_TAKE "take"

/* If argv is a child's, does its work and ends the process without any exit handlers. */
void extract_child(char *const *argv);

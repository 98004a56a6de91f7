/* child.h - the unpacking child: this program, started by extract_start under another name
 * It has three descriptors: 0 the archive, 1 its report, 2 the directory. It confines itself before it
 * reads a byte, and the last that it tells says how it went. One that only tells what the archive holds has no
 * directory; it may have a file instead, for the bytes of all files, one after another. One that takes members has
 * a descriptor for each from 4 on.
 * Owner: the process. Errors: in the report. Threads: one. */
#pragma once

/* As its argv[0]; then the archive's name, the two limits, and where it has no directory EXTRACT_TELL, or
 * EXTRACT_GIVE where there is a file in the place of the directory; or EXTRACT_ONLY and the members that are
 * kept; or EXTRACT_TAKE and a word for each member: "FD,MAX,ENTRY,NAME" (take.h). */
#define EXTRACT_CHILD "nodeup-unpack"
#define EXTRACT_ONLY "only"
#define EXTRACT_TELL "tell"
#define EXTRACT_GIVE "give"
#define EXTRACT_TAKE "take"

/* If argv is a child's: do its work and end the process, with nothing run at its exit. */
void extract_child(char *const *argv);

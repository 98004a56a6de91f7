#include "assets/cache/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "nodeup/base/io.h"
#include "nodeup/base/str.h"

enum { BLOCK = 512 };

/* "1: FLOCK  ADVISORY  WRITE 1234 08:01:131 0 EOF": the inode alone, as some filesystems' devices are
 * not those of their files. 0 if it is another line. */
static int pid_of_line(char *line, uint64_t ino)
{
	char *words[8] = { 0 }, *rest = line, *end;
	size_t n = 0;

	while (n < ARRAY_LEN(words) && (words[n] = strtok_r(n ? NULL : line, " ", &rest)))
		n++;
	if (n < 6 || !str_eq(words[1], "FLOCK") || !str_eq(words[3], "WRITE"))
		return 0;
	end = strrchr(words[5], ':');
	return end && strtoull(end + 1, NULL, 10) == ino ? (int)strtol(words[4], NULL, 10) : 0;
}

static int find_pid(uint64_t ino)
{
	autofile FILE *f = fopen("/proc/locks", "re");
	char line[256];
	int pid = 0;

	while (f && pid <= 0 && fgets(line, sizeof(line), f))
		pid = pid_of_line(line, ino);
	return pid > 0 ? pid : 0;
}

static void find_name(struct cache_writer *w)
{
	autofree char *path = xasprintf("/proc/%d/comm", w->pid);
	autofile FILE *f = fopen(path, "re");

	if (!f || !fgets(w->name, sizeof(w->name), f))
		w->name[0] = '\0';
	w->name[strcspn(w->name, "\n")] = '\0';
}

struct cache_writer cache_writer_of(int fd)
{
	struct cache_writer w = { 0 };
	struct stat st;

	if (fstat(fd, &st) < 0)
		return w;
	w.bytes = (int64_t)st.st_blocks * BLOCK;
	if (w.bytes > st.st_size)
		w.bytes = st.st_size;
	w.pid = find_pid(st.st_ino);
	if (w.pid)
		find_name(&w);
	return w;
}

#include "assets/unpack/child.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "assets/unpack/confine.h"
#include "assets/unpack/take.h"
#include "assets/unpack/tar.h"
#include "nodeup/base/mem.h"

static int confine_and_unpack(const char *name, const struct extract_limits *limits,
			      struct extract_report *report, struct err *e)
{
	/* the report is a file too: the limit must leave room for its last entry. An unlimited size stays unlimited */
	const uint64_t most = limits->bytes > UINT64_MAX - 2 * EXTRACT_REPORT_MAX
				      ? UINT64_MAX
				      : limits->bytes + 2 * EXTRACT_REPORT_MAX;
	int r = confine(most, e);

	if (r < 0)
		return err_wrap(e, "archive '%s'", name);
	return extract_stream(STDIN_FILENO, name, limits, report, e);
}

static int last_word(struct extract_report *report, int r, const struct err *e)
{
	struct extract_entry word = { .kind = EXTRACT_END, .path = "" };

	if (r < 0)
		word = (struct extract_entry){ .kind = EXTRACT_ERROR,
					       .mode = e->kind,
					       .mtime = { (time_t)e->room.wanted, e->errnum },
					       .path = e->msg };
	return extract_report_put(report, &word) < 0 || fflush(report->file) != 0 ||
	       (report->bytes_of_files && fflush(report->bytes_of_files) != 0);
}

void extract_child(char *const *argv)
{
	struct extract_limits limits;
	struct extract_report *report;
	struct takes takes;
	struct err e;

	if (!argv[0] || strcmp(argv[0], EXTRACT_CHILD) != 0 || !argv[1] || !argv[2] || !argv[3] ||
	    !argv[4])
		return;
	limits = (struct extract_limits){ .entries = strtoull(argv[2], NULL, 10),
					  .bytes = strtoull(argv[3], NULL, 10) };
	report = xcalloc(1, sizeof(*report));
	report->file = fdopen(STDOUT_FILENO, "w");
	if (!report->file)
		_exit(1);
	if (strcmp(argv[4], EXTRACT_TAKE) == 0) {
		takes = takes_parse(argv + 5);
		limits.takes = &takes;
	} else {
		report->bytes_of_files = fdopen(STDERR_FILENO, "w");
		if (!report->bytes_of_files)
			_exit(1);
	}
	_exit(last_word(report, confine_and_unpack(argv[1], &limits, report, &e), &e));
}

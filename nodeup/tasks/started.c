#include "nodeup/tasks/started.h"

#include <string.h>
#include "nodeup/base/io.h"

static const char started_dir[] = "/run/nodeup/started";

enum { RECORD_MAX = 512 };

static const char *const words[] = {
	[STARTED_UNKNOWN] = "unknown",
	[STARTED_PENDING] = "pending",
	[STARTED_DONE] = "done",
};

enum started_state started_get(int root_fd, const char *unit, struct digest *ret_inputs)
{
	autofree char *path = xasprintf("%s/%s", started_dir, unit);
	autobuf struct buf text = BUF_INIT(RECORD_MAX);
	struct err ignored;
	const char *blank;

	if (io_read(root_fd, path, &text, &ignored) < 0)
		return STARTED_UNKNOWN;
	blank = strchr(buf_str(&text), ' ');
	if (!blank || digest_parse(blank + 1, strcspn(blank + 1, "\n"), ret_inputs, &ignored) < 0)
		return STARTED_UNKNOWN;
	for (size_t i = STARTED_PENDING; i < ARRAY_LEN(words); i++)
		if (strncmp(text.data, words[i], (size_t)(blank - text.data)) == 0)
			return (enum started_state)i;
	return STARTED_UNKNOWN;
}

int started_set(int root_fd, const char *unit, enum started_state state,
		const struct digest *inputs, struct err *e)
{
	static const struct io_attr attr = { .mode = 0644 };
	autofree char *path = xasprintf("%s/%s", started_dir, unit);
	autofree char *text = NULL;
	char hex[DIGEST_TEXT_MAX];
	int r;

	text = xasprintf("%s %s\n", words[state], digest_hex(inputs, hex));
	r = io_mkdirs(root_fd, started_dir, 0755, e);
	if (r < 0)
		return r;
	return io_replace(root_fd, path, text, strlen(text), &attr, e);
}

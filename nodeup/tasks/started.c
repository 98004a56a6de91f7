#include "nodeup/tasks/started.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "nodeup/tasks/task.h"

static const char started_dir[] = OWN_STARTED_DIR;

enum { RECORD_MAX = 512 };

static const char *const words[] = {
	[STARTED_UNKNOWN] = "unknown",
	[STARTED_PENDING] = "pending",
	[STARTED_DONE] = "done",
	[STARTED_DOUBT] = "doubt",
};

struct started started_get(int root_fd, const char *unit)
{
	const struct started unknown = { .state = STARTED_UNKNOWN };
	autofree char *path = xasprintf("%s/%s", started_dir, unit);
	autobuf struct buf text = BUF_INIT(RECORD_MAX);
	char word[16], hex[DIGEST_TEXT_MAX + 16], foreign[DIGEST_TEXT_MAX + 16];
	struct started s = unknown;
	struct err ignored;
	int fields;

	if (!record_read(root_fd, path, &text))
		return unknown;
	fields = sscanf(buf_str(&text), "%15s %143s %" SCNu64 " %143s", word, hex, &s.us, foreign);
	if (fields < 3 || digest_parse(hex, strlen(hex), &s.inputs, &ignored) < 0)
		return unknown;
	s.has_foreign = fields == 4 &&
			digest_parse(foreign, strlen(foreign), &s.foreign, &ignored) == 0;
	for (size_t i = STARTED_PENDING; i < ARRAY_LEN(words); i++)
		if (strcmp(word, words[i]) == 0)
			s.state = (enum started_state)i;
	return s;
}

int started_set(int root_fd, const char *unit, const struct started *s, struct err *e)
{
	autofree char *path = xasprintf("%s/%s", started_dir, unit);
	char hex[DIGEST_TEXT_MAX], foreign[DIGEST_TEXT_MAX];
	autofree char *text = xasprintf("%s %s %" PRIu64 " %s\n", words[s->state],
					digest_hex(&s->inputs, hex), s->us,
					s->has_foreign ? digest_hex(&s->foreign, foreign) : "");

	return record_write(root_fd, path, 0644, text, e);
}

int started_forget(int root_fd, const char *unit, struct err *e)
{
	autofree char *path = xasprintf("%s/%s", started_dir, unit);

	return io_remove(root_fd, path, e);
}

int started_doubt(const struct task *input, struct task_ctx *ctx, struct err *e)
{
	const char *path = task_path(input);

	for (size_t i = 0; path && !ctx->image_mode && i < input->n_users; i++) {
		const struct task *user = input->users[i];
		struct started s;
		int r;

		if (user->kind != TASK_UNIT || !strv_has(&user->unit.inputs, path))
			continue;
		s = started_get(ctx->root_fd, user->name);
		if (s.state == STARTED_UNKNOWN)
			continue;
		s.state = STARTED_DOUBT;
		s.us = (uint64_t)dur_now() / 1000;
		r = started_set(ctx->root_fd, user->name, &s, e);
		if (r < 0)
			return r;
	}
	return 0;
}

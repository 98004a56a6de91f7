#include "nodeup/cmd/records.h"

#include <string.h>
#include "nodeup/base/aside.h"
#include "nodeup/base/log.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "nodeup/documents/location.h"
#include "nodeup/tasks/state.h"

enum { RECORD_MAX = 64 << 20 };

static bool is_text(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < ' ' && text[i] != '\n')
			return false;
	return n > 0;
}

static bool is_place(const char *text, size_t n)
{
	autoarena struct arena *a = arena_new_empty();

	return is_text(text, n) && location_is_absolute(str_trim(a, text));
}

/* Returns whether the text begins and ends as an object: a record that was cut off lacks its end. Readers check the
 * part between. */
static bool is_object(const char *text, size_t n)
{
	while (n > 0 && text[n - 1] == '\n')
		n--;
	return n > 1 && text[0] == '{' && text[n - 1] == '}' && !memchr(text, '\0', n);
}

static const struct {
	const char *path;
	bool (*is_whole)(const char *text, size_t n);
} records[] = {
	{ OWN_CONF, is_place },     { OWN_STATE, state_is_whole }, { OWN_DOCUMENTS, is_object },
	{ OWN_VINTAGE, is_text },   { OWN_APPLIED, is_text },      { OWN_IDENTITY, is_text },
	{ OWN_LAST_GOOD, is_text }, { OWN_SIGNALS, is_text },
};

static void set_aside(int root_fd, const char *path)
{
	autoarena struct arena *a = arena_new_empty();
	const char *name;
	struct err why;

	if (aside_move(a, root_fd, path, &name, &why) < 0)
		log_warning("'%s' is damaged: %s", path, why.msg);
	else if (name)
		log_warning("'%s' is damaged: it is made anew, and set aside as '%s'", path, name);
}

void records_look(int root_fd, bool may_change)
{
	for (size_t i = 0; i < ARRAY_LEN(records); i++) {
		autobuf struct buf text = BUF_INIT(RECORD_MAX);

		if (!record_read(root_fd, records[i].path, &text) ||
		    records[i].is_whole(buf_str(&text), text.len))
			continue;
		if (may_change)
			set_aside(root_fd, records[i].path);
		else
			log_warning("'%s' is damaged: the next run makes it anew", records[i].path);
	}
}

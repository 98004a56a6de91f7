#include "nodeup/host/process.h"

#include <string.h>
#include "nodeup/base/io.h"
#include "nodeup/base/str.h"

enum { WORDS_MAX = 4 << 20 };

/* Returns the rest of a word after the flag's name: "" or "=VALUE". NULL: the word is not that flag. */
static const char *behind_name(const char *word, const char *name)
{
	if (!str_has_prefix(word, "--"))
		return NULL;
	for (word += 2; *name; word++, name++)
		if (*word != *name && !(*word == '_' && *name == '-'))
			return NULL;
	return *word == '\0' || *word == '=' ? word : NULL;
}

const char *process_flag(struct arena *a, int root_fd, uint32_t pid, const char *name)
{
	autobuf struct buf words = BUF_INIT(WORDS_MAX);
	const char *found = NULL, *word, *end;
	struct err ignored;

	if (!pid || io_read(root_fd, arena_printf(a, "/proc/%u/cmdline", (unsigned int)pid), &words,
			    &ignored) < 0)
		return NULL;
	end = buf_str(&words) + words.len;
	for (word = buf_str(&words); word < end; word += strlen(word) + 1) {
		const char *value = behind_name(word, name), *next = word + strlen(word) + 1;

		if (!value)
			continue;
		if (*value == '=')
			value++;
		else if (next < end && *next != '-')
			value = next;
		found = arena_str(a, value);
	}
	return found;
}

const char *process_flag_in(struct arena *a, const char *text, const char *flag)
{
	const char *found = NULL;

	while (flag && (text = strstr(text, flag))) {
		text += strlen(flag);
		if (*text && strchr("= ", *text))
			found = arena_strn(a, text + 1, strcspn(text + 1, " \t\n\"'"));
	}
	return found;
}

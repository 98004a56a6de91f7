#include "nodeup/config/heredoc.h"

#include <string.h>

/* A line of the script, without its end. */
struct line {
	const char *text;
	size_t n;
	unsigned int number;
};

static bool next_line(const char *text, struct line *l)
{
	const char *start = l->text ? l->text + l->n : text;

	if (l->text && *start)
		start++;
	if (!*start)
		return false;
	*l = (struct line){ start, strcspn(start, "\n"), l->number + 1 };
	return true;
}

static bool is_text(const struct line *l, const char *text)
{
	return l->n == strlen(text) && strncmp(l->text, text, l->n) == 0;
}

/* Returns the mark of "cat > kube_env.yaml << MARK", quoted or not; "": the line begins no here-document. */
static const char *mark_of(struct arena *a, const struct line *l, bool *ret_quoted)
{
	const char *line = arena_strn(a, l->text, l->n), *arrows = strstr(line, "<<");
	const char *word = arrows ? str_trim(a, arrows + 2) : "";
	const size_t n = strlen(word);
	const bool quoted = n > 1 && (*word == '\'' || *word == '"') && word[n - 1] == *word;

	*ret_quoted = quoted;
	return quoted ? arena_strn(a, word + 1, n - 2) : word;
}

/* Takes the text that begins on the line after `<< MARK`, and ends before the line that holds only the mark. */
static int take_text(struct arena *a, const char *file, const char *text, const char *mark,
		     struct line *l, struct heredoc *h, struct err *e)
{
	h->text = l->text[l->n] ? l->text + l->n + 1 : l->text + l->n;
	h->line = l->number + 1;
	while (next_line(text, l))
		if (is_text(l, mark)) {
			h->n = (size_t)(l->text - h->text);
			return 0;
		}
	return err_config(e, "%s: the document that begins here has no line '%s' at its end",
			  tree_where(a, &(struct tree_pos){ file, h->line - 1, 1 }), mark);
}

int heredoc_find(struct arena *a, const char *file, const char *text, const char *const *marks,
		 struct heredoc *ret, struct err *e)
{
	struct line l = { 0 };

	while (next_line(text, &l)) {
		struct heredoc h = { 0 };
		const char *mark = mark_of(a, &l, &h.quoted);
		int r;

		if (!str_is_one_of(mark, marks))
			continue;
		r = take_text(a, file, text, mark, &l, &h, e);
		if (r == 0)
			*ret = h;
		return r;
	}
	return -ENOENT;
}

int heredoc_all(struct arena *a, const char *file, const char *text, const char *command,
		struct heredoc **ret, size_t *ret_n, struct err *e)
{
	struct line l = { 0 };

	*ret = NULL;
	*ret_n = 0;
	while (next_line(text, &l)) {
		struct heredoc h = { 0 };
		const char *name = l.text + strlen(command), *mark;
		int r;

		if (!str_has_prefix(l.text, command))
			continue;
		mark = mark_of(a, &l, &h.quoted);
		if (!*mark)
			continue;
		h.name = arena_strn(a, name, strcspn(name, " <\n"));
		r = take_text(a, file, text, mark, &l, &h, e);
		if (r < 0)
			return r;
		arena_push(a, *ret, *ret_n, h);
	}
	return 0;
}

/* Refuses text that the booting shell would expand. The message does not show the line, which may hold a password. */
static int check_expansions(struct arena *a, const char *file, const struct heredoc *h,
			    const char *place, struct err *e)
{
	struct tree_pos pos = { file, h->line, 1 };

	for (const char *p = h->text; p < h->text + h->n && !h->quoted; p++) {
		if (strchr("$`\\", *p)) {
			(void)err_config(
				e,
				"%s: '%c' in a document that the booting shell expands: what "
				"it becomes cannot be said",
				tree_where(a, &pos), *p);
			err_note(e, "do",
				 "take the document as the machine has it, in %s, or another value",
				 place);
			return err_code(e);
		}
		if (*p == '\n')
			pos = (struct tree_pos){ file, pos.line + 1, 1 };
		else if (((unsigned char)*p & 0xc0) != 0x80)
			pos.column++;
	}
	return 0;
}

int heredoc_take(struct arena *a, const char *file, const struct heredoc *h, const char *place,
		 const char **ret, struct err *e)
{
	const size_t before = h->line - 1;
	char *out;
	int r = check_expansions(a, file, h, place, e);

	if (r < 0)
		return r;
	out = arena_alloc(a, before + h->n + 1);
	memset(out, '\n', before);
	memcpy(out + before, h->text, h->n);
	*ret = out;
	return 0;
}

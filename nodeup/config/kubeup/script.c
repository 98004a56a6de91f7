#include "nodeup/config/kubeup/kubeup.h"

#include <string.h>

/* What ends the here-document: of a master, of a node.
 * source: cluster/aws/util.sh start-master, start-minions */
static const char *const marks[] = { "__EOF_MASTER_KUBE_ENV_YAML", "__EOF_KUBE_ENV_YAML" };

/* A line of the script, without its end. */
struct line {
	const char *text;
	size_t n;
	unsigned int number;
};

struct here {
	const char *mark;
	struct line first, end; /* of the document, and behind its last */
	bool quoted;
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

static bool has_prefix(const struct line *l, const char *text)
{
	return l->n >= strlen(text) && strncmp(l->text, text, strlen(text)) == 0;
}

/* "cat > kube_env.yaml << MARK", the mark in quotes or not. */
static const char *mark_of(struct arena *a, const struct line *l, bool *ret_quoted)
{
	const char *line = arena_strn(a, l->text, l->n), *arrows = strstr(line, "<<");
	const char *word = arrows ? str_trim(a, arrows + 2) : "";
	const size_t n = strlen(word);
	const bool quoted = n > 1 && (*word == '\'' || *word == '"') && word[n - 1] == *word;

	if (quoted)
		word = arena_strn(a, word + 1, n - 2);
	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		if (strcmp(word, marks[i]) == 0) {
			*ret_quoted = quoted;
			return marks[i];
		}
	return NULL;
}

/* A salt-master gives a node of these versions what it needs: its own document does not say it. */
static int refuse_old(struct arena *a, const char *file, const struct line *at, const char *text,
		      struct err *e)
{
	const struct tree_pos pos = { file, at->number, 1 };
	const bool master = strstr(text, "\nreadonly SALT_TAR_URL=") != NULL;

	(void)err_config(
		e, "%s: this is user data of %s of kube-up 1.0 or 1.1; nodeup reads 1.2 to 1.5",
		tree_where(a, &pos), master ? "a master" : "a node");
	err_note(e, "ruled out", "%s",
		 master ? "making this master: its certificates come from no document"
			: "making this node: its tokens and programs come from the salt-master");
	err_note(e, "do", "bring the cluster to Kubernetes 1.2 or later");
	return err_code(e);
}

static bool is_old(const struct line *l)
{
	return has_prefix(l, "readonly SALT_MASTER=") || has_prefix(l, "SALT_MASTER=");
}

static int find_here(struct arena *a, const char *file, const char *text, struct here *ret,
		     struct err *e)
{
	struct line l = { 0 };
	struct here h = { 0 };

	while (next_line(text, &l)) {
		if (is_old(&l))
			return refuse_old(a, file, &l, text, e);
		h.mark = mark_of(a, &l, &h.quoted);
		if (h.mark)
			break;
	}
	if (!h.mark)
		return -ENOENT;
	h.first = (struct line){ l.text[l.n] ? l.text + l.n + 1 : l.text + l.n, 0, l.number + 1 };
	while (next_line(text, &l))
		if (is_text(&l, h.mark)) {
			h.end = l;
			*ret = h;
			return 0;
		}
	return err_config(e, "%s: the document that begins here has no line '%s' at its end",
			  tree_where(a, &(struct tree_pos){ file, h.first.number - 1, 1 }), h.mark);
}

/* The shell that boots the machine puts something else there. The message does not show the line: it may
 * have a password. */
static int check_expansions(struct arena *a, const char *file, const struct here *h, struct err *e)
{
	struct tree_pos pos = { file, h->first.number, 1 };

	for (const char *p = h->first.text; p < h->end.text && !h->quoted; p++) {
		if (strchr("$`\\", *p)) {
			(void)err_config(
				e,
				"%s: '%c' in a document that the booting shell expands: what "
				"it becomes cannot be said",
				tree_where(a, &pos), *p);
			err_note(e, "do",
				 "take the document as the machine has it, in "
				 "/etc/kubernetes/kube_env.yaml, or another value");
			return err_code(e);
		}
		if (*p == '\n')
			pos = (struct tree_pos){ file, pos.line + 1, 1 };
		else if (((unsigned char)*p & 0xc0) != 0x80)
			pos.column++;
	}
	return 0;
}

int kubeup_script(struct arena *a, const char *file, const char *text, const char **ret,
		  struct err *e)
{
	struct here h = { 0 };
	size_t before, n;
	char *out;
	int r = find_here(a, file, text, &h, e);

	if (r == 0)
		r = check_expansions(a, file, &h, e);
	if (r < 0)
		return r;
	before = h.first.number - 1;
	n = (size_t)(h.end.text - h.first.text);
	out = arena_alloc(a, before + n + 1);
	memset(out, '\n', before);
	memcpy(out + before, h.first.text, n);
	*ret = out;
	return 0;
}

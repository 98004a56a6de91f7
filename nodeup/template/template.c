#include "nodeup/template/template.h"

#include <string.h>
#include "nodeup/template/eval.h"

enum {
	STEPS = 1000 * 1000,
	BYTES = 1024 * 1024,
	DEPTH = 64,
	MADE = 16, /* bytes of values for each byte of the result */
};

static int render(struct arena *a, const struct template_req *t, const struct source *s,
		  const char **ret_text)
{
	const size_t bytes = t->limits.bytes ? t->limits.bytes : BYTES;
	const size_t depth = t->limits.depth ? t->limits.depth : DEPTH;
	autoarena struct arena *scratch = arena_new_empty();
	autobuf struct buf out = BUF_INIT(bytes);
	struct work w = {
		.a = scratch,
		.source = s,
		.steps = t->limits.steps ? t->limits.steps : STEPS,
		.bytes = MADE * bytes,
		.depth = depth < TEMPLATE_DEPTH_MAX ? depth : TEMPLATE_DEPTH_MAX,
	};
	struct scope scope = { .w = &w, .context = t->context, .out = &out };
	struct strv names = { 0 };
	struct syntax *block;
	int r;

	r = parse_template(scratch, s, w.depth, &block, &names);
	if (r < 0)
		return r;
	scope.names = &names;
	scope.set = arena_alloc(scratch, (names.n + 1) * sizeof(*scope.set));
	scope.given = arena_alloc(scratch, (names.n + 1) * sizeof(*scope.given));
	r = eval_block(&scope, block);
	if (r < 0)
		return r;
	/* Jinja drops the last newline; Salt puts it back. */
	if (s->n < t->n && buf_addc(&out, '\n') < 0)
		return source_fail(s, s->n, "the result is larger than %zu bytes", bytes);
	*ret_text = arena_strn(a, buf_str(&out), out.len);
	return 0;
}

int template_render(struct arena *a, const struct template_req *t, const char **ret_text,
		    struct err *e)
{
	struct source s = { .file = t->file, .text = t->text, .n = t->n, .e = e };
	int r;

	if (t->n > TEMPLATE_TEXT_MAX)
		return err_config(e, "%s: a template of %zu bytes, at most %d are read", t->file,
				  t->n, TEMPLATE_TEXT_MAX);
	r = source_check(&s);
	if (r < 0)
		return r;
	s.n -= t->n && t->text[t->n - 1] == '\n';
	return render(a, t, &s, ret_text);
}

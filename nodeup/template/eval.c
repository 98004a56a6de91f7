#include "nodeup/template/eval.h"

#include <string.h>

static int eval(struct scope *s, const struct syntax *n, struct value *ret);

/* Evaluates a kid. Fails if the kid's value is undefined. */
static int eval_kid(struct scope *s, const struct syntax *kid, struct value *ret)
{
	const int r = eval(s, kid, ret);

	return r < 0 ? r : value_need(s->w, kid->at, ret);
}

/* Evaluates both kids; after that, fails if one of the values is undefined. */
static int eval_both(struct scope *s, const struct syntax *n, struct value *a, struct value *b)
{
	int r = eval(s, n->kids[0], a);

	if (r == 0)
		r = eval(s, n->kids[1], b);
	if (r == 0)
		r = value_need(s->w, n->kids[0]->at, a);
	return r < 0 ? r : value_need(s->w, n->kids[1]->at, b);
}

/* Names that Jinja or Salt define in addition to pillar and grains. Using such a name is an error, since its value
 * is not available here. */
static bool is_elsewhere(const char *name)
{
	static const char *const names[] = {
		"range", "dict",     "lipsum",  "cycler", "joiner", "odict", "show_full_context",
		"opts",  "env",      "saltenv", "sls",    "source", "user",  "group",
		"mode",  "template", "context", "name",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* Looks the name up in the context. */
static int read_given(struct scope *s, size_t number, size_t at, struct value *ret)
{
	const char *const name = s->names->v[number];
	struct value *const given = &s->given[number];
	int r = 0;

	if (given->kind == V_UNSET) {
		const struct tree *const t = tree_get(s->context, name);

		if (!t && is_elsewhere(name))
			return source_fail(s->w->source, at, "'%s' is not handed in", name);
		*given = (struct value){ .kind = V_UNDEFINED,
					 .lacks = { name, strlen(name), false } };
		if (t)
			r = value_of_tree(s->w, t, true, given);
	}
	*ret = *given;
	return r;
}

static int read_name(struct scope *s, size_t number, size_t at, struct value *ret)
{
	if (s->set[number].kind == V_UNSET)
		return read_given(s, number, at, ret);
	*ret = s->set[number];
	return 0;
}

/* Evaluates the kids from number `from` on. */
static int eval_kids(struct scope *s, const struct syntax *n, size_t from, struct list **ret)
{
	struct list *const l = list_new(s->w, n->at, n->n - from);
	int r = 0;

	if (!l)
		return -EINVAL;
	for (size_t i = from; i < n->n && r == 0; i++)
		r = eval(s, n->kids[i], &l->v[l->n++]);
	*ret = l;
	return r;
}

static int eval_list(struct scope *s, const struct syntax *n, struct value *ret)
{
	struct list *l;
	const int r = eval_kids(s, n, 0, &l);

	if (r < 0)
		return r;
	*ret = (struct value){ .kind = V_LIST, .list = l };
	return 0;
}

static int eval_dict(struct scope *s, const struct syntax *n, struct value *ret)
{
	struct dict *const d = work_alloc(s->w, n->at, sizeof(*d));
	struct list *l;
	int r;

	if (!d)
		return -EINVAL;
	r = eval_kids(s, n, 0, &l);
	for (size_t i = 0; r == 0 && i < l->n; i += 2) {
		if (l->v[i].kind != V_TEXT)
			return source_fail(s->w->source, n->kids[i]->at,
					   "a key that is not a text is not in the grammar");
		r = dict_set(s->w, n->at, d, &l->v[i].text, &l->v[i + 1]);
	}
	*ret = (struct value){ .kind = V_DICT, .dict = d };
	return r;
}

static struct value undefined(const struct text *name)
{
	return (struct value){ .kind = V_UNDEFINED, .lacks = *name };
}

/* Returns the value of the key, or an undefined value. */
static int read_key(struct scope *s, size_t at, const struct dict *d, const struct text *key,
		    struct value *ret)
{
	struct pair *p;
	const int r = dict_find(s->w, at, d, key, &p);

	if (r < 0)
		return r;
	*ret = p ? p->value : undefined(key);
	return 0;
}

static int eval_attr(struct scope *s, const struct syntax *n, struct value *ret)
{
	struct value of;
	const int r = eval_kid(s, n->kids[0], &of);

	if (r < 0)
		return r;
	if (of.kind == V_DICT)
		return read_key(s, n->at, of.dict, &n->value.text, ret);
	return source_fail(s->w->source, n->at, "'.%.*s' of %s is not in the grammar",
			   (int)(n->value.text.n < 40 ? n->value.text.n : 40), n->value.text.p,
			   value_kind_name(&of));
}

/* Sets *ret to the place of an element in a list of n; a negative index counts from the end. Returns false if the
 * list has no such element. */
static bool take_index(int64_t index, size_t n, size_t *ret)
{
	if (index < 0 && index >= -(int64_t)n)
		index += (int64_t)n;
	*ret = (size_t)index;
	return index >= 0 && index < (int64_t)n;
}

static int eval_item(struct scope *s, const struct syntax *n, struct value *ret)
{
	static const struct text element = { "element", sizeof("element") - 1, false };
	struct value of, index;
	size_t i;
	int r = eval_both(s, n, &of, &index);

	if (r < 0)
		return r;
	*ret = undefined(&element);
	if (of.kind == V_DICT && index.kind == V_TEXT) {
		r = read_key(s, n->at, of.dict, &index.text, ret);
		if (r == 0 && ret->kind == V_UNDEFINED && parse_is_method(&index.text))
			return source_fail(s->w->source, n->at,
					   "a method is not in the grammar here");
		return r;
	}
	if (index.kind == V_TEXT)
		return source_fail(s->w->source, n->at,
				   "a text as an index of %s is not in the grammar",
				   value_kind_name(&of));
	if (!value_is_integer(&index))
		return 0;
	if (of.kind == V_LIST && take_index(value_integer(&index), of.list->n, &i))
		*ret = of.list->v[i];
	if (of.kind == V_TEXT) {
		r = value_need_ascii(s->w, n->at, &of);
		if (r == 0 && take_index(value_integer(&index), of.text.n, &i))
			*ret = (struct value){ .kind = V_TEXT,
					       .text = { of.text.p + i, 1, of.text.wide } };
	}
	return r;
}

/* d.get(): the value of the key (first argument), else the second argument, else None. */
static int call_get(struct scope *s, const struct syntax *n, const struct dict *d,
		    const struct list *args, struct value otherwise, struct value *ret)
{
	const struct value *const key = &args->v[0];
	struct pair *p = NULL;
	int r = value_need(s->w, n->at, key);

	if (r < 0)
		return r;
	if (key->kind == V_LIST || key->kind == V_DICT)
		return source_fail(s->w->source, n->at, "%s cannot be a key", value_kind_name(key));
	if (key->kind == V_TEXT)
		r = dict_find(s->w, n->at, d, &key->text, &p);
	if (args->n > 1)
		otherwise = args->v[1];
	*ret = p ? p->value : otherwise;
	return r;
}

static int call_values(struct scope *s, const struct syntax *n, const struct dict *d,
		       struct value *ret)
{
	struct list *l;

	if (d->n > 1)
		return source_fail(s->w->source, n->at,
				   "the values of %zu keys, whose order is not defined", d->n);
	l = list_new(s->w, n->at, d->n);
	if (!l)
		return -EINVAL;
	if (d->n)
		l->v[l->n++] = d->v[0].value;
	*ret = (struct value){ .kind = V_LIST, .list = l };
	return 0;
}

static int call_update(struct scope *s, const struct syntax *n, struct dict *d,
		       const struct value *with, struct value *ret)
{
	int r = 0;

	if (with->kind != V_DICT)
		return source_fail(s->w->source, n->at, "only a dictionary updates another");
	if (d->given)
		return source_fail(s->w->source, n->at, "what is handed in is not updated");
	for (size_t i = 0; i < with->dict->n && r == 0 && with->dict != d; i++)
		r = dict_set(s->w, n->at, d, &with->dict->v[i].key, &with->dict->v[i].value);
	*ret = (struct value){ .kind = V_NONE };
	return r;
}

static int eval_call(struct scope *s, const struct syntax *n, struct value *ret)
{
	static const enum value_kind receivers[] = {
		[M_GET] = V_DICT,   [M_LOWER] = V_TEXT,  [M_VALUES] = V_DICT,
		[M_SPLIT] = V_TEXT, [M_UPDATE] = V_DICT,
	};
	struct value of;
	struct list *args;
	int r = eval_kid(s, n->kids[0], &of);

	if (r == 0 && of.kind != receivers[n->method])
		return source_fail(s->w->source, n->at, "%s has no method '.%.*s'",
				   value_kind_name(&of), (int)n->value.text.n, n->value.text.p);
	if (r == 0)
		r = eval_kids(s, n, 1, &args);
	if (r < 0)
		return r;
	switch (n->method) {
	case M_GET:
		return call_get(s, n, of.dict, args, (struct value){ .kind = V_NONE }, ret);
	case M_LOWER:
		return operate_lower(s->w, n->at, &of, ret);
	case M_VALUES:
		return call_values(s, n, of.dict, ret);
	case M_SPLIT:
		return operate_split(s->w, n->at, &of.text, &args->v[0], ret);
	case M_UPDATE:
		break;
	}
	return call_update(s, n, of.dict, &args->v[0], ret);
}

/* salt['grains.get']: reads Salt's grains, whatever the template sets; a missing key is an empty text. A colon in
 * the key is an error: Salt would look into a nested map. */
static int eval_grains_get(struct scope *s, const struct syntax *n, struct value *ret)
{
	struct value grains = { .kind = V_UNSET };
	struct list *args;
	int r = eval_kids(s, n, 0, &args);

	if (r == 0)
		r = read_given(s, n->name, n->at, &grains);
	if (r < 0)
		return r;
	if (grains.kind != V_DICT)
		return source_fail(s->w->source, n->at, "grains are not handed in");
	if (args->v[0].kind != V_TEXT || memchr(args->v[0].text.p, ':', args->v[0].text.n))
		return source_fail(s->w->source, n->at,
				   "this name of a grain is not in the grammar");
	return call_get(s, n, grains.dict, args, value_text("", 0), ret);
}

/* Evaluates + and *, from left to right. A chain of texts is joined at once. */
static int eval_arithmetic(struct scope *s, const struct syntax *n, struct value *ret)
{
	bool texts = n->kind == N_ADD;
	struct list *l;
	int r = eval_kids(s, n, 0, &l);

	for (size_t i = 0; r == 0 && i < l->n; i++) {
		r = value_need(s->w, n->kids[i]->at, &l->v[i]);
		texts &= l->v[i].kind == V_TEXT;
	}
	if (r < 0)
		return r;
	if (texts)
		return operate_join(s->w, n->at, l, ret);
	*ret = l->v[0];
	for (size_t i = 1; i < l->n && r == 0; i++) {
		const struct value left = *ret;

		r = (n->kind == N_ADD ? operate_add : operate_multiply)(s->w, n->kids[i]->at, &left,
									&l->v[i], ret);
	}
	return r;
}

static int eval_concat(struct scope *s, const struct syntax *n, struct value *ret)
{
	struct list *l;
	int r = eval_kids(s, n, 0, &l);

	for (size_t i = 0; r == 0 && i < l->n; i++) {
		const struct value v = l->v[i];

		r = value_str(s->w, n->kids[i]->at, &v, &l->v[i]);
	}
	return r < 0 ? r : operate_join(s->w, n->at, l, ret);
}

/* Applies a filter, or the minus before a value. */
static int eval_unary(struct scope *s, const struct syntax *n, struct value *ret)
{
	const size_t at = n->kids[0]->at;
	struct value v;
	const int r = eval_kid(s, n->kids[0], &v);

	if (r < 0)
		return r;
	if (n->kind == N_NEGATE)
		return operate_negate(s->w, at, &v, ret);
	switch (n->filter) {
	case F_INT:
		return operate_int(s->w, at, &v, ret);
	case F_FLOAT:
		return operate_float(s->w, at, &v, ret);
	case F_STRING:
		break;
	}
	return value_str(s->w, at, &v, ret);
}

static int eval_truth(struct scope *s, const struct syntax *n, struct value *ret, bool *ret_truth)
{
	const int r = eval(s, n, ret);

	return r < 0 ? r : value_truth(s->w, n->at, ret, ret_truth);
}

/* 'and' and 'or' return the operand that decides. */
static int eval_logic(struct scope *s, const struct syntax *n, struct value *ret)
{
	bool truth = n->kind == N_AND;

	for (size_t i = 0; i + 1 < n->n && truth == (n->kind == N_AND); i++) {
		const int r = eval_truth(s, n->kids[i], ret, &truth);

		if (r < 0)
			return r;
	}
	return truth == (n->kind == N_AND) ? eval(s, n->kids[n->n - 1], ret) : 0;
}

static int eval_comparison(struct scope *s, const struct syntax *n, struct value *ret)
{
	struct value a, b;
	bool yes = false;
	int r = eval_both(s, n, &a, &b);

	if (r < 0)
		return r;
	if (n->kind == N_IN || n->kind == N_NOT_IN)
		r = value_contains(s->w, n->at, &b, &a, &yes);
	else if (n->kind == N_AT_LEAST)
		r = value_at_least(s->w, n->at, &a, &b, &yes);
	else
		r = value_equal(s->w, n->at, &a, &b, &yes);
	*ret = value_bool(yes != (n->kind == N_UNEQUAL || n->kind == N_NOT_IN));
	return r;
}

static int eval(struct scope *s, const struct syntax *n, struct value *ret)
{
	bool truth = false;
	int r = work_spend(s->w, n->at, 0);

	if (r < 0)
		return r;
	switch (n->kind) {
	case N_CONST:
		*ret = n->value;
		return 0;
	case N_NAME:
		return read_name(s, n->name, n->at, ret);
	case N_LIST:
		return eval_list(s, n, ret);
	case N_DICT:
		return eval_dict(s, n, ret);
	case N_ATTR:
		return eval_attr(s, n, ret);
	case N_ITEM:
		return eval_item(s, n, ret);
	case N_CALL:
		return eval_call(s, n, ret);
	case N_GRAINS_GET:
		return eval_grains_get(s, n, ret);
	case N_MINE_GET:
		return source_fail(s->w->source, n->at, "salt['mine.get'] asks other machines");
	case N_FILTER:
	case N_NEGATE:
		return eval_unary(s, n, ret);
	case N_NOT:
		r = eval_truth(s, n->kids[0], ret, &truth);
		*ret = value_bool(!truth);
		return r;
	case N_DEFINED:
		r = eval(s, n->kids[0], ret);
		*ret = value_bool(r == 0 && ret->kind != V_UNDEFINED);
		return r;
	case N_ADD:
	case N_MULTIPLY:
		return eval_arithmetic(s, n, ret);
	case N_CONCAT:
		return eval_concat(s, n, ret);
	case N_AND:
	case N_OR:
		return eval_logic(s, n, ret);
	default:
		return eval_comparison(s, n, ret);
	}
}

static int print(struct scope *s, const struct syntax *n)
{
	struct value v, text;
	int r = eval(s, n->kids[0], &v);

	if (r == 0)
		r = value_str(s->w, n->at, &v, &text);
	if (r < 0)
		return r;
	(void)buf_add(s->out, text.text.p, text.text.n);
	return 0;
}

static int run_if(struct scope *s, const struct syntax *n)
{
	size_t i = 0;

	for (; i + 1 < n->n; i += 2) {
		struct value v;
		bool truth;
		const int r = eval_truth(s, n->kids[i], &v, &truth);

		if (r < 0)
			return r;
		if (truth)
			return eval_block(s, n->kids[i + 1]);
	}
	return i < n->n ? eval_block(s, n->kids[i]) : 0;
}

static int run_for(struct scope *s, const struct syntax *n)
{
	struct value over, *saved;
	int r = eval_kid(s, n->kids[0], &over);

	if (r == 0 && over.kind != V_LIST)
		return source_fail(s->w->source, n->kids[0]->at,
				   "a loop over %s is not in the grammar", value_kind_name(&over));
	if (r == 0)
		r = work_spend(s->w, n->at, n->nsaved * sizeof(*saved));
	if (r < 0)
		return r;
	saved = work_alloc(s->w, n->at, n->nsaved * sizeof(*saved));
	if (!saved)
		return -EINVAL;
	for (size_t i = 0; i < n->nsaved; i++)
		saved[i] = s->set[n->saved[i]];
	for (size_t i = 0; i < over.list->n && r == 0; i++) {
		s->set[n->name] = over.list->v[i];
		r = eval_block(s, n->kids[1]);
	}
	for (size_t i = 0; i < n->nsaved; i++)
		s->set[n->saved[i]] = saved[i];
	return r;
}

static int run(struct scope *s, const struct syntax *n)
{
	struct value v;
	int r = work_spend(s->w, n->at, 0);

	if (r < 0)
		return r;
	switch (n->kind) {
	case N_DATA:
		(void)buf_add(s->out, n->value.text.p, n->value.text.n);
		return work_spend(s->w, n->at, n->value.text.n);
	case N_PRINT:
		return print(s, n);
	case N_SET:
		r = eval(s, n->kids[0], &v);
		if (r == 0)
			s->set[n->name] = v;
		return r;
	case N_IF:
		return run_if(s, n);
	case N_FOR:
		return run_for(s, n);
	default:
		return eval(s, n->kids[0], &v);
	}
}

int eval_block(struct scope *s, const struct syntax *block)
{
	int r = 0;

	for (size_t i = 0; i < block->n && r == 0; i++) {
		r = run(s, block->kids[i]);
		if (r == 0 && s->out->overflow)
			r = source_fail(s->w->source, block->kids[i]->at,
					"the result is larger than %zu bytes", s->out->max);
	}
	return r;
}

#include "nodeup/template/parse.h"

#include <string.h>
#include "nodeup/base/map.h"
#include "nodeup/base/print.h"
#include "nodeup/template/lex.h"

struct parser {
	struct arena *a;
	const struct source *source;
	struct lex lex;
	struct token now; /* the next token, not taken yet */
	size_t depth, deepest;
	struct map numbers; /* a size_t for each name */
	struct strv names;
	bool looping;
	bool stored[TEMPLATE_NAMES_MAX]; /* names that are set in the loop that is being read */
};

static int parse_expression(struct parser *p, struct syntax **ret);
static int parse_block(struct parser *p, const char *const *ends, struct syntax **ret);

static struct syntax *node_new(struct parser *p, enum syntax_kind kind, size_t at)
{
	struct syntax *n = arena_new(p->a, struct syntax);

	n->kind = kind;
	n->at = at;
	n->height = 1;
	return n;
}

static int too_deep(struct parser *p, size_t at)
{
	return source_fail(p->source, at, "nested more than %zu deep", p->deepest);
}

/* Jinja 2.7 drops the brackets around a comparison: it reads (a == b) * c as a == (b * c). */
static bool loses_brackets(const struct syntax *n, const struct syntax *kid)
{
	const bool comparison = kid->kind >= N_EQUAL && kid->kind <= N_NOT_IN;

	return comparison && (n->kind == N_ADD || n->kind == N_MULTIPLY || n->kind == N_NEGATE ||
			      (n->kind >= N_EQUAL && n->kind <= N_NOT_IN));
}

static int add_kid(struct parser *p, struct syntax *n, struct syntax *kid)
{
	if (loses_brackets(n, kid))
		return source_fail(p->source, kid->at,
				   "a comparison as a part of this is not in the grammar");
	arena_push(p->a, n->kids, n->n, kid);
	if (n->height <= kid->height)
		n->height = kid->height + 1;
	return n->height > p->deepest ? too_deep(p, kid->at) : 0;
}

/* Makes kid a child of a new node. */
static int wrap(struct parser *p, enum syntax_kind kind, size_t at, struct syntax **kid)
{
	struct syntax *n = node_new(p, kind, at);
	const int r = add_kid(p, n, *kid);

	*kid = n;
	return r;
}

static int advance(struct parser *p)
{
	return lex_token(&p->lex, &p->now);
}

static bool is(const struct parser *p, enum token_kind kind, const char *what)
{
	return p->now.kind == kind && p->now.n == strlen(what) &&
	       memcmp(p->now.p, what, p->now.n) == 0;
}

static bool is_sign(const struct parser *p, const char *sign)
{
	return is(p, T_SIGN, sign);
}

static bool is_name(const struct parser *p, const char *name)
{
	return is(p, T_NAME, name);
}

/* Fails at a token that the grammar does not allow here, or that is missing. */
static int refuse(struct parser *p, const char *wanted)
{
	const int n = p->now.n < 40 ? (int)p->now.n : 40;

	if (p->now.kind == T_TAG_END)
		return source_fail(p->source, p->now.at, "%s is wanted, the tag ends", wanted);
	if (p->now.kind == T_TEXT)
		return source_fail(p->source, p->now.at, "%s is wanted, not a text", wanted);
	return source_fail(p->source, p->now.at, "%s is wanted, '%.*s' is not in the grammar here",
			   wanted, n, p->now.p);
}

static int expect_sign(struct parser *p, const char *sign)
{
	char wanted[8];

	if (is_sign(p, sign))
		return advance(p);
	(void)print_to(wanted, sizeof(wanted), "'%s'", sign);
	return refuse(p, wanted);
}

/* Words that the grammar reserves; no variable has such a name. */
static const char *const words[] = { "and",    "or",    "not",     "in",     "is",
				     "if",     "else",  "loop",    "self",   "super",
				     "caller", "salt",  "varargs", "kwargs", "true",
				     "True",   "false", "none",    "False",  "None" };
/* The methods of Python's dictionaries. For these names d.x is the method and never the key x. */
static const char *const dict_methods[] = { "clear",      "copy",      "fromkeys",  "get",
					    "has_key",    "items",     "iteritems", "iterkeys",
					    "itervalues", "keys",      "pop",       "popitem",
					    "setdefault", "update",    "values",    "viewitems",
					    "viewkeys",   "viewvalues" };

static bool is_one_of(const struct text *t, const char *const *those, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (t->n == strlen(those[i]) && memcmp(t->p, those[i], t->n) == 0)
			return true;
	return false;
}

bool parse_is_method(const struct text *name)
{
	return (name->n >= 2 && memcmp(name->p, "__", 2) == 0) ||
	       is_one_of(name, dict_methods, ARRAY_LEN(dict_methods));
}

static int number_of(struct parser *p, const char *name, size_t *ret)
{
	const size_t *there = map_get(&p->numbers, name);

	if (!there) {
		size_t *number = arena_new(p->a, size_t);

		if (p->names.n == TEMPLATE_NAMES_MAX)
			return source_fail(p->source, p->now.at, "more than %d names",
					   TEMPLATE_NAMES_MAX);
		*number = p->names.n;
		strv_add(p->a, &p->names, name);
		there = map_put(p->a, &p->numbers, name, number);
	}
	*ret = *there;
	return 0;
}

/* Reads the name of a variable into the node. */
static int take_variable(struct parser *p, struct syntax *into)
{
	const char *const name = arena_strn(p->a, p->now.p, p->now.n);
	int r;

	into->value = value_text(name, p->now.n);
	if (p->now.kind != T_NAME || is_one_of(&into->value.text, words, ARRAY_LEN(words)))
		return refuse(p, "a name");
	r = number_of(p, name, &into->name);
	return r < 0 ? r : advance(p);
}

static int enter(struct parser *p)
{
	return ++p->depth > p->deepest ? too_deep(p, p->now.at) : 0;
}

/* Parses an expression that is part of a larger one. */
static int parse_kid(struct parser *p, struct syntax *into)
{
	struct syntax *kid;
	int r = parse_expression(p, &kid);

	return r < 0 ? r : add_kid(p, into, kid);
}

/* Parses expressions (for a dictionary, pairs) up to the closing sign, which stays the next token. Commas separate
 * the expressions, and one comma may follow the last. */
static int parse_sequence(struct parser *p, const char *end, struct syntax *into)
{
	int r = 0;

	while (r == 0 && !is_sign(p, end)) {
		r = parse_kid(p, into);
		if (r == 0 && into->kind == N_DICT)
			r = expect_sign(p, ":");
		if (r == 0 && into->kind == N_DICT)
			r = parse_kid(p, into);
		if (r == 0 && !is_sign(p, end))
			r = expect_sign(p, ",");
	}
	return r < 0 ? r : advance(p);
}

/* Parses the arguments of a call, with both brackets. */
static int parse_arguments(struct parser *p, struct syntax *call, size_t least, size_t most)
{
	const size_t before = call->n;
	int r = advance(p);

	if (r == 0)
		r = parse_sequence(p, ")", call);
	if (r == 0 && (call->n - before < least || call->n - before > most))
		return source_fail(p->source, call->at, "%zu arguments are not in the grammar here",
				   call->n - before);
	return r;
}

/* Parses salt['grains.get'](...) and salt['mine.get'](...). */
static int parse_salt(struct parser *p, struct syntax **ret)
{
	struct syntax *n = node_new(p, N_MINE_GET, p->now.at);
	int r = advance(p);

	*ret = n;
	if (r == 0)
		r = expect_sign(p, "[");
	if (r < 0)
		return r;
	if (is(p, T_TEXT, "grains.get")) {
		n->kind = N_GRAINS_GET;
		r = number_of(p, "grains", &n->name);
	} else if (!is(p, T_TEXT, "mine.get")) {
		return source_fail(p->source, p->now.at,
				   "this function of Salt is not in the grammar");
	}
	if (r == 0)
		r = advance(p);
	if (r == 0)
		r = expect_sign(p, "]");
	if (r == 0 && !is_sign(p, "("))
		return refuse(p, "'('");
	if (r < 0)
		return r;
	return n->kind == N_GRAINS_GET ? parse_arguments(p, n, 1, 2) : parse_arguments(p, n, 2, 3);
}

static int parse_name(struct parser *p, struct syntax **ret)
{
	const size_t at = p->now.at;
	const struct text name = { p->now.p, p->now.n, false };

	if (is_name(p, "salt"))
		return parse_salt(p, ret);
	*ret = node_new(p, N_CONST, at);
	if (is_one_of(&name, (const char *const[]){ "true", "True", "false", "False" }, 4)) {
		(*ret)->value = value_bool(name.p[0] == 't' || name.p[0] == 'T');
		return advance(p);
	}
	if (is_one_of(&name, (const char *const[]){ "none", "None" }, 2)) {
		(*ret)->value = (struct value){ .kind = V_NONE };
		return advance(p);
	}
	(*ret)->kind = N_NAME;
	return take_variable(p, *ret);
}

static int parse_primary(struct parser *p, struct syntax **ret)
{
	const struct token t = p->now;
	int r;

	if (t.kind == T_NAME)
		return parse_name(p, ret);
	*ret = node_new(p, N_CONST, t.at);
	if (t.kind == T_TEXT)
		(*ret)->value = value_text(t.p, t.n);
	else if (t.kind == T_INT)
		(*ret)->value = value_int(t.i);
	else if (t.kind == T_FLOAT && value_float(p->source, t.at, t.f, &(*ret)->value) < 0)
		return -EINVAL;
	if (t.kind == T_TEXT || t.kind == T_INT || t.kind == T_FLOAT)
		return advance(p);
	if (!is_sign(p, "(") && !is_sign(p, "[") && !is_sign(p, "{"))
		return refuse(p, "a value");
	r = advance(p);
	if (r < 0)
		return r;
	if (t.p[0] != '(') {
		(*ret)->kind = t.p[0] == '[' ? N_LIST : N_DICT;
		return parse_sequence(p, t.p[0] == '[' ? "]" : "}", *ret);
	}
	r = parse_expression(p, ret);
	return r < 0 ? r : expect_sign(p, ")");
}

/* Parses the word after a dot: a method call, or a key. */
static int parse_dot(struct parser *p, struct syntax **node)
{
	static const struct {
		const char *name;
		enum method method;
		size_t least, most;
	} methods[] = {
		{ "get", M_GET, 1, 2 },       { "lower", M_LOWER, 0, 0 },
		{ "values", M_VALUES, 0, 0 }, { "split", M_SPLIT, 1, 1 },
		{ "update", M_UPDATE, 1, 1 },
	};
	const size_t at = p->now.at;
	const struct text name = { p->now.p, p->now.n, false };
	int r;

	if (p->now.kind != T_NAME)
		return refuse(p, "a name");
	r = advance(p);
	if (r == 0)
		r = wrap(p, N_ATTR, at, node);
	if (r < 0)
		return r;
	(*node)->value = value_text(name.p, name.n);
	if (!is_sign(p, "(")) {
		if (!parse_is_method(&name))
			return 0;
		return source_fail(p->source, at, "the method '%.*s' is not called",
				   (int)(name.n < 40 ? name.n : 40), name.p);
	}
	(*node)->kind = N_CALL;
	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if (is_one_of(&name, &methods[i].name, 1)) {
			(*node)->method = methods[i].method;
			return parse_arguments(p, *node, methods[i].least, methods[i].most);
		}
	return source_fail(p->source, at, "the method '%.*s' is not in the grammar",
			   (int)(name.n < 40 ? name.n : 40), name.p);
}

static int parse_item(struct parser *p, size_t at, struct syntax **node)
{
	struct syntax *index;
	int r = parse_expression(p, &index);

	if (r == 0)
		r = wrap(p, N_ITEM, at, node);
	if (r == 0)
		r = add_kid(p, *node, index);
	return r < 0 ? r : expect_sign(p, "]");
}

static int parse_postfix(struct parser *p, struct syntax **node)
{
	int r = 0;

	while (r == 0) {
		const size_t at = p->now.at;

		if (is_sign(p, ".")) {
			r = advance(p);
			if (r == 0)
				r = parse_dot(p, node);
		} else if (is_sign(p, "[")) {
			r = advance(p);
			if (r == 0)
				r = parse_item(p, at, node);
		} else if (is_sign(p, "(")) {
			return source_fail(p->source, at, "a call of this is not in the grammar");
		} else {
			return 0;
		}
	}
	return r;
}

static int parse_filter(struct parser *p, struct syntax **node)
{
	static const char *const filters[] = {
		[F_INT] = "int", [F_FLOAT] = "float", [F_STRING] = "string"
	};
	const size_t at = p->now.at;
	const struct text name = { p->now.p, p->now.n, false };
	int r;

	if (p->now.kind != T_NAME)
		return refuse(p, "a filter");
	r = wrap(p, N_FILTER, at, node);
	for (size_t i = 0; i < ARRAY_LEN(filters) && r == 0; i++)
		if (is_one_of(&name, &filters[i], 1)) {
			(*node)->filter = (enum filter)i;
			r = advance(p);
			if (r == 0 && (is_sign(p, "(") || is_sign(p, ".")))
				return refuse(p, "the end of the filter");
			return r;
		}
	if (r < 0)
		return r;
	return source_fail(p->source, at, "the filter '%.*s' is not in the grammar",
			   (int)(name.n < 40 ? name.n : 40), name.p);
}

static int parse_test(struct parser *p, struct syntax **node)
{
	const bool negated = is_name(p, "not");
	const size_t at = p->now.at;
	int r = negated ? advance(p) : 0;

	if (r < 0)
		return r;
	if (!is_name(p, "defined"))
		return refuse(p, "'defined'");
	r = advance(p);
	if (r == 0)
		r = wrap(p, N_DEFINED, at, node);
	if (r == 0 && negated)
		r = wrap(p, N_NOT, at, node);
	if (r < 0)
		return r;
	/* Jinja reads any other name as an argument of the test */
	if (p->now.kind == T_NAME && !is_name(p, "and") && !is_name(p, "or"))
		return refuse(p, "the end of the test");
	return 0;
}

static int parse_unary(struct parser *p, bool filters, struct syntax **ret)
{
	const size_t at = p->now.at;
	int r;

	if (is_sign(p, "-")) {
		r = enter(p);
		if (r == 0)
			r = advance(p);
		if (r == 0)
			r = parse_unary(p, false, ret);
		if (r == 0)
			r = wrap(p, N_NEGATE, at, ret);
		p->depth--;
	} else {
		r = parse_primary(p, ret);
		if (r == 0)
			r = parse_postfix(p, ret);
	}
	while (r == 0 && filters && (is_sign(p, "|") || is_name(p, "is"))) {
		const bool filter = is_sign(p, "|");

		r = advance(p);
		if (r == 0)
			r = filter ? parse_filter(p, ret) : parse_test(p, ret);
	}
	return r;
}

/* Operators that chain any number of values, in order of precedence: the operator that binds least is the first.
 * Comparisons and 'not' bind between the second and the third. */
static const struct {
	enum syntax_kind kind;
	enum token_kind token;
	const char *sign;
} chains[] = {
	{ N_OR, T_NAME, "or" },    { N_AND, T_NAME, "and" },    { N_ADD, T_SIGN, "+" },
	{ N_CONCAT, T_SIGN, "~" }, { N_MULTIPLY, T_SIGN, "*" },
};
enum { CHAIN_NOT = 2, CHAIN_UNARY = ARRAY_LEN(chains) };

static int parse_chain(struct parser *p, size_t from, struct syntax **ret);

static int parse_comparison(struct parser *p, struct syntax **ret)
{
	static const struct {
		enum syntax_kind kind;
		enum token_kind token;
		const char *sign;
	} operators[] = {
		{ N_EQUAL, T_SIGN, "==" },    { N_UNEQUAL, T_SIGN, "!=" },
		{ N_AT_LEAST, T_SIGN, ">=" }, { N_IN, T_NAME, "in" },
		{ N_NOT_IN, T_NAME, "not" },
	};
	const size_t at = p->now.at;
	struct syntax *right;
	int r = parse_chain(p, CHAIN_NOT, ret);

	for (size_t i = 0; i < ARRAY_LEN(operators) && r == 0; i++) {
		if (!is(p, operators[i].token, operators[i].sign))
			continue;
		r = advance(p);
		if (r == 0 && operators[i].kind == N_NOT_IN) {
			if (!is_name(p, "in"))
				return refuse(p, "'in'");
			r = advance(p);
		}
		if (r == 0)
			r = parse_chain(p, CHAIN_NOT, &right);
		if (r == 0)
			r = wrap(p, operators[i].kind, at, ret);
		return r < 0 ? r : add_kid(p, *ret, right);
	}
	return r;
}

static int parse_not(struct parser *p, struct syntax **ret)
{
	const size_t at = p->now.at;
	int r;

	if (!is_name(p, "not"))
		return parse_comparison(p, ret);
	r = enter(p);
	if (r == 0)
		r = advance(p);
	if (r == 0)
		r = parse_not(p, ret);
	if (r == 0)
		r = wrap(p, N_NOT, at, ret);
	p->depth--;
	return r;
}

/* Parses one value, or a chain of values with the operator of row `from` or of a later row. Later rows bind more
 * tightly. */
static int parse_chain(struct parser *p, size_t from, struct syntax **ret)
{
	const size_t at = p->now.at;
	struct syntax *chain = NULL;
	int r = 0;

	for (;;) {
		struct syntax *kid;

		if (from + 1 == CHAIN_UNARY)
			r = parse_unary(p, true, &kid);
		else if (from + 1 == CHAIN_NOT)
			r = parse_not(p, &kid);
		else
			r = parse_chain(p, from + 1, &kid);
		if (r == 0 && chain)
			r = add_kid(p, chain, kid);
		if (r < 0)
			return r;
		if (!chain)
			*ret = kid;
		if (!is(p, chains[from].token, chains[from].sign))
			return 0;
		r = advance(p);
		if (r == 0 && !chain) {
			r = wrap(p, chains[from].kind, at, ret);
			chain = *ret;
		}
		if (r < 0)
			return r;
	}
}

static int parse_expression(struct parser *p, struct syntax **ret)
{
	int r = enter(p);

	if (r == 0)
		r = parse_chain(p, 0, ret);
	p->depth--;
	return r;
}

/* Ends a statement's tag; data follows. */
static int expect_end(struct parser *p)
{
	return p->now.kind == T_TAG_END ? 0 : refuse(p, "the end of the tag");
}

static int parse_set(struct parser *p, struct syntax **ret)
{
	struct syntax *n = node_new(p, N_SET, p->now.at);
	int r = take_variable(p, n);

	*ret = n;
	if (r == 0)
		r = expect_sign(p, "=");
	if (r == 0)
		r = parse_kid(p, n);
	p->stored[n->name] = true;
	return r < 0 ? r : expect_end(p);
}

static int parse_do(struct parser *p, struct syntax **ret)
{
	const size_t at = p->now.at;
	int r = parse_expression(p, ret);

	if (r == 0)
		r = wrap(p, N_DO, at, ret);
	return r < 0 ? r : expect_end(p);
}

/* Ends the statement's tag and parses the block behind it, up to one of the end words, which stays the next token. */
static int parse_body(struct parser *p, struct syntax *into, size_t at, const char *name,
		      const char *const *ends)
{
	struct syntax *kid;
	int r = expect_end(p);

	if (r == 0)
		r = parse_block(p, ends, &kid);
	if (r == 0)
		r = add_kid(p, into, kid);
	if (r == 0 && p->lex.tag.kind == PIECE_END)
		r = source_fail(p->source, at, "this '%s' has no 'end%s'", name, name);
	return r;
}

static int parse_if(struct parser *p, struct syntax **ret)
{
	static const char *const ends[] = { "elif", "else", "endif", NULL };
	const size_t at = p->lex.tag.at;
	struct syntax *n = node_new(p, N_IF, at);
	bool last = false;
	int r = 0;

	*ret = n;
	do {
		if (!last)
			r = parse_kid(p, n);
		if (r == 0)
			r = parse_body(p, n, at, "if", last ? ends + 2 : ends);
		if (r < 0)
			return r;
		last = is_name(p, "else");
		if (is_name(p, "endif"))
			break;
		r = advance(p);
	} while (r == 0);
	if (r == 0)
		r = advance(p);
	return r < 0 ? r : expect_end(p);
}

/* In Jinja 2.7 a variable keeps its value from one round of a loop to the next, and has its old value again after
 * the loop. For nested loops Jinja gets that wrong, so they are refused; no template has one. */
static int parse_for(struct parser *p, struct syntax **ret)
{
	static const char *const ends[] = { "endfor", NULL };
	const size_t at = p->lex.tag.at;
	struct syntax *n = node_new(p, N_FOR, p->now.at);
	size_t *saved = NULL;
	int r = take_variable(p, n);

	*ret = n;
	if (p->looping)
		return source_fail(p->source, at, "a loop in a loop is not in the grammar");
	if (r == 0 && !is_name(p, "in"))
		return refuse(p, "'in'");
	if (r == 0)
		r = advance(p);
	if (r == 0)
		r = parse_kid(p, n);
	if (r < 0)
		return r;
	memset(p->stored, 0, sizeof(p->stored));
	p->stored[n->name] = true;
	p->looping = true;
	r = parse_body(p, n, at, "for", ends);
	if (r < 0)
		return r;
	p->looping = false;
	for (size_t i = 0; i < p->names.n; i++)
		if (p->stored[i])
			arena_push(p->a, saved, n->nsaved, i);
	n->saved = saved;
	r = advance(p);
	return r < 0 ? r : expect_end(p);
}

static int parse_statement(struct parser *p, struct syntax **ret)
{
	static const struct {
		const char *name;
		int (*parse)(struct parser *p, struct syntax **ret);
	} statements[] = {
		{ "set", parse_set }, { "if", parse_if }, { "for", parse_for }, { "do", parse_do }
	};

	if (p->now.kind == T_NAME)
		for (size_t i = 0; i < ARRAY_LEN(statements); i++)
			if (is_name(p, statements[i].name)) {
				const int r = advance(p);

				return r < 0 ? r : statements[i].parse(p, ret);
			}
	return refuse(p, "a statement");
}

static int parse_print(struct parser *p, struct syntax **ret)
{
	int r = advance(p);

	if (r == 0)
		r = parse_expression(p, ret);
	if (r == 0)
		r = wrap(p, N_PRINT, (*ret)->at, ret);
	return r < 0 ? r : expect_end(p);
}

/* Returns whether the statement that begins here ends the block. ends is NULL for the outermost block. */
static bool is_end(const struct parser *p, const char *const *ends)
{
	for (; ends && *ends; ends++)
		if (is_name(p, *ends))
			return true;
	return false;
}

/* Parses up to one of the end words, which stays the next token, or to the end of the template. */
static int parse_block(struct parser *p, const char *const *ends, struct syntax **ret)
{
	struct syntax *const block = node_new(p, N_BLOCK, p->lex.at);
	int r = enter(p);

	*ret = block;
	while (r == 0) {
		struct piece piece;
		struct syntax *kid;

		r = lex_piece(&p->lex, &piece);
		if (r < 0)
			return r;
		if (piece.kind == PIECE_END) {
			p->lex.tag = piece;
			break;
		}
		if (piece.kind == PIECE_DATA) {
			kid = node_new(p, N_DATA, piece.at);
			kid->value = value_text(piece.p, piece.n);
		} else if (piece.kind == PIECE_VALUE) {
			r = parse_print(p, &kid);
		} else {
			r = advance(p);
			if (r == 0 && is_end(p, ends))
				break;
			if (r == 0)
				r = parse_statement(p, &kid);
		}
		if (r == 0)
			r = add_kid(p, block, kid);
	}
	p->depth--;
	return r;
}

int parse_template(struct arena *a, const struct source *s, size_t depth, struct syntax **ret_block,
		   struct strv *ret_names)
{
	struct parser p = {
		.a = a,
		.source = s,
		.lex = { .a = a, .source = s },
		.deepest = depth,
	};
	const int r = parse_block(&p, NULL, ret_block);

	*ret_names = p.names;
	return r;
}

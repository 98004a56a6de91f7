#include "nodeup/cmd/redact.h"

#include <ctype.h>
#include <string.h>
#include "nodeup/base/enc.h"
#include "nodeup/base/map.h"
#include "nodeup/cmd/boot.h"

/* SECRET_MIN: shorter words are no secrets. SURE: from this length on a secret counts inside other words, too.
 * RANDOM_MIN, KEY_MIN, LONG: see is_token. PEM_LINES: a PEM without an end hides no more. */
enum {
	SECRET_MIN = 4,
	SURE = 8,
	RANDOM_MIN = 16,
	KEY_MIN = 20,
	LONG = 40,
	HEX_MIN = 32,
	HEX_SHOWN = 8,
	PEM_LINES = 100,
	BUCKETS = 1 << 16,
	LINE_MAX_SHOWN = 1 << 20,
};

struct secret {
	const char *text;
	size_t n;
	struct secret *next;
};

struct redact {
	struct arena *arena, *scratch; /* scratch: only while a text is learnt */
	size_t hidden, pem_left;
	struct map known;
	/* by the last SECRET_MIN bytes, as many begin in the same way */
	struct secret *by_end[BUCKETS];
};

static const char blanks[] = " \t\r\n\"'`,;{}[]()<>";
static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

struct redact *redact_new(struct arena *a)
{
	struct redact *r = arena_new(a, struct redact);

	r->arena = a;
	return r;
}

/* Returns the list of secrets that end in these SECRET_MIN bytes, and of others. */
static struct secret **bucket_of(struct redact *r, const char *end)
{
	uint32_t bytes;

	_Static_assert(sizeof(bytes) == SECRET_MIN, "the bytes of a bucket");
	memcpy(&bytes, end, sizeof(bytes));
	return &r->by_end[(bytes * UINT32_C(2654435761)) >> 16];
}

/* Returns whether the text has both a digit and a letter. */
static bool is_mixed(const char *s, size_t n)
{
	size_t digits = 0, alphas = 0;

	for (size_t i = 0; i < n; i++) {
		digits += isdigit((unsigned char)s[i]) != 0;
		alphas += isalpha((unsigned char)s[i]) != 0;
	}
	return digits && alphas;
}

/* Words of any log: to hide them would hide the log, and they tell nothing. */
static const char *const ordinary[] = { "info",       "debug",     "warn",       "error",
					"none",       "auto",      "always",     "default",
					"localhost",  "root",      "node",       "master",
					"worker",     "kubelet",   "containerd", "docker",
					"linux",      "json-file", "journald",   "systemd",
					"kubernetes", "kops" };

static bool is_ordinary(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(ordinary); i++)
		if (strcasecmp(ordinary[i], word) == 0)
			return true;
	return tree_type_of(word) == TREE_IS_BOOL;
}

/* Adds a word, unless it is a value that is no secret in any place: a path, a unit, true. */
static void add(struct redact *r, const char *s, size_t n)
{
	static const char *const endings[] = { ".service", ".target", ".socket", ".mount",
					       ".timer" };
	const char *word = arena_strn(r->scratch, s, n);
	struct secret **at, *one;

	if (n < SECRET_MIN || is_ordinary(word) ||
	    (n < SURE && word[strspn(word, "0123456789")] == '\0') ||
	    (str_is_path(word) && !is_mixed(word, n)) || map_get(&r->known, word))
		return;
	for (size_t i = 0; i < ARRAY_LEN(endings); i++)
		if (str_has_suffix(word, endings[i]))
			return;
	word = arena_str(r->arena, word);
	at = bucket_of(r, word + n - SECRET_MIN);
	one = arena_new(r->arena, struct secret);
	*one = (struct secret){ word, n, *at };
	*at = one;
	(void)map_put(r->arena, &r->known, word, one);
}

/* Adds a word that may be an ordinary one: a short one only if it looks chosen. */
static void add_chosen(struct redact *r, const char *s, size_t n)
{
	if (n >= SURE || is_mixed(s, n))
		add(r, s, n);
}

/* Returns the end of the login of a URL, given what is behind its "://"; NULL: it has none. */
static const char *login_end(const char *from)
{
	const size_t host = strcspn(from, "/?#\"' \t");
	const char *at = memrchr(from, '@', host), *colon = memchr(from, ':', host);

	/* what is no port is a password, in which something is not escaped */
	if (!at && *from != '[' && colon &&
	    colon + 1 + strspn(colon + 1, "0123456789") < from + host)
		at = memrchr(from, '@', strcspn(from, " \t"));
	return at;
}

/* Adds the login and the values of the query of a URL, given what is behind its "://"; the rest is no secret. */
static void add_url(struct redact *r, const char *from)
{
	const size_t len = strcspn(from, blanks);
	const char *query = memchr(from, '?', len), *at = login_end(from);
	const char *colon = at ? memchr(from, ':', (size_t)(at - from)) : NULL;

	if (at)
		add(r, from, (size_t)((colon ? colon : at) - from));
	if (colon)
		add(r, colon + 1, (size_t)(at - colon - 1));
	for (const char *p = query ? query + 1 : from + len; p < from + len; p += *p == '&') {
		const size_t rest = (size_t)(from + len - p), word = strcspn(p, "&");
		const size_t n = word < rest ? word : rest;
		const char *equals = memchr(p, '=', n), *value = equals ? equals + 1 : p;

		add(r, value, (size_t)(p + n - value));
		p += n;
	}
}

/* Adds the word, and its parts: the value of NAME=VALUE, user and password of USER:PASSWORD@HOST. */
static void learn_word(struct redact *r, const char *word, bool alone)
{
	const char *p = word;

	if (strstr(word, "://"))
		return;
	for (size_t n; *p; p += n + (p[n] != '\0')) {
		n = strcspn(p, "=:@");
		/* a name is no secret, nor is an ordinary word */
		if (p != word || (p[n] != '=' && is_mixed(p, n)))
			(alone && p != word ? add : add_chosen)(r, p, n);
	}
	if (is_mixed(word, strlen(word)))
		add_chosen(r, word, strlen(word));
}

static bool is_of_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* Returns the length of a value: what its quotes hold, or else up to one of these bytes. */
static size_t value_length(const char *value, const char *ends)
{
	const char quote[] = { value[-1], '\0' };

	return strcspn(value, strchr("\"'", *quote) ? quote : ends);
}

/* Returns the value behind a secret's name; NULL: it has none there. flag: it may follow a blank. */
static const char *value_behind(const char *name, bool flag)
{
	const char *sign = name + strspn(name, "s\\\"' ");
	const char *value = sign + (*sign ? 1 + strspn(sign + 1, "\\\"' =[") : 0);
	const bool is_prose = sign == name && sign[1] == ' ' && value[strcspn(value, " ")] != '\0';
	size_t n;

	if (flag && *name == ' ')
		value = name + strspn(name, "\"' ");
	else if (*sign != '=' && (*sign != ':' || is_prose))
		return NULL;
	n = value_length(value, " \"'\\");
	return n >= SECRET_MIN || (n && value[n] == '\\') ? value : NULL;
}

/* Returns the end of a name, which may have - and _ in it, if the text begins with it; else NULL. */
static const char *name_end(const char *text, const char *name)
{
	for (const char *first = text; *name; text++)
		if (tolower((unsigned char)*text) == *name)
			name++;
		else if (text == first || (*text != '-' && *text != '_'))
			return NULL;
	return text;
}

static const char *const names[] = { "password",  "passwd",     "passphrase", "token",
				     "secret",    "credential", "apikey",     "accesskey",
				     "secretkey", "privatekey", "\"auth",     "authorization" };

static bool is_secret_name(const char *name)
{
	for (; *name; name++)
		for (size_t i = 0; i < ARRAY_LEN(names); i++)
			if (name_end(name, names[i]))
				return true;
	return false;
}

/* Finds the first value that the text calls a secret: "password=x", '"token": "x"', "--token x", "secret: x" at its end. */
static const char *find_named(const char *line)
{
	bool flag = false;

	for (const char *p = line; *p; p++) {
		if (p == line || !is_of_word(p[-1]))
			flag = str_has_prefix(p, "--");
		for (size_t i = 0; i < ARRAY_LEN(names); i++) {
			const char *end = name_end(p, names[i]);
			const char *value = end ? value_behind(end, flag) : NULL;

			if (value)
				return value;
		}
	}
	return NULL;
}

/* Adds the values that the line calls secrets, and those in quotes, which may have blanks. */
static void learn_values(struct redact *r, const char *line)
{
	for (const char *p = line; (p = find_named(p)); p += value_length(p, blanks))
		add(r, p, value_length(p, blanks));
	for (const char *p = line; (p = strchr(p, '='));) {
		p += 1 + strspn(p + 1, " ");
		if (*p == '"' || *p == '\'')
			add_chosen(r, p + 1, value_length(p + 1, ""));
	}
}

/* Returns whether the text sets a variable of ours that holds no secret. */
static bool sets_open(struct redact *r, const char *text)
{
	bool is_open;

	(void)boot_variable(arena_strn(r->scratch, text, strcspn(text, "=")), &is_open);
	return is_open;
}

static void learn_line(struct redact *r, const char *line, bool alone)
{
	static const char export[] = "export ";
	size_t n;

	line += strspn(line, blanks);
	line += str_has_prefix(line, export) ? strlen(export) : 0;
	if (sets_open(r, line) && !strchr(line, ' '))
		return;
	learn_values(r, line);
	for (n = strlen(line); n && strchr(blanks, line[n - 1]);)
		n--;
	for (const char *p = line; (p = strstr(p, "://"));)
		add_url(r, p += 3);
	if (!strstr(line, "://"))
		(alone ? add : add_chosen)(r, line, n);
	for (; *line; line += n + strspn(line + n, blanks)) {
		n = strcspn(line, blanks);
		if (!sets_open(r, line))
			learn_word(r, arena_strn(r->scratch, line, n), alone);
	}
}

/* Learns a text; alone: the text is a value of its own, so a short one counts too. */
static void learn(struct redact *r, const char *text, bool alone)
{
	autoarena struct arena *scratch = arena_new_empty();
	const struct strv lines = strv_split(scratch, text, '\n');
	const size_t end = strcspn(text, "\n");

	r->scratch = scratch;
	/* a line's end makes no second line */
	alone = alone && !text[end + (text[end] == '\n')];
	for (size_t i = 0; i < lines.n; i++)
		learn_line(r, lines.v[i], alone);
}

void redact_learn(struct redact *r, const char *text)
{
	learn(r, text, true);
}

static void learn_tree(struct redact *r, const struct tree *t, bool alone)
{
	if (t->kind == TREE_SCALAR) {
		autoarena struct arena *a = arena_new_empty();
		const char *inside = strlen(t->scalar) >= SURE ? enc_text(a, t->scalar) : NULL;

		learn(r, t->scalar, alone);
		if (inside && str_is_line(arena_strn(a, inside, strcspn(inside, "\n"))))
			learn(r, inside, alone);
	}
	for (size_t i = 0; i < t->n; i++) {
		const char *key = t->items[i].key;

		/* {user:password@proxy} is a key without a value */
		if (key && t->items[i].value->kind == TREE_NULL)
			learn(r, key, true);
		learn_tree(r, t->items[i].value,
			   alone || (key && (str_eq(key, "Data") || is_secret_name(key))));
	}
}

void redact_learn_tree(struct redact *r, const struct tree *t)
{
	learn_tree(r, t, true);
}

void redact_learn_document(struct redact *r, const struct tree *t)
{
	learn_tree(r, t, t->kind == TREE_SCALAR);
}

static bool holds_secret(struct redact *r, const char *line)
{
	const char *end = line + strnlen(line, SECRET_MIN);

	if (end - line < SECRET_MIN)
		return false;
	/* end: behind the last byte of what is compared */
	for (;; end++) {
		for (const struct secret *s = *bucket_of(r, end - SECRET_MIN); s; s = s->next) {
			const char *p = end - s->n;

			if (s->n <= (size_t)(end - line) && memcmp(p, s->text, s->n) == 0 &&
			    (s->n >= SURE ||
			     ((p == line || !is_of_word(p[-1])) && !is_of_word(*end))))
				return true;
		}
		if (!*end)
			return false;
	}
}

/* Returns whether the letters and digits look drawn at random: they change often between capitals, small letters and
 * digits. A number in hex is a name: of a container, an image, a pod. */
static bool is_random(const char *s, size_t n)
{
	size_t changes = 0, hex = 0;
	int last = 0;

	for (size_t i = 0; i < n; i++) {
		const unsigned char c = (unsigned char)s[i];
		const int kind = isdigit(c) ? 1 : isupper(c) ? 2 : 3;

		changes += i && kind != last;
		hex += isdigit(c) || (c >= 'a' && c <= 'f');
		last = kind;
	}
	return n >= RANDOM_MIN && hex < n && is_mixed(s, n) && changes * 4 >= n;
}

/* Returns whether the text holds a word in the form of a token: JSON in base64, an access key, long base64, kubeadm's. */
static bool is_token(const char *line)
{
	static const char *const begins[] = { "eyJ", "AKIA", "ASIA" };
	static const char base64[] =
		"+/=0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

	for (const char *p = line; *p;) {
		const size_t n = strspn(p, letters), len = strspn(p, base64);

		for (size_t i = 0; i < ARRAY_LEN(begins); i++)
			if (n >= KEY_MIN && str_has_prefix(p, begins[i]))
				return true;
		if (is_random(p, n) || (n == 6 && p[n] == '.' && strspn(p + n + 1, letters) == 16 &&
					is_mixed(p + n + 1, 16)))
			return true;
		if (n && len >= LONG && strcspn(p, "0123456789") < len && len > n &&
		    strcspn(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") < len)
			return true;
		p += n ? n : 1;
	}
	return false;
}

static bool names_secret(const char *line)
{
	static const char *const marks[] = { "authorization:", "bearer ",    "x-amz-",
					     "private key",    "-----begin", "-----end" };

	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		if (strcasestr(line, marks[i]))
			return true;
	return find_named(line) != NULL;
}

/* Appends the line without logins and queries of URLs, and with long numbers in hex cut. */
static void mask(const char *line, struct buf *b)
{
	for (const char *p = line; *p;) {
		const size_t n = strspn(p, "0123456789abcdef"), word = strspn(p, letters);

		if (str_has_prefix(p, "://")) {
			const char *at = login_end(p + 3), *from = at ? at + 1 : p + 3;
			const size_t rest = strcspn(from, "?\"' \t");
			const size_t query = strcspn(from + rest, "\"' \t");
			const char *next = memmem(from, rest, "://", 3);

			(void)buf_adds(b, "://");
			if (at)
				(void)buf_addf(b, "<%zu bytes>@", (size_t)(at - p - 3));
			p = next ?: from + rest;
			(void)buf_add(b, from, (size_t)(p - from));
			if (*p == '?')
				(void)buf_addf(b, "?<%zu bytes>", query - 1);
			p += *p == '?' ? query : 0;
		} else if (n >= HEX_MIN && n == word) {
			(void)buf_addf(b, "%.*s...", HEX_SHOWN, p);
			p += n;
		} else {
			(void)buf_add(b, p, word ? word : 1);
			p += word ? word : 1;
		}
	}
}

static const char *shown(struct redact *r, struct arena *a, const char *line)
{
	autobuf struct buf b = BUF_INIT(LINE_MAX_SHOWN);

	mask(line, &b);
	return b.overflow || holds_secret(r, line) || names_secret(buf_str(&b)) ||
			       is_token(buf_str(&b))
		       ? NULL
		       : arena_str(a, buf_str(&b));
}

void redact_begin(struct redact *r)
{
	r->hidden = r->pem_left = 0;
}

const char *redact_line(struct redact *r, struct arena *a, const char *line)
{
	const char *ret = shown(r, a, line);
	const bool in_pem = r->pem_left > 0;

	r->pem_left -= in_pem;
	if (strstr(line, "-----BEGIN"))
		r->pem_left = PEM_LINES;
	if (strstr(line, "-----END"))
		r->pem_left = 0;
	if (ret && !in_pem)
		return ret;
	r->hidden++;
	return arena_printf(a, "<not shown: %zu bytes>", strlen(line));
}

size_t redact_hidden(const struct redact *r)
{
	return r->hidden;
}

void redact_text(struct redact *r, const char *text, struct buf *b)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strv lines = strv_split(a, text, '\n');

	for (size_t i = 0; i + (lines.n && !*lines.v[lines.n - 1]) < lines.n; i++)
		(void)buf_addf(b, "%s\n", redact_line(r, a, lines.v[i]));
}

bool redact_is_open(struct redact *r, const char *value)
{
	autoarena struct arena *a = arena_new_empty();

	return str_is_line(value) && str_eq(shown(r, a, value), value);
}

struct tree *redact_tree(struct redact *r, struct arena *a, const struct tree *t)
{
	struct tree *out;

	if (t->kind == TREE_SCALAR) {
		const char *text = shown(r, a, t->scalar);

		return !text       ? tree_string(a, arena_printf(a, "<not shown: %zu bytes>",
								 strlen(t->scalar)))
		       : t->quoted ? tree_string(a, text)
				   : tree_plain(a, text);
	}
	if (t->kind == TREE_NULL)
		return tree_null(a);
	out = t->kind == TREE_MAP ? tree_map(a) : tree_seq(a);
	for (size_t i = 0; i < t->n; i++) {
		struct tree *value = redact_tree(r, a, t->items[i].value);

		(void)(t->kind == TREE_MAP ? tree_set(a, out, t->items[i].key, value)
					   : tree_add(a, out, value));
	}
	return out;
}

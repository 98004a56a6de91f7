#include "userdata/script.h"

#include <ctype.h>
#include <string.h>

#include "nodeup/base/buf.h"

/* Far more than EC2 accepts; pack.h has EC2's limit and its reason. */
enum { SCRIPT_MAX = 1 << 20 };

extern const char userdata_script_start[], userdata_script_end[];

static const struct hash {
	const char *name, *program;
	size_t digits;
} hashes[] = {
	{ "sha1", "sha1sum", 40 },
	{ "sha256", "sha256sum", 64 },
	{ "sha512", "sha512sum", 128 },
};

/* The parts of a HASH@URL,MIRROR... text. */
struct source {
	const struct hash *hash;
	const char *digest;
	struct strv urls;
};

char *userdata_quote(struct arena *a, const char *s)
{
	char *text, *p;
	size_t quotes = 0;

	for (const char *q = s; *q; q++)
		quotes += *q == '\'';
	text = arena_alloc(a, strlen(s) + 3 * quotes + sizeof("''"));
	p = text;
	*p++ = '\'';
	for (; *s; s++) {
		if (*s == '\'')
			p = stpcpy(p, "'\\'");
		*p++ = *s;
	}
	*p = '\'';
	return text;
}

static const struct hash *hash_find(const char *digest, const char *algorithm)
{
	size_t digits = strlen(digest);

	if (strspn(digest, "0123456789abcdef") != digits)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(hashes); i++)
		if (hashes[i].digits == digits)
			return !algorithm || str_eq(algorithm, hashes[i].name) ? &hashes[i] : NULL;
	return NULL;
}

static bool is_url(const char *url)
{
	if (!str_has_prefix(url, "https://") && !str_has_prefix(url, "http://"))
		return false;
	/* white space would split the URL in two; a password would show in the list of processes */
	for (const char *p = url; *p; p++)
		if (!isascii(*p) || !isgraph(*p))
			return false;
	url = strstr(url, "://") + strlen("://");
	return *url != '/' && !memchr(url, '@', strcspn(url, "/?#"));
}

static int parse_source(struct arena *a, const char *text, struct source *ret, struct err *e)
{
	const char *at = text ? strchr(text, '@') : NULL;
	const char *slash = text ? strchr(text, '/') : NULL;
	struct source s = { 0 };
	char *algorithm = NULL, *digest;

	if (!at || (slash && slash < at))
		return err_config(e, "nodeup's URL has no hash: what is not checked is not started"
				     " (wanted HASH@URL,MIRROR...)");
	digest = arena_strn(a, text, (size_t)(at - text));
	if (strchr(digest, ':')) {
		algorithm = digest;
		digest = strchr(digest, ':');
		*digest++ = '\0';
	}
	for (char *p = digest; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	s.digest = digest;
	s.hash = hash_find(digest, algorithm);
	if (!s.hash)
		return err_config(e, "nodeup's hash '%s' is not a sha1, sha256 or sha512 in hex",
				  digest);
	s.urls = strv_split(a, at + 1, ',');
	for (size_t i = 0; i < s.urls.n; i++)
		if (!is_url(s.urls.v[i]))
			return err_config(e,
					  "nodeup's URL %zu of %zu is not an http(s):// URL without"
					  " user name and spaces",
					  i + 1, s.urls.n);
	if (s.urls.n == 0)
		return err_config(e, "nodeup's hash '%s' has no URL", digest);
	*ret = s;
	return 0;
}

static bool is_variable(const char *name)
{
	if (!isascii(*name) || !(isalpha(*name) || *name == '_'))
		return false;
	for (; *name; name++)
		if (!isascii(*name) || !(isalnum(*name) || *name == '_'))
			return false;
	return true;
}

/* The shell itself exports the variables, so no value becomes an argument of a program. */
static int put_env(struct arena *a, const struct strmap *env, struct buf *b, struct err *e)
{
	for (size_t i = 0; i < env->n; i++) {
		if (!is_variable(env->v[i].key))
			return err_config(e, "'%s' is not the name of an environment variable",
					  env->v[i].key);
		(void)buf_addf(b, "export %s=%s\n", env->v[i].key,
			       userdata_quote(a, env->v[i].value));
	}
	return 0;
}

static bool is_file_name(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";

	return *name && *name != '.' && *name != '-' && strspn(name, allowed) == strlen(name);
}

static int put_document(struct arena *a, const struct userdata_document *d, struct buf *b,
			struct err *e)
{
	const char *end = "END_OF_DOCUMENT";

	if (!is_file_name(d->name))
		return err_config(e, "'%s' is not a name for a document", d->name);
	for (unsigned int i = 1; strstr(d->text, end); i++)
		end = arena_printf(a, "END_OF_DOCUMENT_%u", i);
	(void)buf_addf(b, USERDATA_PUT "%s <<'%s'\n", d->name, end);
	(void)buf_adds(b, d->text);
	if (*d->text && !str_has_suffix(d->text, "\n"))
		(void)buf_addc(b, '\n');
	(void)buf_addf(b, "%s\n", end);
	return 0;
}

static int put_documents(struct arena *a, const struct userdata_req *req, struct buf *b,
			 struct err *e)
{
	for (size_t i = 0; i < req->n_documents; i++) {
		int r = put_document(a, &req->documents[i], b, e);

		if (r < 0)
			return r;
	}
	return 0;
}

struct placeholder {
	const char *name, *value;
};

/* Copies the template. @NAME@ becomes the placeholder's value, which is not searched for further placeholders. */
static void fill(const struct placeholder *v, size_t n, struct buf *b)
{
	const char *p = userdata_script_start;

	while (p < userdata_script_end) {
		size_t plain = strcspn(p, "@"), i;

		(void)buf_add(b, p, plain);
		p += plain;
		for (i = 0; i < n && !str_has_prefix(p, v[i].name); i++)
			;
		if (i < n) {
			(void)buf_adds(b, v[i].value);
			p += strlen(v[i].name);
		} else if (p < userdata_script_end) {
			(void)buf_addc(b, *p++);
		}
	}
}

int userdata_render(struct arena *a, const struct userdata_req *req, char **ret_text, struct err *e)
{
	autobuf struct buf env = BUF_INIT(SCRIPT_MAX), documents = BUF_INIT(SCRIPT_MAX);
	autobuf struct buf text = BUF_INIT(SCRIPT_MAX);
	struct source s;
	int r = parse_source(a, req->nodeup, &s, e);

	if (r >= 0)
		r = put_env(a, &req->env, &env, e);
	if (r >= 0)
		r = put_documents(a, req, &documents, e);
	if (r >= 0)
		r = buf_check(&env, "environment in the user data", e);
	if (r >= 0)
		r = buf_check(&documents, "documents in the user data", e);
	if (r < 0)
		return r;
	/* the values of @ENV@ and @DOCUMENTS@ bring their own line breaks */
	fill(
		(const struct placeholder[]){
			{ "@SUM@", s.hash->program },
			{ "@HASH@", s.digest },
			{ "@URLS@", userdata_quote(a, strv_join(a, &s.urls, " ")) },
			{ "@ENV@\n", buf_str(&env) },
			{ "@DOCUMENTS@\n", buf_str(&documents) },
		},
		5, &text);
	r = buf_check(&text, "user data", e);
	if (r < 0)
		return r;
	*ret_text = arena_str(a, buf_str(&text));
	return 0;
}

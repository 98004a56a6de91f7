#include "nodeup/aws/creds.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "nodeup/aws/s3.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/enc.h"
#include "nodeup/base/json.h"
#include "nodeup/base/print.h"

enum { EXPIRY_MARGIN_S = 5 * 60, REFRESH_PAUSE_S = 10, WHO_MAX = ERR_MSG_MAX + 64 };

static const char roles_path[] = "meta-data/iam/security-credentials/";

struct creds {
	struct imds *imds;
	bool aws_only;
	bool asked, refused;       /* asked: IMDS was asked; refused: its answer was of no use */
	char *id, *secret, *token; /* NULL: none */
	char *role;                /* NULL: the key is from the environment */
	char *instance;            /* NULL: not asked for yet */
	char who[WHO_MAX];         /* name of the environment's variable, or why there is no key */
	int64_t expires, clock_off;
	int64_t pause_ns; /* IMDS is not asked before this time: its credentials end soon too */
	unsigned int serial;
	struct sigv4_key key;
};

struct creds *creds_new(struct imds *imds)
{
	struct creds *c = xcalloc(1, sizeof(*c));

	c->imds = imds;
	return c;
}

struct creds *creds_new_aws(struct imds *imds)
{
	struct creds *c = creds_new(imds);

	c->aws_only = true;
	return c;
}

static void drop(char **text)
{
	if (*text)
		explicit_bzero(*text, strlen(*text));
	free(*text);
	*text = NULL;
}

static void drop_keys(struct creds *c)
{
	drop(&c->id);
	drop(&c->secret);
	drop(&c->token);
	drop(&c->role);
	c->expires = 0;
}

void creds_free(struct creds *c)
{
	if (!c)
		return;
	drop_keys(c);
	drop(&c->instance);
	free(c);
}

static int64_t now(const struct creds *c)
{
	return dur_wall() / DUR_SEC + c->clock_off;
}

void creds_set_clock(struct creds *c, int64_t server)
{
	c->clock_off = server - dur_wall() / DUR_SEC;
}

int64_t creds_clock_off(const struct creds *c)
{
	return c->clock_off;
}

static void keep(struct creds *c, const char *id, const char *secret, const char *token)
{
	drop_keys(c);
	c->id = xstrdup(id);
	c->secret = xstrdup(secret);
	c->token = str_is_empty(token) ? NULL : xstrdup(token);
	c->serial++;
}

/* Returns 1 if the environment has a key under these names, 0 if it has none. */
static int from_variables(struct creds *c, const char *id_name, const char *secret_name,
			  const char *token_name, struct err *e)
{
	const char *id = getenv(id_name), *secret = getenv(secret_name);
	const char *token = token_name ? getenv(token_name) : NULL;

	if (str_is_empty(id) && str_is_empty(secret))
		return 0;
	if (str_is_empty(id) || str_is_empty(secret))
		return err_config(e, "%s is set, %s is not",
				  str_is_empty(id) ? secret_name : id_name,
				  str_is_empty(id) ? id_name : secret_name);
	if (!str_is_word(id) || !str_is_word(secret) ||
	    (!str_is_empty(token) && !str_is_word(token)))
		return err_config(e, "%s: not what a key looks like", id_name);
	keep(c, id, secret, token);
	(void)print_to(c->who, sizeof(c->who), "the key of %s", id_name);
	return 1;
}

static bool is_foreign(const struct creds *c)
{
	return !c->aws_only && s3_is_foreign();
}

static int from_environment(struct creds *c, struct err *e)
{
	int r = 0;

	if (is_foreign(c))
		r = from_variables(c, "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY", NULL, e);
	if (r == 0)
		r = from_variables(c, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
				   "AWS_SESSION_TOKEN", e);
	return r;
}

/* Says nothing of the answer's text, which may hold a secret: a parser's message could quote it. */
static int no_credentials(const char *role, const char *why, struct err *e)
{
	return err_fail(e, ERR_NET, EAGAIN, "role %s has no credentials: %s", role, why);
}

static int take_keys(struct creds *c, struct arena *a, const char *role, const char *text,
		     struct err *e)
{
	const char *code, *id, *secret, *token, *expires;
	struct tm tm = { 0 };
	struct err ignored;
	struct tree *t;

	if (json_parse(a, role, text, strlen(text), &t, &ignored) < 0 || t->kind != TREE_MAP)
		return no_credentials(role, "the answer of IMDS is not a JSON object", e);
	code = tree_text(t, "Code");
	if (code && !str_eq(code, "Success"))
		return no_credentials(role, str_is_word(code) ? code : "the answer says not why",
				      e);
	id = tree_text(t, "AccessKeyId");
	secret = tree_text(t, "SecretAccessKey");
	token = tree_text(t, "Token");
	expires = tree_text(t, "Expiration");
	if (!str_is_word(id) || !str_is_word(secret) || !str_is_word(token))
		return no_credentials(role, "the answer lacks key, secret or token", e);
	if (!expires || !strptime(expires, "%Y-%m-%dT%H:%M:%S", &tm))
		return no_credentials(role, "the answer says not until when", e);
	keep(c, id, secret, token);
	c->role = xstrdup(role);
	c->expires = timegm(&tm);
	return 0;
}

bool creds_are_over(const struct creds *c)
{
	return c->role && now(c) >= c->expires;
}

static bool is_ending(const struct creds *c)
{
	return now(c) >= c->expires - EXPIRY_MARGIN_S;
}

/* Finds the role. *ret NULL: the list is empty or missing, so there is no role. Negative: the list cannot be had
 * now. */
static int find_role(struct creds *c, struct arena *a, const char **ret, struct err *e)
{
	const char *text = "";
	char *role;
	int r = imds_get(c->imds, a, roles_path, &text, e);

	*ret = NULL;
	if (r < 0 && r != -ENOENT) {
		(void)print_to(c->who, sizeof(c->who), "which role there is cannot be asked: %s",
			       e->msg);
		return r;
	}
	role = r < 0 ? NULL : arena_strn(a, text, strcspn(text, "\r\n"));
	if (str_is_word(role))
		*ret = role;
	else
		(void)print_to(c->who, sizeof(c->who), "the instance has no role");
	return 0;
}

static int from_role(struct creds *c, struct err *e)
{
	/* the answer holds the secret, so it does not go into the arena of the run */
	autoarena struct arena *a = arena_new_empty();
	bool usable = c->id && !c->refused && !creds_are_over(c);
	const char *role, *text;
	int r = find_role(c, a, &role, e);

	c->pause_ns = dur_now() + REFRESH_PAUSE_S * DUR_SEC;
	c->asked = true;
	c->refused = false;
	if (r < 0 && usable)
		return r; /* the old credentials are still valid */
	if (!role) {
		drop_keys(c);
		c->serial++;
		return 0;
	}
	r = imds_get(c->imds, a, arena_printf(a, "%s%s", roles_path, enc_url(a, role, false)),
		     &text, e);
	/* at boot the role's name appears earlier than its credentials */
	if (r == -ENOENT)
		r = no_credentials(role, "not there yet", e);
	if (r >= 0)
		r = take_keys(c, a, role, text, e);
	if (r >= 0 && !is_ending(c))
		c->pause_ns = 0;
	return r;
}

static bool is_due(const struct creds *c)
{
	if (!c->asked || c->refused)
		return true;
	return c->role && is_ending(c) && dur_now() >= c->pause_ns;
}

static int renew(struct creds *c, struct err *e)
{
	bool usable = c->id && !c->refused;
	struct err why = { 0 };
	int r;

	if (!is_due(c))
		return 0;
	r = from_environment(c, &why);
	if (r == 0 && c->imds && !is_foreign(c))
		r = from_role(c, &why);
	else if (r == 0)
		(void)print_to(c->who, sizeof(c->who), "no key in the environment");
	if (r < 0 && !usable) {
		*e = why;
		c->refused = true;
		return err_wrap(e, "credentials");
	}
	/* the old credentials are valid for some more minutes */
	c->asked = true;
	c->refused = false;
	return 0;
}

int creds_get(struct creds *c, struct creds_now *ret, struct err *e)
{
	int r = renew(c, e);

	if (r < 0)
		return r;
	c->key = (struct sigv4_key){ .id = c->id, .secret = c->secret, .token = c->token };
	*ret = (struct creds_now){ .key = c->id ? &c->key : NULL,
				   .serial = c->serial,
				   .time = now(c) };
	return 0;
}

bool creds_refused(struct creds *c, unsigned int serial)
{
	/* a key from the environment does not change */
	if ((c->id && !c->role) || !c->imds || is_foreign(c))
		return false;
	if (serial == c->serial)
		c->refused = true;
	return true;
}

const char *creds_who(struct creds *c, struct arena *a)
{
	const char *instance;
	struct err ignored;

	if (!c->role)
		return arena_str(a, c->who);
	if (!c->instance && imds_get(c->imds, a, "meta-data/instance-id", &instance, &ignored) >= 0)
		c->instance = xstrdup(instance);
	return arena_printf(a, "assumed-role/%s/%s (valid until %s)", c->role,
			    c->instance ? c->instance : "?", dur_utc(a, c->expires, "%H:%M UTC"));
}

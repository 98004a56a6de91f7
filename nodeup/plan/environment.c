#include "nodeup/plan/environment.h"

#include <string.h>
#include "nodeup/plan/questions.h"

const char plan_proxy_env_file[] = "/etc/sysconfig/kops-proxy";

const char *const plan_proxied_units[] = { "docker.service", "kubelet.service",
					   "kops-configuration.service", plan_containerd_unit,
					   NULL };

const char *const plan_kops_variables[] = {
	"AWS_REGION",           "S3_ENDPOINT",           "S3_REGION", "S3_ACCESS_KEY_ID",
	"S3_SECRET_ACCESS_KEY", "GOSSIP_DNS_CONN_LIMIT", NULL,
};

void plan_environment(const struct plan *p, const struct strmap *env, struct strmap *ret_open,
		      struct strmap *ret_secret)
{
	static const char *const credentials[] = {
		"S3_ACCESS_KEY_ID",      "S3_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID",
		"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",    NULL,
	};

	for (size_t i = 0; i < env->n; i++) {
		/* a URL with an '@' may hold a password */
		const bool secret = strchr(env->v[i].value, '@') ||
				    str_is_one_of(env->v[i].key, credentials);

		strmap_set(p->arena, secret ? ret_secret : ret_open, env->v[i].key,
			   env->v[i].value);
	}
}

static const char *assignment(struct arena *a, const char *key, const char *value)
{
	char *text = arena_alloc(a, strlen(key) + 2 * strlen(value) + sizeof("\"=\""));
	char *out = stpcpy(stpcpy(stpcpy(text, "\""), key), "=");

	for (; *value; value++) {
		if (strchr("\"\\", *value))
			*out++ = '\\';
		if (*value == '%')
			*out++ = '%';
		*out++ = *value;
	}
	*out = '"';
	return text;
}

const char *plan_assignments(struct arena *a, const struct strmap *env)
{
	struct strv words = { 0 };

	for (size_t i = 0; i < env->n; i++)
		strv_add(a, &words, assignment(a, env->v[i].key, env->v[i].value));
	return strv_join(a, &words, " ");
}

const char *plan_env_lines(struct arena *a, const struct strmap *env)
{
	struct strv lines = { 0 };

	for (size_t i = 0; i < env->n; i++)
		strv_add(a, &lines, unit_env_line(a, env->v[i].key, env->v[i].value));
	return strv_join(a, &lines, "");
}

struct strv plan_proxy_words(const struct plan *p)
{
	struct strmap variables = { 0 };
	struct strv words = { 0 };

	node_proxy_variables(p->arena, &p->req->node->proxy, &variables);
	for (size_t i = 0; i < variables.n; i++)
		strv_addf(p->arena, &words, "%s=%s", variables.v[i].key, variables.v[i].value);
	return words;
}

bool plan_is_proxied(const struct plan *p, const char *unit)
{
	if (!p->req->node->proxy.url)
		return false;
	/* docker runs a containerd too, but docker's containerd downloads nothing */
	if (strcmp(unit, plan_containerd_unit) == 0)
		return plan_uses_containerd(p);
	return str_is_one_of(unit, plan_proxied_units);
}

#include "nodeup/config/kubeup/kubeup.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include "nodeup/base/enc.h"
#include "nodeup/config/accepts_apiserver.h"
#include "nodeup/config/pem.h"
#include "nodeup/config/values.h"

enum { GUNZIPPED_MAX = 64 << 10 };

/* A document that is being checked. */
struct look {
	struct arena *arena;
	const struct dialect_opts *opts;
	const struct tree *tree;
	struct kubeup_env *env;
	struct err *err;
};

static const char *where(struct look *l, const char *key)
{
	return tree_place(l->arena, l->tree, key);
}

/* Returns whether Python writes a plain scalar unchanged: a text, or a number in its shortest form. */
static bool is_same_in_python(const char *plain)
{
	switch (tree_type_of(plain)) {
	case TREE_IS_STRING:
		return true;
	case TREE_IS_INT:
		return (*plain != '0' || !plain[1]) && strspn(plain, "0123456789") == strlen(plain);
	default:
		return false;
	}
}

/* Returns the row of one of kube-up's own keys; keys of nodeup begin with a small letter. */
static const struct field *row_of(const char *key)
{
	for (size_t i = 0; i < kubeup_env_schema.n; i++) {
		const struct field *f = &kubeup_env_schema.fields[i];

		if (isupper((unsigned char)*f->key) && strcasecmp(f->key, key) == 0)
			return f;
	}
	return NULL;
}

/* kube-up's script exports each key as a shell variable, with the value as Python writes it. */
static int check_item(struct look *l, const struct tree_item *it)
{
	const struct field *row = row_of(it->key);
	const struct tree *v = it->value;
	int r;

	if (!row)
		return 0;
	if (strcmp(row->key, it->key) != 0)
		return err_config(l->err,
				  "%s: '%s' is not '%s': kube-up's keys count in capitals alone",
				  tree_where(l->arena, &it->key_pos), it->key, row->key);
	if (v->kind != TREE_NULL &&
	    (v->kind != TREE_SCALAR || v->quoted || is_same_in_python(v->scalar)))
		return 0;
	r = err_config(l->err, "%s: %s: kube-up reads this as another text: it is not in quotes",
		       tree_where(l->arena, &v->pos), it->key);
	err_note(l->err, "do", "%s",
		 v->kind == TREE_NULL ? "write '' where no value is meant"
				      : "put the value in single quotes, as kube-up writes it");
	return r;
}

static int check_items(struct look *l)
{
	int r = 0;

	for (size_t i = 0; l->tree->kind == TREE_MAP && i < l->tree->n && r == 0; i++)
		r = errs_keep(l->opts->errors, check_item(l, &l->tree->items[i]), l->err);
	return r;
}

static int read_fields(struct look *l)
{
	struct field_unknowns unknown = { .arena = l->arena, .slips_apart = true };
	const struct field_opts opts = { .unknown = field_note_unknown,
					 .arg = &unknown,
					 .errors = l->opts->errors,
					 .refuses_slips = true };
	int r = field_parse(l->arena, &kubeup_env_schema, l->tree, l->env, &opts, l->err);

	/* a key is missing because it is misspelled, and the message about the missing key would mislead */
	for (size_t i = 0; i < unknown.slips.n; i++) {
		int slip = err_config(l->err, "%s", unknown.slips.v[i]);

		if (errs_keep(l->opts->errors, slip, l->err) < 0)
			return slip;
	}
	if (r < 0)
		return r;
	if (l->opts->strict)
		return dialect_refuse_unknown(l->opts, &unknown, l->err);
	dialect_warn_unknown(l->opts, &unknown);
	return 0;
}

static bool is_true(const char *value)
{
	return str_eq(value, "true");
}

/* Warns of keys that kube-up's script or templates never read, because they read another name; a run of kube-up
 * shows this. The last two keys are for pods of a master that work only in Google's cloud. */
static void warn_of_nothing(struct look *l)
{
	const struct kubeup_env *v = l->env;
	const bool has_glbc = v->is_master && str_eq(v->enable_l7_loadbalancing, "glbc");
	const bool has_scaler = v->is_master && is_true(v->enable_cluster_autoscaler);
	const struct {
		const char *key, *value;
		bool is_google;
	} unread[] = {
		{ "MASTER_ADVERTISE_ADDRESS", v->master_advertise_address },
		{ "ENABLE_APISERVER_BASIC_AUDIT", v->enable_apiserver_basic_audit },
		{ "ENABLE_GARBAGE_COLLECTOR", v->enable_garbage_collector },
		{ "SCHEDULING_ALGORITHM_PROVIDER", v->scheduling_algorithm_provider },
		{ "APISERVER_TEST_LOG_LEVEL", v->apiserver_test_log_level },
		{ "TEST_ETCD_VERSION", v->kubernetes.minor != 4 ? v->test_etcd_version : NULL },
		{ "ENABLE_L7_LOADBALANCING", has_glbc ? "glbc" : NULL, true },
		{ "ENABLE_CLUSTER_AUTOSCALER", has_scaler ? "true" : NULL, true },
	};

	for (size_t i = 0; i < ARRAY_LEN(unread); i++)
		if (!str_is_empty(unread[i].value))
			dialect_warn(l->arena, l->opts, "%s%s %s", where(l, unread[i].key),
				     unread[i].key,
				     unread[i].is_google ? "is left out: its pod works in Google's "
							   "cloud alone"
							 : "has no effect, as it had none with "
							   "kube-up");
}

const char *kubeup_pem(struct arena *a, const char *base64, bool is_zipped)
{
	struct err ignored;
	char *text;
	size_t n;

	if (!is_zipped)
		return enc_text(a, base64);
	if (enc_unbase64(a, base64, &text, &n, &ignored) < 0 ||
	    enc_gunzip(a, text, n, GUNZIPPED_MAX, &text, &ignored) < 0)
		return NULL;
	return text;
}

/* The message never shows the value. */
static int decode(struct look *l, const char *key, const char *value, bool is_zipped,
		  const char **ret)
{
	*ret = kubeup_pem(l->arena, value, is_zipped);
	return *ret ? 0
		    : err_config(l->err, "%s%s: expected base64 of %s", where(l, key), key,
				 is_zipped ? "gzip of PEM" : "PEM");
}

/* Checks a certificate and, unless key_of is NULL, its key. Certificate and key may be missing together. */
static int check_pair(struct look *l, const char *cert_of, const char *cert, bool is_zipped,
		      const char *key_of, const char *key)
{
	const char *pem, *key_pem;
	int r;

	if (str_is_empty(cert) && str_is_empty(key))
		return 0;
	/* a value that could not be read may only seem to be missing */
	if ((str_is_empty(cert) || (key_of && str_is_empty(key))) && l->opts->errors &&
	    errs_count(l->opts->errors))
		return 0;
	if (str_is_empty(cert) || (key_of && str_is_empty(key)))
		return err_config(l->err, "%s%s is set and %s is not",
				  where(l, str_is_empty(cert) ? key_of : cert_of),
				  str_is_empty(cert) ? key_of : cert_of,
				  str_is_empty(cert) ? cert_of : key_of);
	r = decode(l, cert_of, cert, is_zipped, &pem);
	if (r < 0)
		return r;
	if (!key_of && pem_check_certificate(pem, l->err) < 0)
		return err_wrap(l->err, "%s%s", where(l, cert_of), cert_of);
	if (!key_of)
		return 0;
	r = decode(l, key_of, key, false, &key_pem);
	if (r < 0 || pem_check_key(key_pem, pem, l->err) == 0)
		return r;
	if (l->err->errnum == PEM_CERTIFICATE)
		key_of = cert_of;
	return err_wrap(l->err, "%s%s", where(l, key_of), key_of);
}

static int check_pairs(struct look *l)
{
	const struct kubeup_env *v = l->env;
	/* if all three are given, the script writes a file of each, although etcd's TLS takes ETCD_CA_KEY too */
	const bool has_etcd = v->is_master && !str_is_empty(v->etcd_ca_cert) &&
			      !str_is_empty(v->etcd_peer_key) && !str_is_empty(v->etcd_peer_cert);
	const char *etcd_key_of = str_is_empty(v->etcd_ca_key) ? NULL : "ETCD_CA_KEY";
	const struct {
		bool is_read;
		const char *cert_of, *cert;
		bool is_zipped;
		const char *key_of, *key;
	} all[] = {
		{ true, "CA_CERT", v->ca_cert, false, NULL, NULL },
		{ true, "KUBELET_CERT", v->kubelet_cert, false, "KUBELET_KEY", v->kubelet_key },
		{ v->is_master, "MASTER_CERT", v->master_cert, false, "MASTER_KEY", v->master_key },
		{ v->is_master, "KUBECFG_CERT", v->kubecfg_cert, false, "KUBECFG_KEY",
		  v->kubecfg_key },
		{ has_etcd, "ETCD_CA_CERT", v->etcd_ca_cert, true, etcd_key_of, v->etcd_ca_key },
		{ has_etcd, "ETCD_PEER_CERT", v->etcd_peer_cert, true, "ETCD_PEER_KEY",
		  v->etcd_peer_key },
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(all) && r == 0; i++)
		if (all[i].is_read)
			r = check_pair(l, all[i].cert_of, all[i].cert, all[i].is_zipped,
				       all[i].key_of, all[i].key);
	return r;
}

/* source: cluster/gce/configure-vm.sh: etcd_over_ssl takes all four */
static void warn_of_etcd(struct look *l)
{
	const struct kubeup_env *v = l->env;
	const char *const all[] = { v->etcd_ca_key, v->etcd_ca_cert, v->etcd_peer_key,
				    v->etcd_peer_cert };
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		n += !str_is_empty(all[i]);
	if (n > 0 && n < ARRAY_LEN(all))
		dialect_warn(l->arena, l->opts,
			     "%s: etcd has no TLS: that takes ETCD_CA_KEY, ETCD_CA_CERT, "
			     "ETCD_PEER_KEY and ETCD_PEER_CERT",
			     tree_where(l->arena, &l->tree->pos));
}

static int check_network(struct look *l)
{
	const struct kubeup_env *v = l->env;

	if (str_eq(v->network_provider, "opencontrail") || str_eq(v->network_provider, "flannel"))
		return err_config(l->err,
				  "%sNETWORK_PROVIDER: nodeup does not know how kube-up makes a "
				  "node of '%s'; it knows none, kubenet and cni",
				  where(l, "NETWORK_PROVIDER"), v->network_provider);
	if (str_eq(v->network_policy_provider, "calico") && v->is_master)
		dialect_warn(l->arena, l->opts,
			     "%sNETWORK_POLICY_PROVIDER: calico is left out on a master: "
			     "the salt tarball lacks its manifest, and kube-up's own run ends "
			     "there",
			     where(l, "NETWORK_POLICY_PROVIDER"));
	return 0;
}

/* The DNS server's address and the domain go into kubelet's flags and into the DNS addon. */
static int check_addons(struct look *l)
{
	const struct kubeup_env *v = l->env;
	const char *lacks = str_is_empty(v->dns_server_ip) ? "DNS_SERVER_IP"
			    : str_is_empty(v->dns_domain)  ? "DNS_DOMAIN"
							   : NULL;

	if (is_true(v->enable_cluster_dns) && lacks)
		return err_config(l->err, "%s%s is empty, and ENABLE_CLUSTER_DNS is true",
				  where(l, lacks), lacks);
	lacks = str_is_empty(v->cluster_registry_disk)        ? "CLUSTER_REGISTRY_DISK"
		: str_is_empty(v->cluster_registry_disk_size) ? "CLUSTER_REGISTRY_DISK_SIZE"
							      : NULL;
	if (is_true(v->enable_cluster_registry) && v->is_master && lacks)
		return err_config(l->err, "%s%s is empty, and ENABLE_CLUSTER_REGISTRY is true",
				  where(l, lacks), lacks);
	return 0;
}

static int check_manifest_url(struct look *l)
{
	const struct kubeup_env *v = l->env;

	if (is_true(v->enable_manifest_url) && str_is_empty(v->manifest_url))
		return err_config(l->err,
				  "%sMANIFEST_URL is empty, and ENABLE_MANIFEST_URL is true",
				  where(l, "MANIFEST_URL"));
	return 0;
}

static int check_version(struct look *l)
{
	return kubeup_version(l->arena, l->tree, &l->env->kubernetes, l->err);
}

static int check_all(struct look *l)
{
	return kubeup_has_all(l->arena, l->env, l->err);
}

/* Only masters use the range, and only nodes use the mirror. source: docker opts.ValidateMirror for the mirror's
 * form */
#define OF_MASTER(form)                                                           \
	{                                                                         \
		.keys = "SERVICE_CLUSTER_IP_RANGE",                               \
		.when = "KUBERNETES_MASTER=true&!SERVICE_CLUSTER_IP_RANGE~" form, \
		.text = "expected a range of 8 to 2^20 addresses"                 \
	}
#define MIRROR "DOCKER_REGISTRY_MIRROR_URL"
static const struct field_rule of_roles[] = {
	OF_MASTER(RANGES_OF_EIGHT),
	OF_MASTER(RANGES_SMALL),
	{ .keys = MIRROR,
	  .when = "!KUBERNETES_MASTER=true&!" MIRROR "~(?i)^https?://[^/?#@[:space:]]+$",
	  .text = "expected a URL such as https://mirror.example.com, without a path" },
};
const struct field_rules kubeup_rules = { of_roles, ARRAY_LEN(of_roles), "document" };

/* Checks the values that programs of that version refuse. */
static int check_values(struct look *l)
{
	struct values v = { .arena = l->arena,
			    .opts = l->opts,
			    .minor = l->env->kubernetes.minor,
			    .accept = l->env->settings.accept };

	const struct rule_section all = { .map = l->tree };

	values_find(&v, &kubeup_env_schema, l->tree);
	values_find_across(&v, &kubeup_rules, &all, 1);
	return values_judge(&v, l->err);
}

/* One of the checks of a document. of_missing: the check reports missing keys, but such a key may only be
 * unreadable. */
static const struct {
	int (*check)(struct look *);
	bool of_missing;
} checks[] = {
	{ check_network, false }, { check_version, false }, { check_values, false },
	{ check_all, true },      { check_addons, true },   { check_manifest_url, true },
	{ check_pairs, false },
};

/* Returns whether a node can be made in spite of the errors that were kept. */
static bool can_go_on(struct look *l)
{
	return !errs_any_vital(l->opts->errors) && l->env->kubernetes.major &&
	       kubeup_go_without(l->env);
}

int kubeup_env(struct arena *a, const struct tree *t, const struct dialect_opts *o,
	       struct kubeup_env *ret, struct err *e)
{
	struct kubeup_env env = { .tree = t };
	struct look l = { a, o, t, &env, e };
	int r = check_items(&l);

	if (r == 0)
		r = read_fields(&l);
	env.is_master = is_true(env.kubernetes_master);
	for (size_t i = 0; i < ARRAY_LEN(checks) && r == 0; i++)
		if (!checks[i].of_missing || !errs_any(o->errors))
			r = errs_keep_apart(o->errors, checks[i].check(&l), e);
	if (r == 0 && o->errors && o->errors->n && !can_go_on(&l)) {
		*e = o->errors->v[0];
		r = err_code(e);
	}
	if (r < 0)
		return r;
	warn_of_nothing(&l);
	warn_of_etcd(&l);
	field_fill(&kubeup_env_schema, &env);
	*ret = env;
	return 0;
}

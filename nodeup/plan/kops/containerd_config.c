#include "nodeup/plan/kops/containerd.h"

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/config/kops/changes.h"
#include "nodeup/plan/kops/toml.h"

#define NRI "plugins|io.containerd.nri.v1.nri|"

const char kops_containerd_shared[] = "/etc/containerd/conf.d";
const char kops_containerd_ending[] = ".toml";

static const char certs_dir[] = "/etc/containerd/certs.d";

bool kops_has_nvidia(const struct plan *p)
{
	return kops_wants_gpus(kops_of(p)->config) && p->req->facts->gpus.v > 0;
}

bool kops_has_gvisor(const struct plan *p)
{
	return kops_of(p)->config->gvisor.enabled.v && !kops_of(p)->boot->role->serves_api;
}

/* Sets the value at a place; '|' separates the keys in the place. */
static void set(struct plan *p, struct tree *doc, const char *place, struct tree *value)
{
	const struct strv path = strv_split(p->arena, place, '|');

	toml_set(p->arena, doc, &path, value);
}

static void set_plain(struct plan *p, struct tree *doc, const char *place, const char *value)
{
	set(p, doc, place, tree_plain(p->arena, value));
}

/* Sets a text, or nothing for NULL. */
static void set_text(struct plan *p, struct tree *doc, const char *place, const char *text)
{
	if (text)
		set(p, doc, place, tree_string(p->arena, text));
}

/* Gives the places of settings in one version of the configuration. */
struct layout {
	int major, minor;    /* the first version of containerd that reads this configuration */
	enum kops_change by; /* the change of kops that writes it */
	const char *version; /* version of the configuration */
	const char *runtime, *images, *sandbox;
};

/* kops 1.36 writes a root file of version 3. containerd 2.3 refuses this root file if it imports files of version 4.
 * The last row is for older releases of containerd, and for everything that kops wrote up to 1.35: containerd 2
 * reads it as well. source: kops 1.37 nodeup/pkg/model/containerd.go; the last row: kops 1.36 */
static const struct layout layouts[] = {
	{ 2, 3, KOPS_CONFIG_TOML_3, "4", "io.containerd.cri.v1.runtime",
	  "io.containerd.cri.v1.images", "pinned_images|sandbox" },
	{ 2, 0, KOPS_CONFIG_TOML_3, "3", "io.containerd.cri.v1.runtime",
	  "io.containerd.cri.v1.images", "pinned_images|sandbox" },
	{ 0, 0, KOPS_CHANGE_COUNT, "2", "io.containerd.grpc.v1.cri", "io.containerd.grpc.v1.cri",
	  "sandbox_image" },
};

/* Returns whether containerd is of that release or a later one. A pre-release of that release does not count. */
static bool is_at_least(const struct version *v, const struct layout *l)
{
	const bool is_to_come = v->patch == 0 && v->suffix && *v->suffix == '-';

	return v->major > l->major ||
	       (v->major == l->major &&
		(v->minor > l->minor || (v->minor == l->minor && !is_to_come)));
}

static const struct layout *layout_of(struct plan *p, const struct kops_containerd *c)
{
	/* a host's own containerd never has the newest layout */
	const struct layout *l = layouts + plan_distro(p)->has_containerd;
	const char *own = plan_distro(p)->has_containerd ? p->req->runtime.version : NULL;
	struct version v;

	if (!(own && version_parse(p->arena, own, &v)) &&
	    !version_parse(p->arena, c->version ? c->version : "", &v)) {
		if (c->version)
			plan_refuse(p, "containerdConfig.version: '%s' is not a version",
				    c->version);
		else
			plan_lacks(p, "containerdConfig.version: '' is not a version");
		return l;
	}
	while (l->major && !(is_at_least(&v, l) && kops_has(p, l->by)))
		l++;
	return l;
}

/* Returns the place "plugins|PLUGIN|place". */
static const char *in(struct plan *p, const char *plugin, const char *place)
{
	return arena_printf(p->arena, "plugins|%s|%s", plugin, place);
}

static void set_duration(struct plan *p, struct tree *doc, const char *place,
			 const struct opt_dur *d)
{
	if (d->set)
		set_text(p, doc, place, dur_render(p->arena, d->ns));
}

static void add_nri(struct plan *p, struct tree *doc, const struct kops_containerd *c)
{
	if (!c->has_nri || (c->nri_enabled.set && !c->nri_enabled.v))
		return;
	set_plain(p, doc, NRI "disable", "false");
	set_duration(p, doc, NRI "plugin_request_timeout", &c->nri_request_timeout);
	set_duration(p, doc, NRI "plugin_registration_timeout", &c->nri_registration_timeout);
}

static bool has_default_runtime(const struct plan *p)
{
	return kops_has_nvidia(p) || kops_has(p, KOPS_DEFAULT_RUNTIME);
}

static bool has_nvidia_of_old(const struct plan *p)
{
	return kops_has_nvidia(p) && !kops_has(p, KOPS_NVIDIA_RUNC_V2);
}

/* Lists settings of the runtimes that start containers, each with a text or a plain value. The last row of a key
 * counts. */
static const struct {
	bool (*is_there)(const struct plan *p); /* NULL: on every node */
	const char *key, *text, *plain;
} runtimes[] = {
	{ has_default_runtime, "default_runtime_name", "runc" },
	{ NULL, "runtimes|runc|runtime_type", "io.containerd.runc.v2" },
	{ NULL, "runtimes|runc|options|SystemdCgroup", .plain = "true" },
	{ kops_has_nvidia, "runtimes|nvidia|privileged_without_host_devices", .plain = "false" },
	{ kops_has_nvidia, "runtimes|nvidia|runtime_engine", "" },
	{ kops_has_nvidia, "runtimes|nvidia|runtime_root", "" },
	{ kops_has_nvidia, "runtimes|nvidia|runtime_type", "io.containerd.runc.v2" },
	{ has_nvidia_of_old, "runtimes|nvidia|runtime_type", "io.containerd.runc.v1" },
	{ kops_has_nvidia, "runtimes|nvidia|options|BinaryName",
	  "/usr/bin/nvidia-container-runtime" },
	{ kops_has_nvidia, "runtimes|nvidia|options|SystemdCgroup", .plain = "true" },
	{ kops_has_gvisor, "runtimes|runsc|runtime_type", "io.containerd.runsc.v1" },
};

static void add_runtimes(struct plan *p, struct tree *doc, const struct layout *l)
{
	for (size_t i = 0; i < ARRAY_LEN(runtimes); i++) {
		const char *key = arena_printf(p->arena, "containerd|%s", runtimes[i].key);

		if (runtimes[i].is_there && !runtimes[i].is_there(p))
			continue;
		if (runtimes[i].plain)
			set_plain(p, doc, in(p, l->runtime, key), runtimes[i].plain);
		else
			set_text(p, doc, in(p, l->runtime, key), runtimes[i].text);
	}
}

/* Takes one key of a path, which ends at '.' or at the end. NULL: its quotes do not match. source: Go's encoding/csv
 * with '.' as the separator */
static const char *take_key(struct arena *a, const char **at)
{
	const char *from = *at;
	char *key, *to;

	if (*from != '"') {
		const size_t n = strcspn(from, ".\"");

		*at = from + n;
		return from[n] == '"' ? NULL : arena_strn(a, from, n);
	}
	to = key = arena_str(a, from);
	for (from++; *from && (*from != '"' || from[1] == '"'); from++) {
		from += *from == '"';
		*to++ = *from;
	}
	*to = '\0';
	*at = from + (*from == '"');
	return *from == '"' && strchr(".", **at) ? key : NULL;
}

/* Returns the keys of `plugins."io.containerd.grpc.v1.cri".sandbox_image`; empty: it is not such a path. */
static struct strv path_of(struct arena *a, const char *text)
{
	const struct strv none = { 0 };
	struct strv path = { 0 };

	if (!*text || strpbrk(text, "\r\n"))
		return none;
	for (;; text++) {
		const char *key = take_key(a, &text);

		if (!key)
			return none;
		strv_add(a, &path, key);
		if (!*text)
			return path;
	}
}

/* Returns the value as containerd gets it; NULL: containerd does not take the value. */
static struct tree *value_of(struct arena *a, const struct tree *value)
{
	const char *text = value->scalar;
	const bool is_scalar = value->kind == TREE_SCALAR;

	if (is_scalar && (str_eq(text, "true") || str_eq(text, "false")))
		return tree_plain(a, text);
	if (is_scalar && (value->quoted || tree_type_of(text) == TREE_IS_STRING))
		return tree_string(a, text);
	if (!is_scalar || tree_type_of(text) != TREE_IS_INT)
		return NULL;
	return tree_plain(a, text);
}

static void add_own(struct plan *p, struct tree *doc, const struct tree *additions)
{
	struct strv keys = { 0 };

	for (size_t i = 0; additions && i < additions->n; i++)
		strv_add(p->arena, &keys, additions->items[i].key);
	strv_sort(&keys);
	for (size_t i = 0; i < keys.n; i++) {
		const struct tree *given = tree_get(additions, keys.v[i]);
		const struct strv path = path_of(p->arena, keys.v[i]);
		struct tree *value = value_of(p->arena, given);

		if (path.n && value)
			toml_set(p->arena, doc, &path, value);
		else
			plan_refuse(p, "%s: containerdConfig.configAdditions: %s%s",
				    tree_where(p->arena, &given->pos), keys.v[i],
				    path.n ? ": expected a text, an integer, true or false"
					   : " is not a path of keys");
	}
}

static const char *sandbox_image(const struct kops_config *c)
{
	const char *of_kubelet = c->kubelet.pod_infra_container_image;

	if (!kops_does(c, KOPS_SANDBOX_OF_KUBELET))
		return c->containerd.sandbox_image;
	return str_is_empty(of_kubelet) ? NULL : of_kubelet;
}

/* Returns whether the item is the name of a registry with a list of URLs. */
static bool check_mirror(struct plan *p, const struct tree_item *at)
{
	const bool is_list = at->value->kind == TREE_SEQ && *at->key && !strchr(at->key, '/') &&
			     *at->key != '.';

	if (!is_list)
		plan_refuse(p,
			    "%s: registryMirrors: '%s': expected a registry's name and a list of "
			    "URLs",
			    tree_where(p->arena, &at->key_pos), at->key);
	for (size_t i = 0; is_list && i < at->value->n; i++)
		if (at->value->items[i].value->kind != TREE_SCALAR)
			plan_refuse(p, "%s: registryMirrors: expected a URL",
				    tree_where(p->arena, &at->value->items[i].value->pos));
	return is_list;
}

/* Adds mirrors to config.toml, as kops up to 1.35 does. */
static void add_mirrors(struct plan *p, struct tree *doc, const struct tree *mirrors)
{
	for (size_t i = 0; mirrors && i < mirrors->n; i++) {
		const struct tree_item *at = &mirrors->items[i];
		const char *const path[] = { "plugins",  "io.containerd.grpc.v1.cri",
					     "registry", "mirrors",
					     at->key,    "endpoint" };
		struct strv keys = { 0 }, urls = { 0 };

		if (!check_mirror(p, at))
			return;
		for (size_t k = 0; k < at->value->n; k++)
			strv_add(p->arena, &urls,
				 toml_string(p->arena, at->value->items[k].value->scalar));
		strv_add_array(p->arena, &keys, path);
		toml_set(p->arena, doc, &keys,
			 tree_plain(p->arena, arena_printf(p->arena, "[%s]",
							   strv_join(p->arena, &urls, ", "))));
	}
}

/* Lets config.toml read the files of another folder, so that an agent can add a runtime without writing to
 * config.toml itself. */
static const char *with_imports(struct plan *p, struct tree *doc)
{
	if (!tree_get(doc, "imports"))
		set_plain(p, doc, "imports",
			  arena_printf(p->arena, "[\"%s/*%s\"]", kops_containerd_shared,
				       kops_containerd_ending));
	return toml_text(p->arena, doc);
}

const char *kops_containerd_config(struct plan *p, const char **ret_before)
{
	const struct kops_config *config = kops_of(p)->config;
	const struct kops_containerd *c = &config->containerd;
	struct tree *doc = tree_map(p->arena);
	const struct layout *l;

	*ret_before = NULL;
	if (c->config_override)
		return c->config_override;
	l = layout_of(p, c);
	set_plain(p, doc, "version", l->version);
	add_nri(p, doc, c);
	if (c->selinux_enabled)
		set_plain(p, doc, in(p, l->runtime, "enable_selinux"), "true");
	set_text(p, doc, in(p, l->images, l->sandbox), sandbox_image(config));
	if (!kops_does(config, KOPS_MIRROR_FOLDERS))
		add_mirrors(p, doc, c->registry_mirrors);
	if (kops_registry_dir(p))
		set_text(p, doc, in(p, l->images, "registry|config_path"), certs_dir);
	add_runtimes(p, doc, l);
	if (config->uses_kubenet)
		set_text(p, doc, in(p, l->runtime, "cni|conf_template"),
			 "/etc/containerd/config-cni.template");
	add_own(p, doc, c->config_additions);
	*ret_before = toml_text(p->arena, doc);
	return with_imports(p, doc);
}

/* Returns the text of a hosts.toml. containerd asks the mirrors in the given order. */
static const char *hosts_text(struct plan *p, const struct tree *mirrors)
{
	struct strv blocks = { 0 };

	for (size_t i = 0; i < mirrors->n; i++)
		strv_addf(p->arena, &blocks,
			  "[host.%s]\n"
			  "  capabilities = [\"pull\", \"resolve\"]\n\n",
			  toml_string(p->arena, mirrors->items[i].value->scalar));
	return strv_join(p->arena, &blocks, "");
}

const char *kops_registry_dir(const struct plan *p)
{
	const struct kops_containerd *c = &kops_of(p)->config->containerd;

	return !c->config_override && c->registry_mirrors && c->registry_mirrors->n &&
			       kops_has(p, KOPS_MIRROR_FOLDERS)
		       ? certs_dir
		       : NULL;
}

void kops_registry_hosts(struct plan *p)
{
	const struct kops_containerd *c = &kops_of(p)->config->containerd;

	for (size_t i = 0; kops_registry_dir(p) && i < c->registry_mirrors->n; i++) {
		const struct tree_item *at = &c->registry_mirrors->items[i];
		const char *name = strcmp(at->key, "*") == 0 ? "_default" : at->key;

		if (!check_mirror(p, at))
			return;
		/* a URL may hold a password */
		plan_secret(p, arena_printf(p->arena, "%s/%s/hosts.toml", certs_dir, name), 0644,
			    hosts_text(p, at->value));
	}
}

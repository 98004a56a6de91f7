#include "manifests/manifest.h"

#include <string.h>
#include "nodeup/base/yaml.h"

enum { MANIFEST_MAX = 256 << 10, NAME_MAX_LEN = 63 };

const struct pod_volume *pod_volume(const struct pod *p, const char *name)
{
	for (size_t i = 0; i < p->n_volumes; i++)
		if (strcmp(p->volumes[i].name, name) == 0)
			return &p->volumes[i];
	return NULL;
}

void pod_host_path(struct arena *a, struct pod *p, const char *name, const char *host_path,
		   const char *at, bool read_only)
{
	struct pod_container *c = &p->container;
	const struct strv parts = strv_split(a, host_path, '/');
	const struct pod_mount mount = { name ? name : strv_join(a, &parts, ""),
					 at ? at : host_path, read_only };

	for (size_t i = 0; i < c->n_mounts; i++) {
		const struct pod_volume *v = pod_volume(p, c->mounts[i].name);

		if (!v || !str_eq(c->mounts[i].path, mount.path) ||
		    !str_eq(v->host_path, host_path))
			continue;
		c->mounts[i].read_only = c->mounts[i].read_only && read_only;
		return;
	}
	arena_push(a, p->volumes, p->n_volumes, (struct pod_volume){ mount.name, host_path, NULL });
	arena_push(a, c->mounts, c->n_mounts, mount);
}

/* Quotes one word of a shell's line. A word that kops writes without quotes stays without quotes; an empty value
 * becomes "". */
static const char *shell_word(struct arena *a, const char *word)
{
	static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "-_=.,/:@%+#";
	char *quoted, *out;

	if (*word != '#' && word[strspn(word, bare)] == '\0')
		return str_has_suffix(word, "=") ? arena_printf(a, "%s\"\"", word) : word;
	quoted = out = arena_alloc(a, 4 * strlen(word) + sizeof("''"));
	*out++ = '\'';
	for (; *word; word++) {
		if (*word == '\'')
			out = stpcpy(out, "'\\'");
		*out++ = *word;
	}
	*out = '\'';
	return quoted;
}

void pod_shell_command(struct arena *a, struct pod *p, const char *bin, const struct strv *flags,
		       const char *tee, const char *log)
{
	struct strv words = { 0 }, *command = &p->container.command;

	strv_add(a, &words, bin);
	for (size_t i = 0; i < flags->n; i++)
		strv_add(a, &words, shell_word(a, flags->v[i]));
	strv_add(a, command, "/bin/sh");
	strv_add(a, command, "-c");
	strv_addf(a, command, "%s 2>&1 | %s -a %s", strv_join(a, &words, " "), tee, log);
}

/* RFC 1123: the form of a container's or volume's name in Kubernetes. */
static bool is_label(const char *s)
{
	size_t n = s ? strlen(s) : 0;

	return n && n <= NAME_MAX_LEN && *s != '-' && s[n - 1] != '-' &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
}

static int check_volumes(const struct pod *p, struct err *e)
{
	for (size_t i = 0; i < p->n_volumes; i++) {
		const struct pod_volume *v = &p->volumes[i];

		if (!is_label(v->name))
			return err_config(e, "pod %s: '%s' is not the name of a volume", p->name,
					  v->name);
		if (pod_volume(p, v->name) != v)
			return err_config(e, "pod %s: two volumes are named '%s'", p->name,
					  v->name);
		if (str_is_empty(v->host_path) || *v->host_path != '/')
			return err_config(e, "pod %s: volume %s: '%s' is not an absolute path",
					  p->name, v->name, v->host_path ? v->host_path : "");
	}
	return 0;
}

/* Returns the list with this key in the sidecar's spec; NULL: the spec has no such list. */
static const struct tree *sidecar_list(const struct pod *p, const char *key)
{
	return tree_get(tree_get(p->sidecar, "spec"), key);
}

/* Checks the sidecar: kubelet would refuse the pod if two volumes had one name. */
static int check_sidecar(struct arena *a, const struct pod *p, struct err *e)
{
	const struct tree *list = sidecar_list(p, "volumes");

	for (size_t i = 0; list && i < list->n; i++) {
		const struct tree *volume = list->items[i].value;
		const char *name = tree_text(volume, "name");

		if (name && pod_volume(p, name))
			return err_config(e, "%s: pod %s has a volume '%s' of its own",
					  tree_where(a, &volume->pos), p->name, name);
	}
	return 0;
}

static int check_pod(struct arena *a, const struct pod *p, struct err *e)
{
	const char *name = p->name ? p->name : "";
	int r;

	if (!is_label(name) || !is_label(p->container.name))
		return err_config(e, "pod '%s': it or its container has no valid name", name);
	if (str_is_empty(p->container.image))
		return err_config(e, "pod %s: no image", name);
	r = check_volumes(p, e);
	return r < 0 ? r : check_sidecar(a, p, e);
}

static struct tree *string_map(struct arena *a, const struct strmap *m)
{
	struct strmap sorted = { 0 };

	for (size_t i = 0; i < m->n; i++)
		strmap_set(a, &sorted, m->v[i].key, m->v[i].value);
	strmap_sort(&sorted);
	return tree_of_strmap(a, &sorted);
}

static struct tree *metadata_tree(struct arena *a, const struct pod *p)
{
	struct tree *t = tree_map(a);

	tree_set_some(a, t, "annotations", string_map(a, &p->annotations));
	if (p->is_stamped)
		(void)tree_set(a, t, "creationTimestamp", tree_null(a));
	tree_set_some(a, t, "labels", string_map(a, &p->labels));
	tree_set_text(a, t, "name", p->name);
	tree_set_text(a, t, "namespace", p->namespace_);
	return t;
}

static void set_positive(struct arena *a, struct tree *map, const char *key, int64_t n)
{
	if (n > 0)
		tree_set_int(a, map, key, n);
}

static struct tree *probe_tree(struct arena *a, const struct pod_probe *probe)
{
	struct tree *get = tree_map(a), *t = tree_map(a);

	tree_set_text(a, get, "host", probe->host);
	tree_set_text(a, get, "path", probe->path);
	tree_set_int(a, get, "port", probe->port);
	tree_set_text(a, get, "scheme", probe->scheme);
	set_positive(a, t, "failureThreshold", probe->failures);
	(void)tree_set(a, t, probe->path ? "httpGet" : "tcpSocket", get);
	set_positive(a, t, "initialDelaySeconds", probe->initial_delay);
	set_positive(a, t, "periodSeconds", probe->period);
	set_positive(a, t, "timeoutSeconds", probe->timeout);
	return t;
}

static void set_probe(struct arena *a, struct tree *map, const char *key,
		      const struct pod_probe *probe)
{
	if (probe->port)
		(void)tree_set(a, map, key, probe_tree(a, probe));
}

static struct tree *ports_tree(struct arena *a, const struct pod_container *c)
{
	struct tree *list = tree_seq(a);

	for (size_t i = 0; i < c->n_ports; i++) {
		struct tree *t = tree_map(a);

		tree_set_int(a, t, "containerPort", c->ports[i].port);
		tree_set_int(a, t, "hostPort", c->ports[i].port);
		tree_set_text(a, t, "name", c->ports[i].name);
		(void)tree_add(a, list, t);
	}
	return list;
}

/* Casts away const: the tree is complete, and is only written out from here on. */
static struct tree *as_it_stands(struct arena *a, const struct tree *read)
{
	struct tree *t = arena_new(a, struct tree);

	*t = *read;
	return t;
}

static struct tree *env_tree(struct arena *a, const struct pod_container *c)
{
	struct tree *list = tree_seq(a);

	for (size_t i = 0; i < c->n_env; i++) {
		struct tree *t = tree_map(a);

		tree_set_text(a, t, "name", c->env[i].name);
		tree_set_text(a, t, "value", c->env[i].value);
		(void)tree_add(a, list, c->env[i].whole ? as_it_stands(a, c->env[i].whole) : t);
	}
	return list;
}

static struct tree *mounts_tree(struct arena *a, const struct pod_container *c)
{
	struct tree *list = tree_seq(a);

	for (size_t i = 0; i < c->n_mounts; i++) {
		struct tree *t = tree_map(a);

		tree_set_text(a, t, "mountPath", c->mounts[i].path);
		tree_set_text(a, t, "name", c->mounts[i].name);
		tree_set_true(a, t, "readOnly", c->mounts[i].read_only);
		(void)tree_add(a, list, t);
	}
	return list;
}

static struct tree *resources_tree(struct arena *a, const struct pod_container *c)
{
	struct tree *requests = tree_map(a), *limits = tree_map(a), *t = tree_map(a);

	tree_set_text(a, limits, "cpu", c->cpu_limit);
	tree_set_text(a, limits, "memory", c->memory_limit);
	tree_set_some(a, t, "limits", limits);
	tree_set_text(a, requests, "cpu", c->cpu_request);
	tree_set_text(a, requests, "memory", c->memory_request);
	tree_set_some(a, t, "requests", requests);
	return t;
}

static struct tree *container_tree(struct arena *a, const struct pod_container *c)
{
	struct tree *t = tree_map(a), *security = tree_map(a);

	tree_set_some(a, t, "args", tree_of_strv(a, &c->args));
	tree_set_some(a, t, "command", tree_of_strv(a, &c->command));
	tree_set_some(a, t, "env", env_tree(a, c));
	tree_set_text(a, t, "image", c->image);
	set_probe(a, t, "livenessProbe", &c->liveness);
	tree_set_text(a, t, "name", c->name);
	tree_set_some(a, t, "ports", ports_tree(a, c));
	set_probe(a, t, "readinessProbe", &c->readiness);
	(void)tree_set(a, t, "resources", resources_tree(a, c));
	tree_set_true(a, security, "privileged", c->privileged);
	tree_set_some(a, t, "securityContext", security);
	set_probe(a, t, "startupProbe", &c->startup);
	tree_set_some(a, t, "volumeMounts", mounts_tree(a, c));
	return t;
}

static struct tree *volumes_tree(struct arena *a, const struct pod *p)
{
	struct tree *list = tree_seq(a);

	for (size_t i = 0; i < p->n_volumes; i++) {
		struct tree *path = tree_map(a), *t = tree_map(a);

		tree_set_text(a, path, "path", p->volumes[i].host_path);
		tree_set_text(a, path, "type", p->volumes[i].type);
		(void)tree_set(a, t, "hostPath", path);
		tree_set_text(a, t, "name", p->volumes[i].name);
		(void)tree_add(a, list, t);
	}
	return list;
}

/* Makes a SELinux context in which processes may use the host's files. */
static struct tree *selinux_options(struct arena *a, const char *type)
{
	struct tree *t = tree_map(a);

	tree_set_text(a, t, "level", "s0");
	tree_set_text(a, t, "type", type);
	return t;
}

static struct tree *security_tree(struct arena *a, const struct pod *p)
{
	struct tree *t = tree_map(a);

	if (p->selinux_type)
		(void)tree_set(a, t, "seLinuxOptions", selinux_options(a, p->selinux_type));
	return t;
}

/* Appends the items of the sidecar's list `spec.key` to our list. */
static struct tree *with_sidecar(struct arena *a, struct tree *list, const struct pod *p,
				 const char *key)
{
	const struct tree *more = sidecar_list(p, key);

	for (size_t i = 0; more && i < more->n; i++)
		(void)tree_add(a, list, as_it_stands(a, more->items[i].value));
	return list;
}

static struct tree *spec_tree(struct arena *a, const struct pod *p)
{
	struct tree *t = tree_map(a), *tolerations = tree_seq(a), *containers = tree_seq(a);

	for (size_t i = 0; i < p->n_tolerations; i++) {
		struct tree *one = tree_map(a);

		tree_set_text(a, one, "key", p->tolerations[i].key);
		tree_set_text(a, one, "operator", p->tolerations[i].op);
		(void)tree_add(a, tolerations, one);
	}
	(void)tree_add(a, containers, container_tree(a, &p->container));
	(void)tree_set(a, t, "containers", with_sidecar(a, containers, p, "containers"));
	tree_set_true(a, t, "hostNetwork", p->host_network);
	tree_set_text(a, t, "priorityClassName", p->priority_class);
	tree_set_some(a, t, "securityContext", security_tree(a, p));
	tree_set_some(a, t, "tolerations", tolerations);
	tree_set_some(a, t, "volumes", with_sidecar(a, volumes_tree(a, p), p, "volumes"));
	return t;
}

static bool has_volume(const struct tree *spec, const char *name)
{
	const struct tree *list = tree_get(spec, "volumes");

	for (size_t i = 0; list && i < list->n; i++)
		if (str_eq(tree_text(list->items[i].value, "name"), name))
			return true;
	return false;
}

static int check_mounts(struct arena *a, const char *pod, const struct tree *spec,
			const struct tree *container, struct err *e)
{
	const struct tree *list = tree_get(container, "volumeMounts");

	for (size_t i = 0; list && i < list->n; i++) {
		const struct tree *mount = list->items[i].value;
		const char *path = tree_text(mount, "mountPath"), *name = tree_text(mount, "name");
		const char *where = tree_place(a, mount, "mountPath");

		if (name && !has_volume(spec, name))
			return err_config(e, "%spod %s: mounts volume '%s', which it does not have",
					  where, pod, name);
		for (size_t k = 0; path && k < i; k++)
			if (str_eq(tree_text(list->items[k].value, "mountPath"), path))
				return err_config(e,
						  "%spod %s: mounts two volumes at '%s', and "
						  "kubelet refuses such a pod",
						  where, pod, path);
	}
	return 0;
}

int manifest_check(struct arena *a, const struct tree *pod, struct err *e)
{
	static const char *const lists[] = { "initContainers", "containers" };
	const struct tree *spec = tree_get(pod, "spec");
	const char *name = tree_text(tree_get(pod, "metadata"), "name");
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(lists); i++) {
		const struct tree *list = tree_get(spec, lists[i]);

		for (size_t k = 0; r == 0 && list && k < list->n; k++)
			r = check_mounts(a, name ? name : "", spec, list->items[k].value, e);
	}
	return r;
}

int manifest_render(struct arena *a, const struct pod *p, char **ret_text, struct err *e)
{
	autobuf struct buf b = BUF_INIT(MANIFEST_MAX);
	struct tree *t = tree_map(a);
	int r = check_pod(a, p, e);

	if (r < 0)
		return r;
	tree_set_text(a, t, "apiVersion", "v1");
	tree_set_text(a, t, "kind", "Pod");
	(void)tree_set(a, t, "metadata", metadata_tree(a, p));
	(void)tree_set(a, t, "spec", spec_tree(a, p));
	(void)tree_set(a, t, "status", tree_map(a));
	r = manifest_check(a, t, e);
	if (r < 0)
		return r;
	r = yaml_render(t, &b, e);
	if (r < 0)
		return err_wrap(e, "pod %s", p->name);
	*ret_text = arena_strn(a, buf_str(&b), b.len);
	return 0;
}

int manifest_read(struct arena *a, const char *file, const char *text, struct tree **ret,
		  struct err *e)
{
	static const char *const lists[] = { "containers", "volumes" };
	const struct tree *spec;
	struct tree *t;
	int r = yaml_parse(a, file, text, strlen(text), &t, e);

	if (r < 0)
		return r;
	spec = t->kind == TREE_MAP ? tree_get(t, "spec") : NULL;
	if (!spec || spec->kind != TREE_MAP || !str_eq(tree_text(t, "kind"), "Pod"))
		return err_config(e, "%s: this is not a pod with a spec", tree_where(a, &t->pos));
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		const struct tree *list = tree_get(spec, lists[i]);

		if (list && list->kind != TREE_SEQ && list->kind != TREE_NULL)
			return err_config(e, "%s: spec.%s: expected a list",
					  tree_where(a, &list->pos), lists[i]);
	}
	*ret = t;
	return 0;
}

int manifest_label(struct arena *a, struct tree *pod, const char *selinux_type, char **ret_text,
		   struct err *e)
{
	autobuf struct buf b = BUF_INIT(MANIFEST_MAX);
	struct tree *spec = tree_get(pod, "spec"), *context = tree_get(spec, "securityContext");
	int r;

	if (!context || context->kind != TREE_MAP) {
		context = tree_map(a);
		(void)tree_set(a, spec, "securityContext", context);
	}
	(void)tree_set(a, context, "seLinuxOptions", selinux_options(a, selinux_type));
	r = yaml_render(pod, &b, e);
	if (r == 0)
		*ret_text = arena_strn(a, buf_str(&b), b.len);
	return r;
}

#include "nodeup/config/kubeup/states.h"

#include <string.h>
#include "manifests/pod.h"
#include "nodeup/base/yaml.h"
#include "nodeup/template/template.h"

static const char below[] = "kubernetes/saltbase/salt/";
static const char usual_registry[] = "gcr.io/google_containers";

enum { VARS_MAX = 8 };

struct rendering {
	struct arena *arena;
	const struct documents *documents;
	const struct kubeup_env *env;
	const struct tree *context;
	struct kubeup_files files;
	struct errs *errors;
	struct err *err;
};

/* Returns the states' file of that name; NULL: the tarball lacks it. */
static const struct documents_file *find(const struct documents *d, const char *source)
{
	const struct documents_files *files = &d->files;

	for (size_t i = 0; i < files->n; i++)
		if (str_has_prefix(files->v[i].path, below) &&
		    strcmp(files->v[i].path + strlen(below), source) == 0)
			return &files->v[i];
	return NULL;
}

bool kubeup_says(const struct documents *d, const char *source, const char *text)
{
	const struct documents_file *f = find(d, source);

	return f && strstr(f->text, text);
}

static bool holds(const struct kubeup_when *w, const struct kubeup_env *env)
{
	const char *text;

	memcpy(&text, (const char *)env + w->key, sizeof(text));
	return w->is_part ? text && strstr(text, w->text) : str_eq(text, w->text);
}

static bool is_here(const struct rendering *r, const struct kubeup_state *s)
{
	const int minor = r->env->kubernetes.minor;

	if (s->role != KUBEUP_BOTH && (s->role == KUBEUP_MASTER) != r->env->is_master)
		return false;
	if (minor < s->since || (s->until && minor > s->until))
		return false;
	for (size_t i = 0; i < KUBEUP_WHEN_MAX && s->when[i].text; i++)
		if (!holds(&s->when[i], r->env))
			return false;
	return !s->sls || kubeup_says(r->documents, s->sls, s->says);
}

/* Makes the map for one template: pillar, grains, and the variables of its state. */
static struct tree *context_of(struct rendering *r, const struct kubeup_state *s)
{
	struct tree *context = tree_map(r->arena), *vars;
	struct err ignored;

	for (size_t i = 0; i < r->context->n; i++)
		(void)tree_set(r->arena, context, r->context->items[i].key,
			       r->context->items[i].value);
	if (s->vars && yaml_parse(r->arena, "vars", s->vars, strlen(s->vars), &vars, &ignored) == 0)
		for (size_t i = 0; i < vars->n && i < VARS_MAX; i++)
			(void)tree_set(r->arena, context, vars->items[i].key, vars->items[i].value);
	return context;
}

/* Finds an image's registry on a line of YAML or JSON, where kube-up's sed would find it.
 * source: cluster/saltbase/install.sh */
static const char *find_image(const char *line, bool json)
{
	const char *image = strstr(line, json ? "image\":" : "image:"), *last = NULL;

	if (!image)
		return NULL;
	image += strlen(json ? "image\":" : "image:");
	if (*image != ' ' && *image != '\t')
		return NULL;
	if (!json) {
		for (const char *p = image; (p = strstr(p, usual_registry)); p++)
			last = p;
		return last;
	}
	image += strspn(image, " \t");
	return *image == '"' && str_has_prefix(image + 1, usual_registry) ? image + 1 : NULL;
}

/* Returns the text with the document's registry of addons instead of the usual one. */
static const char *with_registry(struct rendering *r, const struct documents_file *f)
{
	const char *registry = r->env->kube_addon_registry;
	const bool json = str_has_suffix(f->path, ".manifest") || str_has_suffix(f->path, ".json");
	struct strv lines;

	if (str_is_empty(registry) || strcmp(registry, usual_registry) == 0 ||
	    (!json && !str_has_suffix(f->path, ".yaml") && !str_has_suffix(f->path, ".yaml.in")))
		return f->text;
	lines = strv_split(r->arena, f->text, '\n');
	for (size_t i = 0; i < lines.n; i++) {
		const char *line = lines.v[i], *at = find_image(line, json);

		if (at)
			lines.v[i] = arena_printf(r->arena, "%.*s%s%s", (int)(at - line), line,
						  registry, at + strlen(usual_registry));
	}
	return strv_join(r->arena, &lines, "\n");
}

/* Checks a static pod: kubelet skips a pod that does not parse, and its message is lost among many others in the
 * log. */
static int check_pod(struct rendering *r, const char *path, const char *text)
{
	struct tree *pod;
	int ret;

	if (!str_has_prefix(path, POD_MANIFESTS "/"))
		return 0;
	ret = yaml_parse(r->arena, path, text, strlen(text), &pod, r->err);
	if (ret < 0)
		return err_wrap(r->err, "what the salt tarball's template makes");
	if (!tree_text(pod, "kind") || strcmp(tree_text(pod, "kind"), "Pod") != 0)
		return err_config(r->err, "%s: what the salt tarball's template makes is not a pod",
				  path);
	return 0;
}

static int render_file(struct rendering *r, const struct kubeup_state *s, const char *path,
		       const struct documents_file *f)
{
	struct kubeup_file file = {
		.state = s, .path = path, .text = with_registry(r, f), .template = f->path
	};
	const struct template_req req = { .file = f->path,
					  .text = file.text,
					  .n = strlen(file.text),
					  .context = context_of(r, s) };
	int ret = 0;

	if (strlen(f->text) != f->n)
		return err_config(r->err, "%s: holds a NUL byte", f->path);
	if (s->renders)
		ret = template_render(r->arena, &req, &file.text, r->err);
	if (ret < 0)
		return ret;
	ret = check_pod(r, path, file.text);
	if (ret == 0)
		arena_push(r->arena, r->files.v, r->files.n, file);
	return ret;
}

/* Makes one file. If errors are kept, an error in this file does not hide those of other files. */
static int make_file(struct rendering *r, const struct kubeup_state *s, const char *path,
		     const struct documents_file *f)
{
	return errs_keep(r->errors, render_file(r, s, path, f), r->err);
}

static int lacks(struct rendering *r, const struct kubeup_state *s)
{
	const int ret = err_config(r->err, "the salt tarball has no '%s%s', of which %s is made",
				   below, s->source, s->path);

	return errs_keep(r->errors, ret, r->err);
}

/* source: cluster/saltbase/salt/kube-addons/init.sls include_pat, exclude_pat */
static bool is_of_tree(const struct kubeup_state *s, const char *name)
{
	const char *base = str_basename(name);

	return (str_has_suffix(name, ".yaml") || (!s->no_json && str_has_suffix(name, ".json"))) &&
	       !(s->without && str_has_prefix(base, s->without) &&
		 strlen(base) == strlen(s->without) + strlen(".yaml"));
}

static int make_tree(struct rendering *r, const struct kubeup_state *s)
{
	const char *dir = arena_printf(r->arena, "%s%s/", below, s->source);
	const struct documents_files *files = &r->documents->files;
	size_t n = 0;
	int ret = 0;

	for (size_t i = 0; i < files->n && ret == 0; i++) {
		const char *name = files->v[i].path + strlen(dir);

		if (!str_has_prefix(files->v[i].path, dir) || !is_of_tree(s, name))
			continue;
		n++;
		ret = make_file(r, s, arena_printf(r->arena, "%s/%s", s->path, name), &files->v[i]);
	}
	return ret == 0 && n == 0 ? lacks(r, s) : ret;
}

static int make_state(struct rendering *r, const struct kubeup_state *s)
{
	const struct documents_file *f = s->source && !s->tree ? find(r->documents, s->source)
							       : NULL;

	if (s->tree)
		return make_tree(r, s);
	if (!s->source) {
		arena_push(r->arena, r->files.v, r->files.n,
			   (struct kubeup_file){ .state = s, .path = s->path, .text = "" });
		return 0;
	}
	return f ? make_file(r, s, s->path, f) : lacks(r, s);
}

int kubeup_render(struct arena *a, const struct documents *d, const struct kubeup_env *env,
		  const struct kubeup_host *host, struct kubeup_files *ret, struct errs *errors,
		  struct err *e)
{
	struct rendering r = {
		.arena = a,
		.documents = d,
		.env = env,
		.context = kubeup_context(a, env, host),
		.errors = errors,
		.err = e,
	};
	int n = 0;

	for (size_t i = 0; i < kubeup_n_states && n == 0; i++)
		if (is_here(&r, &kubeup_states[i]))
			n = make_state(&r, &kubeup_states[i]);
	if (n == 0)
		*ret = r.files;
	return n;
}

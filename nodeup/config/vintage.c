#include "nodeup/config/vintage.h"

#include <string.h>
#include "nodeup/base/near.h"
#include "nodeup/base/paths.h"
#include "nodeup/config/dialect.h"
#include "nodeup/config/facts.h"

/* The supported minors of kops 1.x: each row is a range. */
static const struct {
	int oldest, newest;
} spoken[] = { { 6, 8 }, { 29, 37 } };

/* Each minor, its newest patch, and the oldest minor of Kubernetes whose nodes it makes. The newest Kubernetes has
 * the same minor as kops. If only the minor is known, it counts as its newest patch, with all fixes. source: kops
 * upup/pkg/fi/cloudup/apply_cluster.go OldestSupportedKubernetesVersion of each minor */
static const struct {
	int minor, patch, oldest_kubernetes;
} releases[] = {
	{ 29, 2, 24 }, { 30, 4, 25 }, { 31, 0, 25 }, { 32, 4, 27 }, { 33, 2, 27 },
	{ 34, 3, 29 }, { 35, 2, 29 }, { 36, 2, 31 }, { 37, 0, 31 },
};

/* the forms of user data are known from kops 1.4 on */
enum { OLDEST_MINOR = 4, NEWEST_MINOR = 9999 };

/* Versions that kops' own tests give themselves, whatever their minor; only keys tell such documents apart. source:
 * kops cmd/kops/integration_test.go MockKopsVersion */
static const char *const of_tests[] = { "1.21.0-alpha.1", "1.34.0-beta.1", NULL };

/* The kinds of documents that keys tell apart. */
enum form {
	FORM_ENV,    /* kube_env.yaml with a list of Assets, to kops 1.18 */
	FORM_ARCHES, /* kube_env.yaml with Assets by architecture */
	FORM_BOOT,   /* BootConfig */
	FORM_CONFIG, /* NodeupConfig */
};

static const char *const form_names[] = {
	[FORM_ENV] = "a kube_env.yaml",
	[FORM_ARCHES] = "a kube_env.yaml",
	[FORM_BOOT] = "a BootConfig",
	[FORM_CONFIG] = "a NodeupConfig",
};

#define CONTAINERD "containerdConfig."
#define API "APIServerConfig.KubeAPIServer."
#define SANDBOX CONTAINERD "sandboxImage"
#define CNI "InstallCNIAssets"

/* Minors up to 1.28, by a document's form, a key that it has and a key that it lacks. The first row that fits
 * counts. Keys are paths; a row without `has` fits any document. source: kops pkg/apis/nodeup/config.go,
 * pkg/apis/kops/componentconfig.go of each minor */
static const struct {
	enum form form;
	const char *has, *lacks;
	int oldest, newest;
} ages[] = {
	{ FORM_ENV, "staticManifests", NULL, 17, 18 },
	{ FORM_ENV, "protokubeImage.sources", NULL, 12, 18 },
	{ FORM_ENV, "etcdManifests", NULL, 10, 18 },
	{ FORM_ARCHES, "Assets", NULL, 19, 21 },
	{ FORM_BOOT, "NodeupConfigHash", "ClusterName", 22, 26 },
	{ FORM_CONFIG, NULL, "KubernetesVersion", 22, 26 },
	{ FORM_CONFIG, "ContainerRuntime", NULL, 27, 28 },
	{ FORM_CONFIG, "docker", NULL, 27, 28 },
	{ FORM_CONFIG, "useInstanceIDForNodeName", NULL, 27, 28 },
};

/* Keys of documents since kops 1.29, and the minors that write them. Each key that a document has narrows the range;
 * two keys that exclude each other are an error. If the document has the key `lacks` too, the row does not apply.
 * source: kops pkg/apis/nodeup/config.go, pkg/apis/kops/{componentconfig,containerdconfig,networking}.go of each tag */
static const struct {
	enum form form;
	const char *key, *lacks;
	int oldest, newest;
} keys[] = {
	{ FORM_BOOT, "EtcdIPs", NULL, 37, NEWEST_MINOR },
	{ FORM_BOOT, "ConfigServer.tlsServerName", NULL, 36, NEWEST_MINOR },
	{ FORM_CONFIG, "usesLegacyGossip", NULL, 29, 36 },
	{ FORM_CONFIG, "channels", NULL, 29, 35 },
	{ FORM_CONFIG, "channelsManifest", NULL, 36, NEWEST_MINOR },
	{ FORM_CONFIG, "KubeletConfig.podInfraContainerImage", SANDBOX, 29, 34 },
	{ FORM_CONFIG, SANDBOX, NULL, 35, NEWEST_MINOR },
	{ FORM_CONFIG, "useIPBasedNodeNames", NULL, 37, NEWEST_MINOR },
	{ FORM_CONFIG, CNI, NULL, 32, NEWEST_MINOR },
	{ FORM_CONFIG, "Networking.kindnet", NULL, 32, NEWEST_MINOR },
	{ FORM_CONFIG, "discoveryServiceWithUniverse", NULL, 35, NEWEST_MINOR },
	{ FORM_CONFIG, "GVisor", NULL, 36, NEWEST_MINOR },
	{ FORM_CONFIG, "nlbSecurityGroupMode", NULL, 36, NEWEST_MINOR },
	{ FORM_CONFIG, "NvidiaGPU.image", NULL, 34, NEWEST_MINOR },
	{ FORM_CONFIG, CONTAINERD "gvisor", NULL, 36, NEWEST_MINOR },
	{ FORM_CONFIG, CONTAINERD "useECRCredentialsForMirrors", NULL, 33, NEWEST_MINOR },
	{ FORM_CONFIG, CONTAINERD "installCriCtl", NULL, 34, NEWEST_MINOR },
	{ FORM_CONFIG, CONTAINERD "installNerdCtl", NULL, 34, NEWEST_MINOR },
	{ FORM_CONFIG, CONTAINERD "nvidiaGPU.image", NULL, 34, NEWEST_MINOR },
	{ FORM_CONFIG, "KubeletConfig.maxParallelImagePulls", NULL, 34, NEWEST_MINOR },
	{ FORM_CONFIG, "KubeletConfig.crashLoopBackOffMaxContainerRestartPeriod", NULL, 35,
	  NEWEST_MINOR },
	{ FORM_CONFIG, "KubeletConfig.eventRecordQPS", NULL, 36, NEWEST_MINOR },
	{ FORM_CONFIG, "KubeletConfig.kubeAPIQPS", NULL, 36, NEWEST_MINOR },
	{ FORM_CONFIG, "KubeletConfig.nodeLeaseDurationSeconds", NULL, 36, NEWEST_MINOR },
	{ FORM_CONFIG, API "targetRamMB", NULL, 29, 30 },
	{ FORM_CONFIG, API "authenticationConfigFile", NULL, 30, NEWEST_MINOR },
	{ FORM_CONFIG, API "watchCache", NULL, 30, NEWEST_MINOR },
	{ FORM_CONFIG, API "watchCacheSizes", NULL, 30, NEWEST_MINOR },
	{ FORM_CONFIG, API "env", NULL, 31, NEWEST_MINOR },
	{ FORM_CONFIG, API "goawayChance", NULL, 32, NEWEST_MINOR },
	{ FORM_CONFIG, API "deleteCollectionWorkers", NULL, 35, NEWEST_MINOR },
	{ FORM_CONFIG, API "storageInitializationTimeout", NULL, 35, NEWEST_MINOR },
	{ FORM_CONFIG, API "compactionInterval", NULL, 36, NEWEST_MINOR },
	{ FORM_CONFIG, API "strictTransportSecurityDirectives", NULL, 37, NEWEST_MINOR },
};

/* Keys that all documents of the other minors have, except documents with a key of `unless`. If the key is missing,
 * the row narrows the range that other keys leave; rows apply in this order. A row that would leave no minor is
 * skipped: a person may have written the document. */
static const struct {
	const char *lacks;
	const char *unless[3];
	int oldest, newest;
} usual[] = {
	{ "usesLegacyGossip", { NULL }, 37, NEWEST_MINOR },
	{ SANDBOX, { NULL }, 29, 34 },
	/* source: kops 1.32 to 1.35 pkg/apis/kops/cluster.go InstallCNIAssets */
	{ CNI, { "Networking.amazonVPC", "Networking.calico", "Networking.cilium" }, 29, 31 },
};

static const char setting_key[] = "kopsVersion";
/* The source of a version from another document's record. */
static const char former[] = "an earlier document";
/* The source of a version found by keys and files on the host. */
static const char left_here[] = "what kops left here";

/* kops' own files, whose folder is named after the version */
static const char *const own_files[] = { "nodeup", "protokube", "channels", "utils.tar.gz" };

/* A search for the version, and the answer so far. */
struct search {
	struct arena *arena;
	struct vintage found;
	struct err *err;
};

static bool is_own_file(const char *url, size_t n)
{
	size_t start = n;

	while (start > 0 && url[start - 1] != '/')
		start--;
	for (size_t i = 0; i < ARRAY_LEN(own_files); i++) {
		const size_t len = strlen(own_files[i]);

		if (n - start >= len && strncmp(url + start, own_files[i], len) == 0)
			return true;
	}
	return false;
}

static bool ends_with(const char *text, const char *end, const char *word)
{
	const size_t n = strlen(word);

	return (size_t)(end - text) >= n && strncmp(end - n, word, n) == 0;
}

bool vintage_is_version(struct arena *a, const char *text)
{
	struct version v;

	return !strchr(text, '/') && version_parse(a, text, &v) && v.major == 1;
}

static bool set_version(struct arena *a, const char *text, size_t n, struct vintage *ret)
{
	const char *word = arena_strn(a, text, n);
	struct version v;

	if (str_is_one_of(word, of_tests) || !version_parse(a, word, &v) || v.major != 1)
		return false;
	*ret = (struct vintage){ .oldest = v.minor, .newest = v.minor, .text = word };
	return true;
}

/* Reads the version out of one URL's path: ".../kops/1.8.1/linux/amd64/nodeup",
 * ".../download/v1.34.3/nodeup-linux-amd64". any_folder: user data may start a program of a test build or a mirror,
 * whose folder is not called kops. */
static bool set_of_url(struct arena *a, const char *url, size_t n, bool any_folder,
		       struct vintage *ret)
{
	const char *end = url + n;

	if (!is_own_file(url, n))
		return false;
	for (const char *p = memchr(url, '/', n); p; p = memchr(p, '/', (size_t)(end - p))) {
		const char *part = ++p;
		const size_t len = strcspn(part, "/%");

		if (part + len >= end)
			break;
		part += *part == 'v';
		if ((ends_with(url, p, "/kops/") || ends_with(url, p, "/download/") ||
		     ends_with(url, p, "/releases/") ||
		     (any_folder && str_has_prefix(p + strcspn(p, "/"), "/linux/"))) &&
		    set_version(a, part, (size_t)(p + len - part), ret) &&
		    (!any_folder || ret->oldest >= OLDEST_MINOR))
			return true;
	}
	return false;
}

/* Reads several URLs, joined by commas; takes the first that holds a version. */
static bool set_of_urls(struct arena *a, const char *urls, bool any_folder, struct vintage *ret)
{
	for (const char *p = urls; *p; p += strspn(p, ",")) {
		const size_t n = strcspn(p, ", \t\r\n\"'");

		if (set_of_url(a, p, n, any_folder, ret))
			return true;
		p += n;
		if (*p && *p != ',')
			break;
	}
	return false;
}

static int newest_spoken(void)
{
	return spoken[ARRAY_LEN(spoken) - 1].newest;
}

/* Returns the newest supported minor that the version may be. */
static int taken_minor(const struct vintage *v)
{
	const int last = newest_spoken();

	return v->newest && v->newest < last ? v->newest : last;
}

static bool has_patch(const char *text)
{
	return text && strchr(text, '.') != strrchr(text, '.');
}

struct version vintage_version(struct arena *a, const struct vintage *v)
{
	struct version ret = { .major = 1, .minor = taken_minor(v) };
	const char *text = has_patch(v->text) ? v->text : v->taken;
	const bool is_exact = text && version_parse(a, text, &ret);
	size_t i = 0;

	/* an unsupported version with which the run goes on counts as the newest */
	while (i < ARRAY_LEN(releases) - 1 && releases[i].minor != ret.minor)
		i++;
	if (is_exact && releases[i].minor == ret.minor)
		return ret;
	return (struct version){ .major = 1,
				 .minor = releases[i].minor,
				 .patch = releases[i].patch };
}

static const char *claim(struct arena *a, const struct vintage *v)
{
	return arena_printf(a, "%s of kops %s (%s)", v->of, v->text ?: vintage_minors(a, v), v->by);
}

static int greater(int x, int y)
{
	return x > y ? x : y;
}

static int lesser(int x, int y)
{
	return x < y ? x : y;
}

bool vintage_is_exact(const struct vintage *v)
{
	return v->text && !v->is_setting;
}

/* Ranks answers that agree: an exact version comes first, then a setting, then keys. Keys that leave a narrow range
 * come before keys that leave a wide one. */
static int rank(const struct vintage *v)
{
	return v->text ? (v->is_setting ? 1 : 2) : v->oldest - v->newest;
}

static bool differ(struct arena *a, const struct vintage *x, const struct vintage *y)
{
	if (x->newest < y->oldest || y->newest < x->oldest)
		return true;
	/* kops of older minors writes the same documents in all patches */
	return x->oldest >= releases[0].minor && has_patch(x->text) && has_patch(y->text) &&
	       vintage_version(a, x).patch != vintage_version(a, y).patch;
}

int vintage_join(struct arena *a, const struct vintage *first, const struct vintage *second,
		 struct vintage *ret, struct err *e)
{
	struct vintage both = first->newest ? *first : *second;

	if (first->newest && second->newest) {
		if (differ(a, first, second))
			return err_config(e,
					  "%s: this is %s, and %s: %s; which of them is right "
					  "cannot be said",
					  tree_where(a, &first->pos), claim(a, first),
					  tree_where(a, &second->pos), claim(a, second));
		both = rank(second) > rank(first) ? *second : *first;
		both.oldest = greater(first->oldest, second->oldest);
		both.newest = lesser(first->newest, second->newest);
	}
	*ret = both;
	return 0;
}

int vintage_settle(struct arena *a, const struct dialect_opts *o, int r, struct vintage *ret,
		   struct err *e)
{
	struct vintage kept;

	if (r == 0 || !o->recorded || !o->recorded(o->records, &kept) || kept.is_former)
		return r;
	*ret = kept;
	dialect_warn(
		a, o,
		"%s; %s stays, as this document was applied before; for another leave one alone%s and "
		"run nodeup apply by hand",
		e->msg, vintage_title(a, ret),
		vintage_is_exact(ret) ? ", remove " OWN_VINTAGE : "");
	return 0;
}

static int add(struct search *s, struct vintage *v, const char *of, const char *by,
	       struct tree_pos pos)
{
	v->of = of;
	v->by = by;
	v->pos = pos;
	return vintage_join(s->arena, &s->found, v, &s->found, s->err);
}

static int search_setting(struct search *s, const struct tree *t)
{
	const char *text = t->scalar + (*t->scalar == 'v');
	struct vintage v;

	if (!set_version(s->arena, text, strlen(text), &v))
		return 0;
	v.is_setting = true;
	return add(s, &v, "a setting", setting_key, t->pos);
}

static int search_store(struct search *s, const char *text, struct tree_pos pos)
{
	const char *word = str_trim(s->arena, text);
	struct vintage v;

	word += *word == 'v';
	if (!set_version(s->arena, word, strlen(word), &v))
		return 0;
	return add(s, &v, "a state store", "kops-version.txt", pos);
}

/* Reads "NODEUP_URL_AMD64=https://...", or the version in user data rendered by nodeup. source: kops
 * pkg/model/resources/nodeup.go; the last form is that of kops 1.4 */
static int search_script(struct search *s, const char *script, struct tree_pos pos, bool any_folder)
{
	static const char *const names[] = { "NODEUP_URL", "NODEUP_URL_AMD64", "NODEUP_URL_ARM64",
					     "NODEUP_TAR_URL", NULL };
	static const char export[] = "export ";
	int r = 0;

	for (const char *line = script; *line && r == 0; pos.line += pos.line > 0) {
		const size_t n = strcspn(line, "\n");
		const char *start = line + strspn(line, " \t");
		const char *word, *value;
		struct vintage v;

		start += str_has_prefix(start, export) ? strlen(export) : 0;
		word = arena_strn(s->arena, start, strcspn(start, "=\n"));
		value = start + strlen(word);
		if (*value == '=') {
			value += 1 + strspn(value + 1, "\"'");
			pos.column = (unsigned int)(value - line) + 1;
			if (str_eq(word, VINTAGE_VARIABLE)
				    ? set_version(s->arena, value, strcspn(value, "\"' \t\n"), &v)
				    : str_is_one_of(word, names) &&
					      set_of_urls(s->arena, value, any_folder, &v))
				r = add(s, &v, "user data", word, pos);
		}
		line += n + (line[n] == '\n');
	}
	return r;
}

static int search_assets(struct search *s, const struct tree *list, const char *of)
{
	int r = 0;

	for (size_t i = 0; list && i < list->n && r == 0; i++) {
		const struct tree *item = list->items[i].value;
		const char *at = item->kind == TREE_SCALAR ? strchr(item->scalar, '@') : NULL;
		struct vintage v;

		if (item->kind == TREE_SEQ)
			r = search_assets(s, item, of);
		else if (at && set_of_urls(s->arena, at + 1, false, &v))
			r = add(s, &v, of, "Assets", item->pos);
	}
	return r;
}

/* Reads the tag of "protokube:1.8.1", and the image's address. */
static int search_protokube(struct search *s, const struct tree *image, const char *of)
{
	const struct tree *name = image ? tree_lookup(image, "name") : NULL;
	const struct tree *source = image ? tree_lookup(image, "source") : NULL;
	struct vintage v;
	int r = 0;

	if (name && name->kind == TREE_SCALAR) {
		const char *base = str_basename(name->scalar);
		const char *tag = strchr(base, ':');

		if (tag && str_has_prefix(base, "protokube:") &&
		    set_version(s->arena, tag + 1, strlen(tag + 1), &v))
			r = add(s, &v, of, "protokubeImage.name", name->pos);
	}
	if (r == 0 && source && source->kind == TREE_SCALAR &&
	    set_of_urls(s->arena, source->scalar, false, &v))
		r = add(s, &v, of, "protokubeImage.source", source->pos);
	return r;
}

/* Finds a key below maps, "KubeletConfig.podInfraContainerImage". A null key counts as missing. */
static const struct tree *find(struct arena *a, const struct tree *t, const char *path)
{
	const struct strv parts = strv_split(a, path, '.');

	for (size_t i = 0; i < parts.n && t; i++)
		t = t->kind == TREE_MAP ? tree_lookup(t, parts.v[i]) : NULL;
	return t && t->kind != TREE_NULL ? t : NULL;
}

/* Returns whether a key has the value that Go's program writes, or leaves out, for an unset field. */
static bool is_empty(const struct tree *t)
{
	return (t->kind == TREE_SEQ && !t->n) || (t->kind == TREE_SCALAR && !*t->scalar);
}

static bool has_any(struct arena *a, const struct tree *t, const char *const *paths, size_t n)
{
	for (size_t i = 0; i < n && paths[i]; i++)
		if (find(a, t, paths[i]))
			return true;
	return false;
}

/* Returns whether a key is missing, and no other key looks like its typo. */
static bool lacks(struct arena *a, const struct tree *t, const char *path)
{
	if (find(a, t, path))
		return false;
	for (size_t i = 0; t->kind == TREE_MAP && i < t->n; i++)
		if (near_edits(t->items[i].key, path) <= 1)
			return false;
	return true;
}

static bool is_spoken(const struct vintage *v)
{
	for (size_t i = 0; i < ARRAY_LEN(spoken); i++)
		if (v->oldest <= spoken[i].newest && v->newest >= spoken[i].oldest)
			return true;
	return v->newest == 0;
}

static int search_ages(struct search *s, const struct tree *t, enum form form)
{
	for (size_t i = 0; i < ARRAY_LEN(ages); i++) {
		struct vintage v = { .oldest = ages[i].oldest, .newest = ages[i].newest };
		const char *has = ages[i].has, *without = ages[i].lacks;
		const struct tree *there = has ? find(s->arena, t, has) : t;

		if (ages[i].form != form || !there || (without && !lacks(s->arena, t, without)))
			continue;
		return add(s, &v, form_names[form],
			   without ? arena_printf(s->arena, "no %s", without) : has,
			   without ? t->pos : there->pos);
	}
	return 0;
}

static int search_keys(struct search *s, const struct tree *t, enum form form)
{
	int r = search_ages(s, t, form);

	for (size_t i = 0; i < ARRAY_LEN(keys) && r == 0 && is_spoken(&s->found); i++) {
		struct vintage v = { .oldest = keys[i].oldest, .newest = keys[i].newest };
		const struct tree *there = find(s->arena, t, keys[i].key);

		if (keys[i].form == form && there && !is_empty(there) &&
		    !(keys[i].lacks && find(s->arena, t, keys[i].lacks)))
			r = add(s, &v, form_names[form], keys[i].key, there->pos);
	}
	return r;
}

static enum form form_of(const struct vintage_sources *r)
{
	const struct tree *assets = tree_lookup(r->document, "Assets");

	if (r->is_node_config)
		return FORM_CONFIG;
	if (tree_lookup(r->document, "NodeupConfigHash"))
		return FORM_BOOT;
	return assets && assets->kind == TREE_MAP ? FORM_ARCHES : FORM_ENV;
}

int vintage_find(struct arena *a, const struct vintage_sources *rendered, struct vintage *ret,
		 struct err *e)
{
	struct search s = { .arena = a, .err = e };
	const struct tree *t = rendered->document;
	const bool is_map = t->kind == TREE_MAP;
	const enum form form = is_map ? form_of(rendered) : FORM_ENV;
	const char *of = form_names[form];
	int r = rendered->setting ? search_setting(&s, rendered->setting) : 0;

	if (r == 0 && is_map)
		r = search_protokube(&s, tree_lookup(t, "protokubeImage"), of);
	if (r == 0 && is_map)
		r = search_assets(&s, tree_lookup(t, "Assets"), of);
	if (r == 0 && rendered->script)
		r = search_script(&s, rendered->script, rendered->script_pos, false);
	if (r == 0 && rendered->stored)
		r = search_store(&s, rendered->stored, rendered->stored_pos);
	/* only these sources can name an unsupported version; keys of such a version are not looked at */
	if (r == 0 && is_map && is_spoken(&s.found))
		r = search_keys(&s, t, form);
	/* with any_folder, a folder may be named after nodeup's own version, so this counts only if no other source
	 * tells the version */
	if (r == 0 && rendered->script && !s.found.newest)
		r = search_script(&s, rendered->script, rendered->script_pos, true);
	if (r == 0)
		*ret = s.found;
	return r;
}

static const char *range(struct arena *a, int oldest, int newest)
{
	if (newest == NEWEST_MINOR)
		return arena_printf(a, "1.%d or newer", oldest);
	if (oldest == newest)
		return arena_printf(a, "1.%d", oldest);
	return arena_printf(a, newest == oldest + 1 ? "1.%d and 1.%d" : "1.%d to 1.%d", oldest,
			    newest);
}

const char *vintage_minors(struct arena *a, const struct vintage *v)
{
	return v->newest ? range(a, v->oldest, v->newest) : NULL;
}

const char *vintage_text(struct arena *a, const struct vintage *v)
{
	if (v->text || !v->newest)
		return v->text;
	return range(a, taken_minor(v), taken_minor(v));
}

const char *vintage_known_by(struct arena *a, const struct vintage *v)
{
	const int newest = taken_minor(v);
	const char *what = "its keys";

	if (v->text || !v->newest)
		return v->by;
	if (str_eq(v->by, left_here))
		what = arena_printf(a, "%s and %s", what, left_here);
	if (v->oldest >= newest)
		return what;
	return arena_printf(a, "%s (%s are possible)", what, range(a, v->oldest, newest));
}

const char *vintage_title(struct arena *a, const struct vintage *v)
{
	const char *text = vintage_text(a, v), *by = vintage_known_by(a, v);

	if (!text)
		return NULL;
	return arena_printf(a, v->text ? "kops %s (by %s)" : "kops %s by %s", text, by);
}

const char *vintage_record(struct arena *a, const struct vintage *v)
{
	const struct version as = vintage_version(a, v);
	const bool is_taken = !has_patch(v->text) && as.minor == taken_minor(v) &&
			      v->oldest <= as.minor;

	return arena_printf(a, "1.%d %s %s %s", v->oldest,
			    is_taken ? arena_printf(a, "1.%d.%d", as.minor, as.patch)
				     : arena_printf(a, "1.%d", v->newest),
			    v->text ?: "-", v->by);
}

bool vintage_of_record(struct arena *a, const char *line, struct vintage *ret)
{
	const char *words[4]; /* the last word is the rest of the line: "no KubernetesVersion" */
	struct version oldest, newest;

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		const size_t n = i < ARRAY_LEN(words) - 1 ? strcspn(line, " ") : strlen(line);

		words[i] = arena_strn(a, line, n);
		line += n + (line[n] == ' ');
	}
	if (!*words[3] || !version_parse(a, words[0], &oldest) ||
	    !version_parse(a, words[1], &newest))
		return false;
	*ret = (struct vintage){ .oldest = oldest.minor,
				 .newest = newest.minor,
				 .text = str_eq(words[2], "-") ? NULL : words[2],
				 .of = "a document",
				 .by = words[3],
				 .taken = has_patch(words[1]) ? words[1] : NULL,
				 .pos = { "the record of the last run", 0, 0 } };
	ret->is_setting = ret->text && (str_eq(ret->by, setting_key) || str_eq(ret->by, former));
	return true;
}

struct vintage vintage_newest(void)
{
	const int minor = newest_spoken();

	return (struct vintage){ .oldest = minor,
				 .newest = minor,
				 .of = "a document",
				 .by = "the nodeup before",
				 .pos = { "the record of the last run", 0, 0 } };
}

void vintage_set_former(struct vintage *v)
{
	v->is_former = true;
	v->is_setting = v->text != NULL;
	v->by = former;
}

void vintage_note(struct arena *a, const struct vintage *v, struct tree *t)
{
	tree_set_text(a, t, "kops", vintage_text(a, v));
	tree_set_text(a, t, "kopsKnownBy", vintage_known_by(a, v));
}

const char *vintage_spoken(struct arena *a)
{
	struct strv ranges = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(spoken); i++)
		strv_add(a, &ranges, range(a, spoken[i].oldest, spoken[i].newest));
	return arena_printf(a, "kops %s", strv_join(a, &ranges, ", "));
}

static bool narrow(struct vintage *v, int oldest, int newest)
{
	const struct vintage both = { greater(v->oldest, oldest), lesser(v->newest, newest) };

	if (both.oldest > both.newest)
		return false;
	v->oldest = both.oldest;
	v->newest = both.newest;
	return true;
}

/* Keeps the minors of kops that make nodes of this Kubernetes: the same minor, and newer ones that still support it. */
static void narrow_by_kubernetes(struct arena *a, const struct tree *t, struct vintage *v)
{
	const struct tree *text = tree_lookup(t, "KubernetesVersion");
	int newest = 0;
	struct version k;

	if (!text || text->kind != TREE_SCALAR || !version_parse(a, text->scalar, &k))
		return;
	for (size_t i = 0; i < ARRAY_LEN(releases); i++)
		if (releases[i].oldest_kubernetes <= k.minor)
			newest = releases[i].minor;
	(void)narrow(v, k.minor, newest);
}

/* Narrows by the files that kops' own program left. A config.toml that the documents give does not count. A
 * config.toml of version 2 may be of kops 1.36 too, if containerd is older than 2.0. source: kops
 * nodeup/pkg/model/{kubelet,containerd}.go of each tag */
static void narrow_by_left(struct arena *a, const struct tree *t, const struct facts *f,
			   struct vintage *v)
{
	const struct tree *containerd = find(a, t, CONTAINERD "version");
	const int64_t toml = find(a, t, CONTAINERD "configOverride") ? 0 : f->containerd_config.v;
	struct version of = { 0 };
	const bool is_2 = containerd && containerd->kind == TREE_SCALAR &&
			  version_parse(a, containerd->scalar, &of) && of.major >= 2;
	const struct {
		bool is_there;
		int oldest, newest;
	} signs[] = {
		{ f->kubelet_flags.set && f->kubelet_flags.v, 0, 35 },
		{ f->kubelet_flags.set && !f->kubelet_flags.v, 36, NEWEST_MINOR },
		{ toml == 2 && is_2, 0, 35 },
		{ toml > 2, 36, NEWEST_MINOR },
	};

	for (size_t i = 0; i < ARRAY_LEN(signs); i++)
		if (signs[i].is_there)
			(void)narrow(v, signs[i].oldest, signs[i].newest);
}

static void narrow_by_usual(struct arena *a, const struct tree *t, struct vintage *v)
{
	for (size_t i = 0; i < ARRAY_LEN(usual); i++)
		if (lacks(a, t, usual[i].lacks) &&
		    !has_any(a, t, usual[i].unless, ARRAY_LEN(usual[i].unless)))
			(void)narrow(v, usual[i].oldest, usual[i].newest);
}

void vintage_guess(struct arena *a, const struct tree *t, const struct facts *left,
		   struct vintage *v)
{
	const struct vintage any = { .oldest = releases[0].minor,
				     .newest = releases[ARRAY_LEN(releases) - 1].minor,
				     .of = form_names[FORM_CONFIG],
				     .by = "KubernetesVersion",
				     .pos = t->pos };
	struct vintage both;

	if (v->text || t->kind != TREE_MAP || !is_spoken(v))
		return;
	if (!v->newest)
		*v = any;
	(void)narrow(v, any.oldest, any.newest);
	narrow_by_kubernetes(a, t, v);
	both = *v;
	narrow_by_usual(a, t, v);
	if (!left)
		return;
	narrow_by_left(a, t, left, &both);
	narrow_by_usual(a, t, &both);
	if (both.oldest != v->oldest || both.newest != v->newest)
		both.by = left_here;
	*v = both;
}

bool vintage_has_kubernetes(const struct version *kops, int minor)
{
	for (size_t i = 0; i < ARRAY_LEN(releases); i++)
		if (releases[i].minor == kops->minor)
			return minor >= releases[i].oldest_kubernetes && minor <= kops->minor;
	return true;
}

int vintage_check(struct arena *a, const struct vintage *v, const struct dialect_opts *o,
		  struct err *e)
{
	const char *text;

	if (is_spoken(v))
		return 0;
	text = arena_printf(a, "%s: this is %s; nodeup reads %s", tree_where(a, &v->pos),
			    claim(a, v), vintage_spoken(a));
	if (!o->was_applied || !o->was_applied(o->records, v))
		return err_config(e, "%s", text);
	dialect_warn(a, o, "%s; it goes on, as this instance was made of such a document before",
		     text);
	return 0;
}

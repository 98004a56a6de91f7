/* version.c - prints the version, and the versions of its parts */
#include "nodeup/cmd/cli.h"

#include "deps_versions.h"
#include "nodeup/base/io.h"
#include "nodeup/base/show.h"
#include "nodeup/base/tree.h"
#include "nodeup/documents/bootstrap.h"
#include "nodeup/documents/dialects.h"

static const struct {
	const char *name, *version;
} parts[] = {
	{ "curl", DEPS_CURL },          { "c-ares", DEPS_CARES },
	{ "openssl", DEPS_OPENSSL },    { "libsystemd", DEPS_SYSTEMD },
	{ "libarchive", DEPS_ARCHIVE }, { "isa-l", DEPS_ISAL },
	{ "libyaml", DEPS_YAML },       { "jansson", DEPS_JANSSON },
	{ "expat", DEPS_EXPAT },        { "libblkid", DEPS_BLKID },
	{ "zlib", DEPS_ZLIB },          { "xz", DEPS_LZMA },
	{ "zstd", DEPS_ZSTD },          { "lz4", DEPS_LZ4 },
	{ "glibc", DEPS_GLIBC },
};

static const char *minor(struct arena *a, const struct version *v)
{
	return arena_printf(a, "%d.%d", v->major, v->minor);
}

static struct tree *dialects_tree(struct arena *a)
{
	struct tree *list = tree_seq(a);

	for (size_t i = 0; dialects[i]; i++) {
		struct tree *t = tree_map(a);

		tree_set_text(a, t, "documents", dialects[i]->title);
		tree_set_text(a, t, "oldestKubernetes", minor(a, dialects[i]->oldest));
		tree_set_text(a, t, "newestKubernetes", minor(a, dialects[i]->newest));
		(void)tree_add(a, list, t);
	}
	return list;
}

/* NULL: nothing of this machine can be read. */
static struct tree *host_tree(struct arena *a)
{
	autoclose int root = -1;
	struct facts f;
	struct err ignored;

	if (io_open_root("/", &root, &ignored) < 0 ||
	    bootstrap_facts(a, NULL, root, true, &f, &ignored) < 0)
		return NULL;
	return facts_host(a, &f);
}

int cmd_version(struct cli *cli, struct err *e)
{
	struct tree *t, *made_of, *host;

	if (!str_eq(cli->output, "json")) {
		show_line(stdout, "nodeup version %s", cli_version());
		for (size_t i = 0; dialects[i]; i++)
			show_line(stdout, "documents of %s: Kubernetes %s to %s",
				  dialects[i]->title, minor(cli->arena, dialects[i]->oldest),
				  minor(cli->arena, dialects[i]->newest));
		return 0;
	}
	t = tree_map(cli->arena);
	made_of = tree_map(cli->arena);
	tree_set_text(cli->arena, t, "version", cli_version());
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		tree_set_text(cli->arena, made_of, parts[i].name, parts[i].version);
	host = host_tree(cli->arena);
	if (host)
		(void)tree_set(cli->arena, t, "host", host);
	(void)tree_set(cli->arena, t, "documents", dialects_tree(cli->arena));
	(void)tree_set(cli->arena, t, "libraries", made_of);
	return show_json(t, e);
}

#include "nodeup/tasks/image_ctr.h"

#include <string.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/print.h"
#include "nodeup/host/liveness.h"

#define ASK_NS (30 * DUR_SEC)
#define LOAD_NS (600 * DUR_SEC)

enum { OUTPUT_MAX = 256 << 10, LIST_MAX = 4 << 20, DIGEST_COLUMN = 2 };

/* Returns whether the first part is a registry: it has a dot or a port. */
static bool has_registry(const char *image)
{
	const size_t n = strcspn(image, "/");

	return image[n] == '/' &&
	       (memchr(image, '.', n) || memchr(image, ':', n) ||
		(n == strlen("localhost") && str_has_prefix(image, "localhost")));
}

static bool has_tag(const char *image)
{
	return strpbrk(str_basename(image), ":@") != NULL;
}

char *image_ctr_name(struct arena *a, const char *image)
{
	const char *prefix = "";

	if (!has_registry(image))
		prefix = strchr(image, '/') ? "docker.io/" : "docker.io/library/";
	return arena_printf(a, "%s%s%s", prefix, image, has_tag(image) ? "" : ":latest");
}

/* Splits a line into columns at its blanks. */
static struct strv columns(struct arena *a, const char *line)
{
	struct strv all = strv_split(a, line, ' '), out = { 0 };

	for (size_t i = 0; i < all.n; i++)
		if (*all.v[i])
			strv_add(a, &out, all.v[i]);
	return out;
}

int image_demand(struct task_ctx *ctx, const char *unit, struct err *e)
{
	int r;

	if (ctx->no_answer)
		return err_fail(e, ERR_SYSTEM, ETIMEDOUT, "%s does not answer", unit);
	r = liveness_demand(ctx->root_fd, unit, e);
	if (ctx->only_looks)
		ctx->no_answer = r < 0;
	return r;
}

int image_ctr_list(struct task_ctx *ctx, struct arena *a, const char *name, struct map *ret,
		   struct err *e)
{
	const char *const argv[] = {
		"ctr",    "-n", "k8s.io",
		"images", "ls", name ? arena_printf(a, "name==%s", name) : NULL,
		NULL,
	};
	autobuf struct buf out = BUF_INIT(LIST_MAX);
	struct strv lines;
	int r = task_run_program(ctx, argv, -1, ASK_NS, &out, e);

	if (r < 0)
		return r;
	lines = strv_split(a, buf_str(&out), '\n');
	for (size_t i = 0; i < lines.n; i++) {
		const struct strv v = columns(a, lines.v[i]);

		if (v.n > DIGEST_COLUMN)
			(void)map_put(a, ret, v.v[0], (void *)(uintptr_t)v.v[DIGEST_COLUMN]);
	}
	return 0;
}

int image_ctr_find(const struct map *all, const char *image, char id[static IMAGE_ID_MAX],
		   struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const char *name = image_ctr_name(a, image), *digest = map_get(all, name);

	if (!digest)
		return err_fail(e, ERR_SYSTEM, ENOENT, "containerd has no image '%s'", name);
	(void)print_to(id, IMAGE_ID_MAX, "%s", digest);
	return 0;
}

int image_ctr_id(struct task_ctx *ctx, const char *image, char id[static IMAGE_ID_MAX],
		 struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct map found = { 0 };
	int r = image_ctr_list(ctx, a, image_ctr_name(a, image), &found, e);

	return r < 0 ? r : image_ctr_find(&found, image, id, e);
}

/* Programs that pack archives, by the first bytes. Old versions of ctr take plain archives only. From containerd 1.5
 * on ctr takes gzip and zstd, so the host need not have zstd. */
static const struct {
	const char *magic, *program;
} packings[] = {
	{ "\x1f\x8b", "gzip" },
	{ "\xfd"
	  "7zXZ",
	  "xz" },
	{ "\x28\xb5\x2f\xfd", "zstd" },
	{ "BZh", "bzip2" },
};

static const char *packed_with(int fd)
{
	char head[8] = "";
	const ssize_t n = pread(fd, head, sizeof(head) - 1, 0);

	for (size_t i = 0; i < ARRAY_LEN(packings) && n > 0; i++)
		if (strncmp(head, packings[i].magic, strlen(packings[i].magic)) == 0)
			return packings[i].program;
	return NULL;
}

int image_ctr_load(struct task_ctx *ctx, int fd, struct err *e)
{
	static const char *const plain[] = { "ctr", "-n", "k8s.io", "images", "import", "-", NULL };
	const char *const packed[] = {
		"bash",
		"-c",
		"set -o pipefail\n"
		"if command -v \"$0\" >/dev/null; then \"$0\" -dc | ctr -n k8s.io images import -\n"
		"else ctr -n k8s.io images import - || { echo \"this host has no $0\" >&2; exit 1; }; fi",
		packed_with(fd),
		NULL,
	};
	autobuf struct buf out = BUF_INIT(OUTPUT_MAX);

	return task_run_program(ctx, packed[3] ? packed : plain, fd, LOAD_NS, &out, e);
}

int image_ctr_pull(struct task_ctx *ctx, const char *image, const char *hosts, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const char *name = image_ctr_name(a, image);
	/* ctr does not read the runtime's own configuration */
	const char *const argv[] = {
		"ctr",
		"-n",
		"k8s.io",
		"images",
		"pull",
		hosts ? "--hosts-dir" : name,
		hosts ? hosts : NULL,
		hosts ? name : NULL,
		NULL,
	};
	/* ctr reports its progress several times a second */
	autobuf struct buf out = BUF_INIT(OUTPUT_MAX);

	return task_run_program(ctx, argv, -1, LOAD_NS, &out, e);
}

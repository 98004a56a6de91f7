/* Tests: test_image_ctr.c. */
#include "nodeup/tasks/kinds.h"

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/enc.h"
#include "nodeup/base/json.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/print.h"
#include "nodeup/base/record.h"
#include "nodeup/host/containers.h"
#include "nodeup/tasks/image_archive.h"
#include "nodeup/tasks/images.h"

static const char record_dir[] = OWN_IMAGES_DIR;

#define ASK_NS (30 * DUR_SEC)
#define LOAD_NS (600 * DUR_SEC)
/* how often a task looks whether it may load its archive */
#define TURN_NS (250 * DUR_MS)

enum {
	ANSWER_MAX = 1 << 20,
	RECORD_MAX = 64 << 10,
	OUTPUT_MAX = 64 << 10,
	ID_MAX = IMAGE_ID_MAX,
	TAG_MAX = 128
};

/* Asks dockerd itself: docker's command takes 30 ms for the same answer. -ENOENT: no such image. */
static int docker_id(struct task_ctx *ctx, const char *image, char id[static ID_MAX], struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf answer = BUF_INIT(ANSWER_MAX);
	const struct tree *field;
	struct tree *t;
	int r;

	const struct http_req req = {
		.url = arena_printf(a, "http://docker/images/%s/json", enc_url(a, image, 0)),
		.unix_socket = docker_socket,
		.no_proxy = true,
		.timeout_ns = task_time_left(ctx, ASK_NS),
	};
	r = http_get(ctx->http, &req, &answer, NULL, e);
	if (r < 0)
		return r;
	r = json_parse(a, "docker", buf_str(&answer), answer.len, &t, e);
	if (r < 0)
		return r;
	field = tree_get(t, "Id");
	if (!field || field->kind != TREE_SCALAR || strlen(field->scalar) >= ID_MAX)
		return err_fail(e, ERR_SYSTEM, EPROTO, "docker does not say the id of %s", image);
	(void)print_to(id, ID_MAX, "%s", field->scalar);
	return 0;
}

static const char *runtime_of(const struct task_image *im)
{
	return im->in_containerd ? "containerd.service" : "docker.service";
}

static int image_id(struct task_ctx *ctx, const struct task_image *im, char id[static ID_MAX],
		    struct err *e)
{
	return im->in_containerd ? image_ctr_id(ctx, im->name, id, e)
				 : docker_id(ctx, im->name, id, e);
}

/* Returns the record of an image that we loaded under this name: "<asset digest> <image id>". */
static char *record_text(struct arena *a, const struct task_image *im, const char *id)
{
	char hex[DIGEST_TEXT_MAX];

	return arena_printf(a, "%s:%s %s\n", digest_algo_name(im->asset->digest.algo),
			    digest_hex(&im->asset->digest, hex), id);
}

static char *record_path(struct arena *a, const char *image)
{
	return arena_printf(a, "%s/%s", record_dir, enc_url(a, image, 0));
}

/* Returns the record's first line, "<asset digest>", for an archive whose images only the archive itself names. A
 * line "<name> <image id>" for each image follows. */
static const char *record_head(struct arena *a, const struct task_image *im)
{
	return str_trim(a, record_text(a, im, ""));
}

static int check_recorded(struct task_ctx *ctx, const char *line, struct task_diff *diff)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strv words = strv_split(a, line, ' ');
	char id[ID_MAX];
	struct err why;
	int r;

	if (words.n != 2)
		return TASK_EQUAL;
	r = images_id(ctx, words.v[0], id, &why);
	if (r == -ENOENT)
		return task_missing(diff, "%s is not in the runtime", words.v[0]);
	if (r < 0)
		return task_differs(diff, "the runtime does not answer");
	return strcmp(id, words.v[1]) == 0
		       ? TASK_EQUAL
		       : task_differs(diff, "the runtime has another image %s", words.v[0]);
}

static int check_unnamed(const struct task_image *im, struct task_ctx *ctx, struct task_diff *diff)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf record = BUF_INIT(RECORD_MAX);
	struct strv lines = { 0 };

	if (record_read(ctx->root_fd, record_path(a, im->name), &record))
		lines = strv_split(a, buf_str(&record), '\n');
	if (!lines.n || strcmp(lines.v[0], record_head(a, im)) != 0)
		return task_missing(diff, "not loaded by us");
	for (size_t i = 1; i < lines.n; i++)
		if (check_recorded(ctx, lines.v[i], diff) != TASK_EQUAL)
			return TASK_DIFFERS;
	return TASK_EQUAL;
}

static int image_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
		       struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf record = BUF_INIT(RECORD_MAX);
	char id[ID_MAX];
	struct err why;
	int r;

	(void)e;
	if (ctx->image_mode || ctx->spares_runtime)
		return TASK_EQUAL;
	if (image_demand(ctx, runtime_of(&t->image), &why) < 0)
		return task_differs(diff, "the runtime does not answer");
	if (t->image.is_unnamed)
		return check_unnamed(&t->image, ctx, diff);
	r = t->image.in_containerd ? images_id(ctx, t->image.name, id, &why)
				   : docker_id(ctx, t->image.name, id, &why);
	if (r == -ENOENT)
		return task_missing(diff, "not in the runtime");
	if (r < 0)
		return task_differs(diff, "the runtime does not answer");
	if (!record_read(ctx->root_fd, record_path(a, t->image.name), &record))
		return task_differs(diff, "in the runtime, but not loaded by us");
	if (!str_eq(buf_str(&record), record_text(a, &t->image, id)))
		return task_differs(diff, "the runtime has another image of this name");
	return TASK_EQUAL;
}

/* Loads an image that is a member of an archive: it goes from the unpacker straight into the loader. */
static int load_member(const struct asset *as, struct task_ctx *ctx, struct image_entries *entries,
		       const char *const *argv, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf out = BUF_INIT(OUTPUT_MAX);
	autoclose int fd = -1;
	struct extract *x;
	int r = cache_give(ctx->cache, a, as, entries->v, entries->n, &fd, &x, e);

	if (r < 0)
		return r;
	r = task_run_program(ctx, argv, fd, LOAD_NS, &out, e);
	if (r < 0) {
		extract_abort(x);
		return r;
	}
	extract_drain(x, fd);
	return extract_finish(x, e);
}

static int load_image(const struct task_image *im, struct task_ctx *ctx,
		      struct image_entries *entries, struct err *e)
{
	static const char *const argv[] = { "docker", "load", NULL };
	autobuf struct buf out = BUF_INIT(OUTPUT_MAX);
	autoclose int fd = -1;
	int r;

	if (im->member)
		return load_member(im->asset, ctx, entries, argv, e);
	r = cache_open(ctx->cache, &im->asset->digest, &fd, e);
	if (r < 0)
		return r;
	return im->in_containerd ? image_ctr_load(ctx, fd, e)
				 : task_run_program(ctx, argv, fd, LOAD_NS, &out, e);
}

static bool is_tag(const char *s)
{
	static const char good[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	const size_t n = strspn(s, good);

	return n > 0 && n <= TAG_MAX && s[n] == '\0' && *s != '.' && *s != '-';
}

/* Gives the loaded image the name that the plan knows, in addition to the tag in the archive. */
static int tag_image(const struct task_image *im, struct task_ctx *ctx, const char *text,
		     struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf out = BUF_INIT(OUTPUT_MAX);
	const char *argv[] = { "docker", "tag", NULL, im->name, NULL };
	const char *tag = str_trim(a, text);

	if (!is_tag(tag))
		return err_fail(e, ERR_CONFIG, EINVAL, "asset %s: '%s' does not say a tag",
				im->asset->name, im->tag);
	argv[2] = arena_printf(a, "%s:%s", im->loaded_as, tag);
	return strcmp(argv[2], im->name) == 0 ? 0
					      : task_run_program(ctx, argv, -1, ASK_NS, &out, e);
}

/* Records which of the archive's names containerd has now: it may leave out images for other machines. */
static int record_unnamed(const struct task_image *im, struct task_ctx *ctx,
			  const struct strv *names, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv lines = { 0 };
	int r = 0;

	strv_add(a, &lines, record_head(a, im));
	for (size_t i = 0; i < names->n && r >= 0; i++) {
		char id[ID_MAX];

		r = image_ctr_id(ctx, names->v[i], id, e);
		if (r == 0)
			strv_addf(a, &lines, "%s %s", names->v[i], id);
		if (r == -ENOENT)
			r = 0;
	}
	if (r < 0)
		return r;
	if (names->n && lines.n == 1)
		return err_fail(e, ERR_INTEGRITY, ENOENT,
				"asset %s was loaded, but containerd has no image '%s'",
				im->asset->name, names->v[0]);
	return record_write(ctx->root_fd, record_path(a, im->name), 0644,
			    arena_printf(a, "%s\n", strv_join(a, &lines, "\n")), e);
}

static int load(const struct task *t, struct task_ctx *ctx, struct task_run *run, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct image_entries entries = { .v = { { .fd = -1 }, { .fd = -1 } } };
	autoclose int tag_fd = -1;
	struct strv names = { 0 };
	const char *tag = NULL;
	char id[ID_MAX];
	int r = 0;

	r = image_demand(ctx, runtime_of(&t->image), e);
	/* reads the names before the load: an archive that is refused must not be loaded */
	if (r == 0 && t->image.is_unnamed)
		r = image_archive_names(t->image.asset, ctx, a, &names, e);
	else if (r == 0 && t->image.member)
		r = image_archive_find(&t->image, ctx, a, &entries, e);
	tag_fd = entries.v[1].fd;
	if (r >= 0)
		r = load_image(&t->image, ctx, &entries, e);
	if (r >= 0 && t->image.tag)
		r = image_archive_tag(&entries, a, &tag, e);
	if (r >= 0 && tag)
		r = tag_image(&t->image, ctx, tag, e);
	/* another try would find the same archive */
	run->final = r < 0 && e->kind == ERR_CONFIG;
	if (r < 0)
		return err_wrap(e, "load image %s", t->image.name);
	if (t->image.is_unnamed)
		return record_unnamed(&t->image, ctx, &names, e);
	r = image_id(ctx, &t->image, id, e);
	if (r == -ENOENT)
		return err_fail(e, ERR_INTEGRITY, ENOENT,
				"asset %s was loaded, but holds no image '%s'",
				t->image.asset->name, t->image.name);
	if (r < 0)
		return r;
	return record_write(ctx->root_fd, record_path(a, t->image.name), 0644,
			    record_text(a, &t->image, id), e);
}

/* Waits for a turn, then loads. Each load runs a program that unpacks. Loads that run at once would take longer, and
 * hold all images in memory. */
static int image_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		       struct err *e)
{
	int r;

	if (!images_take_turn(ctx))
		return task_wait(run, dur_now() + TURN_NS, "two others are being loaded");
	r = load(t, ctx, run, e);
	images_changed(ctx);
	images_end_turn(ctx);
	return r;
}

static int image_compare(const struct task *t, const struct task *was, struct task_ctx *ctx,
			 struct task_diff *diff)
{
	if (ctx->image_mode)
		return TASK_EQUAL;
	if (!was)
		return task_missing(diff, "not in the runtime");
	return digest_eq(&was->image.asset->digest, &t->image.asset->digest)
		       ? TASK_EQUAL
		       : task_differs(diff, "the runtime has another image of this name");
}

static void image_inputs(const struct task *t, struct digest_ctx *c)
{
	digest_update(c, t->image.name, strlen(t->image.name) + 1);
	digest_update(c, t->image.asset->digest.bytes, sizeof(t->image.asset->digest.bytes));
}

const struct task_ops task_image_ops = {
	.kind = "image",
	.stays = true,
	.check = image_check,
	.apply = image_apply,
	.compare = image_compare,
	.inputs = image_inputs,
};

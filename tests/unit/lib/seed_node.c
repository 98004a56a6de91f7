#include "tests/unit/lib/seed_node.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/proc.h"
#include "tests/unit/lib/kops18_world.h"
#include "tests/unit/lib/origin.h"

const char seed_worker[] = "tests/data/seed-cluster/nodes/kube_env.yaml";
const char seed_master[] = "tests/data/seed-cluster/master/kube_env.yaml";

static void on_wait(void *arg, const struct wait *w)
{
	struct seed *fx = arg;

	assert_true(*w->what && w->since_ns && w->attempt && (!w->why || w->why->kind == ERR_NET));
	fx->waits += w->why != NULL;
}

void seed_run(const char *const *argv)
{
	struct err e;

	if (proc_run(&(struct proc_req){ .argv = argv, .stdin_fd = -1 }, NULL, &e) < 0)
		fail_msg("%s", e.msg);
}

int seed_setup(void **state)
{
	struct seed *fx = xcalloc(1, sizeof(*fx));

	fx->c = cloud_start(NULL);
	fx->a = fx->c->arena;
	seed_run((const char *const[]){ "cp", "-r", "tests/data/seed-cluster/state/jdurbin-kops",
					fx->c->dir, NULL });
	scratch_new(&fx->root);
	scratch_write(&fx->root, "/etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n");
	scratch_write(&fx->root, "/usr/lib/systemd/system/docker.service", "");
	fx->policy.mode = MODE_APPLY;
	fx->req = (struct bootstrap_req){
		.policy = &fx->policy,
		.conf = seed_worker,
		.root_fd = fx->root.fd,
		.http = fx->c->http,
		.patience = { 0, on_wait, fx },
	};
	*state = fx;
	return 0;
}

int seed_teardown(void **state)
{
	struct seed *fx = *state;

	bootstrap_done(&fx->b);
	scratch_done(&fx->root);
	cloud_stop(fx->c);
	free(fx);
	return 0;
}

int seed_load(struct seed *fx)
{
	struct bootstrap b = { 0 };
	int r;

	bootstrap_done(&fx->b);
	fx->b = b;
	fx->e = (struct err){ 0 };
	r = bootstrap_load(fx->a, &fx->req, &b, &fx->e);
	if (r >= 0)
		fx->b = b;
	else
		assert_int_not_equal(fx->e.kind, ERR_NONE);
	return r;
}

void seed_must_load(struct seed *fx)
{
	if (seed_load(fx) < 0)
		fail_msg("%s", fx->e.msg);
}

void seed_must_persist(struct seed *fx)
{
	/* as apply does: the one before a run, the other after it */
	if (bootstrap_keep_answers(&fx->b, fx->root.fd, &fx->e) < 0 ||
	    bootstrap_persist(&fx->b, fx->root.fd, 1, &fx->e) < 0)
		fail_msg("%s", fx->e.msg);
}

int seed_asked(struct seed *fx, const char *path)
{
	return cloud_count(fx->c, CLOUD_IMDS, path);
}

char *seed_names(struct seed *fx)
{
	struct strv names = { 0 };

	for (size_t i = 0; i < fx->b.node.keypairs.n; i++)
		strv_add(fx->a, &names, fx->b.node.keypairs.v[i].name);
	strv_sort(&names);
	return strv_join(fx->a, &names, " ");
}

const char *seed_note(const struct seed *fx, const char *part)
{
	for (size_t i = 0; i < fx->e.nnotes; i++)
		if (strstr(fx->e.notes[i].text, part))
			return fx->e.notes[i].text;
	return NULL;
}

char *seed_below(struct seed *fx, const char *path)
{
	return arena_printf(fx->a, "%s/%s", fx->c->dir, path);
}

void seed_write(struct seed *fx, const char *path, const char *text)
{
	tmp_write(fx->c->dir, path, text, strlen(text));
}

char *seed_rebase(struct seed *fx, const char *from, const char *base, const char *path)
{
	static const char old[] = "s3://" SEED_BASE;
	autobuf struct buf b = BUF_INIT(1 << 20), out = BUF_INIT(1 << 20);
	FILE *f = fopen(from, "re");
	int c;

	assert_non_null(f);
	while ((c = fgetc(f)) != EOF)
		(void)buf_addc(&b, (char)c);
	(void)fclose(f);
	for (const char *p = buf_str(&b); *p;) {
		if (str_has_prefix(p, old)) {
			(void)buf_adds(&out, base);
			p += strlen(old);
		} else {
			(void)buf_addc(&out, *p++);
		}
	}
	seed_write(fx, path, buf_str(&out));
	return seed_below(fx, path);
}

void seed_copy(struct seed *fx, const char *from, const char *to)
{
	seed_run((const char *const[]){ "cp", seed_below(fx, from), seed_below(fx, to), NULL });
}

char *seed_content(struct seed *fx, const char *path)
{
	size_t n;

	return world_load(fx->a, seed_below(fx, path), &n);
}

void seed_store_is_down(void)
{
	assert_int_equal(setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9", 1), 0);
}

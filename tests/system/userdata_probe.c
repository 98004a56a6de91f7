/* userdata_probe - userdata/ from a command line, so that tests can give it values no kube_env has
 *
 *   userdata_probe script NODEUP [KEY=VALUE...] [NAME@FILE...]
 *   userdata_probe mime [TYPE:FILE...]
 *   userdata_probe gzip FILE */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "nodeup/base/io.h"
#include "nodeup/base/str.h"
#include "userdata/mime.h"
#include "userdata/pack.h"
#include "userdata/script.h"

enum { FILE_MAX = 1 << 20 };

static int slurp(struct arena *a, const char *path, char **ret, size_t *ret_n, struct err *e)
{
	autobuf struct buf b = BUF_INIT(FILE_MAX);
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? err_sys(e, "open %s", path) : io_read_fd(fd, path, &b, e);

	if (r < 0)
		return r;
	*ret = arena_alloc(a, b.len + 1);
	memcpy(*ret, buf_str(&b), b.len);
	*ret_n = b.len;
	return 0;
}

static int do_script(struct arena *a, char **args, struct err *e)
{
	struct userdata_req req = { .nodeup = *args++ };
	struct userdata_document *documents = NULL;
	char *text;
	size_t n;
	int r = 0;

	for (; *args && r >= 0; args++) {
		char *at = strpbrk(*args, "=@");

		if (!at)
			return err_fail(e, ERR_USAGE, 0, "%s", *args);
		if (*at == '=') {
			strmap_set(a, &req.env, arena_strn(a, *args, (size_t)(at - *args)), at + 1);
			continue;
		}
		r = slurp(a, at + 1, &text, &n, e);
		if (r >= 0)
			arena_push(a, documents, req.n_documents,
				   (struct userdata_document){
					   arena_strn(a, *args, (size_t)(at - *args)), text });
	}
	req.documents = documents;
	if (r >= 0)
		r = userdata_render(a, &req, &text, e);
	if (r >= 0)
		(void)fputs(text, stdout);
	return r;
}

static int do_mime(struct arena *a, char **args, struct err *e)
{
	struct userdata_part *parts = NULL;
	size_t n = 0;
	char *text;
	int r = 0;

	for (; *args && r >= 0; args++) {
		char *colon = strchr(*args, ':');
		struct userdata_part p = { 0 };

		if (!colon)
			return err_fail(e, ERR_USAGE, 0, "%s", *args);
		p.type = arena_strn(a, *args, (size_t)(colon - *args));
		p.name = str_basename(colon + 1);
		r = slurp(a, colon + 1, &text, &p.n, e);
		p.data = text;
		arena_push(a, parts, n, p);
	}
	if (r >= 0)
		r = userdata_mime(a, parts, n, &text, e);
	if (r >= 0)
		(void)fputs(text, stdout);
	return r;
}

static int do_gzip(struct arena *a, char **args, struct err *e)
{
	struct userdata_pack_req req = { .gzip = true };
	char *text;
	const char *data;
	size_t n;
	int r = slurp(a, *args, &text, &req.n, e);

	req.data = text;
	if (r >= 0)
		r = userdata_pack(a, &req, &data, &n, e);
	if (r >= 0)
		(void)fwrite(data, 1, n, stdout);
	return r;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(struct arena *a, char **args, struct err *e);
	} commands[] = { { "script", do_script }, { "mime", do_mime }, { "gzip", do_gzip } };
	autoarena struct arena *a = arena_new_empty();
	struct err e = { 0 };

	for (size_t i = 0; argc > 2 && i < ARRAY_LEN(commands); i++) {
		if (strcmp(argv[1], commands[i].name) != 0)
			continue;
		if (commands[i].run(a, argv + 2, &e) >= 0)
			return 0;
		fprintf(stderr, "%s\n", e.msg);
		return err_exit_status(&e);
	}
	fputs("usage: userdata_probe script|mime|gzip ARG..., see userdata_probe.c\n", stderr);
	return 64;
}

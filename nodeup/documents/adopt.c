#include <string.h>
#include "nodeup/base/enc.h"
#include "nodeup/base/io.h"
#include "nodeup/base/yaml.h"
#include "nodeup/documents/loader.h"

enum { FILE_MAX = 1 << 20 };

static int read_text(struct loader *l, const char *path, const char **ret, struct err *e)
{
	autobuf struct buf b = BUF_INIT(FILE_MAX);
	int r = io_read(l->req->root_fd, path, &b, e);

	*ret = r < 0 ? NULL : arena_strn(l->arena, buf_str(&b), b.len);
	return r;
}

/* Returns the first user of a kubeconfig. */
static const struct tree *find_user(const struct tree *t)
{
	const struct tree *users = t->kind == TREE_MAP ? tree_get(t, "users") : NULL;

	if (!users || users->kind != TREE_SEQ || users->n == 0 ||
	    users->items[0].value->kind != TREE_MAP)
		return NULL;
	users = tree_get(users->items[0].value, "user");
	return users && users->kind == TREE_MAP ? users : NULL;
}

static int decode(struct loader *l, const char *path, const struct tree *user, const char *key,
		  const char **ret, struct err *e)
{
	const char *data = user ? tree_text(user, key) : NULL;
	char *text;
	size_t n;

	if (!data)
		return err_config(e, "%s: no %s", path, key);
	/* the reason would quote a secret, so it is left out */
	if (enc_unbase64(l->arena, data, &text, &n, e) < 0)
		return err_config(e, "%s: %s is not base64", path, key);
	*ret = text;
	return 0;
}

static int read_login(struct loader *l, const char *path, struct node_keypair *ret, struct err *e)
{
	const struct tree *user;
	const char *text;
	struct tree *t;
	int r = read_text(l, path, &text, e);

	if (r < 0)
		return r;
	if (yaml_parse(l->arena, path, text, strlen(text), &t, e) < 0)
		return err_config(e, "%s: not YAML", path);
	user = find_user(t);
	r = decode(l, path, user, "client-certificate-data", &ret->cert, e);
	return r < 0 ? r : decode(l, path, user, "client-key-data", &ret->key, e);
}

int loader_adopted_pair(struct loader *l, const struct node_issue *want, struct node_keypair *ret,
			struct err *e)
{
	int r;

	*ret = (struct node_keypair){ .name = want->name };
	if (want->login)
		return read_login(l, want->login, ret, e);
	r = read_text(l, want->cert_at, &ret->cert, e);
	return r < 0 ? r : read_text(l, want->key_at, &ret->key, e);
}

/* example.c - prints example documents from the tables: the needed keys, and all others as comments */
#include "nodeup/cmd/cli.h"

#include <string.h>
#include "nodeup/base/field.h"
#include "nodeup/base/show.h"
#include "nodeup/base/yaml.h"
#include "nodeup/documents/dialects.h"

enum { EXAMPLE_MAX = 1 << 20 };

/* One of the documents of a role. */
struct example {
	const char *name, *file, *values;
	const struct schema *schema;
};

static int render(struct arena *a, const struct example *x, const char *role, struct buf *b,
		  struct err *e)
{
	struct tree *values;
	int r = yaml_parse(a, x->file, x->values, strlen(x->values), &values, e);

	if (r < 0)
		return r;
	(void)buf_addf(
		b,
		"# %s of a %s. What begins with # may be added, or is what the next key means.\n",
		x->file, role);
	return field_example(a, x->schema, values, 0, b, e);
}

/* Adds the line of kube_env that names the bytes of the cluster's document by their hash. */
static int add_hash(struct arena *a, const struct dialect *d, const char *role,
		    const struct example *cluster, struct example *kube_env, struct err *e)
{
	autobuf struct buf b = BUF_INIT(EXAMPLE_MAX);
	int r;

	if (!d->cluster_hash_line)
		return 0;
	r = render(a, cluster, role, &b, e);
	kube_env->values = arena_printf(a, "%s%s", kube_env->values,
					d->cluster_hash_line(a, buf_str(&b), b.len));
	return r;
}

static int print_document(struct cli *cli, const struct dialect *d,
			  const struct dialect_example *of, struct err *e)
{
	struct example all[] = {
		{ "kube_env", d->conf_name, of->document, d->document },
		{ "cluster", d->cluster_name, of->cluster, d->cluster },
		{ "instancegroup", d->group_name, of->group, d->group },
	};
	const size_t n = of->group ? ARRAY_LEN(all) : ARRAY_LEN(all) - 1;
	const char *wanted = cli->args.n > 1 ? cli->args.v[1] : all[0].name;
	autobuf struct buf b = BUF_INIT(EXAMPLE_MAX);
	struct strv names = { 0 };
	size_t i = 0;
	int r = add_hash(cli->arena, d, of->role, &all[1], &all[0], e);

	while (i < n && !str_eq(all[i].name, wanted))
		strv_add(cli->arena, &names, all[i++].name);
	if (i == n)
		return err_fail(e, ERR_USAGE, 0, "no document '%s' of a %s; %s", wanted, of->role,
				cli_meant(cli->arena, wanted, &names,
					  strv_join(cli->arena, &names, ", ")));
	if (r >= 0)
		r = render(cli->arena, &all[i], of->role, &b, e);
	if (r >= 0)
		show_text(buf_str(&b), b.len);
	return r;
}

void example_roles(struct arena *a, struct strv *ret)
{
	for (const struct dialect *const *d = dialects; *d; d++)
		for (const struct dialect_example *x = (*d)->examples; x && x->role; x++)
			strv_add_once(a, ret, x->role);
}

int cmd_example(struct cli *cli, struct err *e)
{
	const char *role = cli->args.n ? cli->args.v[0] : "";
	struct strv roles = { 0 };

	for (const struct dialect *const *d = dialects; *d; d++)
		for (const struct dialect_example *x = (*d)->examples; x && x->role; x++)
			if (str_eq(x->role, role))
				return print_document(cli, *d, x, e);
	example_roles(cli->arena, &roles);
	return err_fail(e, ERR_USAGE, 0, "example wants a role, and may have a document: %s",
			cli_meant(cli->arena, role, &roles, strv_join(cli->arena, &roles, ", ")));
}

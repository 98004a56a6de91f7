/* example.c - documents to begin with, from the tables: what a node needs, and every other key as a comment */
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

static int print_example(struct cli *cli, const struct example *x, const char *role, struct err *e)
{
	autobuf struct buf b = BUF_INIT(EXAMPLE_MAX);
	struct tree *values;
	int r = yaml_parse(cli->arena, x->file, x->values, strlen(x->values), &values, e);

	if (r < 0)
		return r;
	(void)buf_addf(
		&b,
		"# %s of a %s. What begins with # may be added, or is what the next key means.\n",
		x->file, role);
	r = field_example(cli->arena, x->schema, values, 0, &b, e);
	if (r >= 0)
		show_text(buf_str(&b), b.len);
	return r;
}

static int print_document(struct cli *cli, const struct dialect *d,
			  const struct dialect_example *of, struct err *e)
{
	const struct example all[] = {
		{ "kube_env", d->conf_name, of->document, d->document },
		{ "cluster", d->cluster_name, of->cluster, d->cluster },
		{ "instancegroup", d->group_name, of->group, d->group },
	};
	const char *wanted = cli->args.n > 1 ? cli->args.v[1] : all[0].name;
	struct strv names = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		strv_add(cli->arena, &names, all[i].name);
		if (str_eq(all[i].name, wanted) && all[i].values)
			return print_example(cli, &all[i], of->role, e);
	}
	return err_fail(e, ERR_USAGE, 0, "no document '%s' of a %s; %s", wanted, of->role,
			cli_meant(cli->arena, wanted, &names, strv_join(cli->arena, &names, ", ")));
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

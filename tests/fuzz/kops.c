/* kops.c - documents of today's kops that libFuzzer makes: user data, BootConfig, NodeupConfig, keysets
 * Each is an error with a text, or is read; and whatever was read is read again the same way. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeup/base/yaml.h"
#include "nodeup/config/kops/readers.h"

static void expect(int is_so, const char *what)
{
	if (is_so)
		return;
	fprintf(stderr, "not so: %s\n", what);
	abort();
}

static int read_script(struct arena *a, const char *text, struct err *e)
{
	const char *got;
	int r = kops_script(a, "f", text, &got, e);

	if (r == -ENOENT)
		(void)err_config(e, "not user data");
	return r;
}

/* With an error of each document kept, as validate does, and without. */
static int read_documents(struct arena *a, const struct tree *t, struct errs *errors, struct err *e)
{
	const struct dialect_opts o = { .checks_alone = true, .errors = errors };
	const struct kops_boot worker = { .cluster_name = "a",
					  .instance_group_role = "Node",
					  .role = kops_role("Node") };
	struct kops_boot boot;
	struct kops_config config;
	struct node_keypair pair;
	struct strv flags = { 0 };
	struct err ignored = { 0 };

	(void)!kops_boot(a, t, &o, &boot, &ignored);
	(void)!kops_keyset(a, t, "ca", "1", &pair, &ignored);
	ignored = (struct err){ 0 };
	if (kops_config(a, t, &worker, &o, &config, e) < 0)
		return -1;
	if (!errs_any(errors))
		field_flags(a, &kops_kubelet_schema, &config.kubelet, &flags);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	autoarena struct arena *a = arena_new_empty();
	const char *text = arena_strn(a, (const char *)data, n);
	struct errs errors = { .arena = a };
	struct err e = { 0 };
	struct tree *t;

	expect(read_script(a, text, &e) >= 0 || *e.msg, "an error without a text, of user data");
	e = (struct err){ 0 };
	if (yaml_parse(a, "f", text, strlen(text), &t, &e) < 0)
		return 0;
	expect(read_documents(a, t, NULL, &e) >= 0 || *e.msg, "an error without a text");
	e = (struct err){ 0 };
	expect(read_documents(a, t, &errors, &e) >= 0 || *e.msg, "an error without a text, of all");
	return 0;
}

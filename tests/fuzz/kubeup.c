/* kubeup.c - documents of kube-up that libFuzzer makes, with the templates of their tarball
 * Each is an error with a text, or is read; and a node is planned of what was read.
 * Parts: kube_env.yaml, or user data; then each file of the tarball. */
#include <stdint.h>
#include <string.h>

#include "nodeup/documents/user_data.h"
#include "tests/fuzz/lib/node.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	autoarena struct arena *a = arena_new_empty();
	const struct fuzz_parts parts = fuzz_split(a, (const char *)data, n);
	const struct fuzz_parts files = { parts.v + 1, parts.n - 1 };
	struct fuzz_documents all = { .conf = parts.v[0].text, .host = n };
	const struct user_data_file given = { "f", parts.v[0].text, parts.v[0].n, 0 };
	struct user_data user_data;
	struct err e = { 0 };

	if (user_data_read(a, "f", &given, false, &user_data, &e) < 0) {
		fuzz_expect(*e.msg, "an error without a text, of user data");
		return 0;
	}
	all.conf = user_data.conf.text;
	fuzz_plan(a, &all);
	all.files = &files;
	all.folder = "kubernetes/saltbase/salt/";
	fuzz_plan(a, &all);
	return 0;
}

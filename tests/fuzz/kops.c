/* kops.c - documents of today's kops that libFuzzer makes: user data, BootConfig, NodeupConfig, keysets
 * Each is an error with a text, or is read; and a node is planned of what was read. How long the input is says of which role,
 * and for which host.
 * Parts: NodeupConfig; BootConfig, instead of one of our own; a manifest of the state store. */
#include <stdint.h>
#include <string.h>

#include "nodeup/base/yaml.h"
#include "nodeup/config/kops/kops.h"
#include "tests/fuzz/lib/node.h"
#include "tests/unit/lib/kops_worker.h"

#define BOOT(role, source)                                                                                \
	"{CloudProvider: aws, ClusterName: a.example.com, InstanceGroupName: g, InstanceGroupRole: " role \
	", NodeupConfigHash: V2Uc2Z93/mG2/4W4SivEjv50rzmrYZ0w8cHIj1r9hGI=, " source "}"
#define FROM_STORE "ConfigBase: 's3://store/a.example.com'"
#define FROM_SERVERS \
	"ConfigServer: {servers: ['https://k:3988/'], CACertificates: " KOPS_TEST_CA "}"

static const char *const boots[] = { BOOT("Node", FROM_SERVERS), BOOT("ControlPlane", FROM_STORE),
				     BOOT("APIServer", FROM_STORE) };

static void read_script(struct arena *a, const char *text)
{
	struct err e = { 0 };
	const char *got;
	int r = kops_script(a, "f", text, &got, &e);

	fuzz_expect(r >= 0 || r == -ENOENT || *e.msg, "an error without a text, of user data");
}

static void read_keyset(struct arena *a, const char *text)
{
	struct node_keypair pair;
	struct err e = { 0 };
	struct tree *t;

	if (yaml_parse(a, "f", text, strlen(text), &t, &e) == 0)
		fuzz_expect(kops_keyset(a, t, "ca", "1", &pair, &e) >= 0 || *e.msg,
			    "an error without a text, of a keyset");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	autoarena struct arena *a = arena_new_empty();
	const struct fuzz_parts parts = fuzz_split(a, (const char *)data, n);
	struct fuzz_documents all = { .cluster = parts.v[0].text };

	read_script(a, all.cluster);
	read_keyset(a, all.cluster);
	all.manifest = parts.n > 2 ? parts.v[2].text : NULL;
	all.conf = parts.n > 1 ? parts.v[1].text : boots[n % ARRAY_LEN(boots)];
	all.host = n / ARRAY_LEN(boots);
	fuzz_plan(a, &all);
	return 0;
}

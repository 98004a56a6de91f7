/* join.c - answers of kops-controller that libFuzzer makes, to both requests of a worker
 * Each is an error with a text, or is read: then certificates are checked, and a node is planned of the configuration. */
#include <stdint.h>
#include <string.h>

#include "nodeup/config/pem.h"
#include "nodeup/join/protocol.h"
#include "tests/fuzz/lib/node.h"
#include "tests/unit/lib/kops_worker.h"

static const char boot[] =
	"{CloudProvider: aws, ClusterName: a.example.com, InstanceGroupName: g, InstanceGroupRole: Node, "
	"NodeupConfigHash: V2Uc2Z93/mG2/4W4SivEjv50rzmrYZ0w8cHIj1r9hGI=, ConfigServer: {servers: "
	"['https://k:3988/'], CACertificates: " KOPS_TEST_CA "}}";

static void check_certificate(const char *text)
{
	static const char *const hosts[] = { "i-0", "10.0.0.1", NULL };
	/* the checks behind those of key and signer are for what a CA that is trusted has signed */
	const struct pem_wanted want = { .key = text,
					 .pool = text,
					 .name = "i-0",
					 .hosts = hosts,
					 .serves = true,
					 .time = 1800000000 };
	struct pem_life life;
	struct err e = { 0 };

	fuzz_expect(pem_check_issued(text, &want, &life, &e) >= 0 || *e.msg,
		    "an error without a text, of a certificate");
	e = (struct err){ 0 };
	fuzz_expect(pem_check_certificate(text, &e) >= 0 || *e.msg,
		    "an error without a text, of CAs");
	e = (struct err){ 0 };
	fuzz_expect(pem_check_public_keys(text, &e) >= 0 || *e.msg,
		    "an error without a text, of keys");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	autoarena struct arena *a = arena_new_empty();
	const char *text = arena_strn(a, (const char *)data, n);
	struct protocol_answer answer;
	struct err e = { 0 };

	if (protocol_read(a, text, n, &answer, &e) < 0) {
		fuzz_expect(*e.msg, "an error without a text, of an answer");
		return 0;
	}
	for (size_t i = 0; i < answer.certificates.n; i++)
		check_certificate(answer.certificates.v[i].value);
	if (answer.config)
		fuzz_plan(a, &(struct fuzz_documents){ .conf = boot,
						       .cluster = answer.config,
						       .secrets = answer.secrets,
						       .host = n });
	return 0;
}

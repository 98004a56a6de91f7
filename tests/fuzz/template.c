/* template.c - templates that libFuzzer makes, rendered with each context in turn
 * A template gives an error that names its place, or a text within its limits; and the same again. */
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeup/base/yaml.h"
#include "nodeup/template/template.h"
#include "tests/fuzz/lib/node.h"

enum { CONTEXTS_MAX = 64, CONTEXT_MAX = 1 << 20, STEPS = 20000, RESULT_MAX = 1 << 16 };

static const char any[] =
	"{x: 'x', y: 3, z: null, pillar: {a: x, n: 3, f: 0.5, t: true, e: '', l: [p, q, [1]], d: {k: v}, "
	"s: 'a,b'}, grains: {cloud: aws, roles: ['kubernetes-master'], u: \"\\u00e9\"}}";

static struct arena *kept; /* for all runs */
static struct tree *contexts[CONTEXTS_MAX];
static size_t n_contexts;

static void add_context(const char *name, const char *text, size_t n)
{
	struct err e;

	fuzz_expect(yaml_parse(kept, name, text, n, &contexts[n_contexts++], &e) == 0, name);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *files = getenv("CONTEXTS");
	glob_t found;

	(void)argc;
	(void)argv;
	kept = arena_new_empty();
	add_context("any", any, strlen(any));
	if (!files || glob(files, 0, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc && n_contexts < CONTEXTS_MAX; i++) {
		static char text[CONTEXT_MAX];
		FILE *f = fopen(found.gl_pathv[i], "re");

		fuzz_expect(f != NULL, found.gl_pathv[i]);
		add_context(found.gl_pathv[i], text, fread(text, 1, sizeof(text), f));
		fclose(f);
	}
	globfree(&found);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	autoarena struct arena *a = arena_new_empty();
	/* a copy of this length: what reads behind it is seen */
	char *text = memcpy(malloc(n + !n), data, n);
	const struct template_req req = {
		.file = "t",
		.text = text,
		.n = n,
		.context = contexts[n % n_contexts],
		.limits = { .steps = STEPS, .bytes = RESULT_MAX },
	};
	const char *first = NULL, *second = NULL;
	struct err e = { 0 }, again = { 0 };
	int r = template_render(a, &req, &first, &e);

	fuzz_expect(template_render(a, &req, &second, &again) == r, "the same status again");
	if (r < 0) {
		fuzz_expect(e.kind == ERR_CONFIG && strncmp(e.msg, "t:", 2) == 0,
			    "an error with its place");
		fuzz_expect(strcmp(e.msg, again.msg) == 0 && !first, "the same error again");
	} else {
		fuzz_expect(first && strlen(first) <= RESULT_MAX, "a text within the limit");
		fuzz_expect(strcmp(first, second) == 0, "the same text again");
	}
	free(text);
	return 0;
}

/* Tests: test_kops_runtimes.c. */
#include "nodeup/plan/kops/containerd.h"

#include "nodeup/plan/kops/release.h"
#include "nodeup/plan/kops/toml.h"

/* NVIDIA makes packages only for some distributions. */
static bool has_nvidia(const struct plan *p)
{
	return kops_has_nvidia(p) && kops_release(p)->has_nvidia;
}

/* Lists repositories that no distribution has. With kops apt trusts each key for every package; here apt trusts a
 * key only for its own repository. Source: kops 1.37 nodeup/pkg/model/nvidia.go, gvisor.go. */
static const struct repository {
	bool (*is_wanted)(const struct plan *p);
	const char *name, *key;
	const char *options, *source; /* parts of the repository's line in the list of sources */
	const char *package;
} repositories[] = {
	{ has_nvidia, "nvidia-container-toolkit",
	  "https://nvidia.github.io/libnvidia-container/gpgkey", "",
	  "https://nvidia.github.io/libnvidia-container/stable/deb/$(ARCH) /",
	  "nvidia-container-toolkit" },
	{ kops_has_gvisor, "gvisor", "https://gvisor.dev/archive.key", "arch=$(ARCH) ",
	  "https://storage.googleapis.com/gvisor/releases release main", "runsc" },
};

static bool is_used(const struct plan *p, const struct repository *r)
{
	return r->is_wanted(p) && plan_distro(p)->family == PACKAGE_DEB;
}

static void add_repository(struct plan *p, const struct repository *r)
{
	const char *key = arena_printf(p->arena, "/etc/apt/keyrings/%s.asc", r->name);

	/* a key that the documents bring is already covered by their hash */
	if (!kops_brings_file(p, key))
		plan_new_task(p, TASK_KEYRING, key)->keyring.url = r->key;
	plan_file(p, arena_printf(p->arena, "/etc/apt/sources.list.d/%s.list", r->name), 0644,
		  arena_printf(p->arena, "deb [%ssigned-by=%s] %s\n", r->options, key, r->source));
}

/* Fails if EC2 was not asked for the instance's GPUs, because the plan would be for another node. */
static void check_gpus(struct plan *p)
{
	if (kops_wants_gpus(kops_of(p)->config) && !p->req->facts->gpus.set && !p->req->no_keys &&
	    !p->req->image_mode)
		(void)err_fail(plan_error(p), ERR_NET, ENODATA,
			       "whether instances of type %s have GPUs of NVIDIA is not known: EC2 "
			       "did not say",
			       p->req->node->asked_type ? p->req->node->asked_type : "");
}

void build_kops_runtimes(struct plan *p)
{
	const char *platform = kops_of(p)->config->gvisor.platform;

	check_gpus(p);
	for (size_t i = 0; i < ARRAY_LEN(repositories); i++)
		if (is_used(p, &repositories[i]))
			add_repository(p, &repositories[i]);
	if (kops_has_gvisor(p) && !kops_of(p)->config->containerd.skip_install)
		plan_file(p, "/etc/containerd/runsc.toml", 0644,
			  arena_printf(p->arena, "[runsc_config]\n  platform = %s\n",
				       toml_string(p->arena,
						   str_is_empty(platform) ? "systrap" : platform)));
}

const char *needs_kops_runtimes(struct plan *p)
{
	const char *driver = kops_of(p)->config->nvidia_gpu.package;
	struct strv names = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(repositories); i++)
		if (is_used(p, &repositories[i])) {
			strv_add(p->arena, &names, repositories[i].package);
			if (repositories[i].is_wanted == has_nvidia && !str_is_empty(driver))
				strv_add(p->arena, &names, driver);
		}
	return strv_join(p->arena, &names, " ");
}

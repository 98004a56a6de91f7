#include "nodeup/tasks/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/io.h"
#include "nodeup/base/json.h"
#include "nodeup/base/print.h"
#include "nodeup/host/kubelet.h"
#include "nodeup/host/process.h"
#include "units/unit.h"

enum { FILE_MAX = 4 << 20, CPUS_MAX = 8192 };

struct cpus {
	bool has[CPUS_MAX];
};

/* Reads "0-3,8"; false: the text is not such a list. */
static bool add_cpus(const char *text, struct cpus *ret)
{
	while (*text) {
		char *end;
		unsigned long first, last;

		if (*text < '0' || *text > '9')
			return false;
		first = last = strtoul(text, &end, 10);
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (first > last || last >= CPUS_MAX || (*end && *end != ','))
			return false;
		for (unsigned long cpu = first; cpu <= last; cpu++)
			ret->has[cpu] = true;
		text = end + (*end == ',');
	}
	return true;
}

/* Adds the CPUs of all containers, at any level of the file. */
static bool add_given(const struct tree *t, struct cpus *ret)
{
	if (t->kind == TREE_SCALAR)
		return add_cpus(t->scalar, ret);
	for (size_t i = 0; i < t->n; i++)
		if (!add_given(t->items[i].value, ret))
			return false;
	return true;
}

/* Returns whether the checkpoint has exactly this machine's CPUs. A checkpoint without CPUs passes: kubelet fills it
 * at its start. */
static bool is_of_machine(struct arena *a, int root_fd, const struct tree *checkpoint)
{
	const char *online = io_text(a, root_fd, "/sys/devices/system/cpu/online", FILE_MAX);
	const char *rest = tree_text(checkpoint, "defaultCpuSet");
	const struct tree *given = tree_get(checkpoint, "entries");
	struct cpus *here = arena_new(a, struct cpus), *told = arena_new(a, struct cpus);

	*here = *told = (struct cpus){ 0 };
	if (!online || !rest || !*rest || !add_cpus(str_trim(a, online), here) ||
	    !add_cpus(rest, told) || (given && !add_given(given, told)))
		return true;
	return memcmp(here, told, sizeof(*here)) == 0;
}

/* A setting of kubelet outside its own configuration. */
struct given {
	const char *policy, *by; /* the policy, and the file that sets it; NULL: no file sets it */
};

static struct given policy_given(struct arena *a, int root_fd, const char *unit, const char *key)
{
	const struct strmap texts = unit_dropin_texts(a, root_fd, unit);
	struct given given = { 0 };
	const char *dir = NULL;

	for (size_t i = 0; i < texts.n; i++)
		dir = process_flag_in(a, texts.v[i].value, "--config-dir") ?: dir;
	if (dir && *dir == '/')
		given.policy = kubelet_dropin(a, root_fd, dir, key, &given.by);
	return given;
}

/* Returns what is wrong with a checkpoint that kubelet can read; NULL: nothing. */
static const char *fault_of(struct arena *a, int root_fd, const struct task_checkpoint *c,
			    const struct given *given, const struct tree *checkpoint)
{
	const char *policy = tree_text(checkpoint, "policyName");
	const char *wanted = given->by ? given->policy : c->policy;

	if (!str_eq(policy, wanted))
		return arena_printf(a, "is of policy %.20s, and kubelet has %.20s%s%s",
				    policy ? policy : "''", wanted, given->by ? " by " : "",
				    given->by ? given->by : "");
	/* only the static policy needs the machine's CPUs in the checkpoint */
	if (str_eq(wanted, "static") && !is_of_machine(a, root_fd, checkpoint))
		return "has other CPUs than this machine";
	return NULL;
}

/* Returns the drop-in, or its file of variables, that may give kubelet another policy. */
static const char *policy_of_others(struct arena *a, int root_fd, const char *unit,
				    const struct task_checkpoint *c)
{
	const struct strmap texts = unit_dropin_texts(a, root_fd, unit);

	for (size_t i = 0; i < texts.n; i++)
		if (strstr(texts.v[i].value, c->flag))
			return texts.v[i].key;
	return NULL;
}

enum checkpoint checkpoint_judge(int root_fd, const char *unit, const struct task_checkpoint *c,
				 char *why, size_t size)
{
	autoarena struct arena *a = arena_new_empty();
	const char *text = io_text(a, root_fd, c->path, FILE_MAX), *fault, *others;
	struct given given;
	struct err ignored;
	struct tree *t;

	if (!text)
		return CHECKPOINT_RIGHT;
	if (json_parse(a, c->path, text, strlen(text), &t, &ignored) < 0 || t->kind != TREE_MAP) {
		(void)print_to(why, size, "%s cannot be read", c->path);
		return CHECKPOINT_WRONG;
	}
	given = policy_given(a, root_fd, unit, c->key);
	fault = fault_of(a, root_fd, c, &given, t);
	others = fault ? policy_of_others(a, root_fd, unit, c) : NULL;
	if (others)
		(void)print_to(why, size, "%s %s: it is left, as %s has %s", c->path, fault, others,
			       c->flag);
	else if (fault)
		(void)print_to(why, size, "%s %s", c->path, fault);
	return others ? CHECKPOINT_OTHERS : fault ? CHECKPOINT_WRONG : CHECKPOINT_RIGHT;
}

int checkpoint_put_aside(int root_fd, const struct task_checkpoint *c, struct err *e)
{
	autofree char *old = xasprintf("%s.old", str_basename(c->path));
	autoclose int dir_fd = -1;
	const char *name;
	int r = io_open_parent(root_fd, c->path, &dir_fd, &name, e);

	if (r < 0)
		return r;
	if (renameat(dir_fd, name, dir_fd, old) < 0)
		return err_sys(e, "rename '%s' to '%s'", c->path, old);
	return fsync(dir_fd) < 0 ? err_sys(e, "flush the directory of '%s'", c->path) : 0;
}

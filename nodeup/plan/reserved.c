#include "nodeup/plan/reserved.h"

#include <string.h>

enum { DEFAULT_PODS = 110, GIB = 1 << 10 /* in MiB */ };

static int64_t lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Shares in hundredths of a percent, each of what lies above the row before. */
struct share {
	int64_t end, part;
};

static const struct share of_processors[] = { /* in thousandths */
					      { 1000, 600 },
					      { 2000, 100 },
					      { 4000, 50 },
					      { INT64_MAX, 25 }
};
static const struct share of_memory[] = { { 4 * GIB, 2500 },
					  { 8 * GIB, 2000 },
					  { 16 * GIB, 1000 },
					  { 128 * GIB, 600 },
					  { INT64_MAX, 200 } };

static int64_t sum_of(const struct share *row, int64_t amount)
{
	int64_t parts = 0;

	for (int64_t from = 0; from < amount; from = row++->end)
		parts += (lesser(amount, row->end) - from) * row->part;
	return parts / 10000;
}

static int64_t eks_memory(const struct reserved_size *s)
{
	return 255 + 11 * s->pods;
}

static int64_t eks_storage(const struct reserved_size *s)
{
	(void)s;
	return GIB;
}

static int64_t gke_memory(const struct reserved_size *s)
{
	return s->memory_mib < GIB ? 255 : sum_of(of_memory, s->memory_mib);
}

static int64_t gke_storage(const struct reserved_size *s)
{
	const int64_t disk = s->boot_disk_gib * GIB;

	return lesser(lesser(disk / 2, 6 * GIB + disk * 35 / 100), 100 * GIB);
}

static const struct formula {
	const char *name;
	int64_t (*memory)(const struct reserved_size *), (*storage)(const struct reserved_size *);
	bool by_memory, by_pods;
} formulas[] = {
	{ "eks", eks_memory, eks_storage, .by_pods = true },
	{ "gke", gke_memory, gke_storage, .by_memory = true },
};

static const struct formula *find(const char *name)
{
	const struct formula *f = formulas;

	while (f < &formulas[ARRAY_LEN(formulas) - 1] && strcmp(f->name, name) != 0)
		f++;
	return f;
}

struct strmap reserved_of(struct arena *a, const char *formula, const struct reserved_size *size)
{
	const struct formula *f = find(formula);
	const struct {
		const char *name, *unit;
		int64_t n;
	} amounts[] = {
		{ "cpu", "m", sum_of(of_processors, size->processors * 1000) },
		{ "memory", "Mi", f->memory(size) },
		{ "ephemeral-storage", "Mi", f->storage(size) },
	};
	struct strmap all = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(amounts) - size->knows_no_storage; i++)
		strmap_set(a, &all, amounts[i].name,
			   arena_printf(a, "%lld%s", (long long)amounts[i].n, amounts[i].unit));
	return all;
}

char *reserved_text(struct arena *a, const struct strmap *amounts)
{
	struct strv pairs = { 0 };

	for (size_t i = 0; i < amounts->n; i++)
		strv_addf(a, &pairs, "%s=%s", amounts->v[i].key, amounts->v[i].value);
	return strv_join(a, &pairs, ",");
}

/* Returns the first fact that the formula needs and nobody knows; NULL: none. */
static const char *missing_fact(const struct formula *f, const struct facts *known)
{
	return !known->processors.set                      ? "processors"
	       : f->by_memory && !known->memory_mib.set    ? "memoryMiB"
	       : f->by_memory && !known->boot_disk_gib.set ? "bootDiskGiB"
							   : NULL;
}

/* Returns what the amounts were worked out from. */
static const char *basis(struct arena *a, const struct formula *f, const struct reserved_size *s)
{
	const long long processors = s->processors;

	return f->by_pods
		       ? arena_printf(a, "%lld processors, %lld pods", processors,
				      (long long)s->pods)
		       : arena_printf(a, "%lld processors, %lld MiB of memory, a disk of %lld GiB",
				      processors, (long long)s->memory_mib,
				      (long long)s->boot_disk_gib);
}

void plan_reserve(struct plan *p, struct strmap *kube, bool system_is_named, struct opt_int pods)
{
	const char *name = p->req->settings ? p->req->settings->reserved : NULL;
	const struct facts *f = p->req->facts;
	const struct reserved_size size = { f->processors.v, f->memory_mib.v, f->boot_disk_gib.v,
					    pods.v > 0 ? pods.v : DEFAULT_PODS,
					    !node_k8s_at_least(p->req->node, 1, 8) };
	const struct formula *formula = name ? find(name) : NULL;
	const char *missing = formula ? missing_fact(formula, f) : NULL;
	struct err *e;

	if (!formula)
		return;
	if (kube->n || system_is_named) {
		strv_addf(p->arena, &p->remarks, "reserved: %s is not used: the documents name %s",
			  name, kube->n ? "kubeReserved" : "systemReserved");
		return;
	}
	/* without a machine there is no size */
	if (missing && (p->req->no_keys || p->req->no_machine))
		return;
	if (missing) {
		e = plan_error(p);
		(void)err_config(e, "reserved: %s needs the fact %s, which is not known", name,
				 missing);
		(void)facts_note(e, missing);
		return;
	}
	*kube = reserved_of(p->arena, name, &size);
	strv_addf(p->arena, &p->remarks, "kube-reserved is %s, by the formula of %s from %s",
		  reserved_text(p->arena, kube), name, basis(p->arena, formula, &size));
}

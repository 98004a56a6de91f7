/* timeline.h - where the time of a boot, or of one recorded run, went
 * Made of a run's record (history.h, times.h): moments that systemd knows, the parts of the boot between them, and the
 * run's tasks. The caller may add when the API server registered the node. The text, the JSON and the picture show the same spans.
 * Invariant: each span ends no earlier than it starts; following `after` comes to an end.
 * Bodies: timeline.c, timeline_text.c, timeline_svg.c.
 * Owner: the arena. Errors: none: what nobody knows is "not known". Units: ms since the timeline begins. Threads: all.
 * Source: systemd-analyze(1): blame, critical-chain, plot.
 * Tests: test_timeline.c, test_timeline_command.py. */
#pragma once

#include "nodeup/base/buf.h"
#include "nodeup/base/tree.h"
#include "nodeup/tasks/kinds.h"

/* The lanes: those of tasks, and a last one for the boot. */
enum { TIMELINE_BOOT = LANE_MAX, TIMELINE_LANES };

/* The moments of a boot, in its order; the key in the record, the name, and the name of the part that ends there. */
/* clang-format off */
#define TIMELINE_MARKS(X) \
	X(MARK_KERNEL, "kernel", "kernel", NULL) \
	X(MARK_INITRD, "initrd", "initrd", "kernel") \
	X(MARK_USERSPACE, "userspace", "userspace", "kernel") \
	X(MARK_NETWORK, "network", "network is online", "userspace to network") \
	X(MARK_NODEUP, "nodeup", "nodeup's first instruction", "start of nodeup") \
	X(MARK_TASKS, "tasks", "first task", "documents and plan") \
	X(MARK_RUNTIME, "runtime", "runtime is active", NULL) \
	X(MARK_KUBELET, "kubelet", "kubelet's exec", NULL) \
	X(MARK_END, "end", "end of the run", NULL) \
	X(MARK_REGISTERED, "registered", "node is registered", NULL) \
	X(MARK_READY, "ready", "node is Ready", NULL)
/* clang-format on */

#define TIMELINE_MARK(mark, ...) mark,
enum timeline_mark { TIMELINE_MARKS(TIMELINE_MARK) MARK_MAX };

enum {
	TIMELINE_UNKNOWN = -1,
	TIMELINE_EARLIER = -2
}; /* instead of a moment; EARLIER: before the timeline */

#define TIMELINE_NONE SIZE_MAX

struct timeline_span {
	const char *task, *state; /* the state is "" for a part of the boot */
	const char *why;          /* why it waited or was tried again; "": not known */
	size_t lane;
	int64_t start_ms, end_ms, waited_ms;
	size_t after;  /* index of the span that it waited for last; TIMELINE_NONE */
	bool critical; /* it is on the longest chain, from the last span back */
};

struct timeline {
	const struct tree *run; /* the record */
	struct timeline_span *v;
	size_t n, last; /* last: index of the span that ended last; TIMELINE_NONE: there is none */
	int64_t marks[MARK_MAX];
	int64_t left_out; /* tasks whose times are not recorded */
};

/* A span that took longer than in the run before. */
struct timeline_slower {
	const struct timeline_span *span;
	int64_t before_ms; /* how long it took then; -1: it had no time of its own */
	const char *why;
	struct strv also; /* tasks that lost no more beside it, for the same reason */
};

/* Returns the newest run before this one of a list that got as far as its tasks; NULL: there is none. */
const struct tree *timeline_run_before(const struct tree *runs, size_t i);
/* Makes the timeline of a record. */
struct timeline timeline_of(struct arena *a, const struct tree *run);
/* Adds when the node was registered and became Ready (seconds since 1970; -1: not known), if that is of this run. */
void timeline_add_node(struct timeline *t, int64_t registered_s, int64_t ready_s);
/* Lists what took at least half a second longer than in an earlier run, the worst first. */
struct timeline_slower *timeline_slower(struct arena *a, const struct timeline *now,
					const struct timeline *before, size_t *ret_n);
/* Returns the spans of a lane, or of all for TIMELINE_LANES, in the order of their starts or by how long they took. */
const struct timeline_span **timeline_sort(struct arena *a, const struct timeline *t, size_t lane,
					   bool by_length, size_t *ret_n);
/* Returns a lane's name, and a moment's. */
const char *timeline_lane_name(size_t lane);
const char *timeline_mark_name(enum timeline_mark mark);
/* Returns the run as a title: number, date, maker, state. */
const char *timeline_title(struct arena *a, const struct tree *run);

/* Render it: as JSON, as lines for people, as an SVG picture without a script. before NULL: there is no earlier run. */
struct tree *timeline_json(struct arena *a, const struct timeline *t,
			   const struct timeline *before);
struct strv timeline_text(struct arena *a, const struct timeline *t, const struct timeline *before);
void timeline_svg(struct arena *a, const struct timeline *t, struct buf *b);

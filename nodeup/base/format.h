/* format.h - named forms of a value's text
 * A row of a field table names a format. The reader then refuses values that no component would take, and names
 * their place. Otherwise a component would die of them on the node.
 * Owner: constants. Errors: none; a check only returns yes or no. Threads: all. Source: k8s.io/apimachinery
 * pkg/api/resource/quantity.go, pkg/util/net/port_range.go, kubernetes pkg/kubelet/eviction/helpers.go,
 * pkg/util/taints, net.ParseCIDR.
 * Tests: test_field.c. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/mem.h"

struct field_format {
	const char *wanted; /* "an address range such as 10.0.0.0/8" */
	bool (*is_valid)(const char *s);
	bool is_list; /* several values of this form, joined by commas */
	bool folds;   /* several slashes in a row count as one */
	char padded;  /* operator around which blanks are ignored; 0: blanks are not ignored */
};

/* Returns the text in its normal form. */
const char *format_fold(struct arena *a, const struct field_format *f, const char *s);
/* Returns whether a text has this format. */
bool format_is_valid(const struct field_format *f, const char *s);

extern const struct field_format format_cidr;       /* 100.64.0.0/10, fd00::/64 */
extern const struct field_format format_ip;         /* 127.0.0.1, ::1 */
extern const struct field_format format_host;       /* an address, or api.a.example.com */
extern const struct field_format format_cidrs;      /* a comma-separated list */
extern const struct field_format format_ips;        /* a comma between each */
extern const struct field_format format_quantity;   /* 100m, 0.5, 64Mi, 1e3 */
extern const struct field_format format_port_range; /* 30000-32767 */
extern const struct field_format format_thresholds; /* memory.available<100Mi,nodefs.free<10% */
extern const struct field_format format_reclaims;   /* memory.available=100Mi,nodefs.free=10% */
extern const struct field_format format_periods;    /* memory.available=1m30s */
extern const struct field_format format_path;       /* /etc/kubernetes/manifests */
extern const struct field_format format_below;      /* manifests/static/a.yaml */
extern const struct field_format format_log;        /* /var/log/audit.log, - */
extern const struct field_format format_cgroup;     /* /, /system.slice, kube-reserved */
/* like format_cgroup, but not /: a unit gets this name */
extern const struct field_format format_slice;
extern const struct field_format format_name; /* main, nodes-1.a */
/* net.core.somaxconn=1024; may have several lines */
extern const struct field_format format_sysctl;
extern const struct field_format format_switch; /* true, false, 1, f */
extern const struct field_format format_taint;  /* key=value:NoSchedule */
/* for today's kops and Kubernetes, which accept more */
extern const struct field_format format_port_range_today; /* 30000-32767, 30000+2767, 30000 */
extern const struct field_format format_thresholds_today; /* memory.available < 100Mi */
extern const struct field_format format_reclaims_today;   /* memory.available = 100Mi */
extern const struct field_format format_periods_today;    /* memory.available = 1m30s */
extern const struct field_format
	format_taint_today; /* like format_taint; also key:NoSchedule, which newer kubelets take */

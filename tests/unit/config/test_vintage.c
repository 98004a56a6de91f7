#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/yaml.h"
#include "nodeup/config/dialect.h"
#include "nodeup/config/facts.h"

#define CDN "https://artifacts.k8s.io/binaries/kops/"
#define GITHUB "https://github.com/kubernetes/kops/releases/download/"

static int find(struct arena *a, const char *script, const char *text, bool is_node_config,
		struct vintage *v, struct err *e)
{
	struct vintage_sources r = { .script = script,
				     .script_pos = { "u", 1, 1 },
				     .is_node_config = is_node_config };
	struct tree *t;

	assert_int_equal(yaml_parse(a, "k", text, strlen(text), &t, e), 0);
	r.document = t;
	return vintage_find(a, &r, v, e);
}

/* "1.8.1 by NODEUP_URL at u:1:12", or "" where it is not known. */
static const char *told(struct arena *a, const char *script, const char *text, bool is_node_config)
{
	struct vintage v;
	struct err e = { 0 };

	if (find(a, script, text, is_node_config, &v, &e) < 0)
		return arena_str(a, e.msg);
	return v.newest ? arena_printf(a, "%s by %s at %s", v.text ?: vintage_minors(a, &v), v.by,
				       tree_where(a, &v.pos))
			: "";
}

static void user_data_say_it(void **state)
{
	static const struct {
		const char *script, *want;
	} all[] = {
		{ "NODEUP_URL=" CDN "1.8.1/linux/amd64/nodeup\n", "1.8.1 by NODEUP_URL at u:1:12" },
		{ "#!/bin/bash\n\nNODEUP_URL_AMD64=" CDN "1.34.3/linux/amd64/nodeup," GITHUB
		  "v1.34.3/nodeup-linux-amd64\n",
		  "1.34.3 by NODEUP_URL_AMD64 at u:3:18" },
		{ "NODEUP_URL_AMD64=\nNODEUP_URL_ARM64=\"" GITHUB "v1.25.3/nodeup-linux-arm64\"\n",
		  "1.25.3 by NODEUP_URL_ARM64 at u:2:19" },
		{ "NODEUP_URL=https://mirror.example/a/1.19.0/linux/amd64/nodeup",
		  "1.19.0 by NODEUP_URL at u:1:12" },
		{ "NODEUP_URL_AMD64=https://b.example/pulls/1.29.0-alpha.2+v1.29.0-3-gab/linux/"
		  "amd64/nodeup",
		  "1.29.0-alpha.2+v1.29.0-3-gab by NODEUP_URL_AMD64 at u:1:18" },
		{ "NODEUP_URL_AMD64=https://b.example/1.29.0-alpha.2%2Bv1.29.0/linux/amd64/nodeup",
		  "1.29.0-alpha.2 by NODEUP_URL_AMD64 at u:1:18" },
		{ "  NODEUP_URL_AMD64='" CDN "1.36.0/linux/amd64/nodeup'",
		  "1.36.0 by NODEUP_URL_AMD64 at u:1:21" },
		/* one of ours, of a test of kops, and what is no address of kops' program */
		{ "NODEUP_URL_AMD64=https://ours.example/linux/amd64/nodeup", "" },
		{ "NODEUP_URLS='" CDN "1.25.3/linux/amd64/nodeup'", "" },
		{ "NODEUP_URL_AMD64=" CDN "1.34.0-beta.1/linux/amd64/nodeup", "" },
		{ "NODEUP_URL=https://h/containerd/releases/download/v1.7.2/containerd.tgz", "" },
		{ "NODEUP_URL=" CDN "${V}/linux/amd64/nodeup", "" },
		{ "echo NODEUP_URL=" CDN "1.25.3/linux/amd64/nodeup", "" },
		/* two that differ */
		{ "NODEUP_URL_AMD64=" CDN "1.36.1/linux/amd64/nodeup\nNODEUP_URL_ARM64=" CDN
		  "1.37.0/linux/arm64/nodeup",
		  "u:1:18: this is user data of kops 1.36.1 (NODEUP_URL_AMD64), and u:2:18: user "
		  "data of kops 1.37.0 (NODEUP_URL_ARM64); which of them is right cannot be said" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		autoarena struct arena *a = arena_new_empty();

		assert_string_equal(told(a, all[i].script, "ClusterName: c", false), all[i].want);
	}
}

/* A mirror of this nodeup may have folders of its versions. */
static void a_folder_of_any_name_counts_where_nothing_else_tells(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	static const char script[] = "NODEUP_URL=https://h/nodeup/1.10.0/linux/amd64/nodeup\n";

	(void)state;
	assert_string_equal(told(a, script, "ClusterName: c", false),
			    "1.10.0 by NODEUP_URL at u:1:12");
	assert_string_equal(told(a, script, "protokubeImage: {name: 'protokube:1.8.1'}", false),
			    "1.8.1 by protokubeImage.name at k:1:24");
	assert_string_equal(told(a, "NODEUP_URL=https://h/nodeup/1.2.0/linux/amd64/nodeup\n",
				 "ClusterName: c", false),
			    "");
}

#define HASH "0000000000000000000000000000000000000000@"
#define BOOT "CloudProvider: aws\nNodeupConfigHash: x\n"
#define ENV "ClusterName: c\nAssets: [" HASH "https://h/kubelet]\n"

static void documents_say_it(void **state)
{
	static const struct {
		const char *text, *want;
	} all[] = {
		{ "protokubeImage: {name: 'protokube:1.10.0'}",
		  "1.10.0 by protokubeImage.name at k:1:24" },
		{ "protokubeImage: {name: 'registry:5000/x/protokube:1.9.2'}",
		  "1.9.2 by protokubeImage.name at k:1:24" },
		{ "protokubeImage: {source: 'https://h/kops/1.4.3/images/protokube.tar.gz'}",
		  "1.4.3 by protokubeImage.source at k:1:26" },
		{ "Assets: [" HASH "https://h/v1.9.0/kubelet, " HASH CDN
		  "1.9.1/linux/amd64/utils.tar.gz]",
		  "1.9.1 by Assets at k:1:77" },
		{ "protokubeImage: {name: 'protokube:latest'}\n" ENV, "" },
		{ "protokubeImage: {name: 'other:1.10.0'}\n" ENV, "" },
		{ "Assets: [" HASH "https://h/1.9.1/linux/amd64/utils.tar.gz]", "" },
		{ "Assets: [" HASH "https://h/kops/cni/v1.31.7/linux/amd64/plugins]", "" },
		{ ENV, "" },
		{ ENV "etcdManifests: [x]", "1.10 to 1.18 by etcdManifests at k:3:16" },
		{ ENV "protokubeImage: {sources: [x]}",
		  "1.12 to 1.18 by protokubeImage.sources at k:3:27" },
		{ ENV "staticManifests: [x]", "1.17 and 1.18 by staticManifests at k:3:18" },
		{ "Assets: {amd64: []}\nInstanceGroupName: g", "1.19 to 1.21 by Assets at k:1:9" },
		{ BOOT, "1.22 to 1.26 by no ClusterName at k:1:1" },
		{ BOOT "ClusterName: c", "" },
		/* a slip of the pen */
		{ BOOT "ClusterNam: c", "" },
		{ "protokubeImage: {name: 'protokube:1.8.1'}\nAssets: [" HASH CDN
		  "1.10.0/linux/amd64/utils.tar.gz]",
		  "k:1:24: this is a kube_env.yaml of kops 1.8.1 (protokubeImage.name), and "
		  "k:2:10: a kube_env.yaml of kops 1.10.0 (Assets); which of them is right cannot "
		  "be said" },
		{ "protokubeImage: {name: 'protokube:1.8.1', sources: [x]}",
		  "k:1:24: this is a kube_env.yaml of kops 1.8.1 (protokubeImage.name), and "
		  "k:1:52: a kube_env.yaml of kops 1.12 to 1.18 (protokubeImage.sources); which "
		  "of them is right cannot be said" },
		/* patches write the same keys */
		{ "protokubeImage: {name: 'protokube:1.8.1'}\nAssets: [" HASH CDN
		  "1.8.0/linux/amd64/utils.tar.gz]",
		  "1.8.1 by protokubeImage.name at k:1:24" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		autoarena struct arena *a = arena_new_empty();

		assert_string_equal(told(a, NULL, all[i].text, false), all[i].want);
	}
}

#define K8S "KubernetesVersion: 1.31.0\n"

static void keys_of_nodeup_config_say_it(void **state)
{
	static const struct {
		const char *text, *want;
	} all[] = {
		{ K8S "Assets: {amd64: [" HASH CDN "1.35.2/linux/amd64/channels]}",
		  "1.35.2 by Assets at k:2:18" },
		{ "CAs: {}", "1.22 to 1.26 by no KubernetesVersion at k:1:1" },
		{ K8S "ContainerRuntime: containerd",
		  "1.27 and 1.28 by ContainerRuntime at k:2:19" },
		{ K8S "docker: {}", "1.27 and 1.28 by docker at k:2:9" },
		{ K8S "useInstanceIDForNodeName: true",
		  "1.27 and 1.28 by useInstanceIDForNodeName at k:2:27" },
		{ K8S "channels: [x]", "1.29 to 1.35 by channels at k:2:11" },
		{ K8S "KubeletConfig: {podInfraContainerImage: p}\n"
		      "containerdConfig: {sandboxImage: p}",
		  "1.35 or newer by containerdConfig.sandboxImage at k:3:34" },
		{ K8S "channels: [x]\ncontainerdConfig: {sandboxImage: p}",
		  "1.35 by channels at k:2:11" },
		{ K8S "channels: [x]\nchannelsManifest: p",
		  "k:2:11: this is a NodeupConfig of kops 1.29 to 1.35 (channels), and k:3:19: a "
		  "NodeupConfig of kops 1.36 or newer (channelsManifest); which of them is right "
		  "cannot be said" },
		{ K8S "APIServerConfig: {KubeAPIServer: {env: [], watchCacheSizes: null}}", "" },
		{ K8S, "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		autoarena struct arena *a = arena_new_empty();

		assert_string_equal(told(a, NULL, all[i].text, true), all[i].want);
	}
}

/* Each key that came or went, and the minors whose documents may have it. */
static void each_key_has_its_minors(void **state)
{
	static const struct {
		const char *text, *want;
		bool is_boot;
	} all[] = {
		{ "EtcdIPs: [10.0.0.1]", "1.37 or newer", true },
		{ "ConfigServer: {tlsServerName: n}", "1.36 or newer", true },
		{ "usesLegacyGossip: false", "1.29 to 1.36", false },
		{ "channels: [x]", "1.29 to 1.35", false },
		{ "channelsManifest: x", "1.36 or newer", false },
		{ "KubeletConfig: {podInfraContainerImage: p}", "1.29 to 1.34", false },
		{ "containerdConfig: {sandboxImage: p}", "1.35 or newer", false },
		{ "useIPBasedNodeNames: true", "1.37 or newer", false },
		{ "InstallCNIAssets: true", "1.32 or newer", false },
		{ "Networking: {kindnet: {}}", "1.32 or newer", false },
		{ "discoveryServiceWithUniverse: {url: u}", "1.35 or newer", false },
		{ "GVisor: {enabled: true}", "1.36 or newer", false },
		{ "nlbSecurityGroupMode: Managed", "1.36 or newer", false },
		{ "NvidiaGPU: {image: i}", "1.34 or newer", false },
		{ "containerdConfig: {gvisor: {}}", "1.36 or newer", false },
		{ "containerdConfig: {useECRCredentialsForMirrors: true}", "1.33 or newer", false },
		{ "containerdConfig: {installCriCtl: true}", "1.34 or newer", false },
		{ "containerdConfig: {installNerdCtl: true}", "1.34 or newer", false },
		{ "containerdConfig: {nvidiaGPU: {image: i}}", "1.34 or newer", false },
		{ "KubeletConfig: {maxParallelImagePulls: 2}", "1.34 or newer", false },
		{ "KubeletConfig: {crashLoopBackOffMaxContainerRestartPeriod: 1m}", "1.35 or newer",
		  false },
		{ "KubeletConfig: {eventRecordQPS: 1}", "1.36 or newer", false },
		{ "KubeletConfig: {kubeAPIQPS: 1}", "1.36 or newer", false },
		{ "KubeletConfig: {nodeLeaseDurationSeconds: 1}", "1.36 or newer", false },
#define SERVER(key) "APIServerConfig: {KubeAPIServer: {" key "}}"
		{ SERVER("targetRamMB: 1"), "1.29 and 1.30", false },
		{ SERVER("authenticationConfigFile: f"), "1.30 or newer", false },
		{ SERVER("watchCache: true"), "1.30 or newer", false },
		{ SERVER("watchCacheSizes: [a#1]"), "1.30 or newer", false },
		{ SERVER("env: [{name: a}]"), "1.31 or newer", false },
		{ SERVER("goawayChance: '.1'"), "1.32 or newer", false },
		{ SERVER("deleteCollectionWorkers: 1"), "1.35 or newer", false },
		{ SERVER("storageInitializationTimeout: 1m"), "1.35 or newer", false },
		{ SERVER("compactionInterval: 1m"), "1.36 or newer", false },
		{ SERVER("strictTransportSecurityDirectives: [a]"), "1.37 or newer", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		autoarena struct arena *a = arena_new_empty();
		const char *start = all[i].is_boot ? BOOT "ClusterName: c\n" : K8S;
		struct vintage v;
		struct err e = { 0 };

		assert_int_equal(find(a, NULL, arena_printf(a, "%s%s", start, all[i].text),
				      !all[i].is_boot, &v, &e),
				 0);
		assert_string_equal(vintage_minors(a, &v) ?: all[i].text, all[i].want);
	}
}

/* What keys leave open is narrowed, and the newest of it is taken. */
static void the_newest_that_is_left_is_taken(void **state)
{
#define TO_34 "KubeletConfig: {podInfraContainerImage: p}\nusesLegacyGossip: false\n"
#define FROM_35 "containerdConfig: {sandboxImage: p}\n"
	static const struct {
		const char *text, *want;
	} all[] = {
		{ "KubernetesVersion: 1.34.1\n" FROM_35, "kops 1.37 by its keys" },
		{ "KubernetesVersion: 1.34.1\nusesLegacyGossip: false\n" FROM_35,
		  "kops 1.36 by its keys (1.35 and 1.36 are possible)" },
		{ "KubernetesVersion: 1.30.1\nusesLegacyGossip: false\n" FROM_35,
		  "kops 1.35 by its keys" },
		{ "KubernetesVersion: 1.36.1\nusesLegacyGossip: false\n" FROM_35,
		  "kops 1.36 by its keys" },
		{ "KubernetesVersion: 1.31.1\nchannels: [x]\nusesLegacyGossip: false\n" FROM_35,
		  "kops 1.35 by its keys" },
		{ "KubernetesVersion: 1.30.1\nInstallCNIAssets: true\n" TO_34,
		  "kops 1.34 by its keys (1.32 to 1.34 are possible)" },
		/* no sandbox is named at all */
		{ "KubernetesVersion: 1.31.1\nInstallCNIAssets: true\nusesLegacyGossip: false\n",
		  "kops 1.34 by its keys (1.32 to 1.34 are possible)" },
		{ "KubernetesVersion: 1.33.1\nInstallCNIAssets: true\n" TO_34,
		  "kops 1.34 by its keys (1.33 and 1.34 are possible)" },
		{ "KubernetesVersion: 1.28.1\nInstallCNIAssets: true\n" TO_34,
		  "kops 1.33 by its keys (1.32 and 1.33 are possible)" },
		{ "KubernetesVersion: 1.29.1\n" TO_34,
		  "kops 1.31 by its keys (1.29 to 1.31 are possible)" },
		{ "KubernetesVersion: 1.29.1\nNetworking: {amazonVPC: {}}\n" TO_34,
		  "kops 1.34 by its keys (1.29 to 1.34 are possible)" },
		{ "KubernetesVersion: 1.29.1\nNetworking: {calico: {}}\n" TO_34,
		  "kops 1.34 by its keys (1.29 to 1.34 are possible)" },
		{ "KubernetesVersion: 1.29.1\nNetworking: {cilium: {}}\n" TO_34,
		  "kops 1.34 by its keys (1.29 to 1.34 are possible)" },
		{ "KubernetesVersion: 1.29.1\nNetworking: {cni: {}}\n" TO_34,
		  "kops 1.31 by its keys (1.29 to 1.31 are possible)" },
		{ "KubernetesVersion: 1.24.1\n" TO_34, "kops 1.29 by its keys" },
		{ "KubernetesVersion: 1.31.1\nusesLegacyGossip: false\nchannelsManifest: x\n" FROM_35,
		  "kops 1.36 by its keys" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct vintage v;
		struct err e = { 0 };
		struct tree *t;

		assert_int_equal(find(a, NULL, all[i].text, true, &v, &e), 0);
		assert_int_equal(yaml_parse(a, "k", all[i].text, strlen(all[i].text), &t, &e), 0);
		vintage_guess(a, t, NULL, &v);
		assert_string_equal(vintage_title(a, &v), all[i].want);
	}
}

/* The keys of these documents, but for the last ones, leave kops 1.35 and 1.36 open. */
static void what_kops_left_rules_versions_out(void **state)
{
#define OPEN "KubernetesVersion: 1.34.1\nusesLegacyGossip: false\n"
#define WITH(version) "containerdConfig: {sandboxImage: p, version: " version "}\n"
#define OVERRIDE "containerdConfig: {sandboxImage: p, version: 2.1.9, configOverride: x}\n"
#define BOTH "kops 1.36 by its keys (1.35 and 1.36 are possible)"
	enum { NONE, BY_FILE, BY_FLAGS };
	static const struct {
		const char *text;
		int kubelet, toml;
		const char *want;
	} all[] = {
		{ OPEN WITH("2.1.9"), NONE, 0, BOTH },
		{ OPEN WITH("2.1.9"), BY_FLAGS, 0,
		  "kops 1.35 by its keys and what kops left here" },
		{ OPEN WITH("2.1.9"), BY_FILE, 0, "kops 1.36 by its keys and what kops left here" },
		{ OPEN WITH("2.1.9"), NONE, 2, "kops 1.35 by its keys and what kops left here" },
		{ OPEN WITH("2.1.9"), NONE, 3, "kops 1.36 by its keys and what kops left here" },
		{ OPEN WITH("1.7.29"), NONE, 2, BOTH },
		{ OPEN FROM_35, NONE, 2, BOTH },
		{ OPEN OVERRIDE, NONE, 2, BOTH },
		{ OPEN OVERRIDE, NONE, 3, BOTH },
		/* it narrows nothing, or would leave nothing */
		{ "KubernetesVersion: 1.30.1\nInstallCNIAssets: true\n" TO_34, BY_FLAGS, 2,
		  "kops 1.34 by its keys (1.32 to 1.34 are possible)" },
		{ "KubernetesVersion: 1.36.1\nusesLegacyGossip: false\n" FROM_35, BY_FLAGS, 0,
		  "kops 1.36 by its keys" },
		{ "KubernetesVersion: 1.34.1\n" FROM_35, BY_FILE, 3, "kops 1.37 by its keys" },
		/* what other minors have is less than that */
		{ "KubernetesVersion: 1.34.1\n" FROM_35, BY_FLAGS, 0,
		  "kops 1.35 by its keys and what kops left here" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		autoarena struct arena *a = arena_new_empty();
		const struct facts left = {
			.kubelet_flags = { all[i].kubelet != NONE, all[i].kubelet == BY_FLAGS },
			.containerd_config = { true, all[i].toml },
		};
		struct vintage v;
		struct err e = { 0 };
		struct tree *t;

		assert_int_equal(find(a, NULL, all[i].text, true, &v, &e), 0);
		assert_int_equal(yaml_parse(a, "k", all[i].text, strlen(all[i].text), &t, &e), 0);
		vintage_guess(a, t, &left, &v);
		assert_string_equal(vintage_title(a, &v), all[i].want);
	}
}

static bool yes(void *records, const struct vintage *v)
{
	(void)v;
	return *(bool *)records;
}

/* Each minor, and what nodeup says of it. */
static void what_is_not_spoken_is_refused_by_name(void **state)
{
	(void)state;
	for (int minor = 3; minor < 40; minor++) {
		autoarena struct arena *a = arena_new_empty();
		const struct vintage v = { minor, minor, NULL, "user data", "URL", { "u", 8, 5 } };
		const bool is_spoken = (minor >= 6 && minor <= 8) || (minor >= 29 && minor <= 37);
		struct strv warnings = { 0 };
		bool applied = false;
		const struct dialect_opts o = { .warnings = &warnings,
						.was_applied = yes,
						.records = &applied };
		struct err e = { 0 };
		const char *want =
			arena_printf(a,
				     "u:8:5: this is user data of kops 1.%d (URL); nodeup "
				     "reads kops 1.6 to 1.8, 1.29 to 1.37",
				     minor);

		assert_int_equal(vintage_check(a, &v, &o, &e) == 0, is_spoken);
		if (!is_spoken)
			assert_string_equal(e.msg, want);
		applied = true;
		assert_int_equal(vintage_check(a, &v, &o, &e), 0);
		assert_int_equal(warnings.n, !is_spoken);
		if (!is_spoken)
			assert_true(str_has_prefix(warnings.v[0], want));
	}
}

/* Documents of 1.28 or 1.29 may be of the one that is spoken. */
static void a_range_that_has_a_spoken_one_is_taken(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct vintage both = { .oldest = 28, .newest = 29 };
	const struct vintage none = { .oldest = 9, .newest = 28, .of = "x", .by = "y" };
	const struct dialect_opts o = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(vintage_check(a, &both, &o, &e), 0);
	assert_int_equal(vintage_check(a, &(struct vintage){ 0 }, &o, &e), 0);
	assert_true(vintage_check(a, &none, &o, &e) < 0);
	assert_int_equal(e.kind, ERR_CONFIG);
}

/* A minor alone is its newest patch. */
static void documents_are_read_by_one_version(void **state)
{
	static const struct {
		const char *text;
		int oldest, newest, minor, patch;
	} all[] = {
		{ "1.34.2", 34, 34, 34, 2 }, { "1.34.0-alpha.1", 34, 34, 34, 0 },
		{ "1.29", 29, 29, 29, 2 },   { "1.30", 30, 30, 30, 4 },
		{ NULL, 29, 31, 31, 0 },     { NULL, 29, 32, 32, 4 },
		{ "1.33", 33, 33, 33, 2 },   { NULL, 29, 34, 34, 3 },
		{ NULL, 35, 35, 35, 2 },     { NULL, 35, 36, 36, 2 },
		{ NULL, 36, 9999, 37, 0 },   { NULL, 0, 0, 37, 0 },
		{ "1.28.3", 28, 28, 37, 0 }, { NULL, 27, 28, 37, 0 },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		const struct vintage v = { all[i].oldest, all[i].newest, .text = all[i].text };
		const struct version got = vintage_version(a, &v);

		assert_int_equal(got.major, 1);
		assert_int_equal(got.minor, all[i].minor);
		assert_int_equal(got.patch, all[i].patch);
	}
}

/* The oldest and the newest minor of Kubernetes of each kops, which made none of those beyond. */
static void each_kops_has_its_kubernetes(void **state)
{
	static const int all[][3] = { { 29, 24, 29 }, { 30, 25, 30 }, { 31, 25, 31 },
				      { 32, 27, 32 }, { 33, 27, 33 }, { 34, 29, 34 },
				      { 35, 29, 35 }, { 36, 31, 36 }, { 37, 31, 37 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		const struct version kops = { .major = 1, .minor = all[i][0] };

		assert_false(vintage_has_kubernetes(&kops, all[i][1] - 1));
		assert_true(vintage_has_kubernetes(&kops, all[i][1]));
		assert_true(vintage_has_kubernetes(&kops, all[i][2]));
		assert_false(vintage_has_kubernetes(&kops, all[i][2] + 1));
	}
}

/* What it was known by may have blanks. A setting is less than what names a version; so is what was found of another
 * document. */
static void a_record_says_what_was_known(void **state)
{
	static const struct {
		struct vintage v;
		const char *line;
		bool is_setting;
	} all[] = {
		{ { 36, 36, "1.36.1", .by = "NODEUP_URL" }, "1.36 1.36 1.36.1 NODEUP_URL", false },
		{ { 36, 36, "1.36.1", .by = "kopsVersion" }, "1.36 1.36 1.36.1 kopsVersion", true },
		{ { 36, 36, "1.36.1", .by = "an earlier document" },
		  "1.36 1.36 1.36.1 an earlier document",
		  true },
		/* what is no version alone is known as the one that was taken */
		{ { 36, 36, "1.36", .by = "kopsVersion" }, "1.36 1.36.2 1.36 kopsVersion", true },
		{ { 32, 34, .by = "InstallCNIAssets" }, "1.32 1.34.3 - InstallCNIAssets", false },
		{ { 35, 9999, .by = "its keys" }, "1.35 1.37.0 - its keys", false },
		{ { 38, 38, .by = "its keys" }, "1.38 1.38 - its keys", false },
		{ { 22, 26, .by = "no KubernetesVersion" },
		  "1.22 1.26 - no KubernetesVersion",
		  false },
		{ { 35, 35, .by = "what kops left here" },
		  "1.35 1.35.2 - what kops left here",
		  false },
	};
	autoarena struct arena *a = arena_new_empty();
	struct vintage got;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		assert_string_equal(vintage_record(a, &all[i].v), all[i].line);
		assert_true(vintage_of_record(a, all[i].line, &got));
		assert_string_equal(vintage_record(a, &got), all[i].line);
		assert_int_equal(got.is_setting, all[i].is_setting);
	}
	assert_false(vintage_of_record(a, "1.36 1.36 1.36.1", &got));
	assert_false(vintage_of_record(a, "1.36 x 1.36.1 y", &got));
}

/* A nodeup whose table has a newer patch makes no other node of it. */
static void a_guess_on_record_keeps_its_patch(void **state)
{
	static const struct {
		const char *line;
		int patch;
	} all[] = {
		{ "1.34 1.34.1 - channels", 1 },
		{ "1.34 1.34.1 1.34 kopsVersion", 1 },
		{ "1.34 1.34 - channels", 3 },
		{ "1.34 1.34 1.34.0 NODEUP_URL", 0 },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct vintage v;

		assert_true(vintage_of_record(a, all[i].line, &v));
		assert_int_equal(vintage_version(a, &v).minor, 34);
		assert_int_equal(vintage_version(a, &v).patch, all[i].patch);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(user_data_say_it),
		cmocka_unit_test(a_folder_of_any_name_counts_where_nothing_else_tells),
		cmocka_unit_test(documents_say_it),
		cmocka_unit_test(keys_of_nodeup_config_say_it),
		cmocka_unit_test(each_key_has_its_minors),
		cmocka_unit_test(the_newest_that_is_left_is_taken),
		cmocka_unit_test(what_kops_left_rules_versions_out),
		cmocka_unit_test(what_is_not_spoken_is_refused_by_name),
		cmocka_unit_test(a_range_that_has_a_spoken_one_is_taken),
		cmocka_unit_test(documents_are_read_by_one_version),
		cmocka_unit_test(each_kops_has_its_kubernetes),
		cmocka_unit_test(a_record_says_what_was_known),
		cmocka_unit_test(a_guess_on_record_keeps_its_patch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

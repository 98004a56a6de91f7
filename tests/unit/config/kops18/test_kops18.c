#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/yaml.h"
#include "tests/unit/lib/kops18_world.h"

static char *flags_of(struct arena *a, const struct schema *s, const void *obj)
{
	struct strv out = { 0 };

	field_flags(a, s, obj, &out);
	return strv_join(a, &out, " ");
}

#define KUBELET_HEAD                                                                              \
	"--allow-privileged=true --cgroup-root=/ --cloud-provider=aws --cluster-dns=100.64.0.10 " \
	"--cluster-domain=cluster.local --enable-debugging-handlers=true "                        \
	"--eviction-hard=memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,"       \
	"imagefs.available<10%,imagefs.inodesFree<5% "                                            \
	"--feature-gates=ExperimentalCriticalPodAnnotation=true "                                 \
	"--hostname-override=ip-10-0-0-1.ec2.internal --kubeconfig=/var/lib/kubelet/kubeconfig "  \
	"--network-plugin-mtu=9001 --network-plugin=kubenet "
#define KUBELET_MIDDLE                                                          \
	" --non-masquerade-cidr=100.64.0.0/10 "                                 \
	"--pod-infra-container-image=gcr.io/google_containers/pause-amd64:3.0 " \
	"--pod-manifest-path=/etc/kubernetes/manifests --register-schedulable=true "
#define KUBELET_TAIL "--require-kubeconfig=true --v=2"
#define MASTER_KUBELET                                                             \
	KUBELET_HEAD                                                               \
	"--node-labels=kops.k8s.io/instancegroup=master-us-west-2a,"               \
	"kubernetes.io/role=master,node-role.kubernetes.io/master=" KUBELET_MIDDLE \
	"--register-with-taints=node-role.kubernetes.io/master=:NoSchedule " KUBELET_TAIL
#define WORKER_KUBELET                                                                        \
	KUBELET_HEAD "--node-labels=kops.k8s.io/instancegroup=nodes,kubernetes.io/role=node," \
		     "node-role.kubernetes.io/node=" KUBELET_MIDDLE KUBELET_TAIL
#define DOCKER                                                                      \
	"--ip-masq=false --iptables=false --log-driver=json-file --log-level=warn " \
	"--log-opt=max-file=5 --log-opt=max-size=10m --storage-driver=overlay"
#define APISERVER                                                                                \
	"--address=127.0.0.1 --admission-control=Initializers,NamespaceLifecycle,LimitRanger,"   \
	"ServiceAccount,PersistentVolumeLabel,DefaultStorageClass,DefaultTolerationSeconds,"     \
	"NodeRestriction,Priority,ResourceQuota --allow-privileged=true --anonymous-auth=false " \
	"--apiserver-count=1 --authorization-mode=AlwaysAllow --cloud-provider=aws "             \
	"--etcd-servers-overrides=/events#http://127.0.0.1:4002 "                                \
	"--etcd-servers=http://127.0.0.1:4001 --insecure-port=8080 "                             \
	"--kubelet-preferred-address-types=InternalIP,Hostname,ExternalIP "                      \
	"--requestheader-allowed-names=aggregator "                                              \
	"--requestheader-extra-headers-prefix=X-Remote-Extra- "                                  \
	"--requestheader-group-headers=X-Remote-Group "                                          \
	"--requestheader-username-headers=X-Remote-User --secure-port=443 "                      \
	"--service-cluster-ip-range=100.64.0.0/13 --storage-backend=etcd2 --v=2"
#define CONTROLLER_MANAGER                                                                     \
	"--allocate-node-cidrs=true --attach-detach-reconcile-sync-period=1m0s "               \
	"--cloud-provider=aws --cluster-cidr=100.96.0.0/11 --cluster-name=abc.joshdurbin.net " \
	"--configure-cloud-routes=true --leader-elect=true "                                   \
	"--use-service-account-credentials=true --v=2"
#define PROXY "--cluster-cidr=100.96.0.0/11 --hostname-override=ip-10-0-0-1.ec2.internal --v=2"

static void check_control_plane(struct world *w)
{
	const struct kops18_node *own = world_own(w);

	assert_string_equal(flags_of(w->a, &kube_apiserver_schema, &own->kube_apiserver),
			    APISERVER);
	assert_string_equal(flags_of(w->a, &kube_controller_manager_schema,
				     &own->kube_controller_manager),
			    CONTROLLER_MANAGER);
	assert_string_equal(flags_of(w->a, &kube_scheduler_schema, &own->kube_scheduler),
			    "--leader-elect=true --v=2");
	assert_string_equal(own->kube_apiserver.image,
			    "gcr.io/google_containers/kube-apiserver:v1.8.7");
	assert_string_equal(own->kube_controller_manager.image,
			    "gcr.io/google_containers/kube-controller-manager:v1.8.7");
	assert_string_equal(own->kube_scheduler.image,
			    "gcr.io/google_containers/kube-scheduler:v1.8.7");
}

static void check_every_role(struct world *w, const char *kubelet)
{
	const struct node *n = &w->node;
	const struct kops18_node *own = world_own(w);
	struct docker_spec docker = own->docker;

	assert_string_equal(flags_of(w->a, &kubelet_schema, &own->kubelet), kubelet);
	docker.storage = n->docker_storage;
	assert_string_equal(flags_of(w->a, &docker_schema, &docker), DOCKER);
	assert_string_equal(flags_of(w->a, &kube_proxy_schema, &own->kube_proxy), PROXY);
	assert_string_equal(own->kube_proxy.image, "gcr.io/google_containers/kube-proxy:v1.8.7");
	assert_string_equal(own->kube_proxy.cpu_request, "100m");
	assert_string_equal(n->docker_version, "1.13.1");
	assert_string_equal(n->cluster_name, "abc.joshdurbin.net");
	assert_string_equal(n->master_internal_name, "api.internal.abc.joshdurbin.net");
	assert_string_equal(own->master_public_name, "api.abc.joshdurbin.net");
	assert_string_equal(n->cloud_provider, "aws");
	assert_string_equal(n->networking, "kubenet");
	assert_string_equal(n->non_masquerade_cidr, "100.64.0.0/10");
	assert_string_equal(n->service_cluster_ip_range, "100.64.0.0/13");
	assert_string_equal(n->cluster_dns_domain, "cluster.local");
	assert_int_equal(n->kubernetes.minor, 8);
	assert_int_equal(n->kubernetes.patch, 7);
	assert_true(own->api_dns && n->auto_upgrades);
	assert_false(own->has_cloud_config || own->secure_kubelet || own->etcd_tls);
	assert_int_equal(n->assets.n, 4);
	assert_string_equal(tree_where(w->a, &n->assets.v[1].pos), "kube_env.yaml:3:3");
	assert_string_equal(n->protokube.name, "protokube:1.8.1");
	assert_int_equal(own->etcd_clusters.n, 2);
	assert_string_equal(own->etcd_clusters.v[1].name, "events");
	assert_string_equal(own->etcd_clusters.v[0].version, "2.2.1");
	assert_string_equal(own->etcd_clusters.v[0].members.v[0], "a");
}

static void the_seeds_master(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = world_master(a);

	(void)state;
	world_must_build(&w);
	assert_int_equal(w.warnings.n, 0);
	assert_true(w.node.is_master);
	assert_string_equal(world_own(&w)->dns_zone, "Z1AFAKE1ZON3YO");
	assert_string_equal(w.node.config_base, "s3://jdurbin-kops/abc.joshdurbin.net");
	check_every_role(&w, MASTER_KUBELET);
	check_control_plane(&w);
}

static void the_seeds_worker(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = world_worker(a);

	(void)state;
	world_must_build(&w);
	assert_int_equal(w.warnings.n, 0);
	assert_false(w.node.is_master);
	check_every_role(&w, WORKER_KUBELET);
	/* control-plane sections are a master's alone */
	assert_null(world_own(&w)->kube_apiserver.image);
}

/* The text between a here-document's first and last line of the user data. */
static struct tree *here_document(struct world *w, const char *script, const char *file,
				  const char *word)
{
	size_t n;
	char *text = world_load(w->a, script, &n);
	char *start = strstr(text, arena_printf(w->a, "cat > %s <<", file));
	char *end;

	assert_non_null(start);
	start = strchr(start, '\n') + 1;
	end = strstr(start, word);
	assert_non_null(end);
	*end = '\0';
	return world_text(w, file, start);
}

/* Bare sections beside --conf, nothing else: the same node but for what cannot be derived. */
static void bare_sections_give_the_same_node(void **state)
{
	static const char *const scripts[] = { SEED "master/user_data.sh",
					       SEED "nodes/user_data.sh" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		autoarena struct arena *a = arena_new_empty();
		struct world w = world_new(a);

		w.env_doc = here_document(&w, scripts[i], "kube_env.yaml", "__EOF_KUBE_ENV");
		w.cluster =
			here_document(&w, scripts[i], "cluster_spec.yaml", "__EOF_CLUSTER_SPEC");
		w.ig = here_document(&w, scripts[i], "ig_spec.yaml", "__EOF_IG_SPEC");
		world_must_build(&w);
		assert_int_equal(w.warnings.n, 0);
		assert_null(world_own(&w)->dns_zone);
		check_every_role(&w, i == 0 ? MASTER_KUBELET : WORKER_KUBELET);
		if (i == 0)
			check_control_plane(&w);
	}
}

/* kube_env.yaml alone: every section as kops' own builders would have written it. */
static void kube_env_alone_gives_the_same_node(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world m = world_master(a), n = world_worker(a);

	(void)state;
	m.cluster = n.cluster = m.ig = n.ig = tree_null(a);
	world_must_build(&m);
	check_every_role(&m, MASTER_KUBELET);
	check_control_plane(&m);
	world_must_build(&n);
	check_every_role(&n, WORKER_KUBELET);
}

static void instance_group_lies_over_the_cluster(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w =
		world_small(a, "",
			    "kubelet: {maxPods: 10, hostnameOverride: h, anonymousAuth: false,"
			    " nodeLabels: {a: 1, b: 1}, taints: [x=y:NoSchedule]}\n"
			    "kubeProxy: {hostnameOverride: ' @AWS '}",
			    "kubelet: {maxPods: 20, nodeLabels: {b: 2}, featureGates: {F: true}}\n"
			    "nodeLabels: {b: 3, kubernetes.io/role: special}\n"
			    "taints: [z=:NoExecute]");
	const struct kubelet_spec *k;

	(void)state;
	world_must_build(&w);
	k = &world_own(&w)->kubelet;
	assert_int_equal(k->max_pods.v, 20);
	assert_string_equal(strv_join(a, &k->taints, " "), "x=y:NoSchedule z=:NoExecute");
	assert_string_equal(strmap_get(&k->node_labels, "a"), "1");
	assert_string_equal(strmap_get(&k->node_labels, "b"), "3");
	assert_string_equal(strmap_get(&k->node_labels, "kubernetes.io/role"), "special");
	assert_string_equal(strmap_get(&k->node_labels, "node-role.kubernetes.io/node"), "");
	assert_string_equal(strmap_get(&k->node_labels, "kops.k8s.io/instancegroup"), "g");
	assert_string_equal(strmap_get(&k->feature_gates, "F"), "true");
	assert_true(k->register_schedulable.v);
	assert_true(world_own(&w)->secure_kubelet);
	assert_string_equal(k->client_ca_file, "/srv/kubernetes/ca.crt");
	assert_string_equal(k->hostname_override, "h");
	assert_string_equal(world_own(&w)->kube_proxy.hostname_override,
			    "ip-10-0-0-1.ec2.internal");
}

static void a_masters_own_taints_replace_the_usual_one(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = world_small(a, MASTER_ENV, "masterKubelet: {maxPods: 1}",
				     "taints: ['a=b:NoSchedule']\nkubelet: {anonymousAuth: false}");
	const struct kubelet_spec *k;

	(void)state;
	world_must_build(&w);
	k = &world_own(&w)->kubelet;
	assert_string_equal(strv_join(a, &k->taints, " "), "a=b:NoSchedule");
	assert_int_equal(k->max_pods.v, 1);
	/* one group alone may refuse anonymous requests */
	assert_true(world_own(&w)->secure_kubelet);
}

static void versions(void **state)
{
	static const struct {
		const char *cluster;
		int minor, patch;
		const char *error;
	} rows[] = {
		{ "kubernetesVersion: v1.7.12", 7, 12, NULL },
		{ "kubernetesVersion: 1.10.0-beta.2", 10, 0, NULL },
		{ "kubernetesVersion: v1.9.0-beta.1+5ab", 9, 0, NULL },
		{ "kubernetesVersion: https://h/release/v1.9.0-rc.1/x", 9, 0, NULL },
		{ "kubernetesVersion: https://h/release/v1.8.1/bin", 8, 1, NULL },
		{ "kubeProxy: {image: 'r.io:5000/kube-proxy:v1.6.13'}", 6, 13, NULL },
		{ "{}", 9, 3, NULL },
		{ "kubernetesVersion: 1.5.3", 0, 0,
		  "cluster:1:20: Kubernetes 1.5 is not supported; 1.6 to 1.10 are" },
		{ "kubernetesVersion: 1.11.0", 0, 0,
		  "cluster:1:20: Kubernetes 1.11 is not supported; 1.6 to 1.10 are" },
		{ "kubernetesVersion: 2.0", 0, 0,
		  "cluster:1:20: Kubernetes 2.0 is not supported; 1.6 to 1.10 are" },
		{ "kubernetesVersion: latest", 0, 0,
		  "cluster:1:20: kubernetesVersion 'latest' is not a version" },
		{ "kubernetesVersion: 1.8x", 0, 0,
		  "cluster:1:20: kubernetesVersion '1.8x' is not a version" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct world w = world_small(a, "", rows[i].cluster, "");

		if (rows[i].error) {
			assert_true(world_build(&w) < 0);
			assert_int_equal(w.e.kind, ERR_CONFIG);
			assert_string_equal(w.e.msg, rows[i].error);
			continue;
		}
		world_must_build(&w);
		assert_int_equal(w.node.kubernetes.minor, rows[i].minor);
		assert_int_equal(w.node.kubernetes.patch, rows[i].patch);
		assert_true(node_k8s_at_least(&w.node, 1, rows[i].minor));
		assert_false(node_k8s_at_least(&w.node, 1, rows[i].minor + 1));
		assert_false(node_k8s_at_least(&w.node, 2, 0));
		assert_true(node_k8s_at_least(&w.node, 0, 99));
	}
}

static void an_unknown_version_is_an_error(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = world_new(a);

	(void)state;
	w.env_doc = world_text(&w, "env", "ClusterName: c\nAssets: [x@https://h/latest/kubelet]");
	assert_true(world_build(&w) < 0);
	assert_string_equal(w.e.msg,
			    "the Kubernetes version is not known: no kubernetesVersion, no "
			    "image tag, none in the URL of kubelet");
}

static void env_refusals(void **state)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{ "Tags: []", "env:1:1: 'ClusterName' is missing" },
		{ "ClusterName: ../x", "env:1:1: ClusterName: '../x' is not a name" },
		{ "ClusterName: ''", "env:1:1: ClusterName: '' is not a name" },
		{ "ClusterName: c\nInstanceGroupName: g\npackages: [socat, --reinstall]",
		  "env:3:19: packages: '--reinstall' is not a name" },
		{ "ClusterName: c\nInstanceGroupName: a/b",
		  "env:1:1: InstanceGroupName: 'a/b' is not a name" },
		{ "ClusterName: c\nConfigBase: s3://b/c",
		  "env:1:1: InstanceGroupName is missing: it names the document in ConfigBase that "
		  "says what this node is" },
		{ "ClusterName: c\nAssets: x", "env:2:9: Assets: expected a list" },
		{ "ClusterName: c\nAssets:\n- ok\n- {a: b}",
		  "env:4:3: Assets[1]: expected hash@url, or a map of asset and signature" },
		{ "ClusterName: c\nAssets:\n- ''", "env:3:3: Assets[0]: expected hash@url" },
		{ "[]", "env:1:1: expected a map, found a list" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct world w = world_new(a);

		w.env_doc = world_text(&w, "env", rows[i].text);
		assert_true(kops18_env(a, w.env_doc, &w.opts, &w.env, &w.e) < 0);
		assert_int_equal(w.e.kind, ERR_CONFIG);
		assert_string_equal(w.e.msg, rows[i].error);
		assert_null(w.env.cluster_name);
	}
}

static void unknown_keys(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = world_small(a, "Oops: 1\n", "spec: {kubelet: {maxPodz: 1}}\nstatuz: {}\n",
				     "nodeLabelz: {}\n");
	struct world strict = w;
	const char *const want[] = {
		"env:5:1: unknown key 'Oops'",
		"cluster:2:1: unknown key 'statuz'; did you mean 'status'?",
		"cluster:1:18: unknown key 'kubelet.maxPodz'; did you mean 'maxPods'?",
		"ig:1:1: unknown key 'nodeLabelz'; did you mean 'nodeLabels'?"
	};

	(void)state;
	world_must_build(&w);
	assert_int_equal(w.warnings.n, 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(w.warnings.v[i], want[i]);
	strict.opts.strict = true;
	assert_true(world_build(&strict) < 0);
	assert_string_equal(strict.e.msg, want[0]);
	assert_int_equal(strict.e.kind, ERR_CONFIG);
	/* the rest of one document is in the notes */
	strict = world_small(a, "", "a: 1\nb: 2\n", "");
	strict.opts.strict = true;
	assert_true(world_build(&strict) < 0);
	assert_string_equal(strict.e.msg, "cluster:1:1: unknown key 'a'");
	assert_int_equal(strict.e.nnotes, 1);
	assert_string_equal(strict.e.notes[0].text, "cluster:2:1: unknown key 'b'");
}

static void what_has_no_effect_is_told(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = world_small(a, "", "egressProxy: {excludes: a}\n", "");
	struct world quiet = world_small(a, "", "hooks: []\negressProxy: null\n", "");

	(void)state;
	world_must_build(&w);
	assert_int_equal(w.warnings.n, 1);
	assert_string_equal(w.warnings.v[0],
			    "cluster:1:14: egressProxy names no host: nothing is proxied");
	world_must_build(&quiet);
	assert_int_equal(quiet.warnings.n, 0);
}

static void host_names(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = world_small(a, "", "kubelet: {hostnameOverride: '@aws'}", "");
	struct world validate = w;

	(void)state;
	w.facts.local_hostname = NULL;
	assert_true(world_build(&w) < 0);
	assert_int_equal(w.e.kind, ERR_CONFIG);
	assert_string_equal(w.e.msg,
			    "cluster:1:10: kubelet.hostnameOverride is '@aws', but the fact "
			    "localHostname is not known");
	w.facts.local_hostname = "  \n";
	assert_true(world_build(&w) < 0);
	w.facts.local_hostname = " host\tx";
	world_must_build(&w);
	assert_string_equal(world_own(&w)->kubelet.hostname_override, "host");
	validate.facts.local_hostname = NULL;
	validate.opts.no_host = true;
	world_must_build(&validate);
	assert_string_equal(world_own(&validate)->kubelet.hostname_override, "@aws");
}

static void storage_drivers(void **state)
{
	static const struct {
		const char *list, *have, *want;
	} rows[] = {
		{ "aufs,overlay2", "overlay", "overlay2" },
		{ "aufs,overlay", "overlay", "overlay" },
		{ "aufs,btrfs", "overlay", "overlay2" },
		{ "devicemapper,btrfs", "overlay", "overlay2" },
		{ "zfs,overlay", "", "zfs" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct world w = world_small(
			a, "", arena_printf(a, "docker: {storage: '%s'}", rows[i].list), "");

		w.facts.filesystems = strv_split(a, rows[i].have, ',');
		world_must_build(&w);
		assert_string_equal(w.node.docker_storage, rows[i].want);
	}
}

static void cloud_config_and_networks(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w =
		world_small(a, "",
			    "cloudConfig: {disableSecurityGroupIngress: true, elbSecurityGroup: "
			    "sg-1}\nnetworking: {Weave: {mtu: 8912}}\napi: {loadBalancer: {}}\n"
			    "etcdClusters: [{name: main, version: 3.0.17, enableEtcdTLS: true,"
			    " etcdMembers: [{name: a}, {name: b}, {name: c}]}]\n",
			    "");
	struct world cni =
		world_small(a, "", "cloudConfig: {}\nkubelet: {networkPluginName: cni}", "");
	struct world old = world_small(a, "", "kubelet: {maxPods: 3}", "");

	(void)state;
	world_must_build(&w);
	assert_true(world_own(&w)->has_cloud_config && world_own(&w)->etcd_tls);
	assert_false(world_own(&w)->api_dns);
	assert_string_equal(strmap_get(&world_own(&w)->cloud_config, "DisableSecurityGroupIngress"),
			    "true");
	assert_string_equal(strmap_get(&world_own(&w)->cloud_config, "ElbSecurityGroup"), "sg-1");
	assert_string_equal(w.node.networking, "weave");
	assert_int_equal(world_own(&w)->etcd_clusters.n, 1);
	assert_int_equal(world_own(&w)->etcd_clusters.v[0].members.n, 3);
	world_must_build(&cni);
	assert_true(world_own(&cni)->has_cloud_config);
	assert_int_equal(world_own(&cni)->cloud_config.n, 0);
	assert_string_equal(cni.node.networking, "cni");
	world_must_build(&old);
	assert_string_equal(old.node.networking, "classic");
}

static void locations(void **state)
{
	static const struct {
		const char *env, *cluster, *ig;
	} rows[] = {
		{ "ConfigBase: s3://b/c/", "s3://b/c/cluster.spec", "s3://b/c/instancegroup/g" },
		{ "ClusterLocation: https://h/x/cluster.yaml", "https://h/x/cluster.yaml",
		  "https://h/x/instancegroup/g" },
		{ "ConfigBase: file:///d\nClusterLocation: /x/y", "/x/y",
		  "file:///d/instancegroup/g" },
		{ "Tags: []", NULL, NULL },
		{ "ConfigBase: ''", NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct world w = world_small(a, rows[i].env, "", "");
		const char *cluster = NULL, *ig = NULL;

		world_must_build(&w);
		assert_int_equal(kops18_locations(a, &w.env, &cluster, &ig),
				 rows[i].cluster != NULL);
		assert_true(str_eq(cluster, rows[i].cluster));
		assert_true(str_eq(ig, rows[i].ig));
	}
}

/* Every prefix of the real documents gives a node or a message that says where. */
static void truncated_documents(void **state)
{
	autoarena struct arena *keep = arena_new_empty();
	size_t n, built = 0;
	char *text = world_load(keep, STORE "cluster.spec", &n);

	(void)state;
	for (size_t len = 0; len < n; len += 7) {
		autoarena struct arena *a = arena_new_empty();
		struct world w = world_master(a);

		if (yaml_parse(a, "cluster", text, len, &w.cluster, &w.e) < 0)
			continue;
		if (world_build(&w) == 0)
			built++;
		else
			assert_int_equal(w.e.kind, ERR_CONFIG);
	}
	assert_true(built > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_seeds_master),
		cmocka_unit_test(the_seeds_worker),
		cmocka_unit_test(bare_sections_give_the_same_node),
		cmocka_unit_test(kube_env_alone_gives_the_same_node),
		cmocka_unit_test(instance_group_lies_over_the_cluster),
		cmocka_unit_test(a_masters_own_taints_replace_the_usual_one),
		cmocka_unit_test(versions),
		cmocka_unit_test(an_unknown_version_is_an_error),
		cmocka_unit_test(env_refusals),
		cmocka_unit_test(unknown_keys),
		cmocka_unit_test(what_has_no_effect_is_told),
		cmocka_unit_test(host_names),
		cmocka_unit_test(storage_drivers),
		cmocka_unit_test(cloud_config_and_networks),
		cmocka_unit_test(locations),
		cmocka_unit_test(truncated_documents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

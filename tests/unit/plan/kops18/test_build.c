#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/yaml.h"
#include "tests/unit/lib/seed.h"

/* The texts below are what kops 1.8.1 wrote for this cluster, with our host's name. */

#define KUBELET_FLAGS(labels, taints)                                                       \
	"DAEMON_ARGS=\"--allow-privileged=true --cgroup-root=/ --cloud-provider=aws "       \
	"--cluster-dns=100.64.0.10 --cluster-domain=cluster.local "                         \
	"--enable-debugging-handlers=true --eviction-hard=memory.available<100Mi,"          \
	"nodefs.available<10%,nodefs.inodesFree<5%,imagefs.available<10%,"                  \
	"imagefs.inodesFree<5% --feature-gates=ExperimentalCriticalPodAnnotation=true "     \
	"--hostname-override=" SEED_HOST " --kubeconfig=/var/lib/kubelet/kubeconfig "       \
	"--network-plugin-mtu=9001 --network-plugin=kubenet --node-labels=" labels " "      \
	"--non-masquerade-cidr=100.64.0.0/10 "                                              \
	"--pod-infra-container-image=gcr.io/google_containers/pause-amd64:3.0 "             \
	"--pod-manifest-path=/etc/kubernetes/manifests --register-schedulable=true " taints \
	"--require-kubeconfig=true --v=2 --cni-bin-dir=/opt/cni/bin/ "                      \
	"--cni-conf-dir=/etc/cni/net.d/ --network-plugin-dir=/opt/cni/bin/\"\n"             \
	"HOME=\"/root\"\n"

static const char kubelet_master[] =
	KUBELET_FLAGS("kops.k8s.io/instancegroup=master-us-west-2a,kubernetes.io/role=master,"
		      "node-role.kubernetes.io/master=",
		      "--register-with-taints=node-role.kubernetes.io/master=:NoSchedule ");

static const char kubelet_worker[] = KUBELET_FLAGS(
	"kops.k8s.io/instancegroup=nodes,kubernetes.io/role=node,node-role.kubernetes.io/node=",
	"");

static const char apiserver_command[] =
	"/usr/local/bin/kube-apiserver --address=127.0.0.1 --admission-control=Initializers,"
	"NamespaceLifecycle,LimitRanger,ServiceAccount,PersistentVolumeLabel,DefaultStorageClass,"
	"DefaultTolerationSeconds,NodeRestriction,Priority,ResourceQuota --allow-privileged=true "
	"--anonymous-auth=false --apiserver-count=1 --authorization-mode=AlwaysAllow "
	"--basic-auth-file=/srv/kubernetes/basic_auth.csv "
	"--client-ca-file=/srv/kubernetes/ca.crt --cloud-provider=aws "
	"--etcd-servers-overrides=/events#http://127.0.0.1:4002 "
	"--etcd-servers=http://127.0.0.1:4001 --insecure-port=8080 "
	"--kubelet-preferred-address-types=InternalIP,Hostname,ExternalIP "
	"--proxy-client-cert-file=/srv/kubernetes/apiserver-aggregator.cert "
	"--proxy-client-key-file=/srv/kubernetes/apiserver-aggregator.key "
	"--requestheader-allowed-names=aggregator "
	"--requestheader-client-ca-file=/srv/kubernetes/apiserver-aggregator-ca.cert "
	"--requestheader-extra-headers-prefix=X-Remote-Extra- "
	"--requestheader-group-headers=X-Remote-Group "
	"--requestheader-username-headers=X-Remote-User --secure-port=443 "
	"--service-cluster-ip-range=100.64.0.0/13 --storage-backend=etcd2 "
	"--tls-cert-file=/srv/kubernetes/server.cert "
	"--tls-private-key-file=/srv/kubernetes/server.key "
	"--token-auth-file=/srv/kubernetes/known_tokens.csv --v=2 "
	"2>&1 | /bin/tee -a /var/log/kube-apiserver.log";

static const char kcm_command[] =
	"/usr/local/bin/kube-controller-manager --allocate-node-cidrs=true "
	"--attach-detach-reconcile-sync-period=1m0s --cloud-provider=aws "
	"--cluster-cidr=100.96.0.0/11 --cluster-name=abc.joshdurbin.net "
	"--cluster-signing-cert-file=/srv/kubernetes/ca.crt "
	"--cluster-signing-key-file=/srv/kubernetes/ca.key --configure-cloud-routes=true "
	"--kubeconfig=/var/lib/kube-controller-manager/kubeconfig --leader-elect=true "
	"--root-ca-file=/srv/kubernetes/ca.crt "
	"--service-account-private-key-file=/srv/kubernetes/server.key "
	"--use-service-account-credentials=true --v=2 "
	"2>&1 | /bin/tee -a /var/log/kube-controller-manager.log";

static const char scheduler_command[] =
	"/usr/local/bin/kube-scheduler --kubeconfig=/var/lib/kube-scheduler/kubeconfig "
	"--leader-elect=true --v=2 2>&1 | /bin/tee -a /var/log/kube-scheduler.log";

#define PROXY_COMMAND(api)                                                                   \
	"/usr/local/bin/kube-proxy --cluster-cidr=100.96.0.0/11 "                            \
	"--conntrack-max-per-core=131072 --hostname-override=" SEED_HOST " "                 \
	"--kubeconfig=/var/lib/kube-proxy/kubeconfig --master=" api " --oom-score-adj=-998 " \
	"--resource-container=\"\" --v=2 2>&1 | /usr/bin/tee -a /var/log/kube-proxy.log"

static const char protokube_unit[] =
	"[Unit]\n"
	"Description=Kubernetes Protokube Service\n"
	"Documentation=https://github.com/kubernetes/kops\n"
	"\n"
	"[Service]\n"
	"ExecStartPre=/bin/true\n"
	"ExecStart=/usr/bin/docker run -v /:/rootfs/ -v /var/run/dbus:/var/run/dbus "
	"-v /run/systemd:/run/systemd -v /usr/local/bin:/opt/kops/bin:ro "
	"--env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/kops/bin "
	"--net=host --pid=host --privileged --env KUBECONFIG=/rootfs/var/lib/kops/kubeconfig  "
	"protokube:1.8.1 /usr/bin/protokube "
	"--channels=s3://jdurbin-kops/abc.joshdurbin.net/addons/bootstrap-channel.yaml "
	"--cloud=aws --containerized=true --dns-internal-suffix=.internal.abc.joshdurbin.net "
	"--dns=aws-route53 --etcd-image=gcr.io/google_containers/etcd:2.2.1 "
	"--initialize-rbac=true --master=true --v=4 --zone=*/Z1AFAKE1ZON3YO\n"
	"Restart=always\n"
	"RestartSec=2s\n"
	"StartLimitInterval=0\n"
	"\n"
	"[Install]\n"
	"WantedBy=multi-user.target\n";

static const char kubelet_unit[] = "[Unit]\n"
				   "Description=Kubernetes Kubelet Server\n"
				   "Documentation=https://github.com/kubernetes/kubernetes\n"
				   "After=docker.service\n"
				   "\n"
				   "[Service]\n"
				   "EnvironmentFile=/etc/sysconfig/kubelet\n"
				   "ExecStart=/usr/local/bin/kubelet \"$DAEMON_ARGS\"\n"
				   "Restart=always\n"
				   "RestartSec=2s\n"
				   "StartLimitInterval=0\n"
				   "KillMode=process\n"
				   "User=root\n";

static struct plan plan_role(struct arena *a, struct world *w, bool master)
{
	struct plan_req *req = arena_new(a, struct plan_req);

	*w = seed_world(a, master);
	*req = seed_request(w);
	return seed_plan(a, req);
}

static const struct task_file *file(const struct plan *p, const char *path)
{
	return &plan_get(p, TASK_FILE, path)->file;
}

static void assert_file(const struct plan *p, const char *path, mode_t mode, const char *text)
{
	const struct task_file *f = file(p, path);

	assert_string_equal(f->content, text);
	assert_int_equal(f->len, strlen(text));
	assert_int_equal(f->attr.mode, mode);
	assert_int_equal(f->attr.uid, 0);
}

static struct tree *yaml(struct arena *a, const struct task_file *f)
{
	struct tree *t = NULL;
	struct err e;

	if (yaml_parse(a, "a file", f->content, f->len, &t, &e) < 0)
		fail_msg("%s", e.msg);
	return t;
}

/* The value behind keys and indexes, "spec.containers.0.image". */
static const struct tree *at(struct arena *a, const struct tree *t, const char *way)
{
	struct strv steps = strv_split(a, way, '.');

	for (size_t i = 0; i < steps.n; i++) {
		if (t && t->kind == TREE_SEQ) {
			size_t index = (size_t)(*steps.v[i] - '0');

			t = index < t->n ? t->items[index].value : NULL;
		} else {
			t = tree_get(t, steps.v[i]);
		}
		if (!t)
			fail_msg("%s: no %s", way, steps.v[i]);
	}
	return t;
}

static const char *text_at(struct arena *a, const struct tree *t, const char *way)
{
	return at(a, t, way)->scalar;
}

static struct tree *manifest(struct arena *a, const struct plan *p, const char *name)
{
	const struct task_file *f =
		file(p, arena_printf(a, "/etc/kubernetes/manifests/%s.manifest", name));

	assert_int_equal(f->attr.mode, 0644);
	return yaml(a, f);
}

static void assert_command(struct arena *a, const struct tree *pod, const char *want)
{
	assert_int_equal(at(a, pod, "spec.containers.0.command")->n, 3);
	assert_string_equal(text_at(a, pod, "spec.containers.0.command.0"), "/bin/sh");
	assert_string_equal(text_at(a, pod, "spec.containers.0.command.1"), "-c");
	assert_string_equal(text_at(a, pod, "spec.containers.0.command.2"), want);
}

/* "name=path[@mount][!]" of every mount in order; '!' is writable. */
static char *mounts(struct arena *a, const struct tree *pod)
{
	const struct tree *list = at(a, pod, "spec.containers.0.volumeMounts");
	struct strv out = { 0 };

	for (size_t i = 0; i < list->n; i++) {
		const struct tree *m = list->items[i].value, *v = at(a, pod, "spec.volumes");
		const char *path = text_at(a, m, "mountPath");
		const char *host = text_at(a, v->items[i].value, "hostPath.path");

		assert_string_equal(text_at(a, m, "name"), text_at(a, v->items[i].value, "name"));
		strv_add(a, &out,
			 arena_printf(a, "%s=%s%s%s%s", text_at(a, m, "name"), host,
				      strcmp(path, host) == 0 ? "" : "@",
				      strcmp(path, host) == 0 ? "" : path,
				      tree_get(m, "readOnly") ? "" : "!"));
	}
	return strv_join(a, &out, " ");
}

static void the_worker_has_the_kubelet_of_kops(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w;
	struct plan p = plan_role(a, &w, false);
	const struct task *unit = plan_get(&p, TASK_UNIT, "kubelet.service");

	(void)state;
	assert_file(&p, "/etc/sysconfig/kubelet", 0644, kubelet_worker);
	assert_file(&p, "/etc/systemd/system/kubelet.service", 0644, kubelet_unit);
	assert_false(unit->unit.enable);
	assert_false(unit->unit.last);
	assert_true(unit->unit.must_answer);
	assert_string_equal(strv_join(a, &unit->unit.inputs, " "),
			    "/etc/systemd/system/kubelet.service.d/20-kops-proxy.conf "
			    "/etc/systemd/system/kubelet.service /usr/local/bin/kubelet "
			    "/etc/sysconfig/kubelet /var/lib/kubelet/kubeconfig");
	assert_int_equal(plan_get(&p, TASK_INSTALL, "/usr/local/bin/kubelet")->install.mode, 0755);
	/* this Kubernetes has no policy for memory yet */
	assert_int_equal(unit->unit.n_checkpoints, 1);
	assert_string_equal(unit->unit.checkpoints->path, "/var/lib/kubelet/cpu_manager_state");
	assert_string_equal(unit->unit.checkpoints->policy, "none");
}

static void docker_gets_options_and_a_dropin(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w;
	struct plan p = plan_role(a, &w, false);
	const struct task *unit = plan_get(&p, TASK_UNIT, "docker.service");

	(void)state;
	assert_file(&p, "/etc/sysconfig/docker", 0644,
		    "DOCKER_OPTS=--ip-masq=false --iptables=false --log-driver=json-file "
		    "--log-level=warn --log-opt=max-file=5 --log-opt=max-size=10m "
		    "--storage-driver=overlay\n"
		    "DOCKER_NOFILE=1000000");
	assert_file(&p, "/etc/systemd/system/docker.service.d/10-kops.conf", 0644,
		    "[Service]\n"
		    "EnvironmentFile=/etc/sysconfig/docker\n"
		    "EnvironmentFile=-/etc/environment\n");
	assert_true(unit->unit.enable);
	assert_string_equal(strv_join(a, &unit->unit.inputs, " "),
			    "/etc/systemd/system/docker.service.d/20-kops-proxy.conf "
			    "/etc/systemd/system/docker.service.d/10-kops.conf "
			    "/etc/sysconfig/docker");
}

static void cni_plugins_come_from_any_archive(void **state)
{
	static const char *const names[] = { "bridge", "host-local", "loopback" };
	autoarena struct arena *a = arena_new_empty();
	struct world w;
	struct plan p = plan_role(a, &w, false);
	size_t members = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct task *t =
			plan_get(&p, TASK_INSTALL, arena_printf(a, "/opt/cni/bin/%s", names[i]));

		assert_string_equal(t->install.member, names[i]);
		assert_int_equal(t->install.mode, 0755);
		assert_int_equal(t->install.n_sources, 2);
		assert_string_equal(t->install.sources[1]->name, "utils.tar.gz");
	}
	for (size_t i = 0; i < p.n; i++)
		members += p.tasks[i]->kind == TASK_INSTALL && p.tasks[i]->install.member;
	assert_int_equal(members, 3);
	assert_int_equal(plan_get(&p, TASK_DIR, "/etc/cni/net.d")->dir.mode, 0755);
}

static void the_proxy_pod_is_that_of_kops(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w;
	struct plan p = plan_role(a, &w, false), master = plan_role(a, &w, true);
	struct tree *pod = manifest(a, &p, "kube-proxy");

	(void)state;
	assert_command(a, pod, PROXY_COMMAND("https://api.internal.abc.joshdurbin.net"));
	assert_command(a, manifest(a, &master, "kube-proxy"), PROXY_COMMAND("https://127.0.0.1"));
	assert_string_equal(text_at(a, pod, "spec.containers.0.image"),
			    "gcr.io/google_containers/kube-proxy:v1.8.7");
	assert_string_equal(text_at(a, pod, "spec.containers.0.resources.requests.cpu"), "100m");
	assert_string_equal(text_at(a, pod, "spec.containers.0.securityContext.privileged"),
			    "true");
	assert_string_equal(text_at(a, pod, "metadata.labels.tier"), "node");
	assert_string_equal(text_at(a, pod, "spec.tolerations.0.key"), "CriticalAddonsOnly");
	assert_null(tree_get(at(a, pod, "spec.containers.0"), "livenessProbe"));
	assert_string_equal(mounts(a, pod),
			    "kubeconfig=/var/lib/kube-proxy/kubeconfig "
			    "logfile=/var/log/kube-proxy.log! "
			    "ssl-certs-hosts=/usr/share/ca-certificates@/etc/ssl/certs");
	assert_file(&p, "/var/log/kube-proxy.log", 0400, "");
	assert_true(file(&p, "/var/log/kube-proxy.log")->if_absent);
}

static void control_plane_pods_probe_and_mount(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w;
	struct plan p = plan_role(a, &w, true);
	struct tree *api = manifest(a, &p, "kube-apiserver");
	struct tree *kcm = manifest(a, &p, "kube-controller-manager");
	struct tree *sched = manifest(a, &p, "kube-scheduler");
	const char *ssl = "etcssl=/etc/ssl etcpkitls=/etc/pki/tls etcpkica-trust=/etc/pki/ca-trust "
			  "usrsharessl=/usr/share/ssl usrssl=/usr/ssl usrlibssl=/usr/lib/ssl "
			  "usrlocalopenssl=/usr/local/openssl varssl=/var/ssl "
			  "etcopenssl=/etc/openssl";

	(void)state;
	assert_command(a, api, apiserver_command);
	assert_command(a, kcm, kcm_command);
	assert_command(a, sched, scheduler_command);
	assert_string_equal(mounts(a, api),
			    arena_printf(a,
					 "%s logfile=/var/log/kube-apiserver.log! "
					 "srvkube=/srv/kubernetes srvsshproxy=/srv/sshproxy",
					 ssl));
	assert_string_equal(mounts(a, kcm),
			    arena_printf(a,
					 "%s srvkube=/srv/kubernetes "
					 "logfile=/var/log/kube-controller-manager.log! "
					 "varlibkcm=/var/lib/kube-controller-manager",
					 ssl));
	assert_string_equal(mounts(a, sched), "varlibkubescheduler=/var/lib/kube-scheduler "
					      "logfile=/var/log/kube-scheduler.log!");
	assert_string_equal(text_at(a, api, "spec.containers.0.livenessProbe.httpGet.port"),
			    "8080");
	assert_string_equal(text_at(a, kcm, "spec.containers.0.livenessProbe.httpGet.port"),
			    "10252");
	assert_string_equal(text_at(a, sched, "spec.containers.0.livenessProbe.httpGet.port"),
			    "10251");
	assert_string_equal(text_at(a, api, "spec.containers.0.resources.requests.cpu"), "150m");
	assert_string_equal(text_at(a, api, "spec.containers.0.ports.1.name"), "local");
	assert_string_equal(tree_get(at(a, api, "metadata.annotations"),
				     "dns.alpha.kubernetes.io/internal")
				    ->scalar,
			    "api.internal.abc.joshdurbin.net");
	assert_string_equal(tree_get(at(a, api, "metadata.annotations"),
				     "dns.alpha.kubernetes.io/external")
				    ->scalar,
			    "api.abc.joshdurbin.net");
}

static void the_master_has_kubelet_and_protokube_of_kops(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w;
	struct plan p = plan_role(a, &w, true);
	const struct task *unit = plan_get(&p, TASK_UNIT, "protokube.service");

	(void)state;
	assert_file(&p, "/etc/sysconfig/kubelet", 0644, kubelet_master);
	assert_file(&p, "/etc/systemd/system/protokube.service", 0644, protokube_unit);
	assert_true(unit->unit.enable);
	assert_true(unit->unit.last);
	assert_string_equal(plan_get(&p, TASK_IMAGE, "protokube:1.8.1")->image.asset->name,
			    "protokube.tar.gz");
	assert_int_equal(plan_get(&p, TASK_INSTALL, "/usr/local/bin/kubectl")->install.mode, 0755);
}

static void kubeconfigs_name_user_and_server(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w;
	struct plan p = plan_role(a, &w, false), master = plan_role(a, &w, true);
	struct tree *t = yaml(a, file(&p, "/var/lib/kubelet/kubeconfig"));

	(void)state;
	assert_string_equal(text_at(a, t, "clusters.0.cluster.server"),
			    "https://api.internal.abc.joshdurbin.net");
	assert_true(str_has_prefix(text_at(a, t, "clusters.0.cluster.certificate-authority-data"),
				   "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t"));
	assert_true(str_has_prefix(text_at(a, t, "users.0.user.client-key-data"),
				   "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVkt"));
	assert_string_equal(text_at(a, t, "users.0.name"), "kubelet");
	assert_string_equal(text_at(a, t, "contexts.0.context.user"), "kubelet");
	assert_string_equal(text_at(a, t, "current-context"), "service-account-context");
	t = yaml(a, file(&master, "/var/lib/kops/kubeconfig"));
	assert_string_equal(text_at(a, t, "clusters.0.cluster.server"), "https://127.0.0.1");
	assert_string_equal(text_at(a, t, "users.0.name"), "kops");
}

static void sysctls_are_a_file_and_values(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w;
	struct plan p = plan_role(a, &w, false);
	const char *path = "/etc/sysctl.d/99-k8s-general.conf";
	const struct strmap *values = &plan_get(&p, TASK_SYSCTL, path)->sysctl.values;

	(void)state;
	assert_file(&p, path, 0644,
		    "vm.max_map_count = 262144\n"
		    "kernel.softlockup_panic = 1\n"
		    "kernel.softlockup_all_cpu_backtrace = 1\n"
		    "net.core.somaxconn = 32768\n"
		    "net.core.rmem_max = 16777216\n"
		    "net.core.wmem_max = 16777216\n"
		    "net.ipv4.tcp_wmem = 4096 12582912 16777216\n"
		    "net.ipv4.tcp_rmem = 4096 12582912 16777216\n"
		    "net.ipv4.tcp_max_syn_backlog = 8096\n"
		    "net.ipv4.tcp_slow_start_after_idle = 0\n"
		    "net.ipv4.tcp_tw_reuse = 1\n"
		    "net.core.netdev_max_backlog = 16384\n"
		    "fs.file-max = 2097152\n"
		    "fs.inotify.max_user_instances = 8192\n"
		    "fs.inotify.max_user_watches = 524288\n"
		    "net.ipv4.neigh.default.gc_thresh1=0\n"
		    "net.ipv4.ip_forward=1\n");
	assert_int_equal(values->n, 17);
	assert_string_equal(strmap_get(values, "net.ipv4.tcp_rmem"), "4096 12582912 16777216");
	assert_string_equal(strmap_get(values, "net.ipv4.ip_forward"), "1");
}

static void cloud_config_is_used_when_the_cluster_has_one(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = seed_world(a, true);
	struct plan_req req = seed_request(&w);
	struct plan p = seed_plan(a, &req);
	const char *command;

	(void)state;
	assert_file(&p, "/etc/kubernetes/cloud.config", 0644, "[global]\n\n");
	world_own(&w)->has_cloud_config = true;
	strmap_set(a, &world_own(&w)->cloud_config, "DisableSecurityGroupIngress", "true");
	strmap_set(a, &world_own(&w)->cloud_config, "ElbSecurityGroup", "sg-1");
	p = seed_plan(a, &req);
	assert_file(&p, "/etc/kubernetes/cloud.config", 0644,
		    "[global]\nDisableSecurityGroupIngress = true\nElbSecurityGroup = sg-1\n");
	assert_non_null(strstr(file(&p, "/etc/sysconfig/kubelet")->content,
			       " --v=2 --cloud-config=/etc/kubernetes/cloud.config --cni-bin-dir"));
	command = text_at(a, manifest(a, &p, "kube-apiserver"), "spec.containers.0.command.2");
	assert_non_null(strstr(command, " --client-ca-file=/srv/kubernetes/ca.crt "
					"--cloud-config=/etc/kubernetes/cloud.config "
					"--cloud-provider=aws "));
}

static void versions_change_flags(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = seed_world(a, true);
	struct plan_req req = seed_request(&w);
	struct plan p;

	(void)state;
	w.node.kubernetes = (struct version){ 1, 9, 3 };
	p = seed_plan(a, &req);
	assert_non_null(strstr(file(&p, "/etc/sysconfig/kubelet")->content,
			       " --cni-bin-dir=/opt/cni/bin/ --cni-conf-dir=/etc/cni/net.d/ "
			       "--cni-bin-dir=/opt/cni/bin/\"\n"));
	w.node.kubernetes = (struct version){ 1, 5, 8 };
	p = seed_plan(a, &req);
	assert_null(strstr(file(&p, "/etc/systemd/system/protokube.service")->content, "rbac"));
	assert_non_null(strstr(file(&p, "/var/lib/kops/kubeconfig")->content,
			       "server: http://127.0.0.1:8080\n"));
}

static void networks_choose_plugins(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = seed_world(a, false);
	struct plan_req req = seed_request(&w);
	struct plan p;

	(void)state;
	w.node.networking = "weave";
	p = seed_plan(a, &req);
	(void)plan_get(&p, TASK_INSTALL, "/opt/cni/bin/flannel");
	assert_null(strstr(file(&p, "/etc/sysconfig/kubelet")->content, "network-plugin-dir"));
	w.node.networking = "classic";
	p = seed_plan(a, &req);
	assert_null(plan_look(&p, TASK_DIR, "/etc/cni/net.d"));
	assert_null(plan_look(&p, TASK_ASSET, "utils.tar.gz"));
	assert_null(strstr(file(&p, "/etc/sysconfig/kubelet")->content, "cni"));
}

static void coreos_has_other_places(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = seed_world(a, true);
	struct plan_req req = seed_request(&w);
	struct plan p;
	const char *unit;

	(void)state;
	w.facts.distribution = "flatcar";
	p = seed_plan(a, &req);
	unit = file(&p, "/etc/systemd/system/kubelet.service")->content;
	assert_non_null(strstr(unit, "\nExecStart=/opt/kubernetes/bin/kubelet \"$DAEMON_ARGS\"\n"));
	assert_non_null(strstr(unit, ":/opt/kubernetes/bin\n"));
	(void)plan_get(&p, TASK_INSTALL, "/opt/bin/kubectl");
	unit = file(&p, "/etc/systemd/system/protokube.service")->content;
	assert_non_null(strstr(unit, " -v /opt/bin:/opt/kops/bin:ro "));
}

static void gossip_needs_protokube_everywhere(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = seed_world(a, false);
	struct plan_req req = seed_request(&w);
	struct plan p;
	const char *unit;

	(void)state;
	w.node.cluster_name = "x.k8s.local";
	w.node.master_internal_name = "api.internal.x.k8s.local";
	p = seed_plan(a, &req);
	(void)plan_get(&p, TASK_IMAGE, "protokube:1.8.1");
	unit = file(&p, "/etc/systemd/system/protokube.service")->content;
	assert_non_null(strstr(unit, " --dns-internal-suffix=internal.x.k8s.local --dns=gossip "));
	assert_non_null(strstr(unit, " --master=false "));
	/* it has the channels of all, but no kubectl to apply them with */
	assert_non_null(strstr(unit, " --channels="));
	assert_null(strstr(unit, "/opt/kops/bin"));
	assert_null(plan_look(&p, TASK_FILE, "/var/lib/kops/kubeconfig"));
	assert_non_null(strstr(mounts(a, manifest(a, &p, "kube-proxy")), "etchosts=/etc/hosts"));
}

static void add_keypair(struct world *w, const char *name)
{
	const struct node_keypair pair = { .name = name, .cert = "cert\n", .key = "key\n" };

	arena_push(w->a, w->node.keypairs.v, w->node.keypairs.n, pair);
}

static void a_hardened_cluster_has_more_keys_and_flags(void **state)
{
	static const char *const want[] = {
		" --etcd-cafile=/srv/kubernetes/ca.crt --etcd-certfile=/srv/kubernetes/etcd-client.pem "
		"--etcd-keyfile=/srv/kubernetes/etcd-client-key.pem "
		"--etcd-servers-overrides=/events#https://127.0.0.1:4002 "
		"--etcd-servers=https://127.0.0.1:4001 "
		"--experimental-encryption-provider-config=/srv/kubernetes/encryptionconfig.yaml ",
		" --kubelet-client-certificate=/srv/kubernetes/kubelet-api.pem "
		"--kubelet-client-key=/srv/kubernetes/kubelet-api-key.pem ",
	};
	autoarena struct arena *a = arena_new_empty();
	struct world w = seed_world(a, true);
	struct plan_req req = seed_request(&w);
	const struct tree *pod;
	struct plan p;

	(void)state;
	add_keypair(&w, "kubelet-api");
	add_keypair(&w, "etcd");
	add_keypair(&w, "etcd-client");
	world_own(&w)->secure_kubelet = world_own(&w)->etcd_tls = world_own(&w)->encryption_config =
		true;
	strmap_set(a, &w.node.secrets, "encryptionconfig", "kind: EncryptionConfig\n");
	world_own(&w)->kube_apiserver.insecure_port = 0;
	world_own(&w)->kube_apiserver.audit_log_path = "/var/log/audit/api.log";
	p = seed_plan(a, &req);
	pod = manifest(a, &p, "kube-apiserver");
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		assert_non_null(strstr(text_at(a, pod, "spec.containers.0.command.2"), want[i]));
	assert_string_equal(text_at(a, pod, "spec.containers.0.livenessProbe.httpGet.port"), "443");
	assert_string_equal(text_at(a, pod, "spec.containers.0.livenessProbe.httpGet.scheme"),
			    "HTTPS");
	/* kops declares the plain port in any case */
	assert_string_equal(text_at(a, pod, "spec.containers.0.ports.1.hostPort"), "8080");
	assert_non_null(strstr(mounts(a, pod), " auditlogpathdir=/var/log/audit!"));
	assert_int_equal(file(&p, "/srv/kubernetes/kubelet-api-key.pem")->attr.mode, 0600);
	assert_int_equal(file(&p, "/srv/kubernetes/etcd-client-key.pem")->attr.mode, 0400);
	assert_int_equal(file(&p, "/srv/kubernetes/etcd-client.pem")->attr.mode, 0400);
	assert_file(&p, "/srv/kubernetes/encryptionconfig.yaml", 0600, "kind: EncryptionConfig\n");
	assert_non_null(strstr(file(&p, "/etc/systemd/system/protokube.service")->content,
			       " --tls-key=/srv/kubernetes/etcd-key.pem "));
}

static void an_audit_log_without_a_directory_gets_no_mount(void **state)
{
	static const char *const paths[] = { "-", "audit.log", "/audit.log" };
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		struct world w = seed_world(a, true);
		struct plan_req req = seed_request(&w);
		const struct tree *pod;
		struct plan p;

		world_own(&w)->kube_apiserver.audit_log_path = paths[i];
		p = seed_plan(a, &req);
		pod = manifest(a, &p, "kube-apiserver");
		assert_null(strstr(mounts(a, pod), "auditlogpathdir"));
		assert_non_null(strstr(text_at(a, pod, "spec.containers.0.command.2"),
				       arena_printf(a, " --audit-log-path=%s ", paths[i])));
	}
}

static bool has_nothing(void *arg, const char *path)
{
	(void)arg;
	(void)path;
	return false;
}

static void files_of_flags_are_mounted(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = seed_world(a, true);
	struct plan_req req = seed_request(&w);
	const char *mounted, *warnings;
	struct plan p;

	(void)state;
	req.has_file = has_nothing;
	world_own(&w)->kube_apiserver.audit_log_path = "/srv/kubernetes/a.log";
	world_own(&w)->kube_apiserver.audit_policy_file = "/srv/kubernetes/p.yaml";
	world_own(&w)->kube_apiserver.authentication_token_webhook_config_file =
		"/etc/kubernetes/w.yaml";
	p = seed_plan(a, &req);
	mounted = mounts(a, manifest(a, &p, "kube-apiserver"));
	assert_null(strstr(mounted, "auditlogpathdir"));
	assert_non_null(strstr(mounted, " srvkube=/srv/kubernetes!"));
	assert_non_null(
		strstr(mounted, " authentication-token-webhook-config-file=/etc/kubernetes"));
	warnings = strv_join(a, &p.warnings, "\n");
	assert_non_null(
		strstr(warnings, "--audit-policy-file: /srv/kubernetes/p.yaml is not there"));
	assert_non_null(strstr(warnings, "/etc/kubernetes/w.yaml is not there"));
	/* of a log, and of what the plan itself writes, nothing is said */
	assert_null(strstr(warnings, "a.log"));
	assert_null(strstr(warnings, "/srv/kubernetes/server."));
}

static void images_of_the_documents_are_loaded_on_every_role(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = seed_world(a, false);
	struct plan_req req = seed_request(&w);
	struct node_image image = {
		.name = "extra:1",
		.source = "https://h/extra.tar.gz",
		.hash = "0b1f26208f8f6cc02468368706d0236670fec8a2",
	};
	struct plan p;
	struct err e;

	(void)state;
	arena_push(a, w.node.images.v, w.node.images.n, image);
	p = seed_plan(a, &req);
	assert_string_equal(plan_get(&p, TASK_IMAGE, "extra:1")->image.asset->name, "extra.tar.gz");
	assert_false(plan_get(&p, TASK_ASSET, "extra.tar.gz")->optional);
	/* an image is loaded as it comes */
	assert_null(plan_look(&p, TASK_UNPACK, "extra.tar.gz"));
	w.node.images.v[0].hash = NULL;
	assert_true(plan_build(a, &req, &p, &e) < 0);
	assert_non_null(strstr(e.msg, "image extra:1: no hash"));
}

/* Its programs, images and packages are of one architecture. An image of which nothing is known is taken as of that. */
static void arm64_is_refused_by_name(void **state)
{
	static const struct {
		const char *arch;
		int r;
	} cases[] = { { "amd64", 0 }, { NULL, 0 }, { "arm64", -1 } };
	autoarena struct arena *a = arena_new_empty();
	struct world w = seed_world(a, false);
	struct plan_req req = seed_request(&w);
	struct plan p;
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		w.facts.arch = cases[i].arch;
		assert_int_equal(plan_build(a, &req, &p, &e) < 0 ? -1 : 0, cases[i].r);
	}
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_string_equal(e.msg, "kops 1.8 made nodes of amd64, and this is arm64");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_worker_has_the_kubelet_of_kops),
		cmocka_unit_test(docker_gets_options_and_a_dropin),
		cmocka_unit_test(arm64_is_refused_by_name),
		cmocka_unit_test(cni_plugins_come_from_any_archive),
		cmocka_unit_test(the_proxy_pod_is_that_of_kops),
		cmocka_unit_test(control_plane_pods_probe_and_mount),
		cmocka_unit_test(the_master_has_kubelet_and_protokube_of_kops),
		cmocka_unit_test(kubeconfigs_name_user_and_server),
		cmocka_unit_test(sysctls_are_a_file_and_values),
		cmocka_unit_test(cloud_config_is_used_when_the_cluster_has_one),
		cmocka_unit_test(versions_change_flags),
		cmocka_unit_test(networks_choose_plugins),
		cmocka_unit_test(coreos_has_other_places),
		cmocka_unit_test(gossip_needs_protokube_everywhere),
		cmocka_unit_test(a_hardened_cluster_has_more_keys_and_flags),
		cmocka_unit_test(an_audit_log_without_a_directory_gets_no_mount),
		cmocka_unit_test(files_of_flags_are_mounted),
		cmocka_unit_test(images_of_the_documents_are_loaded_on_every_role),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/yaml.h"
#include "nodeup/config/kubeup/states.h"

#define S "kubernetes/saltbase/salt/"
#define HOST "ip-10-0-0-7.ec2.internal"

static const struct kubeup_host host = { .name = HOST };

/* A tarball that has each file that some state of this document is made of, all alike but for what a test
 * puts there. */
struct box {
	struct arena *arena;
	struct kubeup_env env;
	struct documents documents;
	struct kubeup_files made;
	struct err err;
};

static struct box new_box(struct arena *a, bool master, int minor)
{
	return (struct box){
		.arena = a,
		.env = { .is_master = master,
			 .kubernetes = { 1, minor, 0, NULL },
			 .instance_prefix = "mars",
			 .kube_user = "admin",
			 .api_servers = "172.20.0.9",
			 .master_ip_range = "10.246.0.0/24",
			 .network_provider = "none",
			 .server_binary_tar_hash = "ABCDEF0123456789abcdef0123456789abcdef01",
			 .kube_docker_registry = "gcr.io/google_containers" },
	};
}

static void put(struct box *b, const char *name, const char *text)
{
	const struct documents_file file = { arena_printf(b->arena, S "%s", name), text,
					     strlen(text) };

	for (size_t i = 0; i < b->documents.files.n; i++)
		if (strcmp(b->documents.files.v[i].path, file.path) == 0) {
			b->documents.files.v[i] = file;
			return;
		}
	arena_push(b->arena, b->documents.files.v, b->documents.files.n, file);
}

static void fill(struct box *b)
{
	for (size_t i = 0; i < kubeup_n_states; i++) {
		const struct kubeup_state *s = &kubeup_states[i];

		if (s->source && !s->tree)
			put(b, s->source, "kind: Pod\n");
		else if (s->source)
			put(b, arena_printf(b->arena, "%s/one.yaml", s->source), "kind: Pod\n");
	}
}

static void render(struct box *b)
{
	b->made = (struct kubeup_files){ 0 };
	b->err = (struct err){ 0 };
	if (kubeup_render(b->arena, &b->documents, &b->env, &host, &b->made, NULL, &b->err) < 0)
		fail_msg("%s", b->err.msg);
}

/* The text at a path; NULL: none is made. More than one fails. */
static const char *made(const struct box *b, const char *path)
{
	const char *found = NULL;

	for (size_t i = 0; i < b->made.n; i++) {
		if (strcmp(b->made.v[i].path, path) != 0)
			continue;
		if (found)
			fail_msg("%s twice", path);
		found = b->made.v[i].text;
	}
	return found;
}

static const char *make(struct box *b, const char *source, const char *text, const char *path)
{
	put(b, source, text);
	render(b);
	return made(b, path);
}

#define KUBELET "kubelet/default"
#define SYSCONFIG "/etc/sysconfig/kubelet"

static void no_path_is_made_twice(void **state)
{
	(void)state;
	for (int minor = 2; minor <= KUBEUP_NEWEST; minor++)
		for (int master = 0; master < 2; master++) {
			autoarena struct arena *a = arena_new_empty();
			struct box b = new_box(a, master, minor);

			b.env.enable_cluster_dns = b.env.enable_cluster_ui = "true";
			b.env.enable_node_logging = b.env.enable_cluster_logging = "true";
			b.env.enable_rescheduler = b.env.prepull_e2e_images = "true";
			b.env.enable_dns_horizontal_autoscaler = "true";
			b.env.logging_destination = "elasticsearch";
			b.env.enable_cluster_monitoring = "influxdb";
			fill(&b);
			put(&b, "kube-proxy/init.sls", "cpurequest: '20m'");
			render(&b);
			assert_true(b.made.n > 15);
			for (size_t i = 0; i < b.made.n; i++)
				assert_non_null(made(&b, b.made.v[i].path));
		}
}

static void roles_and_versions_differ(void **state)
{
	static const struct {
		const char *path;
		bool master;
		int minor;
		bool is_made;
	} rows[] = {
		{ "/etc/kubernetes/manifests/etcd.manifest", true, 2, true },
		{ "/etc/kubernetes/manifests/etcd.manifest", false, 2, false },
		{ "/etc/kubernetes/manifests/kube-proxy.manifest", true, 3, false },
		{ "/etc/kubernetes/manifests/kube-proxy.manifest", false, 3, true },
		{ "/etc/kubernetes/manifests/kube-addon-manager.yaml", true, 2, false },
		{ "/etc/kubernetes/manifests/kube-addon-manager.yaml", true, 3, true },
		{ "/lib/systemd/system/kube-addons.service", true, 2, true },
		{ "/lib/systemd/system/kube-addons.service", true, 3, false },
		{ "/srv/kubernetes/abac-authz-policy.jsonl", true, 2, false },
		{ "/srv/kubernetes/abac-authz-policy.jsonl", true, 3, true },
		{ "/var/log/kube-proxy.log", false, 5, true },
		{ "/var/log/etcd-events.log", true, 5, true },
		{ SYSCONFIG, false, 5, true },
		{ SYSCONFIG, true, 5, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct box b = new_box(a, rows[i].master, rows[i].minor);

		fill(&b);
		render(&b);
		if ((made(&b, rows[i].path) != NULL) != rows[i].is_made)
			fail_msg("%s, row %zu", rows[i].path, i);
	}
}

static void a_state_hands_over_its_own(void **state)
{
	static const char text[] =
		"kind: Pod\nx: {{ suffix }} {{ port }} {{ server_port + 1 }} {{ cpulimit }}\n";
	static const char *const main_port[] = { NULL, NULL, "4001", "4001", "2379", "2379" };

	(void)state;
	for (int minor = 2; minor <= KUBEUP_NEWEST; minor++) {
		autoarena struct arena *a = arena_new_empty();
		struct box b = new_box(a, true, minor);

		fill(&b);
		assert_string_equal(make(&b, "etcd/etcd.manifest", text,
					 "/etc/kubernetes/manifests/etcd.manifest"),
				    arena_printf(a, "kind: Pod\nx:  %s 2381 \"200m\"\n",
						 main_port[minor]));
		assert_string_equal(made(&b, "/etc/kubernetes/manifests/etcd-events.manifest"),
				    "kind: Pod\nx: -events 4002 2382 \"100m\"\n");
	}
}

/* What no document tells from another patch version: the tarball does. */
static void the_tarballs_states_decide(void **state)
{
	static const char proxy[] = "/etc/kubernetes/manifests/kube-proxy.manifest";
	static const char audit[] = "/var/log/kube-apiserver-audit.log";
	autoarena struct arena *a = arena_new_empty();
	struct box b = new_box(a, false, 2);

	(void)state;
	fill(&b);
	put(&b, "kube-proxy/kube-proxy.manifest", "kind: Pod\ncpu: {{ cpurequest }}\n");
	put(&b, "kube-proxy/init.sls", "x:\n  cpurequest: '200m'\n");
	render(&b);
	assert_string_equal(made(&b, proxy), "kind: Pod\ncpu: 200m\n");
	put(&b, "kube-proxy/init.sls", "x:\n  cpurequest: '20m'\n");
	render(&b);
	assert_string_equal(made(&b, proxy), "kind: Pod\ncpu: 20m\n");

	b = new_box(a, true, 5);
	fill(&b);
	render(&b);
	assert_null(made(&b, audit));
	put(&b, "kube-apiserver/init.sls", "/var/log/kube-apiserver-audit.log:\n  file.managed\n");
	render(&b);
	assert_string_equal(made(&b, audit), "");
}

static void an_image_has_its_registry_and_tag(void **state)
{
	static const char path[] = "/etc/kubernetes/manifests/kube-proxy.manifest";
	static const char text[] =
		"kind: Pod\nimage: {{ pillar['kube_docker_registry'] }}/kube-proxy:"
		"{{ pillar['kube-proxy_docker_tag'] }}\n";
	autoarena struct arena *a = arena_new_empty();
	struct box b = new_box(a, false, 5);

	(void)state;
	fill(&b);
	assert_string_equal(make(&b, "kube-proxy/kube-proxy.manifest",
				 "kind: Pod\nimage: '{{ pillar['kube-proxy_docker_tag'] }}'\n",
				 path),
			    "kind: Pod\nimage: 'abcdef012345'\n");
	b.env.kube_image_tag = "v1.5.8";
	b.env.kube_docker_registry = "registry.example/k8s";
	assert_string_equal(make(&b, "kube-proxy/kube-proxy.manifest", text, path),
			    "kind: Pod\nimage: registry.example/k8s/kube-proxy:v1.5.8\n");
}

/* As kube-up's sed: the last on a line of YAML; on a line of JSON what stands at the beginning. */
static void addons_have_another_registry(void **state)
{
	static const char usual[] =
		"image: gcr.io/google_containers/a:1\n"
		"- image:  x gcr.io/google_containers/gcr.io/google_containers/b\n"
		"image:gcr.io/google_containers/c\n"
		"other: gcr.io/google_containers/d\n"
		"image: gcr.io/google-containers/e\n";
	static const char json[] =
		"{\"kind\": \"Pod\",\n\"image\": \"gcr.io/google_containers/a\",\n"
		"\"image\" : \"gcr.io/google_containers/b\" }\n";
	autoarena struct arena *a = arena_new_empty();
	struct box b = new_box(a, true, 5);

	(void)state;
	fill(&b);
	b.env.enable_cluster_ui = "true";
	put(&b, "kube-addons/dashboard/one.yaml", usual);
	render(&b);
	assert_string_equal(made(&b, "/etc/kubernetes/addons/dashboard/one.yaml"), usual);
	b.env.kube_addon_registry = "r.example/x";
	b.env.admission_control = "LimitRanger";
	put(&b, "kube-addons/dashboard/two.json", json);
	put(&b, "kube-admission-controls/limit-range/two.json", json);
	render(&b);
	assert_string_equal(made(&b, "/etc/kubernetes/addons/dashboard/one.yaml"),
			    "image: r.example/x/a:1\n"
			    "- image:  x gcr.io/google_containers/r.example/x/b\n"
			    "image:gcr.io/google_containers/c\n"
			    "other: gcr.io/google_containers/d\n"
			    "image: gcr.io/google-containers/e\n");
	assert_string_equal(made(&b, "/etc/kubernetes/admission-controls/limit-range/two.json"),
			    "{\"kind\": \"Pod\",\n\"image\": \"r.example/x/a\",\n"
			    "\"image\" : \"gcr.io/google_containers/b\" }\n");
	/* of these addons Salt takes YAML alone */
	assert_null(made(&b, "/etc/kubernetes/addons/dashboard/two.json"));
}

static void a_tree_has_its_yaml_and_json(void **state)
{
	static const char dir[] = "/etc/kubernetes/addons/cluster-monitoring/googleinfluxdb";
	autoarena struct arena *a = arena_new_empty();
	struct box b = new_box(a, true, 5);

	(void)state;
	fill(&b);
	b.env.enable_cluster_monitoring = "googleinfluxdb";
	put(&b, "kube-addons/cluster-monitoring/google/heapster-controller.yaml", "x: 1\n");
	put(&b, "kube-addons/cluster-monitoring/google/heapster-service.json", "{}\n");
	put(&b, "kube-addons/cluster-monitoring/README.md", "{{ nothing }}\n");
	put(&b, "kube-addons/cluster-monitoring-x/y.yaml", "x: 1\n");
	render(&b);
	assert_string_equal(made(&b, arena_printf(a, "%s/google/heapster-service.json", dir)),
			    "{}\n");
	assert_null(made(&b, arena_printf(a, "%s/google/heapster-controller.yaml", dir)));
	assert_null(made(&b, arena_printf(a, "%s/README.md", dir)));
	for (size_t i = 0; i < b.made.n; i++)
		assert_null(strstr(b.made.v[i].path, "y.yaml"));
	b.env.enable_cluster_monitoring = "google";
	render(&b);
	assert_string_equal(
		made(&b,
		     "/etc/kubernetes/addons/cluster-monitoring/google/heapster-controller.yaml"),
		"x: 1\n");
}

static void templates_know_the_document(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct box b = new_box(a, false, 4);

	(void)state;
	fill(&b);
	b.env.extra_docker_opts = "--bip=1.2.3.4/24";
	b.env.docker_registry_mirror_url = "https://m.example";
	b.env.feature_gates = "A=true";
	assert_string_equal(
		make(&b, KUBELET,
		     "{{ grains.roles[0] }} {{ grains['cbr-cidr'] }} {{ grains.hostname_override }} "
		     "{{ pillar.hostname }} {{ pillar.num_nodes }} {{ pillar.is_systemd }} "
		     "{{ grains.feature_gates }} [{{ grains.docker_opts }}] {{ grains.oscodename }}\n",
		     SYSCONFIG),
		"kubernetes-pool 10.123.45.0/29 " HOST " ip-10-0-0-7 None True A=true "
		"[ --bip=1.2.3.4/24 --registry-mirror=https://m.example] jessie\n");
	b = new_box(a, true, 5);
	fill(&b);
	b.env.num_nodes = "3";
	b.env.enable_cluster_registry = "true";
	b.env.cluster_registry_disk = "d";
	b.env.cluster_registry_disk_size = "200GB";
	b.env.runtime_config = "x=y";
	b.env.kube_apiserver_request_timeout = "300";
	assert_string_equal(
		make(&b, KUBELET,
		     "{{ grains.roles[0] }} {{ grains['cbr-cidr'] }} {{ pillar.num_nodes + 1 }} {{ grains.kube_user }} "
		     "{{ pillar.cluster_registry_disk_size }} {{ grains.runtime_config }} {{ grains.minRequestTimeout }} "
		     "{% if grains.docker_opts is defined %}y{% else %}n{% endif %}"
		     "{% if pillar.storage_backend is defined %}y{% else %}n{% endif %}"
		     "{% if grains.hostname_override is defined %}y{% else %}n{% endif %}\n",
		     SYSCONFIG),
		"kubernetes-master 10.246.0.0/24 4 admin 200Gi x=y 300 nnn\n");
	/* one that is registered has the addresses of any node */
	b.env.kubernetes.minor = 2;
	b.env.kubelet_apiserver = "m.example";
	b.env.kubelet_cert = b.env.kubelet_key = "x";
	assert_string_equal(make(&b, KUBELET,
				 "{{ grains.kubelet_api_servers }} {{ grains['cbr-cidr'] }}\n",
				 SYSCONFIG),
			    "m.example 10.123.45.0/30\n");
}

static void an_empty_quorum_read_is_left_out(void **state)
{
	static const char *const values[] = { NULL, "", "true" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct box b = new_box(a, true, 5);
		const struct tree *pillar;

		b.env.etcd_quorum_read = values[i];
		pillar = tree_get(kubeup_context(a, &b.env, &host), "pillar");
		assert_int_equal(tree_get(pillar, "etcd_quorum_read") != NULL, i == 2);
	}
}

static void sizes_of_a_registrys_disk(void **state)
{
	static const char *const rows[][2] = {
		{ "200GB", "200Gi" }, { "200GiB", "200Gi" }, { "200Gi", "200Gi" },
		{ "200G", "200Gi" },  { "200B", "200" },     { "200", "200" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct box b = new_box(a, true, 5);
		const struct tree *context;

		b.env.enable_cluster_registry = "true";
		b.env.cluster_registry_disk = "d";
		b.env.cluster_registry_disk_size = rows[i][0];
		context = kubeup_context(a, &b.env, &host);
		assert_string_equal(tree_text(tree_get(context, "pillar"),
					      "cluster_registry_disk_size"),
				    rows[i][1]);
	}
}

static void the_vars_of_states_parse(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < kubeup_n_states; i++) {
		const char *vars = kubeup_states[i].vars;
		struct tree *t;
		struct err e;

		if (vars &&
		    (yaml_parse(a, "vars", vars, strlen(vars), &t, &e) < 0 || t->kind != TREE_MAP))
			fail_msg("%s: '%s'", kubeup_states[i].path, vars);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_path_is_made_twice),
		cmocka_unit_test(roles_and_versions_differ),
		cmocka_unit_test(a_state_hands_over_its_own),
		cmocka_unit_test(the_tarballs_states_decide),
		cmocka_unit_test(an_image_has_its_registry_and_tag),
		cmocka_unit_test(addons_have_another_registry),
		cmocka_unit_test(a_tree_has_its_yaml_and_json),
		cmocka_unit_test(templates_know_the_document),
		cmocka_unit_test(an_empty_quorum_read_is_left_out),
		cmocka_unit_test(sizes_of_a_registrys_disk),
		cmocka_unit_test(the_vars_of_states_parse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

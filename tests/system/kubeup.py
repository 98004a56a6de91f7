"""Documents of kube-up as a machine has them: the flat kube_env.yaml of either role and of each version, and user data."""
import base64
import gzip
import hashlib

from world import SEED, tar

COMMON, MASTER, NODE = "common", "master", "node"


def pem(kind, name):
    """Of the seed's own store: one certificate or key, in base64."""
    folder = SEED / "pki" / ("issued" if kind == "crt" else "private") / name
    return base64.b64encode(next(folder.glob(f"*.{kind}")).read_bytes()).decode()


# (role, key, since, value of a cluster that sets nothing), in the order in which they are written; until: not from that on
KEYS = [
    (COMMON, "ENV_TIMESTAMP", "1.2", "2026-11-23T10:00:00+0000"), (COMMON, "INSTANCE_PREFIX", "1.2", "mars"),
    (COMMON, "NODE_INSTANCE_PREFIX", "1.2", "mars-minion"), (COMMON, "NODE_TAGS", "1.3.3", ""),
    (COMMON, "CLUSTER_IP_RANGE", "1.2", "10.244.0.0/16"),
    (COMMON, "SERVER_BINARY_TAR_URL", "1.2", "https://s3.example/devel/kubernetes-server-linux-amd64.tar.gz"),
    (COMMON, "SERVER_BINARY_TAR_HASH", "1.2", "1" * 40),
    (COMMON, "SALT_TAR_URL", "1.2", "https://s3.example/devel/kubernetes-salt.tar.gz"),
    (COMMON, "SALT_TAR_HASH", "1.2", "2" * 40), (COMMON, "SERVICE_CLUSTER_IP_RANGE", "1.2", "10.0.0.0/16"),
    (COMMON, "KUBERNETES_MASTER_NAME", "1.2", "mars-master"), (COMMON, "ALLOCATE_NODE_CIDRS", "1.2", "true"),
    (COMMON, "ENABLE_CLUSTER_MONITORING", "1.2", "influxdb"), (COMMON, "DOCKER_REGISTRY_MIRROR_URL", "1.3", ""),
    (COMMON, "ENABLE_L7_LOADBALANCING", "1.2", "none"), (COMMON, "ENABLE_CLUSTER_LOGGING", "1.2", "true"),
    (COMMON, "ENABLE_CLUSTER_UI", "1.2", "true"), (COMMON, "ENABLE_NODE_PROBLEM_DETECTOR", "1.3", "false"),
    (COMMON, "ENABLE_NODE_LOGGING", "1.2", "true"), (COMMON, "ENABLE_RESCHEDULER", "1.4", "false"),
    (COMMON, "LOGGING_DESTINATION", "1.2", "elasticsearch"), (COMMON, "ELASTICSEARCH_LOGGING_REPLICAS", "1.2", "1"),
    (COMMON, "ENABLE_CLUSTER_DNS", "1.2", "true"), (COMMON, "ENABLE_CLUSTER_REGISTRY", "1.2", "false"),
    (COMMON, "CLUSTER_REGISTRY_DISK", "1.2", ""), (COMMON, "CLUSTER_REGISTRY_DISK_SIZE", "1.2", ""),
    (COMMON, "DNS_REPLICAS", "1.2", "1"), (COMMON, "DNS_SERVER_IP", "1.2", "10.0.0.10"),
    (COMMON, "DNS_DOMAIN", "1.2", "cluster.local"), (COMMON, "ENABLE_DNS_HORIZONTAL_AUTOSCALER", "1.5", "false"),
    (COMMON, "KUBELET_TOKEN", "1.2", "kubelet-token-0001"), (COMMON, "KUBE_PROXY_TOKEN", "1.2", "proxy-token-0002"),
    (COMMON, "ADMISSION_CONTROL", "1.2", "NamespaceLifecycle,LimitRanger,ServiceAccount,ResourceQuota"),
    (COMMON, "MASTER_IP_RANGE", "1.2", "10.246.0.0/24"), (COMMON, "RUNTIME_CONFIG", "1.2", ""),
    (COMMON, "CA_CERT", "1.2", pem("crt", "ca")), (COMMON, "KUBELET_CERT", "1.2", pem("crt", "kubelet")),
    (COMMON, "KUBELET_KEY", "1.2", pem("key", "kubelet")), (COMMON, "NETWORK_PROVIDER", "1.2", "none"),
    (COMMON, "NETWORK_POLICY_PROVIDER", "1.4", ""), (COMMON, "PREPULL_E2E_IMAGES", "1.3", ""),
    (COMMON, "HAIRPIN_MODE", "1.2", "promiscuous-bridge"), (COMMON, "SOFTLOCKUP_PANIC", "1.5", ""),
    (COMMON, "OPENCONTRAIL_TAG", "1.2", ""), (COMMON, "OPENCONTRAIL_KUBERNETES_TAG", "1.2", ""),
    (COMMON, "OPENCONTRAIL_PUBLIC_SUBNET", "1.2", ""), (COMMON, "E2E_STORAGE_TEST_ENVIRONMENT", "1.2", "false"),
    (COMMON, "KUBE_IMAGE_TAG", "1.2", ""), (COMMON, "KUBE_DOCKER_REGISTRY", "1.2", ""),
    (COMMON, "KUBE_ADDON_REGISTRY", "1.2", ""), (COMMON, "MULTIZONE", "1.2", ""),
    (COMMON, "NON_MASQUERADE_CIDR", "1.2", "10.0.0.0/8"), (COMMON, "KUBE_UID", "1.3", "0123abcd"),
    (COMMON, "ENABLE_APISERVER_BASIC_AUDIT", "1.5.4", ""),
    (MASTER, "KUBERNETES_MASTER", "1.2", "true"), (MASTER, "KUBE_USER", "1.2", "admin"),
    (MASTER, "KUBE_PASSWORD", "1.2", "swordfish-0003"), (MASTER, "KUBE_BEARER_TOKEN", "1.2", "bearer-token-0004"),
    (MASTER, "MASTER_CERT", "1.2", pem("crt", "master")), (MASTER, "MASTER_KEY", "1.2", pem("key", "master")),
    (MASTER, "KUBECFG_CERT", "1.2", ""), (MASTER, "KUBECFG_KEY", "1.2", ""), (MASTER, "KUBELET_APISERVER", "1.2", ""),
    (MASTER, "ENABLE_MANIFEST_URL", "1.2", "false"), (MASTER, "MANIFEST_URL", "1.2", ""),
    (MASTER, "MANIFEST_URL_HEADER", "1.2", ""), (MASTER, "NUM_NODES", "1.2", "4"), (MASTER, "STORAGE_BACKEND", "1.4", "etcd2"),
    (MASTER, "ENABLE_GARBAGE_COLLECTOR", "1.4", ""), (MASTER, "MASTER_ADVERTISE_ADDRESS", "1.5", ""),
    (MASTER, "ETCD_CA_KEY", "1.5", ""), (MASTER, "ETCD_CA_CERT", "1.5", ""), (MASTER, "ETCD_PEER_KEY", "1.5", ""),
    (MASTER, "ETCD_PEER_CERT", "1.5", ""),
    (NODE, "KUBERNETES_MASTER", "1.2", "false"), (NODE, "ZONE", "1.2", "us-west-2a"), (NODE, "EXTRA_DOCKER_OPTS", "1.2", ""),
    (COMMON, "AUTO_UPGRADE", "1.2", "true"), (COMMON, "DOCKER_STORAGE", "1.2", "aufs"), (COMMON, "API_SERVERS", "1.2", "172.20.0.9"),
]
GONE = {"DNS_REPLICAS": "1.5"}
VERSIONS = ["1.2.0", "1.2.7", "1.3.4", "1.4.0", "1.4.12", "1.5.1", "1.5.8"]
SECRETS = ["swordfish-0003", "bearer-token-0004", "kubelet-token-0001", "proxy-token-0002"]


def number(version):
    return [int(n) for n in version.split(".")]


def values(role, version, **changes):
    """Key to value. A change to None takes the key away."""
    made = {key: value for whose, key, since, value in KEYS
            if whose in (COMMON, role) and number(version) >= number(since)
            and not (key in GONE and number(version) >= number(GONE[key]))}
    if number(version) >= [1, 4]:
        made["NETWORK_PROVIDER"] = "kubenet"
    made.update(changes)
    return {key: value for key, value in made.items() if value is not None}


def text(role, version, **changes):
    """As kube-up writes it: each value in single quotes."""
    return "".join("%s: '%s'\n" % (key, value.replace("'", "''")) for key, value in values(role, version, **changes).items())


def script(role, document, mark=None):
    """The user data that brings it."""
    mark = mark or ("__EOF_MASTER_KUBE_ENV_YAML" if role == MASTER else "__EOF_KUBE_ENV_YAML")
    end = mark.strip("'\"")
    return ("#! /bin/bash\nmkdir -p /var/cache/kubernetes-install\ncd /var/cache/kubernetes-install\n"
            f"cat > kube_env.yaml << {mark}\n{document}{end}\n\nwget -O bootstrap https://s3.example/devel/bootstrap\n"
            "chmod +x bootstrap\nmkdir -p /etc/kubernetes\nmv kube_env.yaml /etc/kubernetes\nmv bootstrap /etc/kubernetes/\n"
            "cat > /etc/rc.local << EOF_RC_LOCAL\n#!/bin/sh -e\n/etc/kubernetes/bootstrap\nexit 0\nEOF_RC_LOCAL\n"
            "/etc/kubernetes/bootstrap\n")


def zipped(script_text):
    return gzip.compress(script_text.encode(), mtime=0)


def pack(files, folder):
    """A salt tarball of {name below saltbase/salt: text}; its path and sha1."""
    data = tar({f"kubernetes/saltbase/salt/{name}": text.encode() for name, text in files.items()})
    path = folder / "kubernetes-salt.tar.gz"
    path.write_bytes(data)
    return path, hashlib.sha1(data).hexdigest()


def named(files, folder):
    """The two keys of a document that name such a tarball."""
    path, sha1 = pack(files, folder)
    return {"SALT_TAR_URL": f"file://{path}", "SALT_TAR_HASH": sha1}


def defined(where, flags):
    """A template's words for each of `FLAG pillar-or-grain` that is there."""
    pairs = [flag.split() for flag in flags.splitlines()]
    return "".join("{%% if %s['%s'] is defined %%} %s={{ %s['%s'] }}{%% endif %%}" % (where, name, flag, where, name)
                   for flag, name in pairs)


KUBELET_FLAGS = defined("grains", """--hostname-override hostname_override
--docker-root docker_root
--root-dir kubelet_root
--feature-gates feature_gates
--api-servers kubelet_api_servers""") + defined("pillar", """--cluster-dns dns_server
--cluster-domain dns_domain
--non-masquerade-cidr non_masquerade_cidr
--network-plugin network_provider
--hairpin-mode hairpin_mode
--node-labels node_labels
--eviction-hard eviction_hard
--port kubelet_port
--enable-custom-metrics enable_custom_metrics
--manifest-url manifest_url
--manifest-url-header manifest_url_header
--log kubelet_test_log_level
--more kubelet_test_args""")
APISERVER_FLAGS = defined("grains", """--runtime-config runtime_config
--min-request-timeout minRequestTimeout
--feature-gates feature_gates""") + defined("pillar", """--admission-control admission_control
--service-cluster-ip-range service_cluster_ip_range
--storage-backend storage_backend
--etcd-quorum-read etcd_quorum_read
--nodes num_nodes
--more apiserver_test_args""")
MANAGER_FLAGS = defined("pillar", """--cluster-name instance_prefix
--cluster-cidr cluster_cidr
--allocate-node-cidrs allocate_node_cidrs
--service-cluster-ip-range service_cluster_ip_range
--terminated-pod-gc-threshold terminated_pod_gc_threshold
--log controller_manager_test_log_level
--more controller_manager_test_args""")
SCHEDULER_FLAGS = defined("pillar", "--log scheduler_test_log_level\n--more scheduler_test_args")
PROXY_FLAGS = defined("pillar", "--cluster-cidr cluster_cidr\n--log kubeproxy_test_log_level\n--more kubeproxy_test_args")
ETCD_FLAGS = defined("pillar", """--tag etcd_docker_tag
--version etcd_version
--storage storage_backend
--name hostname
--cluster initial_etcd_cluster
--state initial_etcd_cluster_state
--tls etcd_over_ssl""")
ADDON = "kind: ReplicationController\nimage: gcr.io/google_containers/%s:1\n"
POD = "kind: Pod\nmetadata: {name: %s}\nspec: {image: '{{ pillar['kube_docker_registry'] }}/%s:{{ pillar['%s_docker_tag'] }}'}\n"


# As that of 1.2 does: no addon before each image is loaded, and it tries again for ever.
MAKE_ADDONS = """#!/bin/bash
until is_loaded=true; for image in /srv/salt/kube-addons-images/*; do docker load -i "$image" || is_loaded=false; done; $is_loaded; do
  sleep 1
done
touch /run/addons-are-made
exec sleep infinity
"""


def templates(version):
    """Templates of our own, in the grammar of kube-up's, for every file that a document with its usual values asks for."""
    minor = number(version)[1]
    dns = "kube-dns" if minor == 3 else "kube-addons/dns"
    made = {
        "debian-auto-upgrades/20auto-upgrades": "APT::Periodic::Unattended-Upgrade \"1\";\n",
        "docker/docker-defaults":
        "{% set opts = '' -%}\n{% if grains.docker_opts is defined -%}\n  {% set opts = grains.docker_opts -%}\n{% endif -%}\n"
        "{% set bridge = '--bridge=cbr0' -%}\n{% if pillar['network_provider'] in ['kubenet', 'cni'] -%}\n  {% set bridge = '' -%}\n{% endif -%}\n"
        "DOCKER_OPTS=\"{{ opts }} {{ bridge }} --iptables=false{% if pillar['docker_test_log_level'] is defined %} "
        "{{ pillar['docker_test_log_level'] }}{% endif %}\"\n",
        "docker/docker-healthcheck.service":
            "[Service]\nType=oneshot\nExecStart=/opt/kubernetes/helpers/docker-healthcheck\n\n[Install]\nWantedBy=multi-user.target\n",
        "docker/docker-healthcheck.timer": "[Timer]\nOnUnitInactiveSec=10s\nUnit=docker-healthcheck.service\n\n"
                                           "[Install]\nWantedBy=multi-user.target\n",
        "docker/docker.service": "[Service]\nEnvironmentFile={{ environment_file }}\n",
        "docker/docker-healthcheck": "#!/bin/bash\ndocker version\n", "docker/docker-prestart": "#!/bin/bash\ntrue\n",
        "etcd/etcd.manifest": '{ "kind": "Pod",\n{% set log = "/var/log/etcd" + suffix + ".log" -%}\n"metadata": {"name": "etcd{{ suffix }}"},\n'
                              '"spec": {"port": {{ port }}, "peer": {{ server_port }}, "cpu": {{ cpulimit }}, "log": "{{ log }}",\n'
                              '"flags": "' + ETCD_FLAGS + '"} }\n',
        "fluentd-es/fluentd-es.yaml": "kind: Pod\nspec: {image: gcr.io/google_containers/fluentd:1}\n",
        "kube-addons/namespace.yaml": "kind: Namespace\n", "kube-addons/kube-addon-update.sh": "#!/bin/sh\n",
        "kube-addons/kube-addons.sh": MAKE_ADDONS,
        "kube-addons/kube-addons.service": "[Service]\nExecStart=/etc/kubernetes/kube-addons.sh\n\n[Install]\nWantedBy=multi-user.target\n",
        "kube-addons/kube-addon-manager.yaml": "kind: Pod\nspec:\n  containers:\n  - image: gcr.io/google-containers/kube-addon-manager:%s\n"
                                               % ("v6.1.2" if number(version) >= [1, 5, 6] else "v1"),
        f"{dns}/skydns-rc.yaml.in": "kind: ReplicationController\ndomain: {{ pillar['dns_domain'] }}.\n"
                                    "image: gcr.io/google_containers/kube2sky:1\n"
                                    + ("federation: '{{ pillar['federations_domain_map'] }}'\n" if minor >= 3 else ""),
        f"{dns}/skydns-svc.yaml.in": "kind: Service\nclusterIP: {{ pillar['dns_server'] }}\n",
        "kube-addons/cluster-monitoring/influxdb/heapster-controller.yaml":
            "{% set memory = 200 + pillar.num_nodes * 4 -%}\nkind: Deployment\nmemory: {{ memory }}Mi\n",
        "kube-addons/dashboard/dashboard-service.yaml": "kind: Service\n",
        "kube-addons/fluentd-elasticsearch/es-controller.yaml": "kind: ReplicationController\n",
        "kube-admission-controls/limit-range/limit-range.yaml": "kind: LimitRange\n",
        "kube-apiserver/kube-apiserver.manifest":
            "{% set flags = '--v=2' -%}\n{% if grains['runtime_config'] is defined -%}\n"
            "  {% set flags = flags + ' --runtime-config=' + grains.runtime_config -%}\n{% endif -%}\n"
            "{% for word in pillar['admission_control'].split(',') -%}{% if word == 'LimitRanger' %}\n{% endif %}{% endfor -%}\n"
            + POD.replace("%s_docker_tag", "kube-apiserver_docker_tag").replace("%s", "kube-apiserver")
            + "flags: '{{ flags }} --allow-privileged={{ pillar['allow_privileged'] }}" + APISERVER_FLAGS + "'\n",
        "kube-apiserver/init.sls": "/var/log/kube-apiserver-audit.log:\n  file.managed: []\n" if number(version) >= [1, 5, 4] else "x: []\n",
        "kube-apiserver/abac-authz-policy.jsonl": '{"user":"{{ grains.kube_user }}"}\n',
        "kube-controller-manager/kube-controller-manager.manifest":
            POD.replace("%s_docker_tag", "kube-controller-manager_docker_tag").replace("%s", "kube-controller-manager")
            + "flags: '" + MANAGER_FLAGS + "'\n",
        "kube-scheduler/kube-scheduler.manifest": POD.replace("%s_docker_tag", "kube-scheduler_docker_tag").replace("%s", "kube-scheduler")
                                                + "flags: '" + SCHEDULER_FLAGS + "'\n",
        "kube-proxy/init.sls": "x:\n  cpurequest: '%s'\n" % ("200m" if version == "1.2.0" else "20m"),
        "kube-proxy/kube-proxy.manifest": POD.replace("%s_docker_tag", "kube-proxy_docker_tag").replace("%s", "kube-proxy")
                                          + "cpu: {{ cpurequest }}\nmaster: https://{{ grains.api_servers }}\nflags: '"
                                          + PROXY_FLAGS + "'\n",
        "kubelet/default": "DAEMON_ARGS=\"$DAEMON_ARGS {% if grains['roles'][0] == 'kubernetes-pool' %}--api-servers=https://{{ grains.api_servers }}"
                           "{% elif grains['cbr-cidr'] is defined %}--pod-cidr={{ grains['cbr-cidr'] }}{% endif %} {{ pillar['log_level'] }}"
                           " --cloud-provider={{ grains.cloud }} --config=/etc/kubernetes/manifests --allow-privileged={{ pillar['allow_privileged'] }}"
                           + KUBELET_FLAGS + "\"\n",
        "kubelet/kubelet.service": "[Unit]\nDescription=Kubernetes Kubelet Server\n\n[Service]\nEnvironmentFile=/etc/sysconfig/kubelet\n\nExecStart=/usr/local/bin/kubelet \"$DAEMON_ARGS\"\nRestart=always\n\n[Install]\nWantedBy=multi-user.target\n",
        "logrotate/init.sls": "kube-apiserver-audit\n" if number(version) >= [1, 5, 4] else "x: []\n", "logrotate/conf": "/var/log/{{ file }}.log {\n  rotate 5\n}\n",
        "logrotate/cron": "#!/bin/sh\nlogrotate /etc/logrotate.conf\n", "logrotate/docker-containers": "/var/lib/docker/containers/*/*-json.log {\n}\n",
    }
    return made


def all_templates(version):
    """Those as well that only some option asks for."""
    heapster = "kind: Deployment\nnodes: {{ pillar.num_nodes }}\n"
    return templates(version) | {
        "kube-addons/cluster-monitoring/google/heapster-controller.yaml": heapster,
        "kube-addons/cluster-monitoring/standalone/heapster-controller.yaml": heapster,
        "kube-addons/cluster-monitoring/heapster-controller-combined.yaml": heapster,
        "kube-addons/fluentd-elasticsearch/es-image/template.json": "{}\n",
        **{f"kube-addons/registry/registry-{part}": ADDON % "registry" for part in ("pv.yaml.in", "pvc.yaml.in", "rc.yaml", "svc.yaml")},
        "kube-registry-proxy/kube-registry-proxy.yaml": "kind: Pod\nimage: gcr.io/google_containers/kube-registry-proxy:0.3\n",
        "kube-addons/node-problem-detector/node-problem-detector.yaml": ADDON % "node-problem-detector",
        "kube-addons/dns-horizontal-autoscaler/dns-horizontal-autoscaler.yaml": ADDON % "autoscaler",
        "rescheduler/rescheduler.manifest": "kind: Pod\nimage: gcr.io/google_containers/rescheduler:1\n",
        "e2e-image-puller/e2e-image-puller.manifest": "kind: Pod\nname: puller\n",
        "fluentd-gcp/fluentd-gcp.yaml": "kind: Pod\nname: fluentd-gcp\n",
        "calico/calico-node.manifest": "kind: Pod\nmaster: {{ grains.api_servers }}\n",
        "calico/10-calico.conf": '{ "name": "k8s-pod-network", "hostname": "{{ grains.hostname_override }}" }\n',
    }


ADDON_IMAGES = ["pause:2.0", "kube-registry-proxy:0.3"]
IMAGES = ["kube-proxy", "kube-apiserver", "kube-controller-manager", "kube-scheduler"]


def server(**changes):
    """An archive of programs and images, as bytes."""
    below = "kubernetes/server/bin/"
    files = {below + name: b"stands for " + name.encode() + b"\n" for name in ("kubelet", "kubectl")}
    for image in IMAGES:
        files[f"{below}{image}.tar"] = b"an image of " + image.encode() + b"\n"
        files[f"{below}{image}.docker_tag"] = b"0123456789abcdef0123456789abcdef\n"
    # as those of 1.2 have them
    files |= {f"kubernetes/addons/gcr.io~google_containers~{image}.tar": b"an image of " + image.encode() + b"\n" for image in ADDON_IMAGES}
    files |= {"kubernetes/LICENSES": b"licences\n", "kubernetes/kubernetes-src.tar.gz": b"sources\n"}
    files |= changes
    return tar({name: data for name, data in files.items() if data is not None})


def knows(role, version, key):
    """Whether that version writes the key for that role; one that is written only when it has a value is known to all."""
    rows = [(whose, since) for whose, k, since, _ in KEYS if k == key]
    return not rows or any(whose in (COMMON, role) and number(version) >= number(since) for whose, since in rows)

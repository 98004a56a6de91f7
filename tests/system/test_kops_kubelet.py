"""What a worker of today's kops has of kubelet and kube-proxy: the files of kops' own nodeup, read as their programs read them."""
import base64
import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile

import pytest
import yaml

from kops import ADDRESS, AMAZON, DEBIAN, ID, INSTANCE, REGION, SECRET, TOKEN, UBUNTU, Worker, openssl
from world import CONFIG, OK, ROOT, every

# What Go writes although nothing of it is set.
UNSET = """\
apiVersion: kubelet.config.k8s.io/v1beta1
authentication:
  anonymous: {enabled: false}
  webhook: {cacheTTL: 0s, enabled: true}
  x509: {clientCAFile: /srv/kubernetes/ca.crt}
authorization:
  mode: Webhook
  webhook: {cacheAuthorizedTTL: 0s, cacheUnauthorizedTTL: 0s}
cgroupDriver: systemd
cgroupRoot: /
clusterDNS: [100.64.0.10]
clusterDomain: cluster.local
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cpuManagerReconcilePeriod: 0s
crashLoopBackOff: {}
enableDebuggingHandlers: true
evictionHard: {memory.available: 100Mi, nodefs.available: 10%}
evictionPressureTransitionPeriod: 0s
fileCheckFrequency: 0s
httpCheckFrequency: 0s
imageMaximumGCAge: 0s
imageMinimumGCAge: 0s
kind: KubeletConfiguration
logging: {flushFrequency: 0, options: {json: {infoBufferSize: "0"}, text: {infoBufferSize: "0"}}, verbosity: 0}
memorySwap: {}
nodeStatusReportFrequency: 0s
nodeStatusUpdateFrequency: 0s
protectKernelDefaults: true
providerID: aws:///us-test-1a/i-0123456789abcdef0
runtimeRequestTimeout: 0s
shutdownGracePeriod: 30s
shutdownGracePeriodCriticalPods: 10s
staticPodPath: /etc/kubernetes/manifests
streamingConnectionIdleTimeout: 0s
syncFrequency: 0s
tlsCertFile: /srv/kubernetes/kubelet-server.crt
tlsPrivateKeyFile: /srv/kubernetes/kubelet-server.key
volumePluginDir: /usr/libexec/kubernetes/kubelet-plugins/volume/exec/
volumeStatsAggPeriod: 0s
"""
KUBELET_UNIT = """\
[Unit]
Description=Kubernetes Kubelet Server
Documentation=https://github.com/kubernetes/kubernetes
After=containerd.service

[Service]
EnvironmentFile=/etc/sysconfig/kubelet
ExecStart=/usr/local/bin/kubelet "$DAEMON_ARGS"
Restart=always
RestartSec=2s
StartLimitInterval=0
KillMode=process
User=root
CPUAccounting=true
MemoryAccounting=true

[Install]
WantedBy=multi-user.target
"""
PROVIDER = f"""\
apiVersion: kubelet.config.k8s.io/v1
kind: CredentialProviderConfig
providers:
- apiVersion: credentialprovider.kubelet.k8s.io/v1
  args: [get-credentials]
  defaultCacheDuration: 12h0m0s
  env: [{{name: AWS_REGION, value: {REGION}}}]
  matchImages: ["*.dkr.ecr.*.amazonaws.com", "*.dkr.ecr.*.amazonaws.com.cn", "*.dkr.ecr-fips.*.amazonaws.com", "*.dkr.ecr.us-iso-east-1.c2s.ic.gov"]
  name: ecr-credential-provider
"""
PROXY = f"""\
apiVersion: v1
kind: Pod
metadata:
  labels: {{k8s-app: kube-proxy, kubernetes.io/managed-by: nodeup, tier: node}}
  name: kube-proxy
  namespace: kube-system
spec:
  containers:
  - args:
    - --log-file=/var/log/kube-proxy.log
    - --also-stdout
    - /usr/local/bin/kube-proxy
    - --cluster-cidr=100.96.0.0/11
    - --conntrack-max-per-core=131072
    - --hostname-override={INSTANCE}
    - --kubeconfig=/var/lib/kube-proxy/kubeconfig
    - --master=https://api.internal.a.example.com
    - --oom-score-adj=-998
    - --v=2
    command: [/go-runner]
    image: registry.k8s.io/kube-proxy:v1.36.1
    name: kube-proxy
    resources: {{requests: {{cpu: 100m}}}}
    securityContext: {{privileged: true}}
    volumeMounts:
    - {{mountPath: /var/log/kube-proxy.log, name: logfile}}
    - {{mountPath: /var/lib/kube-proxy, name: kubeconfig, readOnly: true}}
    - {{mountPath: /lib/modules, name: modules, readOnly: true}}
    - {{mountPath: /etc/ssl/certs, name: ssl-certs-hosts, readOnly: true}}
    - {{mountPath: /run/xtables.lock, name: iptableslock}}
  hostNetwork: true
  priorityClassName: system-node-critical
  tolerations: [{{key: CriticalAddonsOnly, operator: Exists}}]
  volumes:
  - {{hostPath: {{path: /var/log/kube-proxy.log}}, name: logfile}}
  - {{hostPath: {{path: /var/lib/kube-proxy}}, name: kubeconfig}}
  - {{hostPath: {{path: /lib/modules}}, name: modules}}
  - {{hostPath: {{path: /usr/share/ca-certificates}}, name: ssl-certs-hosts}}
  - {{hostPath: {{path: /run/xtables.lock, type: FileOrCreate}}, name: iptableslock}}
status: {{}}
"""


@pytest.fixture
def worker(tmp_path):
    return Worker(tmp_path)


@contextlib.contextmanager
def ec2(types):
    with tempfile.TemporaryDirectory() as folder:
        state = pathlib.Path(folder) / "state.json"
        state.write_text(json.dumps({"region": REGION, "keys": {ID: [SECRET, TOKEN]}, "instances": {}, "volumes": {}, "types": types}))
        server = subprocess.Popen([sys.executable, ROOT / "tests/fake/ec2.py", "127.0.0.1", "0", state], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        yield f"http://127.0.0.1:{int(server.stdout.readline())}"
        server.communicate(timeout=10)


def applied(worker, **env):
    with worker.controller():
        done = worker.apply(**env)
    assert done.returncode == OK, done.stderr
    return done


def conf(worker):
    return yaml.safe_load(worker.read("/var/lib/kubelet/kubelet.conf"))


def flags(worker):
    line, home = worker.read("/etc/sysconfig/kubelet").splitlines()
    assert home == 'HOME="/root"' and line.startswith('DAEMON_ARGS="') and line.endswith('"')
    return line[len('DAEMON_ARGS="'):-1].split(" ")


@pytest.mark.parametrize("name, text, changes, left", [
    ("cpu_manager_state", {"policyName": "none", "defaultCpuSet": "", "checksum": 1353318690}, {"cpuManagerPolicy": "static"}, False),
    ("cpu_manager_state", {"policyName": "static", "defaultCpuSet": "0-3"}, {}, False),
    ("cpu_manager_state", {"policyName": "static", "defaultCpuSet": "0-3"}, {"cpuManagerPolicy": "static"}, True),
    ("cpu_manager_state", {"policyName": "none", "defaultCpuSet": ""}, {"cpuManagerPolicy": "none"}, True),
    ("memory_manager_state", {"policyName": "Static", "machineState": {}}, {}, False),
    ("memory_manager_state", {"policyName": "None", "machineState": {}}, {}, True),
    ("cpu_manager_state", {"policyName": "static"}, {"rootDir": "/mnt/kubelet"}, False)])
def test_what_kubelet_remembers_of_another_policy_is_put_aside(name, text, changes, left, worker):
    """In an image nothing runs; on a live node it is stopped for it, see tests/unit/tasks/test_unit_start.c."""
    worker.config["KubeletConfig"] |= {"kubeReserved": {"cpu": "100m"}, **changes}
    folder = worker.root / changes.get("rootDir", "/var/lib/kubelet").lstrip("/")
    folder.mkdir(parents=True)
    (folder / name).write_text(json.dumps(text))
    with worker.controller():
        planned, done, again = worker.run("plan"), worker.apply(), worker.run("plan")
    says = f"/{name} is of policy {text['policyName']}, and kubelet has "
    assert (says in planned.stdout) != left and done.returncode == OK and again.returncode == OK, planned.stdout + done.stderr + again.stdout
    assert sorted(p.name for p in folder.glob(name + "*")) == [name if left else name + ".old"]
    assert json.loads((folder / (name if left else name + ".old")).read_text()) == text


def test_every_file_of_kubelet(worker):
    assert "failed 0\n" in applied(worker).stderr, "a plugin that the archive does not have is not missed"
    assert conf(worker) == yaml.safe_load(UNSET)
    assert flags(worker) == [
        "--cloud-provider=external", f"--hostname-override={INSTANCE}", "--kubeconfig=/var/lib/kubelet/kubeconfig",
        "--runtime-request-timeout=15m0s", "--v=2", "--config=/var/lib/kubelet/kubelet.conf",
        "--image-credential-provider-config=/var/lib/kubelet/credential-provider.conf", "--image-credential-provider-bin-dir=/usr/local/bin"]
    assert worker.read("/etc/systemd/system/kubelet.service") == KUBELET_UNIT
    assert yaml.safe_load(worker.read("/var/lib/kubelet/credential-provider.conf")) == yaml.safe_load(PROVIDER)
    assert {path: found[0] for path, found in worker.tree().items()}.items() >= {
        "/usr/local/bin/kubelet": "0755", "/usr/local/bin/ecr-credential-provider": "0755", "/var/lib/kubelet/kubelet.conf": "0644",
        "/var/lib/kubelet/kubeconfig": "0400", "/var/lib/kubelet/credential-provider.conf": "0644", "/etc/sysconfig/kubelet": "0644"}.items()
    assert worker.tree()["/etc/systemd/system/multi-user.target.wants/kubelet.service"].endswith("/kubelet.service")


@pytest.mark.parametrize("user, path", [("kubelet", "/var/lib/kubelet/kubeconfig"), ("kube-proxy", "/var/lib/kube-proxy/kubeconfig")])
def test_the_kubeconfigs_have_what_the_controller_issued(user, path, worker):
    applied(worker)
    login = yaml.safe_load(worker.read(path))
    held = login["users"][0]["user"]
    (worker.folder / "held.crt").write_bytes(base64.b64decode(held["client-certificate-data"]))
    (worker.folder / "held.key").write_bytes(base64.b64decode(held["client-key-data"]))
    assert openssl("x509", "-in", worker.folder / "held.crt", "-noout", "-pubkey") == openssl(
        "pkey", "-in", worker.folder / "held.key", "-pubout")
    name = f"system:node:{INSTANCE}" if user == "kubelet" else "system:kube-proxy"
    assert f"CN = {name}" in openssl("x509", "-in", worker.folder / "held.crt", "-noout", "-subject")
    ca = (worker.folder / "ca.crt").read_text() + (worker.folder / "old.crt").read_text()
    assert login["clusters"] == [{"name": "local", "cluster": {
        "server": "https://api.internal.a.example.com", "certificate-authority-data": base64.b64encode(ca.encode()).decode()}}]
    assert login["contexts"] == [{"name": "service-account-context", "context": {"cluster": "local", "user": user}}]
    assert (login["current-context"], login["kind"], login["apiVersion"], login["users"][0]["name"]) == (
        "service-account-context", "Config", "v1", user)
    assert worker.read(path) == yaml.safe_dump(login, sort_keys=True, width=1 << 20)  # kops' bytes


def test_kube_proxy_is_a_static_pod(worker):
    applied(worker)
    assert yaml.safe_load(worker.read("/etc/kubernetes/manifests/kube-proxy.manifest")) == yaml.safe_load(PROXY)
    assert worker.tree()["/var/log/kube-proxy.log"] == ("0400", b"")
    assert worker.tree()["/var/lib/kube-proxy/kubeconfig"][0] == "0400"


def test_no_kube_proxy_where_the_network_does_its_work(worker):
    worker.config["KubeProxy"] = None
    worker.config["Networking"]["kuberouter"] = {}
    applied(worker)
    assert not (worker.root / "etc/kubernetes/manifests/kube-proxy.manifest").exists()
    assert not (worker.root / "var/lib/kube-proxy").exists()
    assert yaml.safe_load(worker.read("/var/lib/kube-router/kubeconfig"))["users"][0]["name"] == "kube-router"


def test_kube_proxy_as_the_document_wants_it(worker):
    worker.config["KubeProxy"].update(cpuLimit="2", memoryRequest="64Mi", memoryLimit="128Mi", conntrackMaxPerCore=0, bindAddress="@aws",
                                      featureGates={"B": "true", "A": "false"})
    worker.config["containerdConfig"]["selinuxEnabled"] = True
    applied(worker)
    spec = yaml.safe_load(worker.read("/etc/kubernetes/manifests/kube-proxy.manifest"))["spec"]
    assert spec["containers"][0]["resources"] == {"limits": {"cpu": "2", "memory": "128Mi"}, "requests": {"cpu": "100m", "memory": "64Mi"}}
    args = spec["containers"][0]["args"]
    assert {"--conntrack-max-per-core=0", f"--bind-address={ADDRESS}", "--feature-gates=A=false,B=true"} <= set(args) and args[3:] == sorted(args[3:])
    assert spec["securityContext"] == {"seLinuxOptions": {"level": "s0", "type": "spc_t"}}


# Document key and value; place and value in kubelet.conf, None: it is not there.
SETTINGS = [
    ({"evictionSoft": "memory.available<1Gi, nodefs.available<15%", "evictionSoftGracePeriod": "memory.available=1m,nodefs.available=1m"}, "evictionSoft", {"memory.available": "1Gi", "nodefs.available": "15%"}),
    ({"evictionSoftGracePeriod": "memory.available=1m30s"}, "evictionSoftGracePeriod", {"memory.available": "1m30s"}),
    ({"evictionMinimumReclaim": "nodefs.available=1Gi"}, "evictionMinimumReclaim", {"nodefs.available": "1Gi"}),
    ({"evictionHard": ""}, "evictionHard", None),
    ({"featureGates": {"A": "true", "B": "f", "C": "1"}}, "featureGates", {"A": True, "B": False, "C": True}),
    ({"taints": ["a=b:NoSchedule", "c:NoExecute"]}, "registerWithTaints",
     [{"effect": "NoSchedule", "key": "a", "value": "b"}, {"effect": "NoExecute", "key": "c"}]),
    ({"enforceNodeAllocatable": "pods,kube-reserved", "kubeReservedCgroup": "/kube"}, "enforceNodeAllocatable", ["pods", "kube-reserved"]),
    ({"kubeReserved": {"cpu": "100m"}}, "kubeReserved", {"cpu": "100m"}),
    ({"eventQPS": 0, "eventRecordQPS": 7}, "eventRecordQPS", 0),
    ({"eventRecordQPS": 7}, "eventRecordQPS", 7),
    ({"maxPods": 0}, "maxPods", None),
    ({"maxPods": 250}, "maxPods", 250),
    ({"registryPullQPS": 0}, "registryPullQPS", 0),
    ({"readOnlyPort": 10255}, "readOnlyPort", 10255),
    ({"rotateCertificates": False}, "rotateCertificates", None),
    ({"failSwapOn": False}, "failSwapOn", False),
    ({"cpuCFSQuotaPeriod": "100ms"}, "cpuCFSQuotaPeriod", "100ms"),
    ({"imageMaximumGCAge": "90m"}, "imageMaximumGCAge", "1h30m0s"),
    ({"resolvConf": ""}, "resolvConf", ""),
    ({"tlsCipherSuites": ["A", "B"]}, "tlsCipherSuites", ["A", "B"]),
    ({"hairpinMode": ""}, "hairpinMode", None),
    ({"logFormat": "json"}, "logging.format", "json"),
    ({"memorySwapBehavior": "LimitedSwap"}, "memorySwap.swapBehavior", "LimitedSwap"),
    ({"crashLoopBackOffMaxContainerRestartPeriod": "1m"}, "crashLoopBackOff.maxContainerRestartPeriod", "1m0s"),
    ({"clusterDNS": None}, "clusterDNS", [""]),
    ({"volumePluginDirectory": "/x/"}, "volumePluginDir", "/x/"),
    ({"authorizationMode": "AlwaysAllow"}, "authorization.mode", "AlwaysAllow"),
    ({"authenticationTokenWebhook": False}, "authentication.webhook.enabled", False),
    ({"anonymousAuth": None}, "authentication.anonymous", {}),
    ({"evictionMaxPodGracePeriod": 30}, "evictionMaxPodGracePeriod", 30),
]


@pytest.mark.parametrize("settings, place, want", every(3, SETTINGS), ids=[next(iter(s)) + str(i) for i, (s, _, _) in enumerate(SETTINGS)])
def test_a_setting_of_the_document(settings, place, want, worker):
    worker.config["KubeletConfig"] = {**worker.config["KubeletConfig"], **settings}
    applied(worker)
    at = conf(worker)
    for key in place.split("."):
        at = at.get(key) if at is not None else None
    assert at == want


def reserve(worker, formula):
    setting = worker.root / "etc/nodeup/nodeup.d/50-reserved.yaml"
    setting.parent.mkdir(parents=True, exist_ok=True)
    setting.write_text(f"reserved: {formula}\n")


def test_kube_reserved_by_the_size_of_the_machine(worker):
    """The values of EKS' own AMI on an m5.large, with the pods that kops gives it."""
    reserve(worker, "eks")
    worker.facts["processors"] = 2
    worker.config["KubeletConfig"]["maxPods"] = 29
    worker.write()
    with worker.controller():
        planned, as_json = worker.run("plan"), worker.run("plan", "-o", "json")
    says = "kube-reserved is cpu=70m,memory=574Mi,ephemeral-storage=1024Mi, by the formula of eks from 2 processors, 29 pods"
    assert says in planned.stderr.splitlines() and json.loads(as_json.stdout)["remarks"] == [says], planned.stderr
    applied(worker)
    assert conf(worker)["kubeReserved"] == {"cpu": "70m", "memory": "574Mi", "ephemeral-storage": "1024Mi"} and "systemReserved" not in conf(worker)
    with worker.controller():
        assert worker.run("plan").returncode == OK


def test_documents_win_over_a_formula(worker):
    reserve(worker, "gke")
    worker.config["KubeletConfig"]["systemReserved"] = {"memory": "1Gi"}
    worker.write()
    with worker.controller():
        assert "reserved: gke is not used: the documents name systemReserved" in worker.run("plan").stderr.splitlines()
    applied(worker)
    assert conf(worker)["systemReserved"] == {"memory": "1Gi"} and "kubeReserved" not in conf(worker)


@pytest.mark.parametrize("formula, says", [
    ("gke", "reserved: gke needs the fact memoryMiB, which is not known"), ("aks", "reserved: expected one of eks|gke, found 'aks'")])
def test_without_a_size_or_a_formula_nothing_is_written(formula, says, worker):
    reserve(worker, formula)
    worker.facts["processors"] = 2
    worker.write()
    with worker.controller():
        done = worker.apply()
    assert done.returncode == CONFIG and says in done.stderr and not (worker.root / "var/lib/kubelet").exists(), done.stderr


def test_flags_of_the_document(worker):
    worker.config["KubeletConfig"].update(logLevel=0, registerNode=True, runtimeRequestTimeout="20m", rootDir="/x", bootstrapKubeconfig="")
    worker.config["containerdConfig"]["address"] = "/run/other.sock"
    applied(worker)
    assert flags(worker)[:6] == ["--cloud-provider=external", f"--hostname-override={INSTANCE}", "--kubeconfig=/var/lib/kubelet/kubeconfig",
                                 "--register-node=true", "--root-dir=/x", "--runtime-request-timeout=20m0s"]
    assert conf(worker)["containerRuntimeEndpoint"] == "unix:///run/other.sock"


def test_a_quote_in_a_flag_does_not_end_the_line(worker):
    worker.config["KubeletConfig"]["rootDir"] = '/a"b'
    worker.config["containerdConfig"]["root"] = '/c"d'
    applied(worker)
    assert ' --root-dir="/a\\"b" --runtime-request-timeout=' in worker.read("/etc/sysconfig/kubelet")
    assert worker.read("/etc/sysconfig/containerd").endswith(' --root="/c\\"d"')


def test_slices_stand_for_cgroups(worker):
    worker.config["KubeletConfig"].update(kubeletCgroups="/kubelet.slice/", runtimeCgroups="/runtime", systemCgroups="/system")
    applied(worker)
    assert "MemoryAccounting=true\nSlice=kubelet.slice.slice\n" in worker.read("/etc/systemd/system/kubelet.service")
    assert "\nSlice=runtime.slice\n" in worker.read("/etc/systemd/system/containerd.service")
    for name in ("kubelet.slice", "runtime", "system"):
        assert worker.read(f"/etc/systemd/system/{name}.slice") == (
            "[Unit]\nDocumentation=man:systemd.special(7)\nBefore=slices.target\nDefaultDependencies=no\n")
    assert "--runtime-cgroups=/runtime" in flags(worker) and conf(worker)["systemCgroups"] == "/system"


def test_slashes_in_a_row_are_one(worker):
    """kubelet would clean the path, and end on the cgroup."""
    worker.config["KubeletConfig"].update(podManifestPath="//etc///kubernetes/manifests", cgroupRoot="//", kubeReservedCgroup="a//b")
    applied(worker)
    assert [conf(worker)[key] for key in ("staticPodPath", "cgroupRoot", "kubeReservedCgroup")] == ["/etc/kubernetes/manifests", "/", "a/b"]


STUB = "/run/systemd/resolve/resolv.conf"


@pytest.mark.parametrize("system, want", [
    (UBUNTU, STUB), (AMAZON, None), (UBUNTU | {"resolved": False}, None), (DEBIAN | {"resolved": True}, STUB), (DEBIAN | {"resolved": False}, None)])
def test_names_are_asked_of_servers_and_not_of_this_host(system, want, worker):
    worker.facts.update(system)
    applied(worker)
    assert conf(worker).get("resolvConf") == want


def test_a_host_with_resolved_is_noticed(worker):
    (worker.root / "run/systemd/resolve").mkdir(parents=True)
    (worker.root / "run/systemd/resolve/resolv.conf").write_text("nameserver 10.0.0.2\n")
    applied(worker)
    assert conf(worker)["resolvConf"] == "/run/systemd/resolve/resolv.conf"


@pytest.mark.parametrize("network, want", [({"amazonvpc": {}}, 29), ({"cilium": {"ipam": "eni"}}, 29), ({"cni": {"usesSecondaryIP": True}}, None),
                                           ({"cilium": {}}, None)])
def test_pods_with_addresses_of_the_instance(network, want, worker):
    worker.config["Networking"].update(network)
    done = applied(worker, AWS_ENDPOINT_URL_EC2="http://127.0.0.1:9")
    assert conf(worker).get("maxPods") == want
    assert (f"--node-ip={ADDRESS}" in flags(worker)) == (network != {"cilium": {}})
    assert ("nodeup's own table is used: 29 pods" in done.stderr) == (want is not None)


def test_ec2_says_how_many_addresses_there_are(worker):
    worker.config["Networking"]["amazonvpc"] = {}
    with ec2({"m5.large": {"enis": 2, "ips": 5}}) as url:
        done = applied(worker, AWS_ENDPOINT_URL_EC2=url)
        assert conf(worker)["maxPods"] == 2 * (5 - 1) + 2 and "maxPods" not in done.stderr
    with ec2({}) as url:
        done = applied(worker, AWS_ENDPOINT_URL_EC2=url)
        assert conf(worker)["maxPods"] == 29
        assert "EC2 400 InvalidInstanceType" in done.stderr and "own table" in done.stderr


def test_an_instance_of_an_unknown_type_has_no_guess(worker):
    worker.config["Networking"]["amazonvpc"] = {}
    worker.facts["instanceType"] = "x99.huge"
    with ec2({}) as url, worker.controller():
        done = worker.apply(AWS_ENDPOINT_URL_EC2=url)
    assert done.returncode == CONFIG and "set kubelet.maxPods, or let the role call ec2:DescribeInstanceTypes" in done.stderr
    assert worker.tree() == {}


def test_version_6_alone(worker):
    worker.config["Networking"]["nonMasqueradeCIDR"] = "::/0"
    applied(worker)
    assert "--node-ip=::" in flags(worker)


def test_mirrors_with_logins_of_the_instance(worker):
    worker.config["containerdConfig"].update(registryMirrors={"docker.io": ["https://b"], "*": ["https://c"]}, useECRCredentialsForMirrors=True)
    applied(worker)
    images = yaml.safe_load(worker.read("/var/lib/kubelet/credential-provider.conf"))["providers"][0]["matchImages"]
    assert images[4:] == ["*", "docker.io"]


@pytest.mark.parametrize("key, value, what", [
    ("featureGates", {"A": "perhaps"}, "expected true or false"), ("featureGates", {"A": ""}, "expected true or false"),
    ("taints", ["a=b:Sometimes"], "taint"), ("taints", ["a=b=c:NoSchedule"], "taint"), ("taints", [""], "taint"), ("evictionHard", "memory.available", "thresholds"),
    ("evictionSoftGracePeriod", "memory.available=soon", "periods")])
def test_what_does_not_parse_is_refused_before_anything_is_written(key, value, what, worker):
    worker.config["KubeletConfig"][key] = value
    with worker.controller():
        done = worker.apply()
    assert done.returncode == CONFIG and key in done.stderr and what in done.stderr, done.stderr
    assert worker.tree() == {}


def test_a_kube_proxy_without_cpu_is_refused(worker):
    del worker.config["KubeProxy"]["cpuRequest"]
    with worker.controller():
        done = worker.apply()
    assert done.returncode == CONFIG and "'KubeProxy.cpuRequest' is missing" in done.stderr and worker.tree() == {}


@pytest.mark.parametrize("maker, works", [("NVIDIA", True), ("AMD", False)])
def test_containers_may_use_gpus_that_ec2_says_the_type_has(maker, works, worker):
    worker.facts.update(UBUNTU)
    worker.config["NvidiaGPU"] = {"enabled": True, "package": "nvidia-driver"}
    worker.config["containerdConfig"]["nvidiaGPU"] = {"enabled": True}
    with ec2({"m5.large": {"enis": 3, "ips": 10, "gpus": [4, 4], "maker": maker}}) as url:
        applied(worker, AWS_ENDPOINT_URL_EC2=url)
    assert ("BinaryName = \"/usr/bin/nvidia-container-runtime\"" in worker.read("/etc/containerd/config.toml")) is works
    assert (worker.root / "etc/apt/sources.list.d/nvidia-container-toolkit.list").exists() is works

"""Values that the API server, the controller manager and the scheduler refuse."""
import re

import kubeup
import pytest

from kops import ControlPlane
from test_kubeup_documents import validate, write
from world import CONFIG, OK, PENDING


@pytest.fixture
def plane(tmp_path):
    plane = ControlPlane(tmp_path / "plane")
    yield plane
    plane.close()


def plan(plane, *flags, kcm=(), **values):
    plane.config["APIServerConfig"]["KubeAPIServer"].update(values)
    plane.config["ControlPlaneConfig"]["KubeControllerManager"].update(dict(kcm))
    plane.write()
    return plane.run("plan", *flags)


@pytest.mark.parametrize("key, value, why", [
    ("authorizationMode", "abac", "expected one of AlwaysAllow|AlwaysDeny|ABAC|Webhook|RBAC|Node, found 'abac'"),
    ("authorizationMode", "RBAC", "expected Node as well, as no node can register without it"),
    ("disableAdmissionPlugins", ["NodeRestriction"], "expected no plugin that enableAdmissionPlugins has"),
    ("securePort", 70000, "expected an integer from 1 to 65535, found '70000'"),
    ("bindAddress", "localhost", "expected an IP address, found 'localhost'"),
    ("goawayChance", "0.5", "expected a number from 0 to 0.02, found '0.5' in quotes"),
    ("tlsMinVersion", "1.2", "expected one of VersionTLS10|VersionTLS11|VersionTLS12|VersionTLS13, found '1.2' in quotes"),
])
def test_one_is_refused_with_its_place(plane, key, value, why):
    done = plan(plane, **{key: value, "enableAdmissionPlugins": ["NodeRestriction"]})
    assert done.returncode == CONFIG, done.stdout + done.stderr
    assert re.search(rf":\d+:\d+: APIServerConfig\.KubeAPIServer\.{key}: {re.escape(why)}", done.stdout + done.stderr), done.stdout + done.stderr


def test_all_are_told_at_once(plane):
    done = plan(plane, securePort=0, etcdServers=[], kcm={"concurrentJobSyncs": 0, "leaderElection": {"leaderElectLeaseDuration": "5s"}})
    said = done.stdout + done.stderr
    assert done.returncode == CONFIG and "did you mean ABAC" not in said, said
    for key in ("APIServerConfig.KubeAPIServer.securePort", "APIServerConfig.KubeAPIServer.etcdServers",
                "ControlPlaneConfig.KubeControllerManager.concurrentJobSyncs",
                "ControlPlaneConfig.KubeControllerManager.leaderElection.leaderElectLeaseDuration"):
        assert re.search(rf":\d+:\d+: {re.escape(key)}: expected ", said), said


@pytest.mark.parametrize("key, value, meant", [
    ("tlsCipherSuites", ["TLS_AES_128_GCM_SHA25"], "TLS_AES_128_GCM_SHA256"), ("enableAdmissionPlugins", ["NodeRestrictions"], "NodeRestriction"),
    ("featureGates", {"WatchLst": "true"}, "WatchList")])
def test_a_name_that_a_build_may_have_is_a_warning(plane, key, value, meant):
    done = plan(plane, **{key: value})
    assert done.returncode == PENDING and f"KubeAPIServer.{key}" in done.stderr and f"did you mean '{meant}'?" in done.stderr, done.stderr
    assert plan(plane, "--strict").returncode == CONFIG


def test_openid_connect_wants_both(plane):
    plane.config["APIServerConfig"]["Authentication"] = {"oidc": {"issuerURL": "http://a.example.com"}}
    done = plan(plane)
    said = done.stdout + done.stderr
    assert done.returncode == CONFIG and "oidc.issuerURL: expected an https URL without a user, a query and a fragment" in said, said
    assert "oidc.issuerURL: expected clientID as well" in said, said


def rewrite(world, old, new):
    world.edit_store("cluster.spec", lambda text: re.sub(old, new, text, count=1))


@pytest.mark.parametrize("old, new, why", [
    (r"authorizationMode: \S+", "authorizationMode: abac", "kubeAPIServer.authorizationMode: expected one of "),
    (r"  kubeAPIServer:\n", "  kubeAPIServer:\n    oidcIssuerURL: http://a\n    oidcClientID: b\n", "kubeAPIServer.oidcIssuerURL: expected an https URL"),
    (r"attachDetachReconcileSyncPeriod: \S+", "attachDetachReconcileSyncPeriod: 5ms", "SyncPeriod: expected a duration of 1s or more")])
def test_a_master_of_kops_18(master, make_world, old, new, why):
    rewrite(master, old, new)
    done = master.run("plan")
    assert done.code == CONFIG and why in done.out + done.err, done
    worker = make_world("worker", role="nodes")
    rewrite(worker, old, new)
    assert worker.run("plan").code == PENDING, "it runs none of these"


@pytest.mark.parametrize("value, code", [("10.0.0.0/12", OK), ("10.0.0.0/11", CONFIG), ("10.0.0.0/29", OK), ("10.0.0.0/30", CONFIG)])
def test_services_of_kube_up(tmp_path, value, code):
    done = validate(write(tmp_path, kubeup.text("master", "1.5.8", SERVICE_CLUSTER_IP_RANGE=value)))
    assert done.returncode == code and ("SERVICE_CLUSTER_IP_RANGE: expected a range of 8 to 2^20 addresses" in done.stderr) == (code == CONFIG), done.stderr
    done = validate(write(tmp_path, kubeup.text("node", "1.5.8", SERVICE_CLUSTER_IP_RANGE=value)))
    assert done.returncode == OK, done.stderr


@pytest.mark.parametrize("value, code", [
    ("https://m.example", OK), ("HTTP://m.example:5000", OK), ("m.example", CONFIG), ("https://m.example/", CONFIG), ("https://m.example/v2", CONFIG),
    ("https://a:b@m.example", CONFIG), ("https://m example", CONFIG)])
def test_the_mirror_of_dockers_images_of_kube_up(tmp_path, value, code):
    done = validate(write(tmp_path, kubeup.text("node", "1.5.8", DOCKER_REGISTRY_MIRROR_URL=value)))
    assert done.returncode == code and ("DOCKER_REGISTRY_MIRROR_URL: expected a URL" in done.stderr) == (code == CONFIG), done.stderr
    assert validate(write(tmp_path, kubeup.text("master", "1.5.8", DOCKER_REGISTRY_MIRROR_URL=value))).returncode == OK, "no master asks for it"


def test_texts_of_kube_up(tmp_path):
    done = validate(write(tmp_path, kubeup.text("master", "1.5.8", ADMISSION_CONTROL="NamespaceLifecycle,LimitRangr", FEATURE_GATES="AppArmor")))
    assert done.returncode == CONFIG and "FEATURE_GATES: expected feature gates such as AllAlpha=true" in done.stderr, done.stderr
    assert "did you mean 'LimitRanger'?" in done.stderr and "ADMISSION_CONTROL: expected an admission plugin" in done.stderr, done.stderr

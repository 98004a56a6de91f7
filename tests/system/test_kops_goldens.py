"""What kops itself makes of the clusters of its own tests, if its source is there: `make check-kops KOPS=DIR`, a clone or its git
directory. Each nodeupconfig of aws is read by its hash with no key left over; those of other clouds, and of gossip, are refused by name."""
import base64
import gzip
import hashlib
import json
import os
import pathlib
import re
import subprocess

import pytest

from kops import CA
from test_kubeup_documents import nodeup, write
from world import CONFIG, OK

KOPS = pathlib.Path(os.environ.get("KOPS") or "/nonexistent")
pytestmark = pytest.mark.skipif(not KOPS.exists(), reason="no source of kops: make check-kops KOPS=DIR")
CLUSTERS = "tests/integration/update_cluster"


@pytest.fixture(scope="module")
def clusters(tmp_path_factory):
    """Of the commit, whatever is checked out."""
    top = tmp_path_factory.mktemp("kops")
    with subprocess.Popen(["git", "-C", KOPS, "archive", "HEAD", CLUSTERS], stdout=subprocess.PIPE) as archive:
        subprocess.run(["tar", "-x", "-C", top], stdin=archive.stdout, check=True, timeout=300)
    assert archive.returncode == 0
    yield sorted((top / CLUSTERS).iterdir())
    subprocess.run(["rm", "-rf", top], check=True)


def group_of(user_data):
    """The name of the instance group whose BootConfig it brings; None: it brings none."""
    text = user_data.read_bytes().decode(errors="replace")
    packed = re.search(r'^echo "([^"]*)" \| base64 -d \| gzip -d > conf/kube_env.yaml$', text, re.M)
    boot = gzip.decompress(base64.b64decode(packed[1])).decode() if packed else text
    group = re.search(r"^InstanceGroupName: (\S+)$", boot, re.M)
    return group and "conf/kube_env.yaml" in text and group[1]


def nodes_of(cluster):
    """nodeupconfig of each of its nodes, and the user data that means it; None: kops' test has none, as of a bastion."""
    groups = {group_of(p): p for p in sorted(cluster.glob("data/*"))}
    for path in sorted(cluster.glob("data/*nodeupconfig-*")):
        yield path, groups.get(re.search(r"nodeupconfig-(.*)_(content|source)$", path.name)[1])


def boot_of(config):
    text = config.read_text()
    role = "ControlPlane" if re.search("^ControlPlaneConfig:", text, re.M) else "Node"
    return f"""\
CloudProvider: aws
ClusterName: {re.search(r"^ClusterName: (.*)$", text, re.M)[1]}
ConfigServer: {{servers: ["https://a:3988/"], CACertificates: {json.dumps(CA)}}}
InstanceGroupName: none
InstanceGroupRole: {role}
NodeupConfigHash: {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}
"""


def test_each_node_of_each_cluster(clusters, tmp_path):
    good, hashes, refused, wrong = [], 0, [], []
    for config, user_data in [node for cluster in clusters for node in nodes_of(cluster)]:
        conf = write(tmp_path, user_data.read_bytes() if user_data else boot_of(config))
        write(tmp_path, config.read_bytes(), "nodeupconfig.yaml")
        done = nodeup("validate", f"--conf={conf}", "--offline")
        cloud = re.search(r"CloudProvider: '(\w+)': nodeup makes nodes on aws alone", done.stderr)
        if done.returncode == OK and re.search(r"(master|worker|control plane|API server) of cluster \S+, Kubernetes 1\.\d+", done.stdout):
            good.append(config)
            hashes += bool(user_data)
        elif done.returncode == CONFIG and (cloud or "gossip, which nodeup does not know" in done.stderr):
            refused.append(cloud[1] if cloud else "gossip")
        else:
            wrong.append(f"{config}: {user_data}: {done.stderr}")
    print(f"{len(good)} read, {hashes} by the hash of their user data, refused:", {name: refused.count(name) for name in sorted(set(refused))})
    assert not wrong, "\n".join(wrong)
    assert good and len(set(refused)) > 3


def test_a_changed_byte_is_told(clusters, tmp_path):
    config, user_data = next(node for cluster in clusters for node in nodes_of(cluster) if node[1])
    conf = write(tmp_path, user_data.read_bytes())
    write(tmp_path, config.read_bytes() + b"\n", "nodeupconfig.yaml")
    done = nodeup("validate", f"--conf={conf}", "--offline")
    assert done.returncode == CONFIG and "this is not the NodeupConfig that BootConfig means" in done.stderr

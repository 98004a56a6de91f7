"""What `nodeup userdata` renders is user data: of every dialect and role, and read back by each command that takes it."""
import subprocess

import pytest

from test_kops_documents import NODEUP_CONFIG, WORKER
from test_kubeup_documents import nodeup, write
from world import CONFIG, ENV, OK, PROGRAM

URL = "--nodeup-url=" + "0" * 64 + "@https://dl.example/nodeup"


def render(conf, *flags):
    """The bytes of it."""
    done = subprocess.run([PROGRAM, "userdata", f"--conf={conf}", URL, *flags], env=ENV, capture_output=True)
    assert done.returncode == OK, done.stderr.decode()
    return done.stdout


def test_a_worker_of_kops_today_has_its_documents_from_a_server(tmp_path):
    """BootConfig goes as it is, and alone: what is beside it is not what the node is made from."""
    conf = write(tmp_path, WORKER)
    write(tmp_path, NODEUP_CONFIG, "nodeupconfig.yaml")
    script = render(conf).decode()
    assert script.count("\nput ") == 1 and f"\nput kube_env.yaml <<'END_OF_DOCUMENT'\n{WORKER}END_OF_DOCUMENT\n" in script
    (tmp_path / "nodeupconfig.yaml").unlink()
    assert render(conf).decode() == script


@pytest.mark.parametrize("here", [set(), {"cluster_spec.yaml"}, {"ig_spec.yaml"}])
def test_what_is_missing_beside_it_is_named(here, tmp_path):
    conf = write(tmp_path, "ClusterName: c.example\n")
    for name in here:
        write(tmp_path, "{}\n", name)
    done = nodeup("userdata", f"--conf={conf}", URL)
    missing = [name for name in ("cluster_spec.yaml", "ig_spec.yaml") if name not in here]
    assert done.returncode == CONFIG and done.stderr.rstrip().endswith(
        f"{conf}: no ConfigBase, and no {' and no '.join(missing)} beside it (78)"), done.stderr

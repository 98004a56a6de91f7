"""A node of kube-up: its document, and both tarballs."""

import os
import sys

import yaml

import data
from data import DATA, MB, ROOT, WORK

sys.path.insert(0, str(ROOT / "tests/system"))
import kubeup  # noqa: E402

SERVER, SIZE, BIN = "kubernetes-server-linux-amd64.tar.gz", 300, "kubernetes/server/bin"
# Programs by their part of the bytes, as in the archive of 1.5.8; an image is a program and a few files more.
PROGRAMS = {"hyperkube": 16, "kube-apiserver": 12, "kube-controller-manager": 11, "kubelet": 11, "kube-discovery": 7, "kubectl": 6,
            "kube-proxy": 5, "kube-scheduler": 6, "kubeadm": 9, "kube-dns": 5}
INSTALLED = {f"{BIN}/kubelet": "usr/local/bin/kubelet", f"{BIN}/kubectl": "usr/local/bin/kubectl",
             "kubernetes/LICENSES": "usr/local/share/doc/kubernetes/LICENSES",
             "kubernetes/kubernetes-src.tar.gz": "usr/local/share/doc/kubernetes/kubernetes-src.tar.gz"}
# Of a node, beside what is installed: docker loads it.
IMAGE = [f"{BIN}/kube-proxy.tar", f"{BIN}/kube-proxy.docker_tag"]


def members(blocks):
    """Of the archive: (name, bytes of it in MB) from small to large parts of a release, with its images behind the programs."""
    unit = SIZE * 3.2 / (sum(PROGRAMS.values()) + sum(PROGRAMS[name] for name in kubeup.IMAGES))
    sizes = {f"{BIN}/{name}": part * unit for name, part in PROGRAMS.items()}
    sizes |= {f"{BIN}/{name}.tar": PROGRAMS[name] * unit for name in kubeup.IMAGES}
    yield "kubernetes/LICENSES", b"a licence\n" * 50_000
    for name, size in sorted(sizes.items()):
        yield name, b"".join(next(blocks) for _ in range(int(size)))
    for name in kubeup.IMAGES:
        yield f"{BIN}/{name}.docker_tag", b"0123456789abcdef0123456789abcdef\n"
    yield "kubernetes/kubernetes-src.tar.gz", os.urandom(15 * MB)


def make():
    """The archive of programs, as gzip makes it, and the salt tarball of the tests."""
    if not (DATA / SERVER).exists():
        data.pack(DATA / SERVER, lambda packed: members(data.binaries()))


def documents(port):
    """Both tarballs are on the server."""
    _, salt = kubeup.pack(kubeup.all_templates("1.5.8"), DATA)
    conf = WORK / "conf"
    data.write_documents([])
    (conf / "kube_env.yaml").write_text(kubeup.text(
        kubeup.NODE, "1.5.8", SALT_TAR_URL=f"{data.base(port)}/kubernetes-salt.tar.gz", SALT_TAR_HASH=salt, NETWORK_PROVIDER="none",
        SERVER_BINARY_TAR_URL=f"{data.base(port)}/{SERVER}", SERVER_BINARY_TAR_HASH=data.digest("sha1", SERVER)))
    facts = {"distribution": "debian", "version": "12", "codename": "bookworm", "systemd": 252, "arch": "amd64", "region": "us-west-2",
             "localHostname": "ip-172-20-0-9.us-west-2.compute.internal", "instanceStore": 0, "filesystems": ["ext4", "overlay"]}
    (conf / "facts.yaml").write_text(yaml.safe_dump(facts))

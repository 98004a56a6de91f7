"""What the asset mirrors serve, and the user data that asks for it.

kubelet and protokube are stand-ins (no distribution has them); kubectl and the CNI plugins are
Debian's own, laid out as upstream's archives.  The URLs are those of the seed's user data.
"""
import functools
import glob
import gzip
import hashlib
import io
import json
import os
import random
import re
import shutil
import subprocess
import tarfile

from labhost import DEAD, FAST, LAB, ROOT, SLOW, LabError, run, write

ASSETS = os.path.join(LAB, "assets")
SEED = os.path.join(ROOT, "tests/data/seed-cluster")
NODEUP = os.environ.get("NODEUP", os.path.join(ROOT, "build/nodeup"))
KUBE = "https://storage.googleapis.com/kubernetes-release/"
KOPS = "https://kubeupv2.s3.amazonaws.com/kops/1.8.1/"
URLS = {
    "kubelet": KUBE + "release/v1.8.7/bin/linux/amd64/kubelet",
    "kubectl": KUBE + "release/v1.8.7/bin/linux/amd64/kubectl",
    "cni": KUBE + "network-plugins/cni-0799f5732f2a11b329d9e3d51b9c8f2e3759f2ff.tar.gz",
    "utils": KOPS + "linux/amd64/utils.tar.gz",
    "protokube": KOPS + "images/protokube.tar.gz",
    "nodeup": KOPS + "linux/amd64/nodeup",
    "kubelet-1.8.8": KUBE + "release/v1.8.8/bin/linux/amd64/kubelet",
    "kubelet-1.10": KUBE + "release/v1.10.3/bin/linux/amd64/kubelet",
}
DEBS = ["kubernetes-client", "containernetworking-plugins", "socat"]
FLANNEL = b"#!/bin/sh\nexit 1\n"  # Debian's package lacks it, upstream's archive of the time had it
KUBELET_BYTES = 40 << 20
SLOW_RATE = "24m"
CC = ["gcc", "-std=gnu17", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror", "-static", "-s",
      "-I" + ROOT]


def file_of(url):
    return os.path.join(ASSETS, url.split("//")[1])


def sha1(path):
    digest = hashlib.sha1()
    with open(path, "rb") as f:
        while chunk := f.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def build_kubelet(output, minor=8):
    """The stand-in for Kubernetes 1.minor's, unpadded."""
    os.makedirs(os.path.dirname(output), exist_ok=True)
    run(*CC, "-DKUBE_MINOR=%d" % minor, "-o", output, *sorted(glob.glob(ROOT + "/tests/fake/kubelet*.c")), "-lyaml")


def sources():
    """A digest of all that decides what the assets are."""
    digest = hashlib.sha256()
    for path in sorted(glob.glob(ROOT + "/tests/fake/*.[ch]")) + [__file__]:
        with open(path, "rb") as f:
            digest.update(f.read())
    return digest.hexdigest()


def ensure_assets():
    """name -> sha1 of everything served but nodeup; made again when a source changed."""
    stamp = os.path.join(ASSETS, "stamp")
    key = sources()
    if not os.path.exists(stamp) or open(stamp).read() != key:
        shutil.rmtree(ASSETS, ignore_errors=True)
        for url in URLS.values():
            os.makedirs(os.path.dirname(file_of(url)), exist_ok=True)
        make_kubelet()
        make_from_debs()
        make_protokube()
        for top in ("kubernetes-release", "kops"):  # the mirrors hold both trees
            os.makedirs(ASSETS + "/mirror", exist_ok=True)
            os.symlink(glob.glob(ASSETS + "/*/" + top)[0], ASSETS + "/mirror/" + top)
        write(stamp, key)
    return {name: sha1(file_of(url)) for name, url in URLS.items() if name != "nodeup"}


def copy_nodeup(directory):
    """The program as this lab serves it, whatever a build does meanwhile; its sha1."""
    path = os.path.join(directory, "nodeup")
    if not os.path.exists(NODEUP):
        return None
    shutil.copyfile(NODEUP, path)
    write(path + ".sha1", sha1(path))
    return sha1(path)


def make_kubelet():
    """Padded to a real kubelet's order of size, so that its download takes time."""
    path = file_of(URLS["kubelet"])
    build_kubelet(path)
    with open(path, "ab") as f:
        f.write(random.Random(8).randbytes(KUBELET_BYTES - os.path.getsize(path)))
    build_kubelet(file_of(URLS["kubelet-1.10"]), minor=10)
    build_kubelet(file_of(URLS["kubelet-1.8.8"]))


def make_from_debs():
    debs = os.path.join(LAB, "debs")
    os.makedirs(debs, exist_ok=True)
    unpacked = os.path.join(debs, "root")
    if not os.path.isdir(unpacked):
        run("apt-get", "download", *DEBS, cwd=debs)
        for deb in glob.glob(debs + "/*.deb"):
            run("dpkg-deb", "-x", deb, unpacked + ".new")
        os.rename(unpacked + ".new", unpacked)
    shutil.copyfile(unpacked + "/usr/bin/kubectl", file_of(URLS["kubectl"]))
    tar_gz(file_of(URLS["cni"]), [(None, "./bin")] + [
        (path, "./bin/" + os.path.basename(path)) for path in sorted(glob.glob(unpacked + "/usr/lib/cni/*"))] + [
        (FLANNEL, "./bin/flannel")])
    tar_gz(file_of(URLS["utils"]), [(unpacked + "/usr/bin/socat", "./socat")])


def tar_bytes(entries):
    """A tar of (file or bytes or None for a directory, name), the same bytes every time."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for source, name in entries:
            info = tarfile.TarInfo(name)
            info.mode = 0o755
            if source is None:
                info.type = tarfile.DIRTYPE
                tar.addfile(info)
                continue
            data = source if isinstance(source, bytes) else open(source, "rb").read()
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def tar_gz(path, entries):
    with open(path, "wb") as f:
        f.write(gzip.compress(tar_bytes(entries), 6, mtime=0))


def make_protokube():
    program = os.path.join(LAB, "protokube")
    run(*CC, "-o", program, ROOT + "/tests/fake/protokube.c")
    with open(program, "rb") as f:
        data = f.read()
    save_image(file_of(URLS["protokube"]), "protokube:1.8.1", [
        (None, "bin"), (data, "bin/true"), (None, "rootfs"), (None, "usr"), (None, "usr/bin"),
        (data, "usr/bin/protokube")])


def save_image(path, name, entries):
    """An image of one layer as `docker save` writes it, packed."""
    layer = tar_bytes(entries)
    config = json.dumps({
        "architecture": "amd64", "os": "linux", "created": "2018-02-11T00:00:00Z",
        "config": {"Cmd": ["/usr/bin/protokube"], "Env": ["PATH=/usr/bin:/bin"]},
        "history": [{"created": "2018-02-11T00:00:00Z"}],
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
    }).encode()
    digest = hashlib.sha256(config).hexdigest()
    manifest = [{"Config": digest + ".json", "RepoTags": [name], "Layers": ["l/layer.tar"]}]
    tar_gz(path, [
        (config, digest + ".json"), (None, "l"), (layer, "l/layer.tar"),
        (json.dumps(manifest).encode(), "manifest.json")])


# -- user data ------------------------------------------------------------------------------------

def with_hashes(text, assets):
    """The document with the hashes of what the lab serves, nothing else changed."""
    for name, digest in assets.items():
        if name == "nodeup":
            continue  # the seed fetches nodeup.sha1
        text = re.sub(r"\b[0-9a-f]{40}@" + re.escape(URLS[name]) + r"(?=\s)",
                      digest + "@" + URLS[name], text)
    return re.sub(r"(protokubeImage:\n  hash: )[0-9a-f]{40}", r"\g<1>" + assets["protokube"], text)


def seed_user_data(role, assets):
    """The seed's own script, changed only in the hashes."""
    with open(os.path.join(SEED, ROLES[role], "user_data.sh")) as f:
        return with_hashes(f.read(), assets)


ROLES = {"nodes": "nodes", "master-us-west-2a": "master"}


def mirrored(url):
    """The dead mirror first, the slow one second, then the right address."""
    path = url.split("/", 3)[3]
    return ",".join(["https://dead.mirror.test/" + path, "https://slow.mirror.test/" + path, url])


def write_documents(directory, role, assets):
    """The documents of a role with mirrors in the asset list, as a user would keep them."""
    script = seed_user_data(role, assets)
    for name, mark in (("cluster_spec", "CLUSTER_SPEC"), ("ig_spec", "IG_SPEC"),
                       ("kube_env", "KUBE_ENV")):
        text = re.search(r"<< '__EOF_%s'\n(.*?)__EOF_%s\n" % (mark, mark), script, re.S)[1]
        if name == "kube_env":
            text = re.sub(r"(?<=@)https://\S+", lambda m: mirrored(m[0]), text)
        write(os.path.join(directory, name + ".yaml"), text)


def our_user_data(directory, role, assets, *flags):
    """What `nodeup userdata` renders for those documents."""
    write_documents(directory, role, assets)
    done = subprocess.run(
        [NODEUP, "userdata", "--conf=" + os.path.join(directory, "kube_env.yaml"),
         "--nodeup-url", assets["nodeup"] + "@" + mirrored(URLS["nodeup"]), *flags],
        stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise LabError("nodeup userdata: status %d\n%s" % (done.returncode, done.stderr))
    return done.stdout


def documents_only(script):
    """The seed's script without its last step: documents and nodeup are there, nothing ran."""
    start = "( cd ${INSTALL_DIR}; ./nodeup "
    if start not in script:
        raise LabError("the seed's script has no line that starts nodeup")
    return script.replace(start, "( cd ${INSTALL_DIR}; true ./nodeup ")


# -- nginx ----------------------------------------------------------------------------------------

@functools.lru_cache(None)
def nginx_temp_paths():
    """Modules differ by build: only directives that this nginx knows may be written."""
    text = subprocess.run(["nginx", "-V"], capture_output=True, text=True).stderr
    return [n for n in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
            if n == "client_body" or "without-http_%s_module" % n not in text]


def nginx_conf(directory, names, certs):
    """nginx below its prefix; nodeup comes from the lab's own directory."""
    lines = ["daemon off; master_process off; pid nginx.pid; error_log log/nginx.err;", "events {}",
             "http {", "log_format lab '$msec $host $request_method $uri $status $body_bytes_sent "
             "$request_time';", "access_log log/access lab; sendfile on; keepalive_timeout 65;",
             "ssl_certificate %s/server.crt; ssl_certificate_key %s/server.key;" % (certs, certs)]
    lines += ["%s_temp_path tmp-%s;" % (name, name) for name in nginx_temp_paths()]
    for name, address in names.items():
        if address not in (FAST, SLOW):
            continue
        root = ASSETS + ("/mirror" if name.endswith(".mirror.test") else "/" + name)
        rate = "limit_rate %s;" % SLOW_RATE if address == SLOW else ""
        nodeup = "".join("location = /kops/1.8.1/linux/amd64/%s { alias %s/%s; } " % (
            file, directory, file) for file in ("nodeup", "nodeup.sha1"))
        dist = "location /dist/ { alias %s/dist/; } " % directory
        lines.append("server { listen %s:443 ssl; server_name %s; root %s; %s%s%s }" % (
            address, name, root, nodeup, dist, rate))
    assert DEAD not in "".join(lines)
    return "\n".join(lines + ["}", ""])

"""What is fetched, and who serves it: assets cut from this machine's own binaries, so that they compress
as binaries do, and nginx on loopback with a warm page cache."""

import hashlib
import io
import pathlib
import shutil
import subprocess
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "build/bench"
DATA = WORK / "data"
# a line for each answer of nginx: of what, and how many bytes of it
REQUESTS = WORK / "nginx/requests"
PORT, SLOW_PORT, CRAWL_PORT, IMDS_PORT = 18881, 18882, 18883, 18884
MB = 1000 * 1000
# bytes a second, of a connection to the slow network and of the slow disk
RATE, DISK = 60 * MB, 125 * MB
# those of the seed by size, in MB
SIZES = {"kubelet": 110, "kubectl": 50, "cni.tar.gz": 37, "utils.tar.gz": 20, "image.tar.gz": 60}
# with their first members
UNPACKED = {"cni.tar.gz": ("bridge", "host-local", "loopback"), "utils.tar.gz": ("socat",)}
TOOLS = {"nginx": "nginx", "curl": "curl", "openssl": "openssl", "igzip": "isal", "aria2c": "aria2",
         "/usr/bin/time": "time", "cc": "gcc", "strace": "strace", "ip": "iproute2"}
SPEC = ROOT / "tests/cases/bare-documents"
STORE = ROOT / "tests/data/seed-cluster/state/jdurbin-kops/abc.joshdurbin.net"


def install():
    lacking = [package for tool, package in TOOLS.items() if not shutil.which(tool)]
    if lacking:
        subprocess.run(["apt-get", "install", "-qy", "--no-install-recommends", *lacking], check=True,
                       stdout=subprocess.DEVNULL)


def helper(name, *words):
    """A C program of this folder, built."""
    program = WORK / name
    subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-pthread", "-o", program, ROOT / f"tests/bench/{name}.c", *words], check=True)
    return str(program)


def binaries():
    """The bytes of this machine's programs and libraries, over and over."""
    found = [p for top in ("/usr/bin", "/usr/sbin", "/usr/lib") for p in sorted(pathlib.Path(top).rglob("*"))
             if not p.is_symlink() and p.is_file() and p.stat().st_size > 200_000]
    found = [p for p in found if p.open("rb").read(4) == b"\x7fELF"]
    while True:
        for path in found:
            with path.open("rb") as file:
                while block := file.read(MB):
                    yield block


def pack(path, members):
    """A tar.gz of (name, bytes), as gzip makes it; path is there when all of it is."""
    new = WORK / f"new-{path.name}"
    with new.open("wb") as out:
        gzip = subprocess.Popen(["gzip", "-6"], stdin=subprocess.PIPE, stdout=out)
        with tarfile.open(fileobj=gzip.stdin, mode="w|") as tar:
            for name, content in members(new):
                info = tarfile.TarInfo(name)
                info.size, info.mode = len(content), 0o755
                tar.addfile(info, io.BytesIO(content))
        gzip.stdin.close()
        gzip.wait()
    new.rename(path)


def until(size, names, blocks):
    """Members of 8 MB until gzip has made enough of them."""
    def members(packed):
        number = 0
        while packed.stat().st_size < size:
            yield names[number] if number < len(names) else f"more-{number}", b"".join(next(blocks) for _ in range(8))
            number += 1
    return members


def make_assets():
    blocks = binaries()
    for name, size in SIZES.items():
        make(name, size, UNPACKED.get(name, ()), blocks)


def make(name, size, names, blocks):
    """An asset of that many MB, if it is not there: an archive whose first members have these names, or a file."""
    path, new = DATA / name, WORK / f"new-{name}"
    if path.exists():
        return
    if name.endswith((".tar.gz", ".tgz")):
        pack(path, until(size * MB, names, blocks))
    else:
        make_plain(new, size * MB, blocks)
        new.rename(path)


def make_plain(path, size, blocks):
    with path.open("wb") as out:
        while out.tell() < size:
            out.write(next(blocks))
        out.truncate(size)


def digest(algo, name):
    with (DATA / name).open("rb") as file:
        return hashlib.file_digest(file, algo).hexdigest()


def write_documents(assets, image=None, is_master=True):
    """Documents that name these assets, (hash, URL) each, and one image."""
    group = "master-us-west-2a" if is_master else "nodes"
    conf = WORK / "conf"
    shutil.rmtree(conf, ignore_errors=True)
    conf.mkdir(parents=True)
    for name in ("cluster_spec.yaml", "facts.yaml"):
        shutil.copy(SPEC / name, conf)
    (conf / "ig_spec.yaml").write_text((SPEC / "ig_spec.yaml").read_text().replace("master-us-west-2a", group))
    for name in ("pki", "secrets"):
        shutil.copytree(STORE / name, conf / name)
    text = "Assets:\n" + "".join(f"- {s}@{url}\n" for s, url in assets)
    text += f"ClusterName: abc.joshdurbin.net\nInstanceGroupName: {group}\nTags:\n- _aws\n" + "- _kubernetes_master\n" * is_master
    if image:
        text += f"protokubeImage:\n  hash: {image[0]}\n  name: protokube:1.8.1\n  source: {image[1]}\n"
    (conf / "kube_env.yaml").write_text(text)


def base(port):
    return f"http://127.0.0.1:{port}"


def urls(name, ports, between=","):
    """Of an asset, one on each of these servers."""
    return between.join(f"{base(port)}/{name}" for port in ports)


def await_server(port):
    subprocess.run(["curl", "-s", "--retry", "20", "--retry-connrefused", "--retry-delay", "1", "-o", "/dev/null", f"{base(port)}/"], check=True)


class Servers:
    """nginx, and before it a network of 60 MB/s and 20 ms a connection, and a mirror that crawls: 100 kB/s a connection."""

    def __init__(self):
        (WORK / "nginx").mkdir(parents=True, exist_ok=True)
        DATA.mkdir(exist_ok=True)
        conf = WORK / "nginx/conf"
        REQUESTS.unlink(missing_ok=True)
        conf.write_text(
            f"daemon off; pid {WORK}/nginx/pid; error_log stderr crit; user root; worker_processes 2;\n"
            "events { worker_connections 256; }\n"
            "http { log_format asked '$uri $body_bytes_sent'; sendfile on;\n"
            f"server {{ listen 127.0.0.1:{PORT}; root {DATA}; access_log {REQUESTS} asked; }} }}\n")
        self.processes = [subprocess.Popen(["nginx", "-p", WORK / "nginx", "-c", conf]),
                          subprocess.Popen([helper("shape"), str(SLOW_PORT), str(PORT), str(RATE), "20"]),
                          subprocess.Popen([helper("shape"), str(CRAWL_PORT), str(PORT), str(MB // 10), "20"])]
        for port in (PORT, SLOW_PORT, CRAWL_PORT):
            await_server(port)

    def close(self):
        for process in self.processes:
            process.terminate()
            process.wait(10)

"""A whole machine: Debian's cloud kernel in QEMU, on an initramfs of busybox, the disk tools of this host
and disk_probe.  What this host's own kernel lacks is there: md, device-mapper, NVMe."""
import fcntl
import os
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
VM = ROOT / "build/vm"
PROBE = ROOT / "build/system/disk_probe"
KERNEL = "linux-image-cloud-amd64"
PACKAGES = ["busybox-static", "mdadm", "dmsetup"]
TOOLS = ["mkfs.ext4", "mkfs.xfs", "mkfs.btrfs"]
MODULES = ["ext4", "btrfs", "xfs", "raid0", "virtio_blk", "virtio_pci", "dm-mod", "dm-flakey", "configfs", "nvmet-tcp",
           "nvme-tcp"]
# far above what it takes on a busy machine without KVM
LIMIT = 1500


def output(*argv, **more):
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def unpack():
    """Kernel and tools from Debian's packages, once; nothing is installed."""
    root = VM / "debs"
    if root.exists():
        return root
    fresh = VM / "debs.new"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    kernel = re.search(r"Depends: (linux-image-\S+)", output("apt-cache", "depends", KERNEL)).group(1)
    subprocess.run(["apt-get", "-q", "download", kernel, *PACKAGES], cwd=fresh, check=True)
    for deb in fresh.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", deb, fresh], check=True)
        deb.unlink()
    fresh.rename(root)
    return root


def put(tree, source, target):
    """A program with the libraries it is linked with."""
    target = tree / target
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
    for library in re.findall(r"(?:=> |^\t)(/\S+)", subprocess.run(["ldd", source], stdout=subprocess.PIPE, text=True,
                                                                    stderr=subprocess.DEVNULL).stdout, re.M):
        place = tree / library[1:]
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.exists():
            shutil.copy(os.path.realpath(library), place)


def put_modules(tree, debs):
    version, = os.listdir(debs / "lib/modules")
    subprocess.run(["depmod", "-b", debs, version], check=True)
    (tree / "modules").mkdir()
    names = []
    for module in MODULES:
        # what is built in has no file
        for line in subprocess.run(["modprobe", "-d", debs, "-S", version, "--show-depends", module],
                                   stdout=subprocess.PIPE, text=True).stdout.splitlines():
            if line.startswith("insmod ") and os.path.basename(line.split()[1]) not in names:
                path = line.split()[1]
                names.append(os.path.basename(path))
                shutil.copy(path, tree / "modules")
    (tree / "modules/list").write_text("".join(n + "\n" for n in names))


def build(tree):
    VM.mkdir(parents=True, exist_ok=True)
    with open(VM / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        debs = unpack()
    for folder in ("proc", "sys", "dev", "run", "mnt", "tmp", "var/lib", "etc"):
        (tree / folder).mkdir(parents=True)
    (tree / "bin").mkdir()
    (tree / "bin/sh").symlink_to("busybox")
    put(tree, debs / "bin/busybox", "bin/busybox")
    put(tree, debs / "sbin/mdadm", "sbin/mdadm")
    put(tree, debs / "sbin/dmsetup", "sbin/dmsetup")
    put(tree, PROBE, "bin/disk_probe")
    for tool in TOOLS:
        put(tree, shutil.which(tool), "sbin/" + tool)
    shutil.copy("/etc/mke2fs.conf", tree / "etc")
    shutil.copy(pathlib.Path(__file__).with_name("init"), tree / "init")
    put_modules(tree, debs)
    kernel, = (debs / "boot").glob("vmlinuz-*")
    return kernel


def run(folder, n_disks, size):
    """Boot it, wait until it has powered itself off, and give what it said, part by part."""
    tree, image = folder / "tree", folder / "initrd"
    kernel = build(tree)
    with open(image, "wb") as file:
        subprocess.run("find . | cpio --quiet -o -H newc", shell=True, cwd=tree, stdout=file, check=True)
    drives = []
    for i in range(n_disks):
        disk = folder / f"disk{i}"
        with open(disk, "wb") as file:
            file.truncate(size)
        drives += ["-drive", f"file={disk},format=raw,if=virtio"]
    said = output("qemu-system-x86_64", "-accel", os.environ.get("VM_ACCEL", "tcg,thread=multi"), "-m", "768", "-nographic", "-no-reboot", "-kernel", kernel,
                  "-initrd", image, "-append", "console=ttyS0 quiet loglevel=3 panic=-1", *drives, timeout=LIMIT,
                  stdin=subprocess.DEVNULL, errors="replace").replace("\r", "")
    print(said)
    parts = re.split(r"^## (\S+)\n", said, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))

"""A virtual machine with EC2-like disks, told what to do through a virtio port.

    with Machine(folder) as vm:
        vm.put("/etc/x", b"text")
        vm.sh("cat /etc/x")
        vm.reboot()

What it writes is in a snapshot that is gone with it; a reboot or a reset of the guest keeps it. The
processor is emulated: every limit here is far above what any step takes on an idle machine.
"""
import base64
import ctypes
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import types

from vmhost import KIND, LabError, ensure_image

LIBC = ctypes.CDLL(None, use_errno=True)
PATIENCE = 1500  # seconds for any one thing
# There may be a /dev/kvm with which no guest boots: KVM only if somebody who knows says so. One processor:
# two emulated ones wait for each other where the host is busy.
ACCEL = os.environ.get("VM_ACCEL", "tcg")
STORE, EBS = "Amazon EC2 NVMe Instance Storage", "Amazon Elastic Block Store"


def die_with_parent():
    LIBC.prctl(1, signal.SIGKILL)


class Machine:
    def __init__(self, payload, unified=False, more=()):
        """payload: the bytes of a tar, laid over the image's tree; unified: cgroups of version 2; more: words for QEMU."""
        self.unified, self.more = unified, more
        self.image = ensure_image()
        self.dir = tempfile.mkdtemp(prefix="nodeup-vm-", dir="/var/tmp")
        self.process = self.agent = None
        self.serial = 0
        with open(self.path("payload"), "wb") as f:
            f.write(payload)

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def path(self, name):
        return os.path.join(self.dir, name)

    def start(self):
        command = [
            KIND.qemu, "-nodefaults", "-no-user-config", "-display", "none", *KIND.machine, "-accel", ACCEL, "-m", "1024",
            "-kernel", self.image + "/vmlinuz", "-initrd", self.image + "/initrd", "-append",
            "console=%s loglevel=4 panic=-1 systemd.show_status=no net.ifnames=0 audit=0 apparmor=0 "
            "mitigations=off random.trust_cpu=on nvme_core.multipath=N "
            "systemd.unified_cgroup_hierarchy=%d" % (KIND.console, self.unified),
            "-drive", "if=none,id=root,format=raw,snapshot=on,cache=unsafe,file=%s/root.img" % self.image,
            "-device", "virtio-blk-pci,drive=root",
            "-drive", "if=none,id=payload,format=raw,readonly=on,file=" + self.path("payload"),
            "-device", "virtio-blk-pci,drive=payload",
            "-device", "virtio-rng-pci",
            "-chardev", "socket,id=agent,path=%s,server=on,wait=off" % self.path("agent"),
            "-device", "virtio-serial-pci", "-device", "virtserialport,chardev=agent,name=lab",
            "-smbios", "type=2,asset=i-0123456789abcdef0",  # as Nitro tells the instance id
            "-serial", "file:" + self.path("console"),
            "-qmp", "unix:%s,server=on,wait=off" % self.path("qmp"), *self.more,
        ]
        self.log = open(self.path("qemu.log"), "w")
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        env=dict(os.environ, TMPDIR=self.dir), preexec_fn=die_with_parent)
        self.agent = self.connect("agent")
        self.sh("tar -xf /dev/vdb -C / && systemctl daemon-reload && systemctl start lab-imds.service")
        self.boot_id = self.sh("cat /proc/sys/kernel/random/boot_id")

    def connect(self, name):
        end = time.monotonic() + PATIENCE
        while True:
            try:
                s = socket.socket(socket.AF_UNIX)
                s.connect(self.path(name))
                s.settimeout(PATIENCE)
                return s
            except OSError:
                s.close()
                if self.process.poll() is not None or time.monotonic() > end:
                    raise LabError("qemu did not start: " + open(self.path("qemu.log")).read())
                time.sleep(0.05)

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def console(self, lines=40):
        with open(self.path("console"), errors="replace") as f:
            return "".join(f.readlines()[-lines:])

    # -- commands -------------------------------------------------------------------------------

    def exec(self, *argv, stdin=b"", timeout=PATIENCE, check=False):
        """Run a program in the guest: .code, .out, .err."""
        self.serial += 1
        request = {"id": self.serial, "argv": argv, "stdin": base64.b64encode(stdin).decode(), "timeout": timeout}
        try:
            self.send(json.dumps(request).encode() + b"\n")
            answer = self.answer(self.serial)
        except OSError as error:
            raise LabError("%s: %s\n%s" % (shlex.join(argv), error, self.console()))
        out, err = (base64.b64decode(answer[k]).decode(errors="replace") for k in ("out", "err"))
        if check and answer["code"]:
            raise LabError("%s: status %d\n%s%s" % (shlex.join(argv), answer["code"], out, err))
        return types.SimpleNamespace(code=answer["code"], out=out, err=err)

    def send(self, data):
        self.agent.sendall(data)

    def answer(self, serial):
        rest = b""
        while True:
            data = self.agent.recv(1 << 20)
            if not data:
                raise OSError("the machine is gone")
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                try:
                    answer = json.loads(line)
                except ValueError:
                    continue
                if answer.get("id") == serial:
                    return answer

    def sh(self, script, check=True):
        return self.exec("bash", "-c", script, check=check).out.strip()

    def put(self, path, data, mode=0o644):
        if isinstance(data, str):
            data = data.encode()
        self.exec("sh", "-ec", 'mkdir -p "$(dirname "$0")"; cat >"$0"; chmod "$1" "$0"', path, "%o" % mode,
                  stdin=data, check=True)

    def wait(self, script, what):
        """Until the script is true in the guest."""
        end = time.monotonic() + PATIENCE
        while self.exec("bash", "-c", script).code:
            if time.monotonic() > end:
                raise LabError("waited %d s for %s\n%s" % (PATIENCE, what, self.console()))
            time.sleep(1)  # looking costs an emulated processor much

    # -- life and disks -------------------------------------------------------------------------

    def qmp(self, command):
        with self.connect("qmp") as s, s.makefile("rw") as f:
            f.readline()
            for name in ("qmp_capabilities", command):
                f.write(json.dumps({"execute": name}) + "\n")
                f.flush()
                while "return" not in json.loads(f.readline()):
                    pass

    def reboot(self):
        """As an admin does it; the tests go on once systemd has nothing left to start."""
        # the answer to this is on its way before the agent is ended
        self.sh("sync; (sleep 1; systemctl reboot) </dev/null >/dev/null 2>&1 &")
        self.await_boot()

    def reset(self):
        """As a power cut does it."""
        self.qmp("system_reset")
        self.await_boot()

    def await_boot(self):
        """The old guest may still answer, or eat a question: ask again until it is another boot."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.agent.settimeout(5)
            try:
                now = self.exec("cat", "/proc/sys/kernel/random/boot_id", timeout=5).out.strip()
            except LabError:
                continue
            finally:
                self.agent.settimeout(PATIENCE)
            if now and now != self.boot_id:
                self.boot_id = now
                return
            time.sleep(0.2)
        raise LabError("no reboot in %d s\n%s" % (PATIENCE, self.console()))

    def disks(self, *disks):
        """What is attached from the next boot on, in this order."""
        self.put("/etc/lab-disks.json", json.dumps(disks))

    def attach(self, *serials):
        self.exec("lab-disks", *serials, check=True)
        for serial in serials:
            self.wait("grep -q '^%s *$' /sys/block/nvme*/device/serial && udevadm settle" % serial,
                      "disk " + serial)

    def name_of(self, serial):
        """nvme0n1, or whatever the disk with that serial number is called now."""
        return self.sh("grep -l '^%s *$' /sys/block/nvme*/device/serial | cut -d/ -f4" % serial)


def disk(serial, model=STORE, mib=300, **more):
    return {"serial": serial, "model": model, "bytes": mib << 20, **more}

"""The ways that people have: shell lines that fetch, verify and unpack what data.py makes."""

from data import MB, SIZES, UNPACKED, WORK, base

NODE = WORK / "node"


def tar_all():
    return [f"mkdir d-{n}; tar -xzf {n} -C d-{n}" for n in UNPACKED]


def seeds_way(sums, algo, port):
    lines = [f"curl -sfo {n} {base(port)}/{n}\necho '{sums[n]}  {n}' | {algo}sum -c --quiet" for n in SIZES]
    return "\n".join(lines + tar_all())


def kops_order(sums, algo, port):
    """kops of today: one after another, stored and then hashed, unpacked by the tar that it calls itself."""
    lines = [f"curl -sfo {n} {base(port)}/{n}\nopenssl dgst -{algo} -r {n} | grep -q ^{sums[n]}" for n in SIZES]
    return "\n".join(lines + tar_all())


def pipeline(sums, algo, port):
    """All at once, each byte hashed, kept and inflated as it comes."""
    lines = []
    for n in SIZES:
        lines.append(f"mkfifo f-{n}; openssl dgst -{algo} -r <f-{n} >s-{n} &")
        rest = f"| tee {n} f-{n} | igzip -dc | tar -xC d-{n}" if n in UNPACKED else f"| tee {n} >f-{n}"
        lines.append((f"mkdir d-{n}; " if n in UNPACKED else "") + f"curl -sf {base(port)}/{n} {rest} &")
    lines.append("wait")
    lines += [f"grep -q ^{sums[n]} s-{n}" for n in SIZES]
    lines += [f"test -s d-{n}/{members[0]}" for n, members in UNPACKED.items()]
    return "\n".join(lines)


def durable(way):
    return way + "\nsync " + " ".join(SIZES) + " " + " ".join(f"d-{n}/*" for n in UNPACKED)


def aria_alone(sums, algo, port):
    listed = "\\n".join(f"{base(port)}/{n}\\n out={n}\\n checksum={algo[:3]}-{algo[3:]}={sums[n]}" for n in SIZES)
    return f"printf '{listed}\\n' | aria2c -q -x8 -s8 -j5 --file-allocation=none -i-"


def aria(sums, algo, port):
    return "\n".join([aria_alone(sums, algo, port)] + tar_all())


def floor_parts(algo, port):
    """What has to be done at least, each part by itself by the best tool for it; its processor time counts."""
    unpacked = " ".join(UNPACKED)
    return {
        "transfer and write": "curl -sf --no-progress-meter --parallel " + " ".join(f"-o {n} {base(port)}/{n}" for n in SIZES) +
        " 2>/dev/null",
        "hash": f"openssl dgst -{algo} -r " + " ".join(SIZES) + " >/dev/null",
        "inflate": f"for n in {unpacked}; do igzip -dc $n >/dev/null; done",
        "write": "for n in cni utils; do cp plain-$n copy-$n; done",
    }


FLOOR_SETUP = "for n in cni utils; do igzip -dc $n.tar.gz >plain-$n; done"


def nodeup(program, command, *flags, node=NODE):
    conf = WORK / "conf"
    return [str(program), command, f"--conf={conf}/kube_env.yaml", f"--facts={conf}/facts.yaml", f"--root={node}/root",
            f"--cache={node}/cache", *flags]


TOTAL = sum(SIZES.values()) * MB

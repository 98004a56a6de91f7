"""How the cost of a bake grows: with the number of assets, and with the size of one."""

import shutil

import data
from data import DATA, MB, PORT, SPEC, WORK
from measure import empty, measure, median

NODE = WORK / "node"


def grow(program, what, names, runs):
    data.write_documents([(data.digest("sha256", n), f"{data.base(PORT)}/{n}") for n in names], is_master=False)
    conf, figures = WORK / "conf", []
    for _ in range(runs):
        empty(NODE)
        shutil.copytree(SPEC / "root", NODE / "root")
        figures.append(measure([program, "bake", f"--conf={conf}/kube_env.yaml", f"--facts={conf}/facts.yaml", f"--root={NODE}/root",
                                f"--cache={NODE}/cache"]))
    wall, total = median(figures, "in all s"), sum((DATA / n).stat().st_size for n in names) / MB
    print(f"  {what:14} {wall:8.3f} s wall {median(figures, 'CPU s'):8.3f} s CPU {median(figures, 'peak MiB'):7.1f} MiB "
          f"{wall / len(names) * 1000:9.2f} ms an asset {total / wall:8.0f} MB/s", flush=True)


def tell(program, quick, runs):
    folder = DATA / "grow"
    folder.mkdir(exist_ok=True)
    blocks = data.binaries()
    print("\nhow the cost of a bake grows: assets of 100 kB")
    for count in (1, 10, 100) if quick else (1, 10, 100, 1000):
        for i in range(count):
            path = folder / f"a{i}"
            if not path.exists():
                path.write_bytes(next(blocks)[:100_000] + str(i).encode())
        grow(program, f"{count} assets", [f"grow/a{i}" for i in range(count)], runs)
    print("one asset")
    for size in (1, 10, 100) if quick else (1, 10, 100, 1000, 2000):
        path = folder / f"m{size}"
        if not path.exists():
            data.make_plain(path, size * MB, blocks)
        grow(program, f"{size} MB", [f"grow/m{size}"], runs)
        if size > 100:
            path.unlink()
    shutil.rmtree(NODE)

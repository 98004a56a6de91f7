"""Assets: fetched, verified and unpacked; cold, over a slow network, on a slow disk, and in growing numbers."""

import os
import pathlib
import shutil
import subprocess

import data
import ways
from data import CRAWL_PORT, DATA, MB, PORT, SIZES, SLOW_PORT, WORK
from measure import Figure, faster, fresh, measure, rounds, say, shell, slow_disk, table, without_sync


def documents(sums, port):
    named = [(sums[n], f"{data.base(port)}/{n}") for n in SIZES if n != "image.tar.gz"]
    data.write_documents(named, (sums["image.tar.gz"], f"{data.base(port)}/image.tar.gz"))


def floor(algo, port, runs):
    """The parts that nobody can do without, perfectly spread over the processors."""
    parts = ways.floor_parts(algo, port)
    fresh(WORK)
    subprocess.run(shell(WORK / "out", parts["transfer and write"] + "\n" + ways.FLOOR_SETUP), check=True)
    figures = {name: Figure() for name in parts}
    for _ in range(runs):
        for name, text in parts.items():
            measure(figures[name], shell(WORK / "out", text))
    return figures


def tell_floor(figures, own):
    cpu = sum(f.cpu for f in figures.values())
    wall = cpu / os.cpu_count()
    parts = ", ".join(f"{name} {f.cpu:.2f}" for name, f in figures.items())
    print(f"  floor: {wall:.3f} s wall, {cpu:.3f} s CPU ({parts})")
    say("cold against the floor, wall, without fsync", f"{own.wall / wall:.2f}x", "at most 1.2x", own.wall / wall <= 1.2)


def cold(program, algo, runs):
    """Loopback at full speed."""
    sums = {n: data.digest(algo, n) for n in SIZES}
    documents(sums, PORT)
    pipeline, bake = ways.pipeline(sums, algo, PORT), ways.nodeup(program, "bake")
    figures = rounds({
        "nodeup, with fsync": bake,
        "nodeup, without": without_sync(bake),
        "seed's way": ways.seeds_way(sums, algo, PORT),
        "kops' order": ways.kops_order(sums, algo, PORT),
        "pipeline": pipeline,
        "pipeline, with fsync": ways.durable(pipeline),
        "aria2c -x8, tar": ways.aria(sums, algo, PORT),
    }, runs)
    own, durable = figures["nodeup, without"], figures["nodeup, with fsync"]
    table(f"cold, {sum(SIZES.values())} MB, {algo}: fetch 5, verify, unpack 2 (ratios to nodeup without fsync)", figures,
          own)
    faster(figures, own, "seed's way", 3.5, exact=True)
    faster(figures, own, "kops' order", 2.8, exact=True)
    faster(figures, own, "pipeline", 1)
    faster(figures, durable, "pipeline, with fsync", 1)
    ratio = figures["pipeline"].cpu / own.cpu
    say("cheaper than pipeline, CPU", f"{ratio:.2f}x", "more than 1x", ratio > 1)
    say("peak memory", f"{durable.peak:.1f} MiB", "at most 32 MiB", durable.peak <= 32)
    tell_floor(floor(algo, PORT, runs), own)


def shaped(program, runs):
    """60 MB/s and 20 ms a connection: who opens several gets more."""
    sums = {n: data.digest("sha1", n) for n in SIZES}
    documents(sums, SLOW_PORT)
    figures = rounds({
        "nodeup, with fsync": ways.nodeup(program, "bake"),
        "nodeup, without": without_sync(ways.nodeup(program, "bake")),
        "seed's way": ways.seeds_way(sums, "sha1", SLOW_PORT),
        "pipeline": ways.pipeline(sums, "sha1", SLOW_PORT),
        "pipeline, with fsync": ways.durable(ways.pipeline(sums, "sha1", SLOW_PORT)),
        "aria2c -x8, tar": ways.aria(sums, "sha1", SLOW_PORT),
    }, runs)
    own = figures["nodeup, with fsync"]
    table("the same at 60 MB/s and 20 ms a connection (ratios to nodeup with fsync)", figures, own)
    faster(figures, own, "aria2c -x8, tar", 1)


def crawling(program, runs):
    """One mirror of two crawls, and it is the first: ranges that the other one brings as well are what helps."""
    urls = [f"{data.base(port)}/kubectl" for port in (CRAWL_PORT, PORT)]
    data.write_documents([(data.digest("sha256", "kubectl"), ",".join(urls))])
    figures = rounds({
        "nodeup": ways.nodeup(program, "bake"),
        "aria2c -x8 -s8": shell(WORK / "out", f"aria2c -q -x8 -s8 -k1M --allow-overwrite -o kubectl {' '.join(urls)}"),
    }, runs)
    table("50 MB where the first mirror of two gives 100 kB/s a connection (ratios to nodeup)", figures, figures["nodeup"])
    faster(figures, figures["nodeup"], "aria2c -x8 -s8", 1)


def on_slow_disk(program, runs):
    """125 MB/s, as a gp3 volume gives; with fsync, which is when it shows."""
    sums = {n: data.digest("sha1", n) for n in SIZES}
    documents(sums, PORT)
    try:
        with slow_disk(125 * MB) as top:
            figures = rounds({
                "nodeup, with fsync": ways.nodeup(program, "bake", node=top / "node"),
                "seed's way, with fsync": ways.durable(ways.seeds_way(sums, "sha1", PORT)),
                "pipeline, with fsync": ways.durable(ways.pipeline(sums, "sha1", PORT)),
                "aria2c, tar, with fsync": ways.durable(ways.aria(sums, "sha1", PORT)),
            }, runs, top)
            written = sum(p.stat().st_blocks * 512 for p in (top / "out").rglob("*") if p.is_file())
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"\non a disk of 125 MB/s: not measured here: {error}")
        return
    own = figures["nodeup, with fsync"]
    table(f"on a disk of 125 MB/s, fsync counted; {written / MB:.0f} MB take it {written / 125e6:.2f} s", figures, own)
    faster(figures, own, "pipeline, with fsync", 1)


def bake_of(program, names, figure, runs):
    data.write_documents([(data.digest("sha256", n), f"{data.base(PORT)}/{n}") for n in names])
    for _ in range(runs):
        fresh(WORK)
        measure(figure, ways.nodeup(program, "bake"))


def growth(program, quick, runs):
    """How cost grows: with the number of assets, and with the size of one."""
    folder = DATA / "grow"
    folder.mkdir(exist_ok=True)
    blocks = data.binaries()
    print("\nhow cost grows: assets of 100 kB")
    for count in (1, 10, 100) if quick else (1, 10, 100, 1000):
        for i in range(count):
            path = folder / f"a{i}"
            if not path.exists():
                path.write_bytes(next(blocks)[:100_000] + str(i).encode())
        grow(program, f"{count} assets", [f"grow/a{i}" for i in range(count)], runs)
    print("how cost grows: one asset")
    for size in (1, 10, 100) if quick else (1, 10, 100, 1000, 2000):
        path = folder / f"m{size}"
        if not path.exists():
            data.make_plain(path, size * MB, blocks)
        grow(program, f"{size} MB", [f"grow/m{size}"], runs)
        if size > 100:
            path.unlink()
    shutil.rmtree(WORK / "node", ignore_errors=True)


def grow(program, what, names, runs):
    figure = Figure()
    bake_of(program, names, figure, runs)
    total = sum(pathlib.Path(DATA / n).stat().st_size for n in names) / MB
    print(f"  {what:14} {figure.wall:8.3f} s wall {figure.cpu:8.3f} s CPU {figure.peak:7.1f} MiB "
          f"{figure.wall / len(names) * 1000:9.2f} ms an asset {total / figure.wall:8.0f} MB/s", flush=True)

"""Assets from servers that fail in every way: what is verified is used, what is not never is, and
each way to fail has a message of its own.

What fails in the field, by its number there, and the test that has it fail here:

     2  no metadata service yet            test_instance.py test_it_comes_late, tests/unit/aws/test_imds.c, test_creds.c
     3  the region does not come           tests/unit/aws/test_s3_session.c test_region_comes_late
     4  version 1 switched off             tests/unit/aws/test_imds.c test_version_1_switched_off
     5  a token expires                    test_instance.py test_a_token_is_over, tests/unit/aws/test_imds.c
     6  credentials come late              test_instance.py test_the_key_comes_late, tests/unit/aws/test_creds.c
     7  a hop limit that is too low        test_instance.py test_the_hop_limit_is_too_low, tests/unit/aws/test_imds.c
     8  a proxy in the way                 test_instance.py test_a_proxy_is_not_for_it, tests/unit/aws/test_imds.c
     9  slow, or cut at any byte           test_resume.py, test_ranges.py, test_stall.py test_slow_is_not_silent
    10  empty and short bodies             test_the_only_mirror_fails, test_the_four_messages_differ
    11  verified, and fetched again        test_a_verified_entry_is_never_fetched_again, tests/unit/assets/fetch/test_fetch.c
    12  404, a dead mirror, a black hole   test_every_mirror_in_turn, test_stall.py, test_slow_mirrors.py
    13  one after another                  test_all_assets_move_at_once
    14  429 with Retry-After               test_retry_after_is_honoured, test_fetch.c test_retry_date_is_kept
    15  503 SlowDown                       test_slow_down_passes, test_slow_down_does_not_pass,
                                           test_instance.py test_slow_down
    16  a hundred nodes at once            test_agents.py
    17  a clock that is wrong              test_instance.py test_the_clock_is_wrong, tests/unit/aws/test_s3_session.c,
                                           test_early_boot.py test_the_clock_is_set_late,
                                           test_a_clock_that_the_certificate_does_not_hold_at
    18  no entropy                         test_early_boot.py test_nobody_waits_for_entropy
    19  names that do not resolve yet      test_early_boot.py test_resolv_conf_is_filled_late, test_the_resolver_starts_late
    34  umask, noexec, a TMPDIR read-only   test_rerun.py test_a_tight_umask_hides_nothing, test_odd_host.py
    35  no room                            test_enospc.py, test_rerun.py test_the_root_is_full
    36  evil archives                      tests/unit/assets/unpack/test_extract.c, test_archives_do_not_leave_their_tree
    37  signatures                         tests/unit/aws/test_sigv4.c, test_s3.py
    38  which URL, attempt, next try       test_the_only_mirror_fails, test_progress.py
    41  nothing but the program            test_cli.py test_static, test_empty_root
"""

import re
import shutil
import subprocess
import tarfile
import threading

import pytest

from world import (BUSY, CNI, CNI_MEMBERS, CONFIG, INTEGRITY, KUBECTL, KUBELET, NET, OK, PENDING, PROTOKUBE, SYSTEM, UTILS,
                   Asset, differences, files_of, listing, noise, same, tar, tree)


def installed_is_right(world, name=KUBELET):
    return world.installed(name).read_bytes() == world.contents[name]


def nothing_unverified(world, *names):
    for name in names or (KUBELET,):
        assert not world.installed(name).exists(), f"{name} was installed"
        assert not world.entry(name).exists(), f"{name} is in the cache"
    assert world.unused() == [], "temporary files were left in the cache"


def staged(world):
    """What is left of files that were being written."""
    return list(world.root.rglob(".nodeup-*"))


# One mirror, one fault

FAULTS = {
    "404": ("status=404", NET, [r"\b404\b"]),
    "403": ("status=403", NET, [r"\b403\b"]),
    "500": ("status=500", NET, [r"\b500\b"]),
    "truncated": ("truncate=70000", NET, [r"\b70000\b", r"\b2000000\b"]),
    "empty": ("empty", NET, ["(?i)empty"]),
    "wrong": ("wrong", INTEGRITY, [r"\b2000000\b"]),
    "login page": ("wrong=html", INTEGRITY, []),
    "reset": ("reset=70000", NET, ["(?i)reset|closed|70000"]),
    "closed": ("close", NET, ["(?i)closed|empty|reply|no answer"]),
    "loop": ("redirect=loop", NET, ["(?i)redirect"]),
    "too many redirects": ("hops=50", NET, ["(?i)redirect"]),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_only_mirror_fails(world, name):
    fault, code, patterns = FAULTS[name]
    url = world.url(KUBELET, fault)
    world.assets[KUBELET].urls = [url]
    result = world.apply()
    assert result.code == code, result
    told = f"{result.failure}\n{result.notes}"
    for pattern in [re.escape(url), "kubelet", r"attempts? \d+|\d+ attempts?", *patterns]:
        assert re.search(pattern, told), f"want /{pattern}/ in\n{told}"
    nothing_unverified(world)
    assert "success" not in result.out


def test_the_four_messages_differ(world):
    """A status, a short body, an empty body and a wrong hash tell people to do different things."""
    seen = {}
    for name in ("404", "wrong", "empty", "truncated"):  # what a short body leaves would mend the wrong one
        world.assets[KUBELET].urls = [world.url(KUBELET, FAULTS[name][0])]
        seen[name] = re.sub(r"https?://[^ ':,]*|\d+", "#", world.apply().failure)
    assert len(set(seen.values())) == 4, seen


def test_a_wrong_hash_says_wanted_and_found(world):
    world.assets[KUBELET].urls = [world.url(KUBELET, "wrong")]
    found = bytes([world.contents[KUBELET][0] ^ 1]) + world.contents[KUBELET][1:]
    got = world.serve(KUBELET, found).digest
    result = world.apply()
    told = f"{result.failure}\n{result.notes}"
    assert re.search(rf"want\s.*{world.digest(KUBELET)}", told), told
    assert re.search(rf"got\s.*{got}", told), told
    assert "2000000" in told


def test_refused(world):
    world.assets[KUBELET].urls = [f"{world.origin.refused()}/kubelet"]
    result = world.apply()
    assert result.code == NET and re.search("(?i)refused|connect", result.failure), result
    assert world.assets[KUBELET].urls[0] in f"{result.failure}\n{result.notes}"
    nothing_unverified(world)


def test_a_name_that_does_not_resolve(world):
    world.assets[KUBELET].urls = ["http://mirror.invalid/kubelet"]
    result = world.apply()
    assert result.code == NET and "mirror.invalid" in f"{result.failure}\n{result.notes}", result


def test_a_wrong_archive_is_not_unpacked(world):
    world.assets[CNI].urls = [world.url(CNI, "wrong")]
    result = world.apply()
    assert result.code == INTEGRITY, result
    assert not world.entry(CNI).exists() and not (world.root / "opt/cni/bin/bridge").exists()
    assert not staged(world)


# Faults that pass

def test_errors_that_pass(world):
    world.assets[KUBELET].urls = [world.url(KUBELET, "fail=2")]
    world.converge()
    assert world.origin.count(world.assets[KUBELET].urls[0]) == 3 and installed_is_right(world)


def test_retry_after_is_honoured(world):
    world.assets[KUBELET].urls = [world.url(KUBELET, "fail=1", "code=503", "retry_after=2")]
    result = world.converge()
    assert result.seconds >= 2 and world.origin.count(world.assets[KUBELET].urls[0]) == 2


def test_slow_down_passes(world):
    """S3 says so to everybody at times."""
    world.assets[KUBELET].urls = [world.url(KUBELET, "fail=2", "code=503")]
    world.converge()
    assert world.origin.count(world.assets[KUBELET].urls[0]) == 3 and installed_is_right(world)


def test_slow_down_does_not_pass(world):
    """It is the first cause of all that cannot be done then, and the only one that is named."""
    world.assets[KUBELET].urls = [world.url(KUBELET, "fail=1000", "code=503")]
    result = world.apply()
    assert result.code == NET, result
    assert re.search(r"asset kubelet: attempt 3, round 3, .* HTTP status 503", result.failure), result
    assert world.origin.count(world.assets[KUBELET].urls[0]) == 3
    assert re.search(r"skipped install \S*kubelet: asset kubelet failed", result.err), result
    nothing_unverified(world)


@pytest.mark.parametrize("fault", ["nolength", "chunked", "hops=3", "rate=4000000", "redirect_code=307/~hops=1"])
def test_odd_but_right(world, fault):
    world.assets[KUBELET].urls = [world.url(KUBELET, fault)]
    world.converge()
    assert installed_is_right(world)


def test_the_body_of_an_error_is_never_an_asset(world):
    """404 pages were once installed as kubelet; here the page even has the wanted hash."""
    page = b"<html>an error page</html>\n"
    world.assets[KUBELET] = Asset(world.serve("page", page).digest, [world.url(KUBELET, "status=404")])
    result = world.apply()
    assert result.code == NET and "404" in result.failure, result
    assert not world.installed(KUBELET).exists()


# Mirrors

@pytest.mark.parametrize("fault", ["status=404", "status=500", "truncate=1000", "empty", "wrong", "close", "reset=9",
                                   "redirect=loop", "wrong=html"])
def test_the_next_mirror_is_asked_at_once(world, fault):
    bad, good = world.url(KUBELET, fault), world.url(KUBELET)
    world.assets[KUBELET].urls = [bad, good]
    world.converge()
    if fault == "close":
        # a connection that was used before may have been closed before the request came: it is sent once more on the next
        assert 1 <= world.origin.count(bad) <= 1 + len(world.assets)
    elif "redirect" not in fault:
        assert world.origin.count(bad) == 1
    assert world.origin.count(good) == 1 and installed_is_right(world)


def test_every_mirror_in_turn(world):
    urls = [f"{world.origin.refused()}/kubelet", world.url(KUBELET, "status=404"), world.url(KUBELET, "empty"),
            world.url(KUBELET, "truncate=5"), world.url(KUBELET, "wrong=html"), world.url(KUBELET)]
    world.assets[KUBELET].urls = urls
    world.converge()
    assert [world.origin.count(u) for u in urls[1:]] == [1, 1, 1, 1, 1] and installed_is_right(world)


def test_the_mirrors_of_all_entries_count(world):
    """The documents may name the same bytes twice, and as an image, too."""
    gone, good = world.url(KUBELET, "status=404"), world.url(KUBELET)
    world.assets[KUBELET].urls = [gone]
    world.assets["again"] = Asset(world.digest(KUBELET), [good])
    world.protokube.urls, image = [world.url(PROTOKUBE, "status=403")], world.url(PROTOKUBE)
    world.assets["image"] = Asset(world.protokube.digest, [image])
    world.converge()
    assert [world.origin.count(u) for u in (gone, good, image)] == [1, 1, 1] and installed_is_right(world)


def test_a_liar_is_named_and_dropped(world):
    """A mirror that sent wrong bytes is not asked again in this run, one that was busy is."""
    liar, busy = world.url(KUBELET, "wrong"), world.url(KUBELET, "fail=2")
    world.assets[KUBELET].urls = [liar, busy]
    world.converge()
    assert world.origin.count(liar) == 1 and world.origin.count(busy) == 3


def test_all_mirrors_lie(world):
    urls = [world.url(KUBELET, "wrong"), world.url(KUBELET, "wrong", "chunked")]
    world.assets[KUBELET].urls = urls
    result = world.apply()
    assert result.code == INTEGRITY, result
    assert [world.origin.count(u) for u in urls] == [1, 1]
    told = f"{result.failure}\n{result.notes}"
    assert all(u in told for u in urls) and world.digest(KUBELET) in told, told
    nothing_unverified(world)


def test_what_is_installed_survives_a_stale_hash(world):
    world.converge()
    before = tree(world.root)
    world.assets[KUBELET].digest = "0" * 64
    result = world.apply()
    assert result.code == INTEGRITY, result
    same({k: v for k, v in before.items() if k == "usr/local/bin/kubelet"},
         {k: v for k, v in tree(world.root).items() if k == "usr/local/bin/kubelet"})


def test_all_assets_move_at_once(world):
    """Each takes two seconds: one after another would take six."""
    for name in (KUBELET, CNI, PROTOKUBE):
        asset = world.protokube if name == PROTOKUBE else world.assets[name]
        asset.urls = [world.url(name, "delay=2")]
    assert world.converge().seconds < 5.5


# Silence

def test_a_mirror_that_hangs_and_a_deadline(world):
    world.assets[KUBELET].urls = [world.url(KUBELET, "hang")]
    result = world.apply("--deadline=2s", timeout=20)
    assert result.code == BUSY and "kubelet" in result.failure, result
    assert result.seconds < 10
    nothing_unverified(world)


def test_a_deadline_after_failures_has_their_status(world):
    world.assets[KUBELET].urls = [world.url(KUBELET, "fail=1000", "code=503", "retry_after=30")]
    result = world.apply("--deadline=2s", timeout=20)
    assert result.code == NET and "503" in result.failure, result
    assert result.seconds < 10


# Redirects and TLS (test_ca.py has where roots are found)

def test_https_is_never_left(world):
    target = world.url(KUBELET).replace("/", "%2F")
    world.assets[KUBELET].urls = [world.url("kubelet", f"redirect={target}", base=world.origin.tls_base)]
    result = world.apply(env={"SSL_CERT_FILE": str(world.origin.ca)})
    assert result.code == NET and re.search("(?i)redirect", result.failure), result
    assert world.origin.count(world.url(KUBELET)) == 0
    nothing_unverified(world)


def test_from_http_to_https(world):
    target = world.url(KUBELET, base=world.origin.tls_base).replace("/", "%2F")
    world.assets[KUBELET].urls = [world.url("kubelet", f"redirect={target}")]
    world.converge(env={"SSL_CERT_FILE": str(world.origin.ca)})
    assert installed_is_right(world)


def test_a_session_is_resumed(world):
    """A further connection to a server proves again who it is by what the first one agreed on."""
    url = world.url(KUBELET, "truncate=1000", "times=1", base=world.origin.tls_base)
    world.assets[KUBELET].urls = [url]
    world.converge(env={"SSL_CERT_FILE": str(world.origin.ca)})
    assert installed_is_right(world)
    assert world.origin.count(url) == 2 and world.origin.ask("resumed", url) == 1


def test_a_connection_has_room_from_its_beginning(world, tmp_path):
    """Only once it is connected: before that an older kernel takes the room for the most that it may ever have."""
    trace = tmp_path / "trace"
    world.converge(prefix=["strace", "-f", "-qq", "-e", "trace=connect,setsockopt", "-o", trace])
    calls = re.findall(rf"(connect)\(\d+, {{sa_family=AF_INET, sin_port=htons\({world.origin.port}\)|(RCVLOWAT), \[(\d+)\]", trace.read_text())
    assert [(a or b, int(n or 0) > 100000) for a, b, n in calls][:3] == [("connect", False), ("RCVLOWAT", True), ("RCVLOWAT", False)], calls


def test_never_to_the_metadata_service(world):
    target = "http://169.254.169.254/latest/user-data/kubelet".replace("/", "%2F")
    world.assets[KUBELET].urls = [world.url("kubelet", f"redirect={target}")]
    result = world.apply(timeout=20)
    assert result.code == NET and re.search("(?i)redirect", result.failure), result


# Presigned URLs are secrets

@pytest.mark.parametrize("fault", ["status=404", "truncate=70", "empty", "wrong", "redirect=loop", "close", None])
def test_no_secret_of_a_url_gets_out(world, fault):
    clean = world.url(KUBELET, *([fault] if fault else []))
    world.assets[KUBELET].urls = [clean.replace("://", "://user:pa55word@") + "?X-Amz-Signature=f00dfeed&a=b#frag"]
    for command, flags in (("plan", ["--diff"]), ("plan", ["-o", "json"]), ("validate", []), ("apply", ["--v=10"])):
        result = world.run(command, *flags)
        for secret in ("pa55word", "f00dfeed", "X-Amz"):
            assert secret not in result.out + result.err, result
    assert result.code == (INTEGRITY if fault == "wrong" else NET if fault else OK), result
    for top in (world.root, world.cache):
        assert not [n for n in listing(top) if "pa55word" in n or "f00dfeed" in n]
        for path in files_of(top):
            data = path.read_bytes()
            assert b"pa55word" not in data and b"f00dfeed" not in data, path


def test_credentials_of_a_url_are_sent(world):
    world.assets[KUBELET].urls = [world.url(KUBELET).replace("://", "://user:pa55word@")]
    world.converge()
    path = "/" + world.url(KUBELET).split("/", 3)[3]
    assert "authorization: Basic dXNlcjpwYTU1d29yZA==" in world.origin.control(f"/__headers?path={path}")


# What nobody needs

@pytest.mark.parametrize("fault", ["status=404", "wrong", "empty", "hang"])
def test_a_dead_archive_that_nobody_needs(world, fault):
    world.assets[UTILS].urls = [world.url(UTILS, fault)]
    assert world.converge().seconds < 20
    assert installed_is_right(world)


def test_a_dead_server_of_an_archive_that_nobody_needs(world):
    world.assets[UTILS].urls = [f"{world.origin.refused()}/utils.tar.gz"]
    world.converge()


def test_an_asset_nobody_uses_is_not_fatal(world):
    world.assets["unheard-of"] = Asset("ab" * 32, [world.url("unheard-of", "status=404")])
    world.converge()


def test_a_worker_does_not_fetch_kubectl(world):
    world.converge()
    assert world.origin.count(world.url(KUBECTL)) == 0
    assert not world.installed(KUBECTL).exists()


def test_a_master_does(master):
    master.converge()
    assert master.origin.count(master.url(KUBECTL)) == 1 and installed_is_right(master, KUBECTL)


def test_a_dead_archive_that_is_needed(world):
    world.assets[CNI].urls = [world.url(CNI, "status=404")]
    result = world.apply()
    assert result.code == NET and CNI in result.failure and "404" in result.failure, result
    assert installed_is_right(world), "the other assets are brought home all the same"


def test_an_archive_that_may_have_it_too(world):
    """The first that has a member counts. While that one cannot be had a later one is a guess, which no run takes for right."""
    world.assets[CNI] = world.serve("first.tar.gz", tar({f"./{name}": b"first" for name in CNI_MEMBERS}))
    world.assets[UTILS] = world.serve("later.tar.gz", tar({f"./{name}": b"later" for name in CNI_MEMBERS}))
    good, world.assets[CNI].urls = world.assets[CNI].urls, [f"{world.origin.refused()}/first.tar.gz"]
    for _ in range(2):
        result = world.apply()
        assert result.code == OK and "failed asset " in result.err, result
        assert {world.installed(name).read_bytes() for name in CNI_MEMBERS} == {b"later"}
    assert world.plan().code == PENDING
    world.assets[CNI].urls = good
    world.converge()
    assert {world.installed(name).read_bytes() for name in CNI_MEMBERS} == {b"first"}
    assert world.plan().code == OK


def test_an_archive_that_comes_before(world):
    """Documents that name another archive first want the member of that one, though nothing is wrong with what is installed."""
    packed = {what: tar({f"./{name}": what for name in CNI_MEMBERS}) for what in (b"first", b"later")}
    world.assets[CNI], world.assets[UTILS] = world.assets[UTILS], world.serve("later.tar.gz", packed[b"later"])
    world.converge()
    assert {world.installed(name).read_bytes() for name in CNI_MEMBERS} == {b"later"}
    world.assets[CNI] = world.serve("first.tar.gz", packed[b"first"])
    world.converge()
    assert {world.installed(name).read_bytes() for name in CNI_MEMBERS} == {b"first"}


# The cache

def test_a_verified_entry_is_never_fetched_again(world):
    world.converge()
    asked, first = world.requests_of_needed(), tree(world.root)
    shutil.rmtree(world.root)
    world.make_root(world.root)
    world.converge()
    assert world.requests_of_needed() == asked
    same(first, tree(world.root))


def test_what_came_before_a_failure_is_kept(world):
    world.assets[CNI].urls = [world.url(CNI, "status=404")]
    assert world.apply().code == NET
    world.assets[CNI].urls = [world.url(CNI)]
    world.converge()
    assert world.origin.count(world.url(KUBELET)) == 1


def test_offline_with_a_full_cache(world):
    world.converge()
    asked = world.requests()
    shutil.rmtree(world.root)
    world.make_root(world.root)
    world.converge("--offline")
    assert world.requests() == asked


def test_offline_with_an_empty_cache(world):
    before = listing(world.root)
    result = world.apply("--offline", timeout=60)
    assert result.code == CONFIG and "offline, and 1 asset is not in the cache" in result.failure, result
    assert world.requests() == 0
    # all that is missing, each on a line of its own, before anything is written
    missing = [line for line in result.lines if line.startswith("missing ")]
    assert len(missing) == 3, result
    for name in (KUBELET, CNI, UTILS):
        told = f"missing {name}: sha256 {world.digest(name)}, of {world.url(name)}"
        assert told + " (perhaps not needed)" * (name != KUBELET) in missing, result
    same(before, listing(world.root))


def test_from_a_file(world):
    world.assets[KUBELET] = world.local(KUBELET, b"#!/bin/sh\n")
    world.converge()
    assert world.installed(KUBELET).read_bytes() == b"#!/bin/sh\n"


def test_a_new_kubelet_replaces_the_old(world):
    world.converge()
    world.assets[KUBELET] = world.local(KUBELET, b"#!/bin/sh\n")
    world.converge()
    assert world.installed(KUBELET).read_bytes() == b"#!/bin/sh\n"
    world.assets[KUBELET] = Asset(world.digest(KUBELET), ["http://gone.invalid/kubelet"])
    world.converge()
    assert installed_is_right(world), "and back again, from the cache"


def test_entries_are_copies(world):
    """Never a link: who writes to the installed file must not write to the cache."""
    world.converge()
    assert world.installed(KUBELET).stat().st_nlink == 1
    assert world.entry(KUBELET).read_bytes() == world.contents[KUBELET]


def test_one_mirror_for_all(world):
    """--rewrite: the documents' hosts are gone, a mirror of ours has everything."""
    for asset in (*world.assets.values(), world.protokube):
        asset.urls = [u.replace(world.origin.base, "https://gone.invalid") for u in asset.urls]
    world.converge(f"--rewrite=https://gone.invalid={world.origin.base}")
    assert installed_is_right(world)


@pytest.mark.parametrize("fault, code", [("status=404", NET), ("wrong", INTEGRITY)])
def test_messages_name_the_url_that_was_asked(world, fault, code):
    gone = "https://gone.invalid"
    world.assets[KUBELET].urls = [world.url(KUBELET, fault, base=gone)]
    result = world.apply(f"--rewrite={gone}={world.origin.base}")
    assert result.code == code and gone not in result.err, result
    assert world.url(KUBELET, fault) in result.failure + result.notes, result


@pytest.mark.parametrize("algo", ["sha1", "sha256", "sha512"])
@pytest.mark.parametrize("prefix", [False, True], ids=["length", "prefix"])
def test_algorithms(world, algo, prefix):
    digest = world.digest(KUBELET, algo)
    world.assets[KUBELET].digest = f"{algo}:{digest}" if prefix else digest
    world.converge()
    assert installed_is_right(world) and (world.cache / algo / digest).is_file()


def test_a_hash_in_capitals(world):
    world.assets[KUBELET].digest = world.digest(KUBELET).upper()
    world.converge()


# Archives

def zstd(data):
    return subprocess.run(["zstd", "-q"], input=data, capture_output=True, check=True).stdout


@pytest.mark.parametrize("suffix, pack", [("tar.gz", lambda m: tar(m)), ("tgz", lambda m: tar(m)),
                                          ("tar.xz", lambda m: tar(m, "w:xz")),
                                          ("tar.zst", lambda m: zstd(tar(m, "w")))], ids=["gz", "tgz", "xz", "zst"])
def test_kinds_of_archives(world, suffix, pack):
    members = {f"./bin/{name}": noise(name, 10_000) for name in CNI_MEMBERS}
    world.assets[CNI] = world.serve(f"plugins.{suffix}", pack(members))
    world.converge()
    for name in CNI_MEMBERS:
        path = world.installed(name)
        assert path.read_bytes() == members[f"./bin/{name}"] and path.stat().st_mode & 0o7777 == 0o755


def link(name, target, kind=tarfile.SYMTYPE):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


EVIL = {
    "parent": lambda d: {"../../../../../../../../" + d + "/evil": b"x"},
    "absolute": lambda d: {"/" + d + "/evil": b"x"},
    "through a link": lambda d: {"out": link("out", "/" + d), "out/evil": b"x"},
    "through a relative link": lambda d: {"out": link("out", "../../../../../../../../" + d), "out/evil": b"x"},
    "hard link": lambda d: {"evil": link("evil", "/" + d + "/victim", tarfile.LNKTYPE), "./evil": b"x"},
}


@pytest.mark.parametrize("name", EVIL)
def test_archives_do_not_leave_their_tree(world, name):
    """Whatever the verdict, nothing outside is touched."""
    outside = world.folder / "outside"
    outside.mkdir()
    (outside / "victim").write_text("as it was\n")
    members = {f"./{n}": noise(n, 1000) for n in CNI_MEMBERS}
    world.assets[CNI] = world.serve("evil.tar.gz", tar({**EVIL[name](str(outside).lstrip("/")), **members}))
    before = listing(outside)
    world.apply()
    same(before, listing(outside))


def test_an_archive_that_is_none(world):
    world.assets[CNI] = world.serve("broken.tar.gz", noise("broken", 5000))
    result = world.apply()
    assert result.code not in (OK, BUSY) and "broken.tar.gz" in f"{result.failure}\n{result.notes}", result
    assert not staged(world) and world.unused() == []


def test_an_archive_cut_short(world):
    """Its hash is right, so nobody is to blame but who made it: nothing half unpacked is used."""
    world.assets[CNI] = world.serve("cut.tar.gz", world.contents[CNI][:700_000])
    result = world.apply()
    assert result.code not in (OK, BUSY) and "cut.tar.gz" in f"{result.failure}\n{result.notes}", result
    assert not staged(world) and world.unused() == []
    assert not any(world.installed(n).exists() for n in CNI_MEMBERS)


def test_an_archive_without_what_is_needed(world):
    world.assets[CNI] = world.serve("plugins.tar.gz", tar({"bridge": b"b", "loopback": b"l"}))
    result = world.apply()
    assert result.code == CONFIG and "host-local" in result.failure, result


@pytest.mark.parametrize("first", [0, 1])
def test_two_archives_with_one_member(world, first):
    """The document's order decides, however late the first arrives."""
    archives = [world.serve(f"{n}.tar.gz", tar({m: b"%d" % n for m in CNI_MEMBERS})) for n in range(2)]
    late = archives[first]
    late.urls = [late.urls[0].replace(f"/{world.token}/", f"/{world.token}/~delay=1/")]
    del world.assets[CNI]
    world.assets.update({"0": archives[0], "1": archives[1]})
    world.converge()
    assert {world.installed(m).read_bytes() for m in CNI_MEMBERS} == {b"0"}


def test_members_that_are_links_are_not_installed(world):
    members = {"bridge": link("bridge", "/etc/passwd"), "host-local": b"h", "loopback": b"l"}
    world.assets[CNI] = world.serve("plugins.tar.gz", tar(members))
    result = world.apply()
    assert result.code != OK and not world.installed("bridge").exists(), result


# Many at once

def test_two_roots_share_a_cache(make_world):
    worlds = [make_world("a"), make_world("b")]
    for world in worlds:
        world.cache = worlds[0].cache
        world.assets[KUBELET].urls = [world.url(KUBELET, "rate=2000000")]
    results = [None, None]

    def run(i):
        results[i] = worlds[i].apply()

    threads = [threading.Thread(target=run, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [r.code for r in results] == [OK, OK], results
    assert all(map(installed_is_right, worlds)) and worlds[0].unused() == []
    # the store's own path is part of what they are told; nothing else may differ
    names = [set(tree(w.root)) for w in worlds]
    assert names[0] == names[1], differences(*map(lambda w: tree(w.root), worlds))


def test_two_applies_on_one_root(world):
    world.assets[KUBELET].urls = [world.url(KUBELET, "rate=2000000")]
    results = [None, None]
    world.write_documents()

    def run(i):
        results[i] = world.apply(write=False)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    codes = sorted(r.code for r in results)
    assert codes in ([OK, OK], [OK, BUSY]), results
    world.check_files()
    before = tree(world.root)
    world.converge()
    same(before, tree(world.root))
    assert world.unused() == [] and installed_is_right(world)


def test_a_machine_hears_of_sha1_once_a_boot(world, told):
    """Every document of kops 1.8 names assets so: the warning is for the run that installs, and for no plan."""
    for name, asset in world.assets.items():
        asset.digest = world.digest(name, "sha1")
    for command in ("validate", "plan"):
        assert "sha1" not in world.run(command).err
    for reboot, expected in ((False, 1), (False, 0), (True, 1)):
        if reboot:
            shutil.rmtree(world.root / "run/nodeup")
        run = told()
        # for want of a systemd, when all else is done
        assert run.end() == SYSTEM, run.text()
        assert run.text().count("sha1 is broken") == expected, run.text()


def test_each_image_hears_of_sha1(world):
    for name, asset in world.assets.items():
        asset.digest = world.digest(name, "sha1")
    for _ in range(2):
        assert world.converge().err.count("sha1 is broken") == 1
    assert not list(world.root.glob("run/nodeup/sha1*"))

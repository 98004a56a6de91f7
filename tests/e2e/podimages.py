"""Images of one program, as archives of docker's and of OCI's form, packed or not, and as a registry has them."""
import hashlib
import json
import pathlib
import subprocess
import sys

from labassets import tar_bytes
from labhost import ROOT

sys.path.insert(0, ROOT + "/tests/system")
import upstream  # noqa: E402

OCI = "application/vnd.oci.image."


def sha(data):
    return hashlib.sha256(data).hexdigest()


def parts(name, program, entry, arch="amd64"):
    """(layer, configuration) of an image that starts its only program, which is at entry, and refuses flags that upstream's of that name
    does not take."""
    flags = upstream.flags_of_image(name)
    layer = tar_bytes([(program, entry.lstrip("/")), *[(flags, "flags")] * bool(flags)])
    config = {"architecture": arch, "os": "linux", "config": {"Entrypoint": [entry]},
              "rootfs": {"type": "layers", "diff_ids": ["sha256:" + sha(layer)]}}
    return layer, json.dumps(config).encode()


def docker(name, program, entry, arch="amd64"):
    """As `docker save` writes it."""
    layer, config = parts(name, program, entry, arch)
    manifest = [{"Config": sha(config) + ".json", "RepoTags": [name], "Layers": ["layer.tar"]}]
    return tar_bytes([(config, sha(config) + ".json"), (layer, "layer.tar"), (json.dumps(manifest).encode(), "manifest.json")])


def layout(name, program, entry, arch="amd64"):
    """{path: bytes} of an OCI layout."""
    layer, config = parts(name, program, entry, arch)

    def descriptor(kind, data, **more):
        return {"mediaType": OCI + kind, "digest": "sha256:" + sha(data), "size": len(data), **more}
    manifest = json.dumps({"schemaVersion": 2, "mediaType": OCI + "manifest.v1+json", "config": descriptor("config.v1+json", config),
                           "layers": [descriptor("layer.v1.tar", layer)]}).encode()
    index = {"schemaVersion": 2, "manifests": [descriptor("manifest.v1+json", manifest, annotations={
        "io.containerd.image.name": name, "org.opencontainers.image.ref.name": name.rpartition(":")[2]})]}
    return {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}', "index.json": json.dumps(index).encode(),
            **{"blobs/sha256/" + sha(data): data for data in (layer, config, manifest)}}


def oci(name, program, entry, arch="amd64"):
    return tar_bytes([(data, path) for path, data in layout(name, program, entry, arch).items()])


def packed(data, *tool):
    return subprocess.run(tool, input=data, capture_output=True, check=True).stdout


def put_layout(folder, name, program, entry):
    """What the registry serves below its folder."""
    for path, data in layout(name, program, entry).items():
        target = pathlib.Path(folder, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)

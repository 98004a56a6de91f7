"""Documents of our own as an older kops renders them: the nodes of kops.py with the keys and assets of that version."""
import hashlib

CHANNEL = "/addons/bootstrap-channel.yaml"
PROGRAMS = {"protokube": b"stands for protokube\n", "channels": b"stands for channels\n"}


def render(node, version, kubernetes):
    """The node's documents, those of a control plane among them, become those of kops `version`, 1.29 to 1.37."""
    minor, config = int(version.split(".")[1]), node.config
    config["KubernetesVersion"] = kubernetes
    if minor < 37:
        config["usesLegacyGossip"] = False
    if minor < 32:
        del config["InstallCNIAssets"]
    if minor < 35:
        config["KubeletConfig"]["podInfraContainerImage"] = config["containerdConfig"].pop("sandboxImage")
    if minor < 36 and config.pop("channelsManifest", None):
        config["channels"] = [node.url + CHANNEL]
        for name, data in PROGRAMS.items():
            digest = hashlib.sha256(data).hexdigest()
            (node.cache / "sha256" / digest).write_bytes(data)
            config["Assets"]["amd64"].append(f"{digest}@https://artifacts.k8s.io/binaries/kops/{version}/linux/amd64/{name}")
    return node

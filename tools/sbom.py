#!/usr/bin/python3
"""What the program is made of, as SPDX 2.3 in JSON.

    PROGRAM version -o json | sbom.py FILE ARCH    FILE: the program, whose digest the list names

The libraries and their versions are those that the program says. SOURCE_DATE_EPOCH is the date: the same program gives the same bytes."""

import datetime
import hashlib
import json
import os
import pathlib
import sys

# What `version -o json` names: Debian's source package, and the licence, of which NOTICE tells more.
LIBRARIES = {
    "curl": ("curl", "curl"),
    "c-ares": ("c-ares", "MIT"),
    "openssl": ("openssl", "Apache-2.0"),
    "libsystemd": ("systemd", "LGPL-2.1-or-later"),
    "libarchive": ("libarchive", "BSD-2-Clause"),
    "isa-l": ("libisal", "BSD-3-Clause"),
    "libyaml": ("libyaml", "MIT"),
    "jansson": ("jansson", "MIT"),
    "expat": ("expat", "MIT"),
    "libblkid": ("util-linux", "LGPL-2.1-or-later"),
    "zlib": ("zlib", "Zlib"),
    "xz": ("xz-utils", "LicenseRef-public-domain"),
    "zstd": ("libzstd", "BSD-3-Clause"),
    "lz4": ("lz4", "BSD-2-Clause"),
    "glibc": ("glibc", "LGPL-2.1-or-later"),
}


def package(name, version, licence, **more):
    return {"SPDXID": f"SPDXRef-{name}", "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more}


def library(name, version):
    source, licence = LIBRARIES[name]
    purl = f"pkg:deb/debian/{source}@{version.replace('+', '%2B').replace('~', '%7E')}?arch=source"
    return package(name, version, licence, externalRefs=[
        {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}])


def main():
    file, arch = sys.argv[1:]
    own = json.load(sys.stdin)
    unknown = sorted(own["libraries"].keys() ^ LIBRARIES.keys())
    if unknown:
        sys.exit(f"sbom.py: LIBRARIES and the program's libraries differ in: {', '.join(unknown)}")
    digest = hashlib.sha256(pathlib.Path(file).read_bytes()).hexdigest()
    when = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-nodeup"),
                 *(("SPDXRef-nodeup", "STATIC_LINK", f"SPDXRef-{name}") for name in sorted(own["libraries"]))]
    json.dump({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"nodeup-{own['version']}-{arch}",
        "documentNamespace": f"urn:nodeup:{own['version']}:{arch}:sha256:{digest}",
        "creationInfo": {"created": when.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": [f"Tool: nodeup-sbom-{own['version']}"]},
        "hasExtractedLicensingInfos": [{"licenseId": "LicenseRef-public-domain", "extractedText": "liblzma is in the public domain."}],
        "packages": [
            package("nodeup", own["version"], "Apache-2.0", primaryPackagePurpose="APPLICATION",
                    checksums=[{"algorithm": "SHA256", "checksumValue": digest}]),
            *(library(name, own["libraries"][name]) for name in sorted(own["libraries"]))],
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations],
    }, sys.stdout, indent=2)
    print()


main()

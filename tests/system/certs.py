"""Certificates that openssl signs, of servers on this machine and of what signs them."""
import shutil
import subprocess

EC = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
CA, OURS = "basicConstraints=critical,CA:TRUE", "subjectAltName=IP:127.0.0.1"


def openssl(*argv, **kw):
    subprocess.run(["openssl", *argv], check=True, capture_output=True, **kw)


def signed(pki, name, signer, extensions, start="20200101000000Z", end="20800101000000Z"):
    """A certificate pki/name.pem of the key pki/name.key, which is made where there is none. It signs itself where signer is None."""
    (pki / "ca.cnf").write_text("[ca]\ndefault_ca=d\n[d]\ndatabase=index\nnew_certs_dir=.\ndefault_md=sha256\nrand_serial=yes\npolicy=p\n"
                                f"unique_subject=no\nx509_extensions=x\n[p]\ncommonName=supplied\n[x]\n{extensions}\n")
    (pki / "index").touch()
    key = ["-key", f"{name}.key"] if (pki / f"{name}.key").exists() else [*EC, "-keyout", f"{name}.key"]
    openssl("req", "-new", *key, "-subj", f"/CN={name}", "-out", "request", cwd=pki)
    by = ["-selfsign", "-keyfile", f"{name}.key"] if signer is None else ["-cert", f"{signer}.pem", "-keyfile", f"{signer}.key"]
    openssl("ca", "-batch", "-config", "ca.cnf", *by, "-in", "request", "-out", f"{name}.new", "-notext", "-startdate", start, "-enddate", end,
            cwd=pki)
    (pki / f"{name}.new").rename(pki / f"{name}.pem")
    return pki / f"{name}.pem"


def shown(pki, name, *more):
    """A folder from which a server shows that certificate, and more of the chain."""
    folder = pki / "shown"
    folder.mkdir(exist_ok=True)
    (folder / "cert.pem").write_text("".join((pki / f"{n}.pem").read_text() for n in (name, *more)))
    shutil.copy(pki / f"{name}.key", folder / "key.pem")
    return folder

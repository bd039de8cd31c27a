"""A real directory: Debian's slapd, started for a test, with a certificate of its own for StartTLS."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.town.debian import need
from tests.town.ports import ReservedPort

SLAPD, MODULES, SCHEMAS = "/usr/sbin/slapd", "/usr/lib/ldap", "/etc/ldap/schema"
BASE = "dc=example,dc=org"
ADMIN, ADMIN_PASSWORD = f"cn=admin,{BASE}", "admin secret"

Entries = Sequence[tuple[str, Mapping[str, Sequence[str]]]]


class Slapd:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._reserved = ReservedPort()
        self.port = self._reserved.number
        self.uri = f"ldap://127.0.0.1:{self.port}"
        self.ca = ""
        self._process: subprocess.Popen[bytes] | None = None

    def prepare(self, entries: Entries, *, memberof: bool) -> None:
        (self.folder / "data").mkdir()
        self._make_certificates()
        overlay = "moduleload memberof\n" if memberof else ""
        (self.folder / "slapd.conf").write_text(
            f"""
include {SCHEMAS}/core.schema
include {SCHEMAS}/cosine.schema
include {SCHEMAS}/nis.schema
include {SCHEMAS}/inetorgperson.schema
attributetype ( 1.3.6.1.4.1.55555.1.1 NAME 'userAccountControl' EQUALITY integerMatch
    SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 SINGLE-VALUE )
objectclass ( 1.3.6.1.4.1.55555.2.1 NAME 'accountState' AUXILIARY MAY userAccountControl )
modulepath {MODULES}
moduleload back_mdb
{overlay}pidfile {self.folder}/slapd.pid
TLSCACertificateFile {self.folder}/ca.pem
TLSCertificateFile {self.folder}/cert.pem
TLSCertificateKeyFile {self.folder}/key.pem
sizelimit 500
database mdb
maxsize 1073741824
suffix "{BASE}"
rootdn "{ADMIN}"
rootpw "{ADMIN_PASSWORD}"
directory {self.folder}/data
index objectClass,entryUUID eq
{"overlay memberof" if memberof else ""}
access to attrs=userPassword by anonymous auth by * none
access to * by users read by * none
"""
        )
        root = [(BASE, {"objectClass": ["dcObject", "organization"], "dc": ["example"], "o": ["Example"]})]
        ldif = as_ldif([*root, *entries])
        done = subprocess.run(
            ["/usr/sbin/slapadd", "-q", "-f", str(self.folder / "slapd.conf")],
            input=ldif.encode(), capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr.decode()

    def _make_certificates(self) -> None:
        ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
        authority = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test CA")])
        now = datetime.now(UTC)

        def made(subject: x509.Name, public: ec.EllipticCurvePublicKey, *, ca: bool) -> x509.CertificateBuilder:
            return (
                x509.CertificateBuilder()
                .subject_name(subject)
                .issuer_name(authority)
                .public_key(public)
                .serial_number(x509.random_serial_number())
                .not_valid_before(now - timedelta(days=1))
                .not_valid_after(now + timedelta(days=2))
                .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
            )

        ca = made(authority, ca_key.public_key(), ca=True).sign(ca_key, hashes.SHA256())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
        own = x509.SubjectAlternativeName(
            [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("127.0.0.1")]
        )
        cert = made(name, key.public_key(), ca=False).add_extension(own, critical=False).sign(ca_key, hashes.SHA256())
        pem = serialization.Encoding.PEM
        self.ca = ca.public_bytes(pem).decode()
        (self.folder / "ca.pem").write_text(self.ca)
        (self.folder / "cert.pem").write_bytes(cert.public_bytes(pem))
        plain = serialization.NoEncryption()
        (self.folder / "key.pem").write_bytes(
            key.private_bytes(pem, serialization.PrivateFormat.TraditionalOpenSSL, plain)
        )

    async def start(self) -> None:
        conf = str(self.folder / "slapd.conf")
        with (self.folder / "slapd.log").open("wb") as log:
            self._process = subprocess.Popen([SLAPD, "-d", "0", "-f", conf, "-h", self.uri], stdout=log, stderr=log)
        give_up = time.monotonic() + 60
        while time.monotonic() < give_up:
            assert self._process.poll() is None, (self.folder / "slapd.log").read_text()
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            await asyncio.sleep(0.02)
        raise AssertionError("slapd did not answer")

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(60)
            self._process = None

    def close(self) -> None:
        self.stop()
        self._reserved.release()

    def change(self, ldif: str) -> None:
        """By Debian's own client, as the directory's administrator."""
        done = subprocess.run(
            ["ldapmodify", "-x", "-H", self.uri, "-D", ADMIN, "-w", ADMIN_PASSWORD],
            input=ldif.encode(), capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr.decode()

    def is_password(self, dn: str, password: str) -> bool:
        """What the directory itself thinks."""
        words = ["ldapwhoami", "-x", "-H", self.uri, "-D", dn, "-w", password]
        return subprocess.run(words, capture_output=True, check=False).returncode == 0


def as_ldif(entries: Entries) -> str:
    blocks = []
    for dn, attributes in entries:
        lines = [f"dn: {dn}", *(f"{name}: {value}" for name, values in attributes.items() for value in values)]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def folder_entries() -> Entries:
    units = ("people", "groups")
    return [(f"ou={unit},{BASE}", {"objectClass": ["organizationalUnit"], "ou": [unit]}) for unit in units]


def person(uid: str, password: str = "", **more: str) -> tuple[str, dict[str, list[str]]]:
    fields = {"sn": uid, "cn": f"{uid.title()} Example", "mail": f"{uid}@directory.example", **more}
    attributes = {
        "objectClass": ["inetOrgPerson", "accountState"],
        "uid": [uid],
        **{name: [value] for name, value in fields.items()},
    }
    if password:
        attributes["userPassword"] = [password]
    return f"uid={uid},ou=people,{BASE}", attributes


def group(name: str, members: Iterable[str]) -> tuple[str, dict[str, list[str]]]:
    named = [f"uid={uid},ou=people,{BASE}" for uid in members]
    return f"cn={name},ou=groups,{BASE}", {"objectClass": ["groupOfNames"], "cn": [name], "member": named}


@asynccontextmanager
async def running(folder: Path, entries: Entries, *, memberof: bool = False) -> AsyncIterator[Slapd]:
    """Debian's own; the tests do not go without it."""
    await asyncio.to_thread(need, SLAPD, "slapd", "ldap-utils")
    folder.mkdir(parents=True, exist_ok=True)
    made = Slapd(folder)
    try:
        await asyncio.to_thread(made.prepare, [*folder_entries(), *entries], memberof=memberof)
        await made.start()
        yield made
    finally:
        made.close()

"""Apache with mod_auth_mellon: a service that others wrote, which lets people in by our assertions."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from tests.town.debian import need
from tests.town.plain import PLAIN
from tests.town.ports import ReservedPort

MODULES = "/usr/lib/apache2/modules"
_LOADED = (
    "mpm_event",
    "authn_core",
    "authz_core",
    "authz_user",
    "auth_mellon",
    "dir",
    "include",
    "mime",
    "rewrite",
)
_SECRET = """<!doctype html><title>Secret</title><h1>Secret</h1>
<p id="name"><!--#echo var="MELLON_NAME_ID" --></p>
<p id="format"><!--#echo var="MELLON_IDP" --></p>
<p id="mail"><!--#echo var="MELLON_mail" --></p>
<p id="groups"><!--#echo var="MELLON_member-of_0" --> <!--#echo var="MELLON_member-of_1" --></p>
"""
# It tells its own metadata only once it knows some identity provider.
_SOMEBODY = """<EntityDescriptor entityID="https://nobody.example/" xmlns="urn:oasis:names:tc:SAML:2.0:metadata">
<IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
<SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://nobody.example/"/>
</IDPSSODescriptor></EntityDescriptor>"""
_CONFIGURATION = """
ServerRoot "{folder}"
ServerName localhost
Listen 127.0.0.1:{port}
PidFile "{folder}/pid"
ErrorLog "{folder}/error.log"
LogLevel warn auth_mellon:debug
User www-data
Group www-data
DocumentRoot "{folder}/pages"
DirectoryIndex index.shtml
TypesConfig /dev/null
AddType text/html .shtml
AddOutputFilter INCLUDES .shtml
{modules}
<Directory "{folder}/pages">
    Options +Includes
    Require all granted
</Directory>
<Location />
    MellonEnable "info"
    MellonEndpointPath /mellon
    MellonSPentityId "{url}/mellon/metadata"
    MellonSPPrivateKeyFile "{folder}/service.key"
    MellonSPCertFile "{folder}/service.cert"
    MellonIdPMetadataFile "{folder}/idp.xml"
    MellonSecureCookie secure
    MellonSetEnv "mail" "urn:oid:0.9.2342.19200300.100.1.3"
    MellonRedirectDomains localhost
    MellonSignatureMethod rsa-sha256
    {more}
</Location>
<Location /secret/>
    AuthType Mellon
    MellonEnable "auth"
    Require valid-user
</Location>
"""


class Apache:
    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self.url = f"http://localhost:{port}"
        self._process: subprocess.Popen[bytes] | None = None

    def prepare(self) -> None:
        for name, text in (("", "<!doctype html><title>Open</title><h1>Open</h1>"), ("secret", _SECRET)):
            page = self.folder / "pages" / name / "index.shtml"
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text)
        subprocess.run(
            [
                *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=localhost"),
                *("-keyout", str(self.folder / "service.key"), "-out", str(self.folder / "service.cert")),
            ],
            check=True,
            capture_output=True,
        )
        for one in (self.folder, *self.folder.rglob("*")):
            one.chmod(0o755 if one.is_dir() else 0o644)

    async def start(self, metadata: str = _SOMEBODY, more: str = "") -> None:
        (self.folder / "idp.xml").write_text(metadata)
        loaded = "\n".join(f'LoadModule {name}_module "{MODULES}/mod_{name}.so"' for name in _LOADED)
        values = {"folder": self.folder, "port": self.port, "url": self.url, "modules": loaded, "more": more}
        configuration = self.folder / "apache.conf"
        configuration.write_text(_CONFIGURATION.format(**values))
        self._process = subprocess.Popen(["/usr/sbin/apache2", "-DFOREGROUND", "-f", str(configuration)])
        await self._until_it_answers()

    async def _until_it_answers(self) -> None:
        async with asyncio.timeout(30), httpx.AsyncClient(verify=PLAIN) as http:
            while True:
                assert self._process is not None
                assert self._process.poll() is None, self.log()
                try:
                    await http.get(f"{self.url}/")
                except httpx.TransportError:
                    await asyncio.sleep(0.05)
                else:
                    return

    async def metadata(self) -> str:
        async with httpx.AsyncClient(verify=PLAIN) as http:
            answer = await http.get(f"{self.url}/mellon/metadata")
            assert answer.status_code == 200, self.log()
            return answer.text

    def log(self) -> str:
        found = self.folder / "error.log"
        return found.read_text()[-4000:] if found.exists() else ""

    async def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            await asyncio.to_thread(self._process.wait)
            self._process = None


@asynccontextmanager
async def apache(folder: Path) -> AsyncIterator[Apache]:
    need("/usr/sbin/apache2", "apache2", "libapache2-mod-auth-mellon")
    need(f"{MODULES}/mod_auth_mellon.so", "libapache2-mod-auth-mellon")
    with ReservedPort() as port:
        server = Apache(folder, port.number)
        server.prepare()
        try:
            yield server
        finally:
            await server.stop()

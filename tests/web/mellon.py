"""Apache with mod_auth_mellon: a service that others wrote, which lets people in by our assertions."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from tests.town.plain import PLAIN
from tests.town.ports import ReservedPort
from tests.web.apache import Apache

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
_RULES = """
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
</Location>
<Location /secret/>
    AuthType Mellon
    MellonEnable "auth"
    Require valid-user
</Location>
"""


class Mellon(Apache):
    def __init__(self, folder: Path, port: int) -> None:
        super().__init__(folder, port, "auth_mellon", "libapache2-mod-auth-mellon", _SECRET)
        subprocess.run(
            [
                *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=localhost"),
                *("-keyout", str(self.folder / "service.key"), "-out", str(self.folder / "service.cert")),
            ],
            check=True,
            capture_output=True,
        )
        self.open_files()

    async def start_with(self, metadata: str = _SOMEBODY) -> None:
        (self.folder / "idp.xml").write_text(metadata)
        await self.start(_RULES.format(folder=self.folder, url=self.url))

    async def metadata(self) -> str:
        async with httpx.AsyncClient(verify=PLAIN) as http:
            answer = await http.get(f"{self.url}/mellon/metadata")
            assert answer.status_code == 200, self.log()
            return answer.text


@asynccontextmanager
async def mellon(folder: Path) -> AsyncIterator[Mellon]:
    with ReservedPort() as port:
        server = Mellon(folder, port.number)
        try:
            yield server
        finally:
            await server.stop()

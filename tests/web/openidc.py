"""Apache with mod_auth_openidc: an OpenID client that others wrote."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.identity.relying_party import RelyingParty
from tests.town.ports import ReservedPort
from tests.web.apache import Apache

_SECRET = """<!doctype html><title>Secret</title><h1>Secret</h1>
<p id="name"><!--#echo var="REMOTE_USER" --></p>
<p id="mail"><!--#echo var="OIDC_CLAIM_email" --></p>
<p id="issuer"><!--#echo var="OIDC_CLAIM_iss" --></p>
"""
_RULES = """
OIDCProviderMetadataURL "{issuer}.well-known/openid-configuration"
OIDCClientID "{id}"
OIDCClientSecret "{secret}"
OIDCRedirectURI "{url}/oidc/callback"
OIDCCryptoPassphrase "not known to anybody"
OIDCScope "openid email profile"
OIDCRemoteUserClaim preferred_username
OIDCPKCEMethod S256
OIDCSessionInactivityTimeout 600
<Location /oidc/>
    AuthType openid-connect
    Require valid-user
</Location>
<Location /secret/>
    AuthType openid-connect
    Require valid-user
</Location>
"""


class OpenIDClient(Apache):
    def __init__(self, folder: Path, port: int) -> None:
        super().__init__(folder, port, "auth_openidc", "libapache2-mod-auth-openidc", _SECRET)
        self.callback = f"{self.url}/oidc/callback"
        # Told by the server itself, which knows the address of this machine and not its name.
        self.told_at = f"http://127.0.0.1:{port}/oidc/callback"

    async def start_for(self, party: RelyingParty) -> None:
        await self.start(_RULES.format(issuer=party.issuer, id=party.id, secret=party.secret, url=self.url))


@asynccontextmanager
async def openid_client(folder: Path) -> AsyncIterator[OpenIDClient]:
    with ReservedPort() as port:
        server = OpenIDClient(folder, port.number)
        try:
            yield server
        finally:
            await server.stop()

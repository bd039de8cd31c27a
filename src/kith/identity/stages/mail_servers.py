"""The mail server of an email stage: the server's own settings, or those of the stage."""

from __future__ import annotations

from urllib.parse import quote, urlencode

import msgspec

from kith.base.http import PrivateHosts
from kith.base.http.guarded_sockets import GuardedSockets
from kith.base.http.names import Names
from kith.base.mail import Mailer, mailer
from kith.base.sealing import Sealer
from kith.base.work import Work

PORTS = (25, 465, 587)


class MailServer(msgspec.Struct):
    use_global_settings: bool
    host: str
    port: int
    username: str
    password: str | None
    use_tls: bool
    use_ssl: bool
    timeout: int
    from_address: str


def mailer_of(work: Work, way: MailServer, *, sealed_as: str) -> Mailer:
    """`sealed_as` is where the password was sealed. Whoever may change a stage cannot reach our own network by it."""
    if way.use_global_settings:
        return work.find(Mailer)  # type: ignore[type-abstract]
    sealed = way.password
    password = work.find(Sealer).open(sealed, sealed_as) if sealed else ""
    who = f"{quote(way.username, safe='')}:{quote(password, safe='')}@" if way.username else ""
    host = f"[{way.host}]" if ":" in way.host else way.host
    query_string = "" if way.use_ssl else "?" + urlencode({"tls": "required" if way.use_tls else "none"})
    url = f"{'smtps' if way.use_ssl else 'smtp'}://{who}{host}:{way.port}{query_string}"
    sockets = GuardedSockets(work.find(Names), PrivateHosts(work.settings.private_hosts), PORTS)
    return mailer(url, work.settings.data / "mail", way.from_address, patience=float(way.timeout), sockets=sockets)

"""Mail that an email stage sends: as the server sends its own, or by the way out that the stage names.

The stage's password never leaves its row but for the moment of sending: the job knows only which stage it is.
"""

from __future__ import annotations

from urllib.parse import quote, urlencode

import msgspec
from sqlalchemy import bindparam, select

from kith.base.db import UID, query
from kith.base.jobs import Give, Kind
from kith.base.mail import Mail, Mailer, MailRefused, mailer
from kith.base.work import Work
from kith.identity.sealing import Sealer
from kith.identity.stages.kinds.email import RESOURCE

assert RESOURCE.table is not None  # noqa: S101 - an email stage has fields of its own
_table = RESOURCE.table


class WayOut(msgspec.Struct):
    use_global_settings: bool
    host: str
    port: int
    username: str
    password: str | None
    use_tls: bool
    use_ssl: bool
    timeout: int
    from_address: str


_way_out = query(
    select(*(_table.c[name] for name in WayOut.__struct_fields__)).where(
        _table.c.stage_uuid == bindparam("stage", type_=UID())
    ),
    WayOut,
)


class StageMail(msgspec.Struct):
    stage_uuid: str
    mail: Mail


def post(work: Work, stage_uuid: str, mail: Mail) -> None:
    work.enqueue(SEND, StageMail(stage_uuid=stage_uuid, mail=mail))


async def send(work: Work, payload: StageMail) -> None:
    """A stage that was deleted meanwhile takes its links with it: there is nothing left to send."""
    way = await work.db.one(_way_out, stage=payload.stage_uuid)
    if way is None:
        raise Give.up("the email stage is gone")
    try:
        await _mailer(work, way).send(payload.mail)
    except (MailRefused, ValueError) as error:
        raise Give.up(str(error)) from error


def _mailer(work: Work, way: WayOut) -> Mailer:
    if way.use_global_settings:
        return work.find(Mailer)  # type: ignore[type-abstract]
    sealed = way.password
    password = work.find(Sealer).open(sealed, f"{_table.name}.password") if sealed else ""
    who = f"{quote(way.username, safe='')}:{quote(password, safe='')}@" if way.username else ""
    host = f"[{way.host}]" if ":" in way.host else way.host
    query_string = "" if way.use_ssl else "?" + urlencode({"tls": "required" if way.use_tls else "none"})
    url = f"{'smtps' if way.use_ssl else 'smtp'}://{who}{host}:{way.port}{query_string}"
    return mailer(url, work.settings.data / "mail", way.from_address, patience=float(way.timeout))


SEND: Kind[StageMail] = Kind(name="identity.stage_mail", payload=StageMail, handler=send, outside=True, concurrency=4)

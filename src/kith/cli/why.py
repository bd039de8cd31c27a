from __future__ import annotations

from typing import Any

import click

from kith.base.errors import NotFound
from kith.cli.inputs import WORDS
from kith.cli.running import as_json, reading, run, say
from kith.cli.showing import cell, show_record, show_rows
from kith.identity.refusals import service, store
from kith.identity.refusals.tables import Refusal

LATEST = 20


@click.command()
@click.argument("code", type=WORDS, required=False)
@as_json
def why(*, code: str | None, as_json: bool) -> None:
    """Show why somebody was denied access, using the error CODE they were shown. Without CODE: the latest cases."""

    async def read() -> list[Refusal]:
        async with reading() as work:
            if code is None:
                return await store.latest(work.db, most=LATEST)
            found = await service.find(work, code)
            if found is None:
                raise NotFound(f"there is no record for the code {code}; run `kith why` to see the latest ones")
            return [found]

    found = run(read())
    if as_json:
        say(_record(found[0]) if code is not None else [_record(refusal) for refusal in found])
    elif code is None:
        heads = ["code", "when", "who", "where", "what they read"]
        show_rows(heads, [_row(refusal) for refusal in found], nothing="Nobody has been denied access.")
    else:
        _explain(found[0])


def _record(refusal: Refusal) -> dict[str, Any]:
    names = [name for name in Refusal.__struct_fields__ if name != "code"]
    return {"code": service.shown(refusal.code), **{name: getattr(refusal, name) for name in names}}


def _row(refusal: Refusal) -> list[object]:
    who = refusal.username or None
    return [service.shown(refusal.code), refusal.created_at, who, refusal.area, refusal.message]


def _explain(refusal: Refusal) -> None:
    details = dict(refusal.details)
    policies, broken = details.pop("policies", []), details.pop("traceback", [])
    show_record(
        {
            "code": service.shown(refusal.code),
            "who": refusal.username or "somebody who was not signed in",
            "when": refusal.created_at,
            "from": refusal.client_ip or None,
            "where": refusal.area,
            "they read": refusal.message,
            "why": refusal.reason,
            **details,
            "request": refusal.request_id or None,
        }
    )
    for policy in policies:
        click.echo("")
        show_record(
            {
                "policy": f"{policy['name']} ({policy['kind']})",
                "said": "yes" if policy["passing"] else "no",
                "turned round": policy["negate"],
                "messages": "; ".join(policy["messages"]) or None,
                "log": "; ".join(policy["log"]) or None,
                "failure": policy["failure"],
            }
        )
    if broken:
        click.echo("")
        for line in broken:
            click.echo(cell(line))

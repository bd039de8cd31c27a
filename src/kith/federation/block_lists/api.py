"""Block lists and files of them, for the team."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import Complaint, Invalid
from kith.base.exchange import Answer
from kith.base.http import Outgoing
from kith.base.routing import FromPath, FromQuery, FromRequest, delete, get, post
from kith.base.work import Work
from kith.federation.block_lists import importing, store, subscribing
from kith.federation.block_lists.csv_lists import BadBlockList, ReadList, read_list, write_allows, write_blocks
from kith.federation.block_lists.entities import render_list, render_plan, render_rehearsal
from kith.federation.block_lists.subscribing import FetchedList
from kith.social.admission import store as admission
from kith.social.pages import PRIVATE
from kith.social.staff import TheStaff, staff

ADMIN = "/api/v1/admin"
PATH = f"{ADMIN}/block_lists"
SEE = staff("manage_federation", scope="admin:read:domain_blocks")
CHANGE = staff("manage_federation", scope="admin:write:domain_blocks")
SEE_ALLOWS = staff("manage_federation", scope="admin:read:domain_allows")
CHANGE_ALLOWS = staff("manage_federation", scope="admin:write:domain_allows")


class NewList(msgspec.Struct, kw_only=True):
    url: str


class Agreement(msgspec.Struct, kw_only=True):
    """`digest` is that of the rehearsal."""

    digest: str


class Leaving(msgspec.Struct, kw_only=True):
    keep_blocks: bool = False


class ListFile(msgspec.Struct, kw_only=True):
    """`data` is the text of the file. Without `apply` it is only shown what would change."""

    data: str
    apply: bool = False


@get(PATH, guards=[SEE])
async def show_lists(work: Work) -> list[dict[str, Any]]:
    return [render_list(one) for one in await store.every(work.db)]


@get(f"{PATH}/{{id}}", guards=[SEE])
async def show_list(work: Work, id: FromPath[int]) -> dict[str, Any]:
    return render_list(await subscribing.find(work, id))


@post(PATH, guards=[CHANGE])
async def add_list(work: Work, by: TheStaff, new: FromRequest[NewList]) -> dict[str, Any]:
    """Nothing is blocked by it until it was rehearsed and applied."""
    return render_list(await subscribing.add(work, by, new.url))


@post(f"{PATH}/{{id}}/rehearse", guards=[CHANGE])
async def rehearse_list(work: Work, id: FromPath[int]) -> dict[str, Any]:
    """Fetch it, and show what it would change."""
    found = await subscribing.find(work, id)
    fetched = await _fetched(work, found.url)
    kept = await subscribing.keep(work, id, fetched)
    return render_rehearsal(await subscribing.rehearse(work, kept))


async def _fetched(work: Work, url: str) -> FetchedList:
    try:
        return await subscribing.fetch(work.find(Outgoing), work, url)
    except BadBlockList as error:
        raise Invalid(fields={"url": [Complaint(str(error))]}) from error


@post(f"{PATH}/{{id}}/apply", guards=[CHANGE])
async def apply_list(work: Work, by: TheStaff, id: FromPath[int], agreed: FromRequest[Agreement]) -> dict[str, Any]:
    return render_list(await subscribing.apply(work, by, id, agreed.digest))


@delete(f"{PATH}/{{id}}", guards=[CHANGE])
async def remove_list(work: Work, by: TheStaff, id: FromPath[int], how: FromQuery[Leaving]) -> dict[str, Any]:
    await subscribing.remove(work, by, id, keep_blocks=how.keep_blocks)
    return {}


# Files


@get(f"{ADMIN}/domain_blocks/export.csv", guards=[SEE])
async def export_blocks(work: Work) -> Answer:
    return _file("domain_blocks", write_blocks(await admission.every(work.db, "domain_block")))


@get(f"{ADMIN}/domain_allows/export.csv", guards=[SEE_ALLOWS])
async def export_allows(work: Work) -> Answer:
    return _file("domain_allows", write_allows(await admission.every(work.db, "domain_allow")))


def _file(name: str, body: bytes) -> Answer:
    named = f'attachment; filename="{name}.csv"'.encode()
    return Answer(200, ((b"content-type", b"text/csv; charset=utf-8"), (b"content-disposition", named), PRIVATE), body)


@post(f"{ADMIN}/domain_blocks/import", guards=[CHANGE])
async def import_blocks(work: Work, by: TheStaff, file: FromRequest[ListFile]) -> dict[str, Any]:
    listed = _listed(file)
    plan, severed = await (importing.block_all(work, by, listed) if file.apply else importing.rehearse(work, listed))
    return render_plan(plan, severed) | {"applied": file.apply}


@post(f"{ADMIN}/domain_allows/import", guards=[CHANGE_ALLOWS])
async def import_allows(work: Work, by: TheStaff, file: FromRequest[ListFile]) -> dict[str, Any]:
    return {"added": await importing.allow_all(work, by, _listed(file))}


def _listed(file: ListFile) -> ReadList:
    try:
        return read_list(file.data.encode())
    except BadBlockList as error:
        raise Invalid(fields={"data": [Complaint(str(error))]}) from error


routes = [
    show_lists,
    show_list,
    add_list,
    rehearse_list,
    apply_list,
    remove_list,
    export_blocks,
    export_allows,
    import_blocks,
    import_allows,
]

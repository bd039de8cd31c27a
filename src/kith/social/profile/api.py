from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from litestar import Request, delete, get, patch
from litestar.di import NamedDependency
from litestar.response.base import ASGIResponse

from kith.base.edge import exchange_of
from kith.base.params import Limits, Loose, Upload, fill, params
from kith.base.work import Work
from kith.social.accounts import service as accounts
from kith.social.accounts import store
from kith.social.accounts.tables import Account
from kith.social.accounts.viewers import acting
from kith.social.guards import Member, user
from kith.social.pages import answer
from kith.social.profile import entities, service

AnyRequest = Request[Any, Any, Any]
SENT = Limits(max_file_bytes=20 * 1024 * 1024, max_files=4)


class Row(Loose, kw_only=True):
    name: str = ""
    value: str = ""


class Source(msgspec.Struct, kw_only=True):
    """How somebody posts, where they do not say."""

    privacy: str | None = None
    sensitive: bool | None = None
    language: str | None = None
    quote_policy: str | None = None


class Sent(msgspec.Struct, kw_only=True):
    """Rows come as a list or as an object whose keys are places; `source` may be anything that is empty."""

    display_name: str | None = None
    note: str | None = None
    avatar: Upload | None = None
    avatar_description: str | None = None
    header: Upload | None = None
    header_description: str | None = None
    locked: bool | None = None
    bot: bool | None = None
    discoverable: bool | None = None
    indexable: bool | None = None
    hide_collections: bool | None = None
    show_media: bool | None = None
    show_media_replies: bool | None = None
    show_featured: bool | None = None
    fields_attributes: list[Row] | None = None
    attribution_domains: list[str] | None = None
    source: Any = None


_ALIKE = [name for name in Sent.__struct_fields__ if name not in ("avatar", "header", "fields_attributes", "source")]


def _change(sent: Sent, source: Source) -> accounts.Change:
    rows = sent.fields_attributes
    return accounts.Change(
        **{name: getattr(sent, name) for name in _ALIKE},
        avatar=sent.avatar.file if sent.avatar else None,
        header=sent.header.file if sent.header else None,
        fields=None if rows is None else [(row.name, row.value) for row in rows],
        privacy=source.privacy,
        sensitive=source.sensitive,
        language=source.language,
        quote_policy=source.quote_policy,
    )


async def _own(request: AnyRequest, work: Work, account: Account) -> ASGIResponse:
    return answer(exchange_of(request), await entities.render_own(work, account))


@get("/api/v1/accounts/verify_credentials", guards=[user("profile", "read:accounts")])
async def verify_credentials(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member]
) -> ASGIResponse:
    return await _own(request, work, await acting(work, me))


@patch(
    "/api/v1/accounts/update_credentials",
    guards=[user("write:accounts")],
    dependencies={"sent": params(Sent, SENT)},
)
async def update_credentials(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], sent: NamedDependency[Sent]
) -> ASGIResponse:
    source = fill(Source, sent.source) if isinstance(sent.source, Mapping) else Source()
    return await _own(request, work, await service.update(work, await acting(work, me), _change(sent, source)))


@get("/api/v1/profile", guards=[user("profile", "read:accounts")])
async def show_profile(request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member]) -> ASGIResponse:
    return answer(exchange_of(request), await entities.render_profile(work, await acting(work, me)))


@patch("/api/v1/profile", guards=[user("write:accounts")], dependencies={"sent": params(Sent, SENT)})
async def change_profile(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], sent: NamedDependency[Sent]
) -> ASGIResponse:
    account = await service.update(work, await acting(work, me), _change(sent, Source()))
    return answer(exchange_of(request), await entities.render_profile(work, account))


@delete("/api/v1/profile/avatar", status_code=200, guards=[user("write:accounts")])
async def drop_avatar(request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member]) -> ASGIResponse:
    return await _own(request, work, await accounts.drop_picture(work, await acting(work, me), "avatar"))


@delete("/api/v1/profile/header", status_code=200, guards=[user("write:accounts")])
async def drop_header(request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member]) -> ASGIResponse:
    return await _own(request, work, await accounts.drop_picture(work, await acting(work, me), "header"))


@get("/api/v1/preferences", guards=[user("read:accounts")])
async def show_preferences(work: NamedDependency[Work], me: NamedDependency[Member]) -> dict[str, Any]:
    account = await acting(work, me)
    return entities.render_preferences(account, await store.find_preferences(work.db, account.id))


routes = [
    verify_credentials,
    update_credentials,
    show_profile,
    change_profile,
    drop_avatar,
    drop_header,
    show_preferences,
]

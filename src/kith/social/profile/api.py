from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from kith.base.exchange import Answer, Exchange
from kith.base.params import BodyLimits, Loose, Upload, fill
from kith.base.routing import RequestBody, delete, get, patch
from kith.base.work import Work
from kith.social.accounts import service as accounts
from kith.social.accounts import store
from kith.social.accounts.tables import Account
from kith.social.accounts.viewers import Actor
from kith.social.guards import TheMember, user
from kith.social.pages import answer
from kith.social.profile import credentials, entities, service

SENT = BodyLimits(max_file_bytes=20 * 1024 * 1024, max_files=4)


class ProfileField(Loose, kw_only=True):
    name: str = ""
    value: str = ""


class PostingDefaults(msgspec.Struct, kw_only=True):
    """How somebody posts, where they do not say."""

    privacy: str | None = None
    sensitive: bool | None = None
    language: str | None = None
    quote_policy: str | None = None


class ProfileForm(msgspec.Struct, kw_only=True):
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
    fields_attributes: list[ProfileField] | None = None
    attribution_domains: list[str] | None = None
    source: Any = None


_ALIKE = [
    name for name in ProfileForm.__struct_fields__ if name not in ("avatar", "header", "fields_attributes", "source")
]


def _change(sent: ProfileForm, source: PostingDefaults) -> accounts.AccountChange:
    rows = sent.fields_attributes
    return accounts.AccountChange(
        **{name: getattr(sent, name) for name in _ALIKE},
        avatar=sent.avatar.file if sent.avatar else None,
        header=sent.header.file if sent.header else None,
        fields=None if rows is None else [(row.name, row.value) for row in rows],
        privacy=source.privacy,
        sensitive=source.sensitive,
        language=source.language,
        quote_policy=source.quote_policy,
    )


async def _own(exchange: Exchange, work: Work, account: Account) -> Answer:
    return answer(exchange, await entities.render_own(work, account))


@get("/api/v1/accounts/verify_credentials", guards=[user("profile", "read:accounts")])
async def verify_credentials(exchange: Exchange, work: Work, member: TheMember) -> Answer:
    return answer(exchange, await credentials.render(work, member.id))


@patch("/api/v1/accounts/update_credentials", guards=[user("write:accounts")])
async def update_credentials(
    exchange: Exchange, work: Work, actor: Actor, sent: Annotated[ProfileForm, RequestBody(SENT)]
) -> Answer:
    source = fill(PostingDefaults, sent.source) if isinstance(sent.source, Mapping) else PostingDefaults()
    return await _own(exchange, work, await service.update(work, actor, _change(sent, source)))


@get("/api/v1/profile", guards=[user("profile", "read:accounts")])
async def show_profile(exchange: Exchange, work: Work, actor: Actor) -> Answer:
    return answer(exchange, await entities.render_profile(work, actor))


@patch("/api/v1/profile", guards=[user("write:accounts")])
async def change_profile(
    exchange: Exchange, work: Work, actor: Actor, sent: Annotated[ProfileForm, RequestBody(SENT)]
) -> Answer:
    account = await service.update(work, actor, _change(sent, PostingDefaults()))
    return answer(exchange, await entities.render_profile(work, account))


@delete("/api/v1/profile/avatar", status=200, guards=[user("write:accounts")])
async def drop_avatar(exchange: Exchange, work: Work, actor: Actor) -> Answer:
    return await _own(exchange, work, await accounts.drop_picture(work, actor, "avatar"))


@delete("/api/v1/profile/header", status=200, guards=[user("write:accounts")])
async def drop_header(exchange: Exchange, work: Work, actor: Actor) -> Answer:
    return await _own(exchange, work, await accounts.drop_picture(work, actor, "header"))


@get("/api/v1/preferences", guards=[user("read:accounts")])
async def show_preferences(work: Work, account: Actor) -> dict[str, Any]:
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

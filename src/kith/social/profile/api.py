from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from kith.base.exchange import Answer, Exchange
from kith.base.params import BodyLimits, Loose, Upload, fill
from kith.base.routing import FromRequest, RequestBody, delete, get, patch
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


class SourceForm(msgspec.Struct, kw_only=True):
    """How somebody posts where they do not say, and how they read."""

    privacy: str | None = None
    sensitive: bool | None = None
    language: str | None = None
    quote_policy: str | None = None
    expand_media: str | None = None
    expand_spoilers: bool | None = None
    autoplay_gifs: bool | None = None
    chosen_languages: list[str] | None = None


class PreferencesForm(msgspec.Struct, kw_only=True):
    """The names that preferences have when they are read, or those of `source`."""

    privacy: str | None = msgspec.field(default=None, name="posting:default:visibility")
    sensitive: bool | None = msgspec.field(default=None, name="posting:default:sensitive")
    language: str | None = msgspec.field(default=None, name="posting:default:language")
    quote_policy: str | None = msgspec.field(default=None, name="posting:default:quote_policy")
    expand_media: str | None = msgspec.field(default=None, name="reading:expand:media")
    expand_spoilers: bool | None = msgspec.field(default=None, name="reading:expand:spoilers")
    autoplay_gifs: bool | None = msgspec.field(default=None, name="reading:autoplay:gifs")
    chosen_languages: list[str] | None = msgspec.field(default=None, name="reading:languages")
    source: Any = None


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
    noindex: bool | None = None
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


def _source(sent: Any) -> SourceForm:
    return fill(SourceForm, sent) if isinstance(sent, Mapping) else SourceForm()


def _change(sent: ProfileForm, source: SourceForm) -> accounts.AccountChange:
    rows = sent.fields_attributes
    return accounts.AccountChange(
        **{name: getattr(sent, name) for name in _ALIKE},
        avatar=sent.avatar.file if sent.avatar else None,
        header=sent.header.file if sent.header else None,
        fields=None if rows is None else [(row.name, row.value) for row in rows],
        **{name: getattr(source, name) for name in SourceForm.__struct_fields__},
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
    return await _own(exchange, work, await service.update(work, actor, _change(sent, _source(sent.source))))


@get("/api/v1/profile", guards=[user("profile", "read:accounts")])
async def show_profile(exchange: Exchange, work: Work, actor: Actor) -> Answer:
    return answer(exchange, await entities.render_profile(work, actor))


@patch("/api/v1/profile", guards=[user("write:accounts")])
async def change_profile(
    exchange: Exchange, work: Work, actor: Actor, sent: Annotated[ProfileForm, RequestBody(SENT)]
) -> Answer:
    account = await service.update(work, actor, _change(sent, SourceForm()))
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


@patch("/api/v1/preferences", guards=[user("write:accounts")])
async def change_preferences(work: Work, account: Actor, sent: FromRequest[PreferencesForm]) -> dict[str, Any]:
    """An empty list of languages is all of them."""
    source = _source(sent.source)
    wanted = {
        name: value if (value := getattr(sent, name)) is not None else getattr(source, name)
        for name in SourceForm.__struct_fields__
    }
    changed = await service.update(work, account, accounts.AccountChange(**wanted))
    return entities.render_preferences(changed, await store.find_preferences(work.db, account.id))


routes = [
    verify_credentials,
    update_credentials,
    show_profile,
    change_profile,
    drop_avatar,
    drop_header,
    show_preferences,
    change_preferences,
]

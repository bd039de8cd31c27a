from __future__ import annotations

import msgspec

from kith.base import vapid
from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.keys import Keys
from kith.base.routing import FromPath, FromQuery, MayLag, get
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.accounts.entities import render, render_lines
from kith.social.accounts.viewers import Viewer
from kith.social.annual_reports.service import campaign
from kith.social.emojis import custom_emojis as emojis
from kith.social.guards import anyone, optional, outsider, user
from kith.social.instance import directory, entities, service, store
from kith.social.instance.kept_answers import kept, told
from kith.social.pages import answer, joined
from kith.social.text.languages import NAMES
from kith.social.translation.service import TextTranslator

PEOPLE, MOST_PEOPLE = 40, 80
FURTHEST = 100_000
_encode = msgspec.json.Encoder().encode


class Listed(msgspec.Struct, kw_only=True):
    order: str = "active"
    local: bool = False
    limit: int = PEOPLE
    offset: int = 0


async def _numbers(work: Work) -> service.Numbers:
    return await service.numbers(work, members=await identity.count_members(work))


async def _contact(work: Work) -> msgspec.Raw | None:
    owner = await service.contact(work)
    return None if owner is None else msgspec.Raw((await render(work, [owner]))[0])


@get("/api/v1/instance", guards=[anyone])
async def show_v1(work: Work) -> Answer:
    async def make(work: Work) -> bytes:
        numbers = await _numbers(work)
        rules = await store.all_rules(work.db)
        return _encode(
            entities.v1(work.settings, numbers, rules, await _contact(work), await identity.signup_mode(work))
        )

    return await kept(work, "v1", make, (b"deprecation", b"@1668384000"), is_open=True)


@get("/api/v1/instances", guards=[anyone])
async def show_instances() -> Answer:
    """The group's name in the plural; the record was always at the singular path."""
    return Answer(301, ((b"location", b"/api/v1/instance"),))


@get("/api/v2/instance", guards=[anyone])
async def show_v2(work: Work) -> Answer:
    async def make(work: Work) -> bytes:
        numbers = await _numbers(work)
        rules = await store.all_rules(work.db)
        key = vapid.public_key(work.find(Keys).vapid)
        has_terms = bool(await store.pages_of(work.db, "terms_of_service"))
        signups = await identity.signup_mode(work)
        told_now = entities.Now(has_terms=has_terms, campaign=campaign(work.now), signups=signups)
        return _encode(entities.v2(work.settings, numbers, rules, await _contact(work), key, told_now))

    return await kept(work, "v2", make, is_open=True)


@get("/api/v1/instance/activity", guards=[outsider], may_lag=MayLag.STRANGERS)
async def show_activity(work: Work) -> Answer:
    async def make(work: Work) -> bytes:
        return _encode(await service.activity(work))

    if not work.settings.publish_activity:
        return told(work.settings, b"", status=404)
    return await kept(work, "activity", make)


@get("/api/v1/instance/rules", guards=[outsider])
async def show_rules(work: Work) -> Answer:
    rules = await store.all_rules(work.db)
    return told(work.settings, _encode([entities.rule_shape(rule) for rule in rules]))


@get("/api/v1/instance/extended_description", guards=[outsider])
async def show_description(work: Work) -> Answer:
    found = await service.find_page(work, "extended_description")
    return told(work.settings, _encode(entities.page_shape(found)))


@get("/api/v1/instance/privacy_policy", guards=[outsider])
async def show_privacy_policy(work: Work) -> Answer:
    found = await service.find_page(work, "privacy_policy")
    return told(work.settings, _encode(entities.page_shape(found)))


@get("/api/v1/instance/terms_of_service", guards=[outsider])
async def show_terms(work: Work) -> Answer:
    return told(work.settings, _encode(entities.terms_shape(await service.find_terms(work))))


@get("/api/v1/instance/terms_of_service/{date}", guards=[outsider])
async def show_terms_of(work: Work, date: FromPath[str]) -> Answer:
    return told(work.settings, _encode(entities.terms_shape(await service.find_terms(work, date))))


@get("/api/v1/instance/translation_languages", guards=[outsider])
async def show_translation_languages(work: Work) -> Answer:
    """Of each language, those that posts can be translated into."""
    return told(work.settings, _encode(await work.find(TextTranslator).languages(work.now)))


@get("/api/v1/instance/languages", guards=[outsider])
async def show_languages(work: Work) -> Answer:
    return told(work.settings, _encode([{"code": code, "name": name} for code, name in NAMES.items()]))


@get("/api/v1/custom_emojis", guards=[outsider])
async def show_emojis(work: Work) -> Answer:
    async def make(work: Work) -> bytes:
        return _encode([emojis.shape_in_picker(work, emoji) for emoji in await emojis.every(work) if emoji.is_shown])

    return await kept(work, "emojis", make)


@get("/api/v1/directory", guards=[optional("read:accounts")], may_lag=MayLag.STRANGERS)
async def show_directory(exchange: Exchange, work: Work, viewer: Viewer, listed: FromQuery[Listed]) -> Answer:
    if not work.settings.publish_directory:
        raise NotFound("Not Found")
    rows = await directory.read(
        work,
        viewer,
        newest=listed.order == "new",
        local=listed.local,
        limit=min(abs(listed.limit) or PEOPLE, MOST_PEOPLE),
        offset=min(max(listed.offset, 0), FURTHEST),
    )
    return answer(exchange, joined(await render_lines(work, rows)))


@get("/api/v1/donation_campaigns", guards=[user()])
async def show_donation_campaign() -> Answer:
    """Apps ask for one to show; this server has none."""
    return Answer(204, ())


routes = [
    show_donation_campaign,
    show_v1,
    show_instances,
    show_v2,
    show_activity,
    show_rules,
    show_description,
    show_privacy_policy,
    show_terms,
    show_terms_of,
    show_translation_languages,
    show_languages,
    show_emojis,
    show_directory,
]

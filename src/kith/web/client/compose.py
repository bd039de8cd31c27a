"""/publish: writing a post, an answer or a quote; the same form changes a post that was written.

Without a script, files are sent with the form. What was refused is shown again as it was written, and files that have
arrived need not be sent twice. Scripts send the same form, and are told in JSON what became of it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import Malformed, NotFound, Problem
from kith.base.exchange import JSON, Answer, Exchange
from kith.base.params import LIMITS, Upload
from kith.base.routing import FromPath, get, post
from kith.base.work import Work
from kith.social.ids import StatusId
from kith.social.statuses.api.posting import StatusForm
from kith.social.statuses.languages import NAMES
from kith.social.statuses.service.post import prepare
from kith.social.statuses.service.schedule import is_later
from kith.web import own_api
from kith.web.client.drafts import (
    MOST_FILES,
    POLICIES,
    VISIBILITIES,
    Draft,
    begun,
    draft_of,
    moment_of,
    sent,
    with_wishes,
)
from kith.web.client.frame import PageMember, client_page, find_member, sign_in_first
from kith.web.client.readers import PageReader, reader_of
from kith.web.client.status_html import piece
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_files, text_field

__all__ = ["routes"]

MOST_OPTIONS = 4
DURATIONS = (300, 1800, 3600, 21600, 43200, 86400, 259200, 604800)
FOCUSES = ("", "0,1", "0,-1", "-1,0", "1,0")  # the middle, top, bottom, left and right of a picture
LONGEST_TEXT = 20_000  # of what an address may bring with it


@get("/publish")
async def write(exchange: Exchange) -> Answer:
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    return await _form(exchange, member, await begun(exchange))


@get("/share")
async def share(exchange: Exchange) -> Answer:
    """What apps and pages elsewhere hand over: `text`, and often `title` and `url`."""
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    words = [exchange.query(name)[:LONGEST_TEXT].strip() for name in ("title", "text", "url")]
    draft = await begun(exchange)
    draft.status = "\n\n".join(dict.fromkeys(word for word in words if word))
    return await _form(exchange, member, draft)


@get("/@{name}/{id}/edit")
async def change(exchange: Exchange, id: FromPath[int]) -> Answer:
    return await _again(exchange, id, "editing")


@get("/@{name}/{id}/redraft")
async def write_anew(exchange: Exchange, id: FromPath[int]) -> Answer:
    """The post stays until what replaces it is sent."""
    return await _again(exchange, id, "replacing")


async def _again(exchange: Exchange, id: int, purpose: str) -> Answer:
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    said = await own_api.ask(exchange, f"/api/v1/statuses/{id}")
    if said["account"]["id"] != str(member.account.id) or said["reblog"]:
        raise NotFound
    source = await own_api.ask(exchange, f"/api/v1/statuses/{id}/source")
    return await _form(exchange, member, draft_of(said, source, **{purpose: str(id)}))


@post("/publish")
async def publish(exchange: Exchange) -> Answer:
    form = await read_own_files(exchange, LIMITS)
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    draft = await with_wishes(exchange, sent(form), form)
    by_script = b"application/json" in exchange.header(b"accept")
    try:
        draft.media += await _upload(exchange, form)
        if text_field(form, "more"):
            return await _form(exchange, member, draft)
        made = await _post(exchange, member, draft, form)
    except Problem as problem:
        words, told = own_api.words_of(exchange, problem), own_api.error_of(exchange, problem)
        await exchange.end_work(commit=False)
        if by_script:
            return _told(422, error=told, words=words, replacing=draft.replacing)
        return await _form(exchange, member, draft, problem=words, status=422)
    return _told(200, id=made["id"], to=_onward(made, draft)) if by_script else see_other(_onward(made, draft))


def _told(status: int, **words: str) -> Answer:
    return Answer(status, JSON, msgspec.json.encode(words))


def _onward(made: dict[str, Any], draft: Draft) -> str:
    if "scheduled_at" in made:
        return "/scheduled"
    if draft.editing:
        return f"/@{made['account']['acct']}/{made['id']}"
    return f"{draft.next}#post-{made['id']}"


async def _upload(exchange: Exchange, form: dict[str, Any]) -> list[dict[str, Any]]:
    """Each file by itself, kept whatever becomes of the post: it is swept away if nothing is done with it."""
    files = form.get("files", [])
    texts = form.get("new_descriptions", [])
    made: list[dict[str, Any]] = []
    for place, file in enumerate(files if isinstance(files, list) else [files]):
        if not isinstance(file, Upload) or file.size == 0:
            continue
        if len(made) == MOST_FILES:
            raise Malformed("Cannot attach more than 4 files")
        about = str(texts[place]).strip() if isinstance(texts, list) and place < len(texts) else ""
        answer = await own_api.call(exchange, "POST", "/api/v1/media", form={"file": file, "description": about})
        await exchange.end_work(commit=True)
        made.append({**msgspec.json.decode(answer.body), "description": about, "focus": ""})
    return made


async def _post(exchange: Exchange, member: PageMember, draft: Draft, form: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "status": draft.status,
        "spoiler_text": draft.spoiler_text,
        "language": draft.language,
        "sensitive": draft.sensitive,
        "media_ids": [one["id"] for one in draft.media],
        "quote_approval_policy": draft.policy,
    }
    if draft.options:
        fields["poll"] = {"options": draft.options, "expires_in": draft.expires_in, "multiple": draft.multiple}
    if draft.editing:
        fields["media_attributes"] = [_about(one) for one in draft.media]
        answer = await own_api.call(exchange, "PUT", f"/api/v1/statuses/{draft.editing}", json=_given(fields))
    else:
        fields |= {
            "visibility": draft.visibility,
            "in_reply_to_id": draft.in_reply_to_id,
            "quoted_status_id": draft.quoted_status_id,
            "scheduled_at": moment_of(draft.scheduled_at, text_field(form, "zone")),
        }
        await _replace(exchange, member, draft, _given(fields))
        await _describe(exchange, draft)
        answer = await own_api.call(exchange, "POST", "/api/v1/statuses", json=_given(fields))
    made: dict[str, Any] = msgspec.json.decode(answer.body)
    if "unexpected_accounts" in made:
        raise Malformed(made["error"])
    return made


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in ("", None) or name == "status"}


def _about(medium: dict[str, Any]) -> dict[str, Any]:
    told = {"id": medium["id"], "description": medium["description"] or ""}
    return {**told, "focus": medium["focus"]} if medium["focus"] else told


async def _replace(exchange: Exchange, member: PageMember, draft: Draft, fields: dict[str, Any]) -> None:
    """The old post goes once nothing is wrong with the new one, and leaves its files to it.

    From then on there is only the new one to be sent.
    """
    if not draft.replacing:
        return
    try:
        new = msgspec.convert(fields, StatusForm, strict=False)
    except msgspec.ValidationError as error:
        raise Malformed(str(error)) from error
    is_later(exchange.work, new.scheduled_at)
    await prepare(exchange.work, member.account, new, replaces=StatusId(int(draft.replacing)))
    await own_api.call(exchange, "DELETE", f"/api/v1/statuses/{draft.replacing}", json={})
    await exchange.end_work(commit=True)
    draft.replacing = ""


async def _describe(exchange: Exchange, draft: Draft) -> None:
    for one in draft.media:
        told = _about(one)
        await own_api.call(exchange, "PUT", f"/api/v1/media/{told.pop('id')}", json=told)
    if draft.media:
        await exchange.end_work(commit=True)


async def _form(
    exchange: Exchange, member: PageMember, draft: Draft, *, problem: str = "", status: int = 200
) -> Answer:
    work, reader = exchange.work, await reader_of(exchange, member)
    limits = (await own_api.ask(exchange, "/api/v2/instance"))["configuration"]
    return await client_page(
        exchange,
        "client/publish.html",
        member,
        here="publish",
        status=status,
        draft=draft,
        problem=problem,
        answered=await _piece(exchange, work, draft.in_reply_to_id, member, reader),
        quoted=await _piece(exchange, work, draft.quoted_status_id, member, reader),
        limits=limits,
        languages_of_posts=sorted(NAMES.items(), key=lambda one: one[1]),
        visibilities=VISIBILITIES,
        policies=POLICIES,
        durations=DURATIONS,
        focuses=FOCUSES,
        attached=[await _with_preview(exchange, one) for one in draft.media],
        room_for_files=range(max(0, MOST_FILES - len(draft.media))),
        options=[*draft.options, *[""] * MOST_OPTIONS][:MOST_OPTIONS],
    )


async def _with_preview(exchange: Exchange, medium: dict[str, Any]) -> dict[str, Any]:
    """What a form brings back is only an id; where that is no file of theirs, the answer to the form will say so."""
    if "type" in medium:
        return medium
    try:
        return {**await own_api.ask(exchange, f"/api/v1/media/{medium['id']}"), **medium}
    except Problem:
        return {"type": "", "preview_url": "", **medium}


async def _piece(exchange: Exchange, work: Work, id: str, member: PageMember, reader: PageReader) -> str:
    if not id:
        return ""
    answer = await own_api.call(exchange, "GET", f"/api/v1/statuses/{id}")
    return piece(work, answer.body, member.account.id, reader)


routes = [write, share, change, write_anew, publish]

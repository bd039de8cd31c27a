"""A sign-out under way in the browser: services are told in frames or one after the other, then it goes on.

It is stored under a key, because services bring the browser back with nothing but a short RelayState.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import msgspec

from kith.base.exchange import Exchange
from kith.base.work import Work
from kith.identity.providers.saml import service_provider, store
from kith.identity.providers.saml.logout.back_channel import told_in_browser
from kith.identity.providers.saml.logout.logout_answers import LogoutAnswer, send_answer
from kith.identity.providers.saml.logout.notices import SAMLLogoutNotice, notice_for, write_notice
from kith.identity.providers.saml.outcomes import PostToService, ToService
from kith.identity.providers.sign_on.outcomes import ErrorPage, Local
from kith.identity.saml import store as kept
from kith.identity.saml import stored_requests
from kith.identity.saml.tables import StoredRequest
from kith.identity.sessions import cookies

SIGNING_OUT = "signing_out"
PATH = "/saml/logout/"
RUN = "run"
_GONE = "This link has expired. You are signed out of this server, but maybe not of all applications."


class SigningOut(msgspec.Struct, kw_only=True):
    """`frames` are told side by side in frames of a page, `tabs` one after the other in the whole window."""

    to: str
    frames: list[SAMLLogoutNotice] = []
    tabs: list[SAMLLogoutNotice] = []
    answer: LogoutAnswer | None = None
    asked_by: str = ""  # the session at the service that gets the answer


class Frames(msgspec.Struct, frozen=True):
    """A page that loads these addresses in frames, and goes on to `to`."""

    to: str
    frames: list[str]
    origins: list[str]


Step = Frames | ToService | PostToService | Local | ErrorPage


async def prepare(exchange: Exchange, *, without: int | None = None) -> SigningOut:
    """The services to tell in the browser before its session ends; `without` is the provider that asked for it."""
    found = SigningOut(to="/")
    session = await cookies.find(exchange)
    for visited in await store.of_session(exchange.work.db, session.session_uuid) if session is not None else []:
        service = await service_provider.find(exchange.work, visited.provider_id)
        if service is None or not service.record.sls_url or service.id == without:
            continue
        match service.record.logout_method:
            case "frontchannel_iframe":
                found.frames.append(notice_for(service, visited))
            case "frontchannel_native":
                found.tabs.append(notice_for(service, visited))
    return found


def has_work(signing_out: SigningOut) -> bool:
    return bool(signing_out.frames or signing_out.tabs or signing_out.answer)


async def begin(exchange: Exchange, signing_out: SigningOut, to: str) -> str:
    """Where the browser goes: through the services and then to `to`, or right there if there are none."""
    if not has_work(signing_out):
        return to
    signing_out.to = to
    async with exchange.work.aside() as work:
        key = await stored_requests.keep(
            work, SIGNING_OUT, msgspec.to_builtins(signing_out), key=stored_requests.new_key()
        )
    return link(key)


def link(key: str) -> str:
    return f"{PATH}?{urlencode({RUN: key})}"


async def go_on(exchange: Exchange, key: str) -> Step:
    """The next thing to do. Each service is told once, also if the page is loaded again."""
    work = exchange.work
    stored = await stored_requests.find(work, SIGNING_OUT, key)
    if stored is None:
        return ErrorPage(title="Request error", messages=[_GONE])
    signing_out = _read(stored)
    if signing_out.frames:
        return await _show_frames(work, key, stored, signing_out)
    if signing_out.tabs:
        notice = signing_out.tabs.pop(0)
        message = await write_notice(work, notice, relay_state=key)
        await told_in_browser(work, notice.saml_session_uuid)
        await _save(work, stored, signing_out)
        return message
    answer = signing_out.answer
    if signing_out.asked_by:
        await told_in_browser(work, signing_out.asked_by)
    if answer is None:
        await kept.claim_request(work.db, stored.request_hash, work.now)
        return Local(signing_out.to)
    sent = await send_answer(work, answer)
    await kept.claim_request(work.db, stored.request_hash, work.now)
    return sent or Local(signing_out.to)


async def _show_frames(work: Work, key: str, stored: StoredRequest, signing_out: SigningOut) -> Frames:
    """What is sent by redirect is loaded directly; a form needs a page of ours inside the frame."""
    frames, origins = [], set()
    for notice in signing_out.frames:
        message = await write_notice(work, notice)
        if isinstance(message, ToService):
            frames.append(message.url)
        else:
            inner = await stored_requests.keep(
                work, "frame", msgspec.to_builtins(message), key=stored_requests.new_key()
            )
            frames.append(f"{PATH}frame/?{urlencode({RUN: inner})}")
        origins.add(notice.url)
    for notice in signing_out.frames:
        await told_in_browser(work, notice.saml_session_uuid)
    signing_out.frames = []
    await _save(work, stored, signing_out)
    return Frames(link(key), frames, sorted(origins))


async def show_frame(exchange: Exchange, key: str) -> PostToService | ErrorPage:
    stored = await stored_requests.find(exchange.work, "frame", key)
    if stored is None:
        return ErrorPage(title="Request error", messages=[_GONE])
    return msgspec.convert(stored.content, PostToService)


def _read(stored: StoredRequest) -> SigningOut:
    content: dict[str, Any] = stored.content
    return msgspec.convert(content, SigningOut)


async def _save(work: Work, stored: StoredRequest, signing_out: SigningOut) -> None:
    stored.content = msgspec.to_builtins(signing_out)
    await kept.change_request(work.db, stored)

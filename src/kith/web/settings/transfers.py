"""/settings/export and /settings/import: taking along whom one follows, mutes and blocks, and bringing it here."""

from __future__ import annotations

from typing import Any

from kith.base.blobs import Blobs
from kith.base.errors import Forbidden, NotFound
from kith.base.exchange import Answer, Exchange, whole
from kith.base.limits import Limiter, LimitRule
from kith.base.params import BodyLimits, Upload
from kith.base.routing import FromPath, get, post
from kith.base.work import Work
from kith.social.archives import service as archives
from kith.social.transfers import formats, service
from kith.web.client.frame import PageMember
from kith.web.settings.forms import read_own_files, read_own_form, text_field
from kith.web.settings.frame import entered, settings_page
from kith.web.settings.saving import refusal, saved
from kith.web.translation import translatable

EXPORT, IMPORT = "/settings/export", "/settings/import"
SENT = BodyLimits(max_file_bytes=formats.MOST_BYTES + 1024, max_files=1)
FILES = LimitRule("exports", most=60, seconds=3600)
IMPORTS = LimitRule("imports", most=20, seconds=3600)
WORDS = {
    "following": translatable("People you follow"),
    "lists": translatable("Lists"),
    "muting": translatable("Muted people"),
    "blocking": translatable("Blocked people"),
    "domain_blocking": translatable("Blocked servers"),
    "bookmarks": translatable("Bookmarks"),
}
_HEADERS = ((b"cache-control", b"private, no-store"), (b"x-content-type-options", b"nosniff"))


async def _entered(exchange: Exchange) -> PageMember | Answer:
    """Whoever has moved away may still take their things along."""
    member = await entered(exchange)
    if isinstance(member, PageMember) and member.account.is_gone:
        raise Forbidden
    return member


@get(EXPORT)
async def show_export(exchange: Exchange, work: Work) -> Answer:
    member = await _entered(exchange)
    if isinstance(member, Answer):
        return member
    counts = await service.counts(work, member.account.id)
    return await settings_page(
        exchange,
        "settings/export.html",
        member.visitor,
        part="export",
        files=[(name, WORDS[kind], counts[kind]) for name, kind in service.FILES.items()],
        archive=(last := await archives.newest(work, member.account.id)),
        may_ask=archives.may_ask(work, last) and not member.visitor.is_acting,
    )


@post(f"{EXPORT}/archive")
async def ask_for_archive(exchange: Exchange, work: Work) -> Answer:
    await read_own_form(exchange)
    member = await _entered(exchange)
    if isinstance(member, Answer):
        return member
    if member.visitor.is_acting:
        raise Forbidden
    await archives.ask(work, member.account)
    words = translatable("Your archive is being made. You get a mail when it is ready; it will be here.")
    return await saved(exchange, member.visitor, EXPORT, words)


@get(f"{EXPORT}/archive/{{id}}")
async def download_archive(exchange: Exchange, work: Work, id: FromPath[int]) -> Answer:
    member = await _entered(exchange)
    if isinstance(member, Answer):
        return member
    if member.visitor.is_acting:
        raise Forbidden
    found = await archives.find_ready(work, member.account.id, id)
    exchange.find(Limiter).spend(FILES, str(member.account.id))
    name = f'attachment; filename="archive-{member.account.username}-{found.created_at:%Y-%m-%d}.zip"'
    headers = (
        (b"content-type", b"application/zip"),
        (b"content-length", b"%d" % found.bytes),
        (b"content-disposition", name.encode("ascii", "replace")),
        *_HEADERS,
    )
    return Answer(200, headers, pieces=await exchange.find(Blobs).stream(found.file))


@get("/settings/exports/{file}")
async def export_file(exchange: Exchange, work: Work, file: FromPath[str]) -> Answer:
    member = await _entered(exchange)
    if isinstance(member, Answer):
        return member
    name = file.removesuffix(".csv")
    if name not in service.FILES or name == file:
        raise NotFound
    exchange.find(Limiter).spend(FILES, str(member.account.id))
    return _file(name, await service.export(work, member.account.id, service.FILES[name]))


def _file(name: str, content: bytes) -> Answer:
    disposition = (b"content-disposition", f'attachment; filename="{name}.csv"'.encode())
    return whole(content, "text/csv; charset=utf-8", headers=(disposition, *_HEADERS))


@get(IMPORT)
async def show_import(exchange: Exchange) -> Answer:
    member = await entered(exchange)
    return member if isinstance(member, Answer) else await _page(exchange, member)


async def _page(exchange: Exchange, member: PageMember, **values: Any) -> Answer:
    if not member.account.may_act:
        raise Forbidden
    return await settings_page(
        exchange,
        "settings/import.html",
        member.visitor,
        part="import",
        imports=await service.recent(exchange.work, member.account.id),
        words=WORDS,
        **{"problem": "", "kind": "following", "overwrite": False, **values},
    )


@post(IMPORT)
async def start_import(exchange: Exchange) -> Answer:
    form = await read_own_files(exchange, SENT)
    member = await entered(exchange)
    if isinstance(member, Answer):
        return member
    if not member.account.may_act or member.visitor.is_acting:
        raise Forbidden
    exchange.find(Limiter).spend(IMPORTS, str(member.account.id))
    kind, overwrite = text_field(form, "kind"), text_field(form, "mode") == "overwrite"
    problem = await refusal(exchange, _begin(exchange, member, form, kind, overwrite=overwrite))
    if problem:
        return await _page(exchange, member, status=422, problem=problem, kind=kind, overwrite=overwrite)
    return await saved(exchange, member.visitor, IMPORT, translatable("The file has arrived and is being imported."))


async def _begin(exchange: Exchange, member: PageMember, form: dict[str, Any], kind: str, *, overwrite: bool) -> None:
    file = form.get("file")
    content = file.file.read() if isinstance(file, Upload) else b""
    name = file.filename if isinstance(file, Upload) else ""
    await service.begin(exchange.work, member.account, kind, content, filename=name or "", overwrite=overwrite)


@get("/settings/imports/{id}/failures.csv")
async def failed_rows(exchange: Exchange, work: Work, id: FromPath[int]) -> Answer:
    member = await _entered(exchange)
    if isinstance(member, Answer):
        return member
    found, content = await service.failures(work, member.account.id, id)
    return _file(f"{found.kind}_failures", content)


routes = [show_export, ask_for_archive, download_archive, export_file, show_import, start_import, failed_rows]

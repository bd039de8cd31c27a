"""/sources/<kind>/{pk}/test/: whether the other side can be reached, and says what is needed of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import msgspec

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.http import Outgoing, OutgoingError
from kith.base.limits import Limiter, LimitRule
from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.crypto import keypairs
from kith.identity.rest import Action, Resource
from kith.identity.rest.answers import show
from kith.identity.rest.fields import read_uuid
from kith.identity.rest.operations import read
from kith.identity.rest.record_store import RecordStore
from kith.identity.sources.kinds import ldap, oauth, saml
from kith.identity.sources.kinds.oauth import OAuthSource
from kith.identity.sources.kinds.saml import SAMLSource
from kith.identity.sources.ldap.settings import find_directory
from kith.identity.sources.oauth.discovery import NotUsable, fetch_document, fetch_keys
from kith.identity.sources.oauth.presets import preset_of

TESTS = LimitRule("source-test", most=20, seconds=300)
MOST_SECONDS = 60.0
ANSWER_SECONDS = 10.0
MOST_BYTES = 64 << 10


class TriedStep(msgspec.Struct):
    """One thing that was tried, in words for staff."""

    name: str
    successful: bool
    message: str


Test = Callable[[Work, str], Awaitable[list[TriedStep]]]


async def _test_directory(work: Work, id: str) -> list[TriedStep]:
    from kith.identity.sources.ldap.directory import (  # noqa: PLC0415 - loaded when first used
        Directories,
        DirectoryFailed,
        open_directory,
    )

    directory = await find_directory(work, id)
    if directory is None:
        raise NotFound
    ask, settings, steps = partial(work.find(Directories).ask, directory.source.pbm_uuid), directory.settings, []
    try:
        opened = await ask(open_directory, settings)
    except DirectoryFailed as error:
        return [TriedStep("Sign in to the directory", successful=False, message=str(error))]
    steps.append(TriedStep("Sign in to the directory", successful=True, message=settings.bind_cn))
    try:
        for name, is_wanted, base, query in (
            ("Find people", settings.sync_users, settings.user_base, settings.user_filter),
            ("Find groups", settings.sync_groups, settings.group_base, settings.group_filter),
        ):
            if is_wanted:
                opened.search(base, query)
                steps.append(await _first_page(ask, opened, name, base))
    finally:
        await ask(opened.close)
    return steps


async def _first_page(ask: Any, opened: Any, name: str, base: str) -> TriedStep:
    from kith.identity.sources.ldap.directory import DirectoryFailed  # noqa: PLC0415 - loaded when first used

    try:
        page = await ask(opened.next_page)
    except DirectoryFailed as error:
        return TriedStep(name, successful=False, message=f"{base}: {error}")
    if not page:
        return TriedStep(name, successful=False, message=f"{base}: nothing fits the filter")
    return TriedStep(name, successful=True, message=f"{len(page)} at first sight, such as {page[0].dn}"[:300])


_oauth_records: RecordStore[OAuthSource] = RecordStore(oauth.RESOURCE)
_saml_records: RecordStore[SAMLSource] = RecordStore(saml.RESOURCE)


async def _test_service(work: Work, id: str) -> list[TriedStep]:
    record, outgoing = await read(_oauth_records, work, id, sees_secrets=False), work.find(Outgoing)
    steps, preset = [], preset_of(record.provider_type)
    keys_at = record.oidc_jwks_url or preset.jwks_url
    if record.oidc_well_known_url:
        try:
            found = await fetch_document(outgoing, record.oidc_well_known_url)
        except NotUsable as error:
            return [TriedStep("Read the discovery document", successful=False, message=str(error))]
        steps.append(TriedStep("Read the discovery document", successful=True, message=found.issuer))
        keys_at = found.jwks_url
    if keys_at:
        steps.append(await _read_keys(outgoing, keys_at))
    for name, address in (
        ("Reach the sign-in page", record.authorization_url or preset.authorization_url),
        ("Reach the token endpoint", record.access_token_url or preset.access_token_url),
    ):
        if address:
            steps.append(await _reach(outgoing, name, address))
    return steps


async def _read_keys(outgoing: Outgoing, url: str) -> TriedStep:
    try:
        keys = await fetch_keys(outgoing, url)
    except NotUsable as error:
        return TriedStep("Read its keys", successful=False, message=str(error))
    return TriedStep("Read its keys", successful=bool(keys["keys"]), message=f"{len(keys['keys'])} usable")


async def _reach(outgoing: Outgoing, name: str, url: str) -> TriedStep:
    """Any answer counts that is not the failure of the other side: without a request in it, most say no."""
    try:
        answer = await outgoing.request("GET", url, max_bytes=MOST_BYTES, timeout=ANSWER_SECONDS, max_redirects=0)
    except OutgoingError as error:
        return TriedStep(name, successful=error.reason == "too_large", message=f"{url} ({error.reason})")
    return TriedStep(name, successful=answer.status < 500, message=f"{url} (status {answer.status})")


async def _test_identity_provider(work: Work, id: str) -> list[TriedStep]:
    record = await read(_saml_records, work, id, sees_secrets=False)
    pair = await keypairs.find(work, record.verification_kp) if record.verification_kp is not None else None
    name = "Check its certificate"
    steps = [TriedStep(name, successful=pair is not None, message=pair.name if pair is not None else "none is set")]
    return [*steps, await _reach(work.find(Outgoing), "Reach the sign-in page", record.sso_url)]


def _action(resource: Resource[Any], test: Test) -> Action:
    async def handle(exchange: Exchange, _caller: ApiCaller, id: str) -> Answer:
        pbm_uuid = read_uuid(id)
        if pbm_uuid is None:
            raise NotFound
        exchange.find(Limiter).spend(TESTS, pbm_uuid)
        try:
            async with asyncio.timeout(MOST_SECONDS):
                steps = await test(exchange.work, pbm_uuid)
        except TimeoutError:
            steps = [
                TriedStep("Wait for an answer", successful=False, message=f"none within {MOST_SECONDS:.0f} seconds")
            ]
        return show({"successful": all(one.successful for one in steps), "steps": steps})

    return Action(
        method="POST",
        path=f"{resource.path}{{id}}/test/",
        name=f"{resource.operation}_test",
        handler=handle,
        permission=resource.permission("change"),
        answer="SourceTest",
        summary="Whether the other side can be reached and says what is needed. Nothing is changed.",
    )


ACTIONS: tuple[Action, ...] = (
    _action(ldap.RESOURCE, _test_directory),
    _action(oauth.RESOURCE, _test_service),
    _action(saml.RESOURCE, _test_identity_provider),
)

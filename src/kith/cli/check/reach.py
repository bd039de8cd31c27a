"""Whether others find this server: its name, its certificate, its clock, its mail, and what federation asks first."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

from kith.base.settings import Settings
from kith.base.vapid import public_key
from kith.cli.check.findings import Finding, cause, ok, problem, warning
from kith.cli.check.world import NotAsked, World

__all__ = ["ask_outside"]

ENDS_SOON = timedelta(days=14)
CLOCK_WARNS, CLOCK_FAILS = 30.0, 300.0  # seconds; signatures of other servers are believed for some minutes
ACTIVITY = "application/activity+json"
# Under which names those who send mail for others usually publish their keys.
SELECTORS = ("default", "dkim", "mail", "s1", "s2", "selector1", "selector2", "google", "k1", "k2", "fm1", "mx", "kith")

Look = Callable[[Settings, World], AsyncIterator[Finding]]


async def ask_outside(settings: Settings, world: World) -> list[Finding]:
    """All at once: where there is no network, each waits for its answer in vain."""
    found = await asyncio.gather(*(_asked(name, look(settings, world)) for name, look in _LOOKS.items()))
    return [finding for findings in found for finding in findings]


async def _asked(name: str, findings: AsyncIterator[Finding]) -> list[Finding]:
    found: list[Finding] = []
    try:
        async for finding in findings:
            found += [finding]
    except NotAsked as error:
        found.append(ok(name, f"could not be asked: {cause(error)}"))
    return found


async def _dns(settings: Settings, world: World) -> AsyncIterator[Finding]:
    host = urlsplit(settings.base_url).hostname or ""
    found = await world.addresses(host)
    if found:
        yield ok("dns", f"{host} leads to {', '.join(found)}")
    else:
        yield problem(
            "dns",
            f"{host} leads nowhere",
            f"add an A (and AAAA) record for {host} that names this machine or its proxy",
        )


async def _certificate(settings: Settings, world: World) -> AsyncIterator[Finding]:
    url = urlsplit(settings.base_url)
    if url.scheme != "https":
        return
    host = url.hostname or ""
    try:
        ends_at = await world.certificate_end(host, url.port or 443)
    except ssl.SSLCertVerificationError as error:
        why = getattr(error, "verify_message", "") or error
        yield problem(
            "tls",
            f"the certificate of {host} is not believed: {why}",
            "renew it, and send the whole chain; or let Kith get one (KITH_ACME=on)",
        )
        return
    left = ends_at - datetime.now(UTC)
    words = f"the certificate of {host} is good until {ends_at:%Y-%m-%d} ({left.days} days)"
    yield ok("tls", words) if left > ENDS_SOON else warning("tls", words, "renew it; `kith certificate --renew`")


async def _clock(settings: Settings, world: World) -> AsyncIterator[Finding]:
    """Against somebody else's: what time it is for the service of breached passwords, or that of certificates."""
    url = urlsplit(settings.breach_url or settings.acme_directory)
    asked_at = datetime.now(UTC)
    page = await world.get(f"{url.scheme}://{url.netloc}/")
    if page.date is None:
        raise NotAsked(f"{url.netloc} does not say what time it is")
    middle = asked_at + (datetime.now(UTC) - asked_at) / 2
    off = abs((page.date - middle).total_seconds())
    if off < CLOCK_WARNS:
        yield ok("clock", f"the clock is right (within {max(off, 1):.0f} s of {url.netloc})")
        return
    how = problem if off > CLOCK_FAILS else warning
    yield how(
        "clock",
        f"the clock is {off:.0f} seconds off: other servers refuse what is signed, and codes of apps do not work",
        "let the machine set its clock by itself: timedatectl set-ntp true",
    )


async def _mail(settings: Settings, world: World) -> AsyncIterator[Finding]:
    """Whether those who get our mail can see that it may come from us."""
    if not settings.smtp:
        return
    domain = settings.sender.rpartition("@")[2]
    if not any(text.lower().startswith("v=spf1") for text in await world.texts(domain)):
        yield warning(
            "mail",
            f"{domain} does not say who may send its mail (SPF)",
            f'add a TXT record to {domain} such as "v=spf1 include:YOUR-MAIL-PROVIDER -all"',
        )
    else:
        yield ok("mail", f"{domain} says who may send its mail (SPF)")
    keys = await asyncio.gather(*(world.texts(f"{selector}._domainkey.{domain}") for selector in SELECTORS))
    if any("p=" in text for texts in keys for text in texts):
        yield ok("mail", f"{domain} has a key for signatures of mail (DKIM)")
    else:
        yield warning(
            "mail",
            f"no key for signatures of mail (DKIM) was found for {domain} under the usual names",
            "let your mail server sign, and publish its key; if it does under another name, all is well",
        )
    if not any(text.lower().startswith("v=dmarc1") for text in await world.texts(f"_dmarc.{domain}")):
        yield warning(
            "mail",
            f"{domain} does not say what to do with mail that others send in its name (DMARC)",
            f'add a TXT record to _dmarc.{domain}: "v=DMARC1; p=quarantine; rua=mailto:{settings.sender}"',
        )
    else:
        yield ok("mail", f"{domain} says what to do with mail that others send in its name (DMARC)")
    if not await world.mail_hosts(domain):
        yield warning("mail", f"{domain} takes no mail: answers to {settings.sender} are lost", "add an MX record")


async def _federation(settings: Settings, world: World) -> AsyncIterator[Finding]:
    """What another server asks first, asked at the public address."""
    mend = "see that the proxy passes every path on, and that KITH_BASE_URL is its address"
    page = await world.get(f"{settings.base_url}/api/v2/instance")
    told = page.json() if page.status == 200 else None
    if not isinstance(told, dict):
        yield problem("reach", f"{settings.base_url} is no Kith: it answers {page.status}", mend)
        return
    own = settings.data / "keys" / "vapid.key"
    key = public_key(own.read_bytes()) if own.is_file() else ""
    shown = told.get("configuration", {}).get("vapid", {}).get("public_key")
    if key and shown and shown != key:
        yield problem("reach", f"another server than this one answers at {settings.base_url}", mend)
        return
    yield ok("reach", f"this server answers at {settings.base_url}")
    actor = await world.get(f"{settings.base_url}/actor", ACTIVITY)
    if actor.status != 200 or not isinstance(actor.json(), dict):
        yield problem("reach", f"{settings.base_url}/actor answers {actor.status}: nobody can check what we sign", mend)
    domain = settings.domain
    scheme = urlsplit(settings.base_url).scheme
    resource = f"acct:{domain}@{domain}"
    finger = await world.get(f"{scheme}://{domain}/.well-known/webfinger?resource={resource}")
    found = finger.json() if finger.status == 200 else None
    if isinstance(found, dict) and found.get("subject"):
        yield ok("reach", f"people at {domain} can be found by other servers (WebFinger)")
    else:
        where = f"redirect https://{domain}/.well-known/webfinger to {settings.base_url}/.well-known/webfinger"
        words = f"https://{domain}/.well-known/webfinger answers {finger.status}: nobody elsewhere finds people here"
        yield problem("reach", words, where if settings.local_domain else mend)


_LOOKS: dict[str, Look] = {
    "dns": _dns,
    "tls": _certificate,
    "clock": _clock,
    "mail": _mail,
    "reach": _federation,
}

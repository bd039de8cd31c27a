"""Second factors: setting one up, checking a code, and removing one."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from urllib.parse import quote, urlencode

import pyotp

from kith.base.clocks import is_ahead
from kith.base.errors import NotFound
from kith.base.keys import Keys
from kith.base.sealing import Sealer
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.factors import store
from kith.identity.factors.tables import TOTP, Factor
from kith.identity.users import security_mails
from kith.identity.users.tables import User

PERIOD = 30
LONGEST_WAIT = timedelta(minutes=15)
_PLACE = "identity_factors_totp.secret"
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that are mistaken for another


# Authenticator apps


def new_secret() -> str:
    return pyotp.random_base32()


def config_url(work: Work, user: User, secret: str, digits: int) -> str:
    """The otpauth URL that an authenticator app reads from the QR code."""
    issuer = work.settings.title
    label = f"{quote(issuer, safe='')}:{quote(user.username, safe='')}"
    parts = {"secret": secret, "issuer": issuer, "algorithm": "SHA1", "digits": digits, "period": PERIOD}
    return f"otpauth://totp/{label}?{urlencode(parts, quote_via=quote)}"


def picture(text: str) -> str:
    """A QR code as an SVG element, readable on any background."""
    import segno  # noqa: PLC0415 - loaded when first used

    return str(segno.make(text, micro=False, error="m").svg_inline(scale=4, border=4, light="#fff", dark="#000"))


def matching_step(secret: str, digits: int, code: str, now: datetime) -> int | None:
    """The time step, of the current one and its two neighbours, to which the code belongs; None if to none."""
    if len(code) != digits or not code.isascii() or not code.isdigit():
        return None
    generator = pyotp.TOTP(secret, digits=digits, interval=PERIOD)
    this = int(now.timestamp()) // PERIOD
    found = None
    for step in (this - 1, this, this + 1):
        if hmac.compare_digest(generator.generate_otp(step), code):
            found = step
    return found


async def add_totp(work: Work, user: User, secret: str, digits: int, step: int, name: str) -> Factor:
    """Add an authenticator app; the code that confirmed it cannot be used again."""
    factor = await add(work, user, "totp", name)
    sealed = work.find(Sealer).seal(secret, _PLACE)
    await store.insert_totp(work.db, TOTP(factor.device_uuid, sealed, digits, step))
    return factor


# Lists of codes


def new_codes(count: int, length: int) -> list[str]:
    return ["".join(secrets.choice(_LETTERS) for _ in range(length)) for _ in range(count)]


async def add_codes(work: Work, user: User, given: Sequence[str], name: str) -> Factor:
    """Add a list of codes, which replaces the old one."""
    await store.remove_kind(work.db, user.id, "static")
    factor = await add(work, user, "static", name)
    hashes = {hash_code(work, factor.device_uuid, code) for code in given}
    await store.insert_codes(work.db, factor.device_uuid, sorted(hashes))
    return factor


def hash_code(work: Work, device_uuid: str, code: str) -> str:
    """Keyed with a secret that is not in the database: the codes are too short for a plain hash."""
    told = f"{device_uuid}:{''.join(code.split()).lower()}"
    return hmac.new(work.find(Keys).signing, told.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


# Trying a code


def wait_of(factor: Factor, factor_seconds: float, now: datetime) -> float:
    """For how many seconds no code is accepted: doubled with every wrong one, up to a limit."""
    if not factor.failures or factor.failed_at is None or not factor_seconds or is_ahead(factor.failed_at, now):
        return 0.0
    wait = min(factor_seconds * 2.0 ** min(factor.failures - 1, 20), LONGEST_WAIT.total_seconds())
    return float(max(0.0, wait - (now - factor.failed_at).total_seconds()))


async def try_code(work: Work, devices: Sequence[Factor], code: str, *, is_paid: bool = False) -> Factor | None:
    """The device to which the code belongs, None if to none. A code is accepted once.

    Each device counts the try, unless it was counted elsewhere (`is_paid`).
    """
    known = {one.device_uuid: one for one in await store.totps(work.db, [d.device_uuid for d in devices])}
    given = "".join(code.split())[:200]
    guessed = [device for device in devices if is_paid or await store.guess(work.db, device, work.now)]
    for device in guessed:
        if await _is_right(work, device, known.get(device.device_uuid), given):
            await used(work, device)
            return device
    return None


async def used(work: Work, device: Factor) -> None:
    """A right code was given: wrong ones of all the owner's devices are forgotten."""
    await store.forgive(work.db, device.user_id)
    await store.used(work.db, device.device_uuid, work.now)


async def _is_right(work: Work, device: Factor, known: TOTP | None, given: str) -> bool:
    if device.kind == "static":
        return await store.use_code(work.db, device.device_uuid, hash_code(work, device.device_uuid, given))
    if known is None:
        return False
    step = matching_step(work.find(Sealer).open(known.secret, _PLACE), known.digits, given, work.now)
    return step is not None and await store.use_step(work.db, device.device_uuid, step)


# All of them


async def add(work: Work, user: User, kind: str, name: str) -> Factor:
    factor = Factor(
        device_uuid=str(uuid.uuid4()),
        user_id=user.id,
        kind=kind,
        name=name[:150] or kind,
        confirmed=True,
        failures=0,
        failed_at=None,
        created_at=work.now,
        last_used_at=None,
    )
    await store.insert(work.db, factor)
    await _record(work, "model_created", factor, user.username)
    security_mails.tell(work, security_mails.FACTOR_ADDED, user, factor=factor.name)
    return factor


async def rename(work: Work, user: User, device_uuid: str, name: str) -> None:
    if not await store.rename(work.db, user.id, device_uuid, name.strip()[:150] or "device"):
        raise NotFound("This sign-in method was already removed")


async def remove(work: Work, user: User, device_uuid: str) -> None:
    factor = await _take(work, user, device_uuid)
    await _record(work, "model_deleted", factor, user.username)
    security_mails.tell(work, security_mails.FACTOR_REMOVED, user, factor=factor.name)


async def take_away(work: Work, user: User, device_uuid: str, *, by: int, by_name: str) -> None:
    """By the team, for somebody who has lost it."""
    factor = await _take(work, user, device_uuid)
    model = _model(factor)
    whose = {"pk": user.id, "username": user.username}
    context = {"model": model, "user": whose}
    await audit.record(work, "model_deleted", "core.factors", user_id=by, username=by_name, context=context)
    security_mails.tell(work, security_mails.FACTOR_TAKEN, user, factor=factor.name)


async def _take(work: Work, user: User, device_uuid: str) -> Factor:
    factor = await store.find(work.db, device_uuid)
    if factor is None or not await store.remove(work.db, user.id, device_uuid):
        raise NotFound("This sign-in method was already removed")
    return factor


async def _record(work: Work, action: str, factor: Factor, username: str) -> None:
    await audit.record(
        work, action, "core.factors", user_id=factor.user_id, username=username, context={"model": _model(factor)}
    )


def _model(factor: Factor) -> dict[str, str]:
    return {"app": "factors", "model_name": factor.kind, "pk": factor.device_uuid, "name": factor.name}

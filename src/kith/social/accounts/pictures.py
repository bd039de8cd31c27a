"""Avatars and headers: made before anything is written, and removed when they are shown nowhere any more."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import IO, Any, Literal

import msgspec

from kith.base.blobs import Blobs
from kith.base.errors import Complaint, Invalid
from kith.base.jobs import JobKind
from kith.base.limits import Limiter, LimitRule
from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.files.decoder_processes import BadFile
from kith.social.files.processing import shape_avatar, shape_header
from kith.social.ids import AccountId

Picture = Literal["avatar", "header"]
PROFILE_PICTURES = LimitRule("profile_pictures", most=30, seconds=1800)


class ForgetFiles(msgspec.Struct):
    """Pictures that are shown nowhere any more."""

    keys: list[str]


@asynccontextmanager
async def shaped(
    work: Work, account_id: AccountId, files: Mapping[Picture, IO[bytes] | None]
) -> AsyncIterator[dict[str, str]]:
    """The new pictures' columns; if what follows fails, their files are taken away again."""
    made: dict[str, str] = {}
    try:
        for name, file in files.items():
            if file is not None:
                work.find(Limiter).spend(PROFILE_PICTURES, str(account_id))
                made |= await _shape(work, name, account_id, file)
        yield made
    except BaseException:
        if made:
            await work.find(Blobs).delete(list(dict.fromkeys(made.values())))
        raise


async def _shape(work: Work, name: Picture, account_id: AccountId, file: IO[bytes]) -> dict[str, str]:
    shape = shape_avatar if name == "avatar" else shape_header
    try:
        made = await shape(work, account_id, file)
    except BadFile as error:
        raise Invalid(fields={name: [Complaint(error.message)]}) from error
    return {name: made.file, f"{name}_static": made.static}


def forget(work: Work, before: Account, changed: Mapping[str, Any]) -> None:
    """Have the files removed that the account no longer speaks of, now that it is `changed`."""
    names = ("avatar", "avatar_static", "header", "header_static")
    old = dict.fromkeys(getattr(before, name) for name in names if name in changed)
    keys = [key for key in old if key and "://" not in key]
    if keys:
        work.enqueue(FORGET_FILES, ForgetFiles(keys=keys))


async def forget_files(work: Work, payload: ForgetFiles) -> None:
    await work.find(Blobs).delete(payload.keys)


FORGET_FILES: JobKind[ForgetFiles] = JobKind(
    name="accounts.forget_files", payload=ForgetFiles, handler=forget_files, outside=True, concurrency=2
)

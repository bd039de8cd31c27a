"""Mail that leaves kith: over SMTP, or as files in a folder where no server is set up."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import unicodedata
from abc import ABC, abstractmethod
from datetime import UTC, datetime
from email.header import Header
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

import msgspec

from kith.base.errors import NoSpace, is_no_room
from kith.base.host_names import ascii_host
from kith.base.http.guarded_sockets import GuardedSockets
from kith.base.logger import Logger
from kith.base.tls import client_context

__all__ = ["Mail", "MailError", "MailFailed", "MailRefused", "Mailer", "checked_address", "mailer"]

log = Logger()

_START_TLS: dict[str, bool | None] = {"none": False, "starttls": None, "required": True}
_PATIENCE = 20.0
_LONGEST_LINE = 900
_LONGEST_ADDRESS = 64 + 1 + 253
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ADDRESS = re.compile(rf"(?=.{{1,64}}@){_ATOM}(?:\.{_ATOM})*@(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*")
_SENDER = re.compile(r'(?:"?(?P<name>[^<>"]*?)"?\s*<(?=.*>))?(?P<address>[^<>\s]+)>?')
_PLAIN_NAME = re.compile(r"[A-Za-z0-9 -]*")
_EXTRA_HEADER = re.compile(r"(?i:(?:list|x)-[a-z0-9-]+|in-reply-to|references|message-id|precedence|feedback-id)")


class Mail(msgspec.Struct, frozen=True, kw_only=True):
    to: str
    subject: str
    text: str
    html: str | None = None
    reply_to: str | None = None
    headers: dict[str, str] = {}
    holds_key: bool = False  # whoever has what it says is let in


class MailError(Exception):
    """This mail was not sent."""


class MailRefused(MailError):  # noqa: N818 - the product's word
    """It never will be: the mail or its recipient is wrong. Trying again is of no use."""


class MailFailed(MailError):  # noqa: N818
    """It may be later: the way there is broken at the moment."""


class Mailer(ABC):
    def __init__(self, sender: str) -> None:
        match = _SENDER.fullmatch(sender)
        if match is None:
            raise ValueError(f"the sender of mail must be `address` or `name <address>`: {sender!r}")
        name = match["name"] or ""
        self.address = checked_address(match["address"])
        self.domain = self.address.rpartition("@")[2]
        self.origin = f"{_encoded_name(name)} <{self.address}>" if name else self.address

    async def send(self, mail: Mail) -> None:
        """Hand `mail` on, or raise `MailRefused` (give up) or `MailFailed` (try again)."""
        await self._deliver(checked_address(mail.to), self.compose(mail))

    def compose(self, mail: Mail) -> bytes:
        """The whole message as it travels. Whatever its texts hold, they stay within their own header."""
        headers = {
            "From": self.origin,
            "To": checked_address(mail.to),
            "Subject": _encoded("Subject", mail.subject),
            "Date": format_datetime(datetime.now(UTC)),
            "Message-ID": f"<{secrets.token_hex(16)}@{self.domain}>",
            "Auto-Submitted": "auto-generated",
        }
        if mail.reply_to is not None:
            headers["Reply-To"] = checked_address(mail.reply_to)
        for name, value in mail.headers.items():
            if not _EXTRA_HEADER.fullmatch(name):
                raise MailRefused(f"header {name!r} is not for a mail to choose")
            headers[name] = _encoded(name, value)
        top = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return top.encode("ascii") + _content(mail)

    @abstractmethod
    async def _deliver(self, to: str, message: bytes) -> None: ...


def mailer(
    smtp: str | None,
    folder: Path,
    sender: str,
    *,
    patience: float = _PATIENCE,
    sockets: GuardedSockets | None = None,
) -> Mailer:
    """The way out for mail: the SMTP server at the URL `smtp`, or else files in `folder`.

    `smtp://user:password@host:587`, `smtps://host:465`. `?tls=` says `none`, `starttls` (when offered) or
    `required`; left out, it is `required` where there is a password to protect and `starttls` elsewhere.
    `patience` is how many seconds the server may keep us waiting for each word. `sockets`: it is not the operator
    who says which server that is.
    """
    return _SMTPMailer(smtp, sender, patience, sockets) if smtp else _FolderMailer(folder, sender)


def checked_address(text: str) -> str:
    """`text` as an address to write on an envelope, its domain in ASCII; raises `MailRefused`."""
    if len(text) > _LONGEST_ADDRESS:
        raise MailRefused(f"not a mail address: {text[:100]!r}")
    local, _, domain = text.rpartition("@")
    try:
        address = f"{local}@{domain if domain.isascii() else ascii_host(domain)}"
    except ValueError as error:
        raise MailRefused(f"not a mail address: {text[:100]!r}") from error
    if not _ADDRESS.fullmatch(address):
        raise MailRefused(f"not a mail address: {text[:100]!r}")
    return address


def _encoded(name: str, value: str) -> str:
    """`value` for the header `name`, in ASCII and folded where it must be.

    The standard library's own assignment is not used: it decodes words like `=?utf-8?q?=0ABcc:?=` in what a
    person wrote and then writes the line break out, and it breaks long links in `List-` headers.
    """
    _refuse_control_characters(value)
    if value.isascii() and "=?" not in value and len(value) <= _LONGEST_LINE:
        return value
    return Header(value, "utf-8", header_name=name, maxlinelen=76).encode(linesep="\r\n")


def _encoded_name(name: str) -> str:
    _refuse_control_characters(name)
    return name if _PLAIN_NAME.fullmatch(name) else Header(name, "utf-8", maxlinelen=200).encode()


def _refuse_control_characters(text: str) -> None:
    if any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in text):
        raise MailRefused("line breaks and control characters cannot stand in a mail's header")


def _content(mail: Mail) -> bytes:
    from email import policy  # noqa: PLC0415 - loaded when first used: it brings the grammar of all headers

    message = EmailMessage(policy.SMTP.clone(cte_type="7bit"))
    try:
        message.set_content(mail.text)
        if mail.html is not None:
            message.add_alternative(mail.html, subtype="html")
        return message.as_bytes()
    except UnicodeError as error:
        raise MailRefused("the text of the mail is not Unicode") from error


class _FolderMailer(Mailer):
    def __init__(self, folder: Path, sender: str) -> None:
        super().__init__(sender)
        self.folder = folder

    async def send(self, mail: Mail) -> None:
        await super().send(mail)
        log.info("mail_written", to=mail.to, subject=mail.subject, folder=str(self.folder))

    async def _deliver(self, to: str, message: bytes) -> None:  # noqa: ARG002 - the message says it too
        name = f"{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}-{secrets.token_hex(6)}.eml"
        try:
            await asyncio.to_thread(self._write, name, message)
        except OSError as error:
            if is_no_room(error):
                raise NoSpace from error
            raise MailFailed(f"cannot write to {self.folder}") from error

    def _write(self, name: str, message: bytes) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished = self.folder / f".{name}.part"
        try:
            with open(unfinished, "xb", opener=_private) as file:
                file.write(message)
                file.flush()
                os.fsync(file.fileno())
            unfinished.rename(self.folder / name)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
        descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


class _SMTPMailer(Mailer):
    def __init__(self, url: str, sender: str, patience: float, sockets: GuardedSockets | None) -> None:
        super().__init__(sender)
        self._sockets = sockets
        self.patience = patience
        parts = urlsplit(url)
        if parts.scheme not in {"smtp", "smtps"} or not parts.hostname:
            raise ValueError("the mail server's URL must be smtp://host or smtps://host")
        self.host = parts.hostname
        self.user = unquote(parts.username) if parts.username else None
        self.password = unquote(parts.password) if parts.password else None
        self.implicit_tls = parts.scheme == "smtps"
        self.port = parts.port or (465 if self.implicit_tls else 587 if self.user else 25)
        self.start_tls = _start_tls(parts)
        self.may_encrypt = self.implicit_tls or self.start_tls is not False

    async def _deliver(self, to: str, message: bytes) -> None:
        import aiosmtplib  # noqa: PLC0415 - loaded when first used

        client = aiosmtplib.SMTP(
            hostname=self.host,
            port=self.port if self._sockets is None else None,
            username=self.user,
            password=self.password,
            local_hostname=self.domain,
            timeout=self.patience,
            use_tls=self.implicit_tls,
            start_tls=False if self.implicit_tls else self.start_tls,
            tls_context=await asyncio.to_thread(client_context) if self.may_encrypt else None,
        )
        try:
            async with asyncio.timeout(3 * self.patience):
                if self._sockets is not None:
                    client.sock = await self._sockets.connect(self.host, self.port)
                async with client:
                    await client.sendmail(self.address, [to], message)
        except (aiosmtplib.SMTPException, OSError, ValueError) as error:
            if _is_final(error):
                raise MailRefused(f"the mail server refused: {error}") from error
            raise MailFailed(f"the mail server could not be used: {error or type(error).__name__}") from error


def _start_tls(parts: SplitResult) -> bool | None:
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    chosen = query.pop("tls", "required" if parts.username else "starttls")
    if query or chosen not in _START_TLS:
        raise ValueError("the mail server's URL takes only ?tls=none, starttls or required")
    return _START_TLS[chosen]


def _is_final(error: Exception) -> bool:
    """A 5xx about this mail. One about the connection or our password speaks of the setup, which can heal."""
    import aiosmtplib  # noqa: PLC0415 - loaded by now

    match error:
        case aiosmtplib.SMTPRecipientsRefused():
            return all(refusal.code >= 500 for refusal in error.recipients)
        case aiosmtplib.SMTPSenderRefused() | aiosmtplib.SMTPRecipientRefused() | aiosmtplib.SMTPDataError():
            return error.code >= 500
        case _:
            return False

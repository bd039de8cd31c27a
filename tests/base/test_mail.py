from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from pathlib import Path
from typing import Any

import pytest
import structlog
from aiosmtpd.smtp import SMTP
from hypothesis import given
from hypothesis import strategies as st

from kith.base.mail import Mail, MailFailed, MailRefused, checked_address, mailer

SENDER = "Kith, our köping <noreply@kith.example>"
HEADERS = {"From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "MIME-Version", "Content-Type"}
HEADERS |= {"Content-Transfer-Encoding"}
HARMLESS = st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"))


async def test_without_a_server_a_mail_becomes_a_file(tmp_path: Path) -> None:
    # given
    folder = tmp_path / "var" / "mail"
    mail = Mail(
        to="ada@bücher.example",
        subject="Grüße, und ein langer Betreff, der gefaltet werden muss, weil er so lang ist",
        text="Hallo Ada\n.\nFrom here ü\n",
        html="<p>Hallo Ada ü</p>",
        reply_to="bob@example.org",
        headers={"List-Unsubscribe": f"<https://kith.example/leave/{'x' * 200}>"},
    )

    # when
    with structlog.testing.capture_logs() as lines:
        await mailer(None, folder, SENDER).send(mail)

    # then
    [file] = folder.iterdir()
    assert re.fullmatch(r"[0-9]{8}T[0-9]{6}\.[0-9]{6}Z-[0-9a-f]{12}\.eml", file.name)
    assert (folder.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)
    message = _parsed(file.read_bytes())
    assert message["From"].addresses[0].display_name == "Kith, our köping"
    assert message["From"].addresses[0].addr_spec == "noreply@kith.example"
    assert message["To"] == "ada@xn--bcher-kva.example"
    assert message["Subject"] == mail.subject
    assert message["Reply-To"] == "bob@example.org"
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["Message-ID"].endswith("@kith.example>")
    assert message["Date"].datetime.tzinfo
    assert f"List-Unsubscribe: {mail.headers['List-Unsubscribe']}".encode() in file.read_bytes()
    assert message.get_content_type() == "multipart/alternative"
    assert _body(message, "plain") == mail.text
    assert _body(message, "html").strip() == mail.html
    assert lines == [
        {
            "event": "mail_written",
            "log_level": "info",
            "to": mail.to,
            "subject": mail.subject,
            "folder": str(folder),
        }
    ]


@given(subject=st.text(HARMLESS, max_size=200), text=st.text(HARMLESS, max_size=200))
def test_a_subject_never_becomes_another_header(subject: str, text: str) -> None:
    message = _parsed(_compose(subject=subject, text=text))
    assert set(message.keys()) == HEADERS
    assert message["Subject"].strip() == subject.strip()
    assert _body(message, "plain").rstrip("\n") == text


@pytest.mark.parametrize(
    "subject",
    [
        "=?utf-8?q?=0ABcc:_eve@example.org?= hi",
        "=?utf-8?b?Cg==?=\u00fc",
        "a =?x",
        "100 % = ?",
        "x" * 900,
        "x " * 1000 + "x",
    ],
)
def test_words_that_look_encoded_reach_the_reader_as_written(subject: str) -> None:
    message = _parsed(_compose(subject=subject))
    assert message["Subject"] == subject
    assert "Bcc" not in message


@given(
    before=st.text(max_size=10),
    end=st.sampled_from(["\n", "\r", "\r\n", "\0", "\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\ud800"]),
    after=st.text(max_size=10),
    field=st.sampled_from(["to", "subject", "reply_to", "header"]),
)
def test_a_line_break_in_any_header_is_refused(before: str, end: str, after: str, field: str) -> None:
    evil = before + end + after
    mail: dict[str, Any] = {"headers": {"X-Note": evil}} if field == "header" else {field: evil}
    with pytest.raises(MailRefused):
        _compose(**mail)


@pytest.mark.parametrize("name", ["Bcc", "Subject", "From", "Content-Type", "X-A\r\nBcc", "X A", "X-", ""])
def test_a_mail_cannot_choose_headers_that_are_ours(name: str) -> None:
    with pytest.raises(MailRefused):
        _compose(headers={name: "eve@example.org"})


def test_a_text_that_is_not_unicode_is_refused() -> None:
    with pytest.raises(MailRefused):
        _compose(text="\ud800")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ada",
        "@example.org",
        "ada@",
        "ada@b@example.org",
        "ada @example.org",
        "Ada <ada@example.org>",
        "ada@example.org, eve@example.org",
        "ada@example.org\n",
        ".ada@example.org",
        "a..b@example.org",
        "ädä@example.org",
        "ada@-example.org",
        "ada@example..org",
        "ada@[127.0.0.1]",
        f"{'a' * 65}@example.org",
        f"ada@{'a' * 64}.org",
    ],
)
def test_what_is_not_an_address_is_refused(text: str) -> None:
    with pytest.raises(MailRefused):
        checked_address(text)


def test_an_address_keeps_its_letters() -> None:
    assert checked_address("Ada.O'Neil+kith@Example.org") == "Ada.O'Neil+kith@Example.org"
    assert checked_address("ada@straße.example") == "ada@xn--strae-oqa.example"


class Sink:
    """A mail server that takes everything, but for the recipients it is told to refuse."""

    def __init__(self) -> None:
        self.taken: list[Any] = []

    async def handle_RCPT(  # noqa: N802
        self, _server: Any, _session: Any, envelope: Any, address: str, _options: list[str]
    ) -> str:
        if address.startswith("gone"):
            return "550 no such person"
        if address.startswith("later"):
            return "450 busy"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
        self.taken.append(envelope)
        return "554 spam" if b"spam" in envelope.content else "250 OK"


@pytest.fixture
def sink() -> Sink:
    return Sink()


@pytest.fixture
async def server(sink: Sink) -> AsyncIterator[str]:
    server = await asyncio.get_running_loop().create_server(lambda: SMTP(sink), "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_a_mail_goes_to_the_server(sink: Sink, server: str, tmp_path: Path) -> None:
    await mailer(f"smtp://{server}", tmp_path, SENDER).send(_mail(text="Grüße\n.\n..\n"))
    [envelope] = sink.taken
    assert envelope.mail_from == "noreply@kith.example"
    assert envelope.rcpt_tos == ["ada@example.org"]
    assert _body(_parsed(envelope.content), "plain") == "Grüße\n.\n..\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("mail", "error"),
    [
        ({"to": "gone@example.org"}, MailRefused),
        ({"to": "later@example.org"}, MailFailed),
        ({"text": "spam"}, MailRefused),
    ],
)
async def test_a_final_no_differs_from_a_not_now(
    server: str, tmp_path: Path, mail: dict[str, str], error: type[Exception]
) -> None:
    with pytest.raises(error):
        await mailer(f"smtp://{server}", tmp_path, SENDER).send(_mail(**mail))


async def test_a_password_is_not_sent_in_the_clear(sink: Sink, server: str, tmp_path: Path) -> None:
    with pytest.raises(MailFailed) as caught:
        await mailer(f"smtp://ada:secret@{server}", tmp_path, SENDER).send(_mail())
    assert "secret" not in str(caught.value)
    assert not sink.taken


async def test_a_server_without_tls_is_refused_where_tls_is_required(server: str, tmp_path: Path) -> None:
    with pytest.raises(MailFailed):
        await mailer(f"smtp://{server}?tls=required", tmp_path, SENDER).send(_mail())
    await mailer(f"smtp://{server}?tls=none", tmp_path, SENDER).send(_mail())


async def test_an_absent_server_is_a_not_now(tmp_path: Path) -> None:
    with pytest.raises(MailFailed):
        await mailer("smtp://127.0.0.1:1", tmp_path, SENDER).send(_mail())


async def test_a_folder_that_cannot_be_written_is_a_not_now(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(MailFailed):
        await mailer(None, tmp_path / "file" / "mail", SENDER).send(_mail())


@pytest.mark.parametrize("url", ["http://h", "smtp://", "smtp://h?tls=maybe", "smtp://h?ssl=1", "smtp://h:x"])
def test_a_url_that_is_not_understood_is_refused_at_the_start(url: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"."):
        mailer(url, tmp_path, SENDER)


@pytest.mark.parametrize("sender", ["", "Kith", "Kith <noreply@kith.example", "K <a@b.example> x", "<>"])
def test_a_sender_without_an_address_is_refused_at_the_start(sender: str, tmp_path: Path) -> None:
    with pytest.raises((ValueError, MailRefused)):
        mailer(None, tmp_path, sender)


def _mail(**changes: Any) -> Mail:
    return Mail(**{"to": "ada@example.org", "subject": "Hello", "text": "Hello Ada", **changes})


def _compose(**changes: Any) -> bytes:
    return mailer(None, Path("unused"), SENDER).compose(_mail(**changes))


def _parsed(message: bytes) -> EmailMessage:
    return BytesParser(EmailMessage, policy=policy.default).parsebytes(message)


def _body(message: EmailMessage, kind: str) -> str:
    part = message.get_body((kind,))
    assert part is not None
    content: str = part.get_content()
    return content.replace("\r\n", "\n")

"""What the team sets on pages: kept in the database, true at once in every process, and never against the operator."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from kith.base.mail import Mail
from kith.base.mail_texts import STORED, MailText, filled_in, write
from kith.base.mail_words import names_page, with_footer
from kith.base.settings import load
from kith.base.stored_settings import effective
from kith.identity.signups.mails import APPROVED, CONFIRM_ADDRESS
from kith.identity.users import store as users
from tests.conftest import TownBuilder
from tests.identity.flow_browser import Browser, link_in_mail
from tests.social.members import until
from tests.social.staff import employ, employ_as, verdict
from tests.town import Town
from tests.town.plain import PLAIN
from tests.town.town import Engine

SETTINGS = "/api/v1/admin/settings"


async def test_what_the_team_sets_counts_at_once_and_stays(new_town: TownBuilder) -> None:
    town = await new_town(CONTACT_EMAIL="ops@example.org")
    admin = await employ(town, "administrator")
    sent = {"title": "Tea & friends", "description": "We drink tea.", "registrations": "closed", "minimum_age": 16}

    told = await admin.patch(SETTINGS, json=sent)

    assert told["fixed"] == ["contact_email"]
    assert {name: told[name] for name in sent} == sent
    instance = (await town.http.get("/api/v2/instance")).json()
    assert (instance["title"], instance["registrations"]["enabled"]) == ("Tea & friends", False)
    assert "Tea &amp; friends" in (await town.http.get("/about")).text
    assert await verdict(admin, "PATCH", SETTINGS, json={"contact_email": "me@example.org"}) == 422
    assert (await town.http.get("/api/v2/instance")).json()["contact"]["email"] == "ops@example.org"
    [event, *_] = [one for one in await admin.get("/api/v1/admin/audit") if one["action"] == "update_settings"]
    assert (event["context"]["before"]["title"], event["context"]["after"]["title"]) == ("Kith", "Tea & friends")

    await town.stop()
    await town.start()

    assert (await town.http.get("/api/v2/instance")).json()["title"] == "Tea & friends"
    assert (await admin.patch(SETTINGS, json={"registrations": "approval"}))["registrations"] == "approval"
    assert (await town.http.get("/api/v2/instance")).json()["registrations"]["approval_required"] is True


async def test_every_process_knows_what_was_set(new_town: TownBuilder, engine: Engine) -> None:
    """On SQLite there is one; on PostgreSQL each of several answers for itself."""
    town = await new_town(**({} if engine == "sqlite" else {"PROCESSES": "2"}))
    admin = await employ(town, "administrator")
    await admin.patch(SETTINGS, json={"title": "Tea for two"})

    async def all_know() -> bool:
        titles = set()
        for _ in range(20):
            async with httpx.AsyncClient(
                base_url=town.base_url, verify=PLAIN
            ) as stranger:  # each on its own connection
                titles.add((await stranger.get("/api/v2/instance")).json()["title"])
        return titles == {"Tea for two"}

    await until(all_know)


@pytest.mark.parametrize(
    "sent",
    [
        {"title": "x" * 201},
        {"title": "  "},
        {"title": "https://elsewhere.example"},
        {"title": "Unlock at www.elsewhere.example"},
        {"title": "elsewhere.example/unlock"},
        {"contact_email": "no address"},
        {"registrations": "perhaps"},
        {"publish_domain_blocks": "some"},
        {"minimum_age": 121},
        {"mail_footer": "x" * 5001},
    ],
)
async def test_what_makes_no_sense_is_refused(town: Town, sent: dict[str, Any]) -> None:
    admin = await employ(town, "administrator")
    before = await admin.get(SETTINGS)
    assert await verdict(admin, "PATCH", SETTINGS, json=sent) in (400, 422)
    assert await admin.get(SETTINGS) == before


async def test_only_superusers_let_people_in_with_addresses_they_did_not_confirm(town: Town) -> None:
    owner, admin = await employ(town, "owner"), await employ(town, "administrator")
    keeper = await employ_as(town, owner, 50, "manage_settings")
    assert (await admin.get(SETTINGS))["confirm_email"] is True
    try:
        refused = await keeper.call("PATCH", SETTINGS, json={"confirm_email": False, "minimum_age": 3})
        stays = await keeper.does("PATCH", SETTINGS, json={"confirm_email": True, "minimum_age": 4})
        off = await admin.does("PATCH", SETTINGS, json={"confirm_email": False})
        on = await keeper.does("PATCH", SETTINGS, json={"confirm_email": True})
    finally:
        await admin.patch(SETTINGS, json={"confirm_email": True, "minimum_age": 0})

    assert (refused.status_code, "can only be turned off by an administrator" in refused.text) == (422, True)
    assert [(one["confirm_email"], one["minimum_age"]) for one in (stays, off, on)] == [
        (True, 4),
        (False, 4),
        (True, 4),
    ]


MAILS = "/api/v1/admin/mail_texts"


async def test_mails_say_what_the_team_wrote(new_town: TownBuilder) -> None:
    town = await new_town(REGISTRATIONS="approval")
    admin = await employ(town, "administrator")
    await admin.patch(SETTINGS, json={"mail_footer": "Tea House\nMarket 1"})
    words = {"language": "en", "subject": "{site} says yes", "body": "Come in, {name}!\n\nThe kettle of {site} is on."}
    await admin.does("PUT", f"{MAILS}/signup_approved", json=words)
    person = await town.sign_up("newcomer")
    async with town.house() as house, house.works.begin() as work:
        user = await users.find(work.db, person.username)
        assert user is not None
        await users.change(work.db, user.id, "approved_at", None, work.now)
    [waiting] = await admin.get("/api/v2/admin/accounts?status=pending")

    await admin.post(f"/api/v1/admin/accounts/{waiting['id']}/approve")

    def arrived() -> bool:
        texts = [str(mail.get_body(("plain",))) for mail in town.mails() if person.username in str(mail)]
        return any("The kettle of Kith is on." in text and "Market 1" in text for text in texts)

    async def has_arrived() -> bool:
        return arrived()

    await until(has_arrived)


async def test_a_key_goes_to_nobody_else_by_words_of_before(town: Town) -> None:
    """Words that were stored when there was no such rule are not used."""
    words = {"subject": "Look", "body": "https://evil.example/?key={link}"}
    values = {"name": "ada", "link": "https://our.example/confirm/key"}
    async with town.house() as house, house.works.begin() as work:
        house.works.stored = {STORED: {CONFIRM_ADDRESS.name: {"en": words}, APPROVED.name: {"en": words}}}
        held, free = (write(work, text, "en", **values) for text in (CONFIRM_ADDRESS, APPROVED))

    assert "evil" not in held.text
    assert values["link"] in held.text.splitlines()
    assert "https://evil.example/?key=https://our.example" in free.text, "it holds no key"


def test_the_operator_wins() -> None:
    operator = load({"KITH_TITLE": "Ours"})
    found = effective(operator, {"title": "Theirs", "description": "Tea", "minimum_age": "old", "smtp": "smtp://x"})
    assert (found.title, found.description, found.minimum_age, found.smtp) == ("Ours", "Tea", 0, "")


@pytest.mark.parametrize(
    ("body", "made"),
    [
        ("Hello {name} at {site}", "Hello ada at Tea {name}\n"),
        ("One\r\n\r\nTwo {unknown} {0}", "One\n\nTwo {unknown} {0}\n"),
        ("One\n\n\n\nThey say: {empty}\n\nThree", "One\n\nThree\n"),
    ],
)
def test_words_of_mails_are_filled_in(body: str, made: str) -> None:
    values = {"name": "ada", "site": "Tea {name}", "empty": ""}
    text = MailText(name="x", subject="", body="", values={"name": "ada", "empty": ""})
    assert filled_in(text, "To {name}\n", body, values, "en").text == made


def test_what_people_wrote_is_no_markup_in_a_mail() -> None:
    values = {"name": "<b>ada</b>\r\nBcc: x", "link": "https://our.example/?a=1&b=2", "evil": 'https://x.example/"><i>'}
    text = MailText(
        name="x", subject="", body="", values=dict.fromkeys(values, "https://our.example/") | {"name": "ada"}
    )
    made = filled_in(text, "{name}", "Hi {name}\n\n{link}\n\n{evil}", values, "de")
    assert made.subject == "<b>ada</b> Bcc: x"
    assert '<a href="https://our.example/?a=1&amp;b=2">https://our.example/?a=1&amp;b=2</a>' in made.html
    assert "<b>" not in made.html
    assert "<i>" not in made.html


def test_a_footer_stands_in_both_forms_of_a_mail() -> None:
    mail = Mail(to="a@example.org", subject="x", text="Hello\n", html="<html><body><p>Hello</p></body></html>")
    made = with_footer(mail, "Us & <you>\nMarket 1 ")
    assert made.text == "Hello\n\n-- \nUs & <you>\nMarket 1\n"
    assert made.html == "<html><body><p>Hello</p><hr><p>Us &amp; &lt;you&gt;<br>Market 1</p></body></html>"
    assert with_footer(mail, " ") is mail


@pytest.mark.parametrize("words", ["https://x.example", "see www.x.example", "x.example/unlock", "HTTPS://X.EXAMPLE"])
def test_a_mail_with_a_key_leads_to_its_own_page_alone(words: str) -> None:
    """Values that are no links by their example are none, whatever they hold."""
    values = {"name": words, "site": words, "link": "https://our.example/key"}
    body = "{name} of {site}\n\n{link}"
    for keys in (("link",), ()):
        text = MailText(name="x", subject="", body="", values={"name": "ada", "link": values["link"]}, keys=keys)
        made = filled_in(text, "{site}", body, values, "en")
        assert re.findall('<a href="([^"]*)"', made.html) == [values["link"]]
        assert made.holds_key == bool(keys)
        for told in (made.subject, made.text.replace(values["link"], ""), made.html.replace(values["link"], "")):
            assert names_page(told.replace("</", "")) is (not keys)


async def test_what_the_team_writes_below_a_mail_with_a_key_names_no_page(town: Town) -> None:
    admin, person = await employ(town, "administrator"), await town.sign_up()
    before = (await admin.get(SETTINGS))["mail_footer"]
    footer = "Tea House, Market 1\nUnlock it at https://elsewhere.example/unlock\nor elsewhere.example/now"
    try:
        await admin.patch(SETTINGS, json={"mail_footer": footer})
        browser = Browser(town)
        await browser.see("default-recovery-flow")
        await browser.answer("default-recovery-flow", component="identification", uid_field=person.username)
        await link_in_mail(town, f"{person.username}@example.org")
    finally:
        await admin.patch(SETTINGS, json={"mail_footer": before})

    [mail] = [one for one in town.mails() if one["To"] == f"{person.username}@example.org"]
    for kind in ("plain", "html"):
        body = mail.get_body((kind,))
        assert body is not None
        told = body.get_content()
        assert "Tea House, Market 1" in told
        assert "elsewhere.example" not in told

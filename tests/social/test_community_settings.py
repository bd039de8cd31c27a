"""What the team sets on pages: kept in the database, true at once in every process, and never against the operator."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from kith.base.mail import Mail
from kith.base.mail_texts import filled_in
from kith.base.mail_words import with_footer
from kith.base.settings import load
from kith.base.stored_settings import effective
from kith.identity.users import store as users
from tests.conftest import TownBuilder
from tests.social.members import until
from tests.social.staff import employ, verdict
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
    assert filled_in("To {name}\n", body, values, "en").text == made


def test_what_people_wrote_is_no_markup_in_a_mail() -> None:
    values = {"name": "<b>ada</b>\r\nBcc: x", "link": "https://our.example/?a=1&b=2", "evil": 'https://x.example/"><i>'}
    made = filled_in("{name}", "Hi {name}\n\n{link}\n\n{evil}", values, "de")
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

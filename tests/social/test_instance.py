from __future__ import annotations

from tests.conftest import TownBuilder
from tests.town import Town

FIELDS = {
    "uri", "title", "short_description", "description", "email", "version", "urls", "stats", "thumbnail",
    "languages", "registrations", "approval_required", "invites_enabled", "configuration", "contact_account", "rules",
}  # fmt: skip


async def test_the_instance_tells_about_itself_to_anyone(town: Town) -> None:
    answer = await town.http.get("/api/v1/instance")

    assert answer.status_code == 200
    body = answer.json()
    assert set(body) == FIELDS
    assert body["uri"] == f"127.0.0.1:{town.port}"
    assert body["version"].startswith("4.")
    assert answer.headers["cache-control"].startswith("public, max-age=300")


async def test_its_numbers_are_counted_and_its_words_are_the_operators(new_town: TownBuilder) -> None:
    town = await new_town(title="Our Town", description="Hello <b>there</b>", registrations="approval")
    before = (await town.http.get("/api/v1/instance")).json()
    await town.sign_up()
    await town.kith("users", "create", "unconfirmed", "--email", "u@example.org", "--password", "something 1")

    after = (await town.http.get("/api/v1/instance")).json()

    assert before["stats"] == {"user_count": 0, "status_count": 0, "domain_count": 0}
    assert after["stats"]["user_count"] == 1
    assert after["title"] == "Our Town"
    assert (after["registrations"], after["approval_required"]) == (True, True)


async def test_the_plural_leads_to_the_singular(town: Town) -> None:
    answer = await town.http.get("/api/v1/instances")

    assert answer.status_code == 301
    assert answer.headers["location"] == "/api/v1/instance"

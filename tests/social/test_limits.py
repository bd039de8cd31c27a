"""How often somebody may call, post, follow, report: the numbers of the API's rules, and where they are counted."""

from __future__ import annotations

import time

import httpx
import pytest

from kith.base.limits import Limiter, LimitRule
from kith.base.routing import Route
from kith.identity.registration.accounts import MAILS
from kith.identity.signups import addresses
from kith.identity.stages.kinds.email import FROM_ONE as RECOVERIES
from kith.identity.stages.kinds.user_write import SIGN_UPS as SIGN_UP_PAGE
from kith.social import guards
from kith.social.apps.api import REGISTRATIONS
from kith.social.featured.api import FEATURING, not_too_often
from kith.social.featured.room import ROOM as FEATURED
from kith.social.media.api import UPLOADS
from kith.social.moderation.api import REPORTS
from kith.social.registration.api import SIGN_UPS
from kith.social.relationships import limits
from kith.social.relationships.room import ROOM as RELATIONSHIPS
from kith.social.remote_media.looks import LOOKING
from kith.social.statuses.api.common import DELETING, POSTING
from kith.social.tags.room import ROOM as TAGS
from tests.conftest import TownBuilder
from tests.identity.flow_browser import Browser
from tests.social.tokens import new_app
from tests.town import Town

MINUTE, HOUR = 60, 3600
SCOPES = "read write"
STATUSES = "/api/v1/statuses"


@pytest.mark.parametrize(
    ("rule", "most", "seconds"),
    [
        (guards.PER_USER, 1500, 5 * MINUTE),
        (guards.PER_TOKEN, 300, 5 * MINUTE),
        (guards.ANONYMOUS, 300, 5 * MINUTE),
        (guards.PAGING, 300, 15 * MINUTE),
        (UPLOADS, 30, 30 * MINUTE),
        (SIGN_UPS, 5, 30 * MINUTE),
        (REGISTRATIONS, 5, 10 * MINUTE),
        (DELETING, 30, 30 * MINUTE),
        (LOOKING, 30, 10 * MINUTE),
        (SIGN_UP_PAGE, 25, 5 * MINUTE),
        (MAILS, 5, 30 * MINUTE),
        (addresses.FROM_ONE, 25, 5 * MINUTE),
        (RECOVERIES, 25, 5 * MINUTE),
        (POSTING, 300, 3 * HOUR),
        (FEATURING, 100, HOUR),
        (limits.FOLLOWS, 400, 24 * HOUR),
        (REPORTS, 400, 24 * HOUR),
    ],
    ids=lambda value: value.name if isinstance(value, LimitRule) else None,
)
def test_the_numbers_are_those_of_the_rules(rule: LimitRule, most: int, seconds: int) -> None:
    assert (rule.most, rule.seconds) == (most, seconds)


def test_whoever_starts_to_follow_people_or_tags_is_counted() -> None:
    routes: list[Route] = [*RELATIONSHIPS.routes, *TAGS.routes]
    counted = {path for one in routes if limits.not_too_many in one.guards for path in (one.template, *one.aliases)}
    assert counted == {"/api/v1/accounts/{id}/follow", "/api/v1/follows", "/api/v1/tags/{name}/follow"}


def test_whoever_shows_tags_to_followers_is_counted() -> None:
    counted = {one.template for one in FEATURED.routes if not_too_often in one.guards}
    assert counted == {"/api/v1/featured_tags", "/api/v1/tags/{name}/feature"}


async def test_posts_and_deletions_are_counted_for_a_person_with_whatever_token(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on")
    ada, app = await town.sign_up(), await new_app(town, SCOPES)
    keys = [await app.token_of(ada, SCOPES) for _ in range(2)]

    async def call(key: str, method: str, path: str, text: str | None = None) -> httpx.Response:
        sent = None if text is None else {"status": text}
        answer = await town.http.request(method, path, json=sent, headers={"Authorization": f"Bearer {key}"})
        assert answer.status_code == 200, answer.text
        return answer

    first = (await call(keys[0], "POST", STATUSES, "one")).json()["id"]
    await call(keys[0], "PUT", f"{STATUSES}/{first}", "one, edited")
    await call(keys[0], "POST", f"{STATUSES}/{first}/reblog")
    await call(keys[0], "POST", f"{STATUSES}/{first}/pin")
    await call(keys[0], "PUT", f"{STATUSES}/{first}/interaction_policy?quote_approval_policy=nobody")
    posting = await call(keys[1], "POST", STATUSES, "two")
    unboosting = await call(keys[1], "POST", f"{STATUSES}/{first}/unreblog")
    deleting = await call(keys[1], "DELETE", f"{STATUSES}/{first}")

    told = [
        (answer.headers["x-ratelimit-limit"], int(answer.headers["x-ratelimit-remaining"]))
        for answer in (posting, unboosting, deleting)
    ]
    assert [limit for limit, _ in told] == ["300", "30", "30"]
    assert told[0][1] == 300 - 6, "a post and what all followers are told of with another token count too"
    assert told[1][1] == 29
    if unboosting.headers["x-ratelimit-reset"] == deleting.headers["x-ratelimit-reset"]:  # no window ended meanwhile
        assert told[2][1] == 28


async def test_whoever_pages_through_lists_is_counted_apart(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on")
    ada, app = await town.sign_up(), await new_app(town, SCOPES)
    keys = [await app.token_of(ada, SCOPES) for _ in range(2)]

    async def left(query: str, key: str | None = None) -> tuple[int, str]:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        answer = await town.http.get(f"/api/v1/timelines/public?{query}", headers=headers)
        assert answer.status_code == 200, answer.text
        return int(answer.headers["x-ratelimit-remaining"]), answer.headers["x-ratelimit-reset"]

    queries = ("max_id=9", "limit=3&since_id=1", "min%5Fid=1", "page=2", "limit=5", "max_id=")
    pages = [await left(query, keys[0]) for query in queries]
    elsewhere = await left("max_id=9", keys[1])
    await left("max_id=9")
    by_app = await left("max_id=9", await app.token("read"))

    if pages[0][1] == pages[-1][1]:  # no window ended meanwhile
        assert [remaining for remaining, _ in pages] == [299, 298, 297, 296, 295, 294]
    assert elsewhere[0] == 300 - 5, "the four pages that were read with another token count, and this one"
    assert by_app[0] == 300 - 2, "whoever is nobody is counted by address, with an app's own token and without one"


async def test_mails_are_asked_for_only_so_often_from_one_address(new_town: TownBuilder) -> None:
    """By whomever, and for whomever: otherwise one address could have the whole town written to."""
    town = await new_town(rate_limits="on")
    app, flow = await new_app(town, SCOPES), "default-recovery-flow"
    sent = {"username": "ada", "email": "ada@example.org", "password": "correct horse", "agreement": True}
    bearer = {"Authorization": f"Bearer {await app.token('write')}"}
    made = await town.http.post("/api/v1/accounts", json=sent | {"locale": "en"}, headers=bearer)
    ada = {"Authorization": f"Bearer {made.json()['access_token']}"}

    async def ask() -> tuple[int, str]:
        again = await town.http.post("/api/v1/emails/confirmations", headers=ada)
        browser = Browser(town)
        await browser.see(flow)
        told = await browser.answer(flow, component="identification", uid_field="somebody")
        return again.status_code, str(told.get("response_errors", ""))

    before = await ask()
    await _use_up(town, addresses.FROM_ONE)
    await _use_up(town, RECOVERIES)
    after = await ask()

    assert before == (200, "")
    assert after[0] == 429
    assert "Too many e-mails were requested" in after[1]


async def _use_up(town: Town, rule: LimitRule) -> None:
    """What is left of this window and of the next, which may begin any moment."""
    async with town.house() as house:
        limiter, now = house.works.services[Limiter], int(time.time())
        for window in (now // rule.seconds, now // rule.seconds + 1):
            await limiter._add(f"{rule.name}:127.0.0.1", window, (window + 1) * rule.seconds, rule.most)

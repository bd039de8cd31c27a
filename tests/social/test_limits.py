"""How often somebody may call, post, follow, report: the numbers of the API's rules, and where they are counted."""

from __future__ import annotations

import httpx
import pytest

from kith.base.limits import LimitRule
from kith.base.routing import Route
from kith.identity.registration.accounts import MAILS
from kith.identity.stages.kinds.user_write import SIGN_UPS as SIGN_UP_PAGE
from kith.social import guards
from kith.social.apps.api import REGISTRATIONS
from kith.social.media.api import UPLOADS
from kith.social.moderation.api import REPORTS
from kith.social.registration.api import SIGN_UPS
from kith.social.relationships import limits
from kith.social.relationships.room import ROOM as RELATIONSHIPS
from kith.social.remote_media.looks import LOOKING
from kith.social.statuses.api.common import DELETING, POSTING
from kith.social.tags.room import ROOM as TAGS
from tests.conftest import TownBuilder
from tests.social.tokens import new_app

MINUTE, HOUR = 60, 3600
SCOPES = "read write"
STATUSES = "/api/v1/statuses"


@pytest.mark.parametrize(
    ("rule", "most", "seconds"),
    [
        (guards.PER_USER, 1500, 5 * MINUTE),
        (guards.PER_TOKEN, 300, 5 * MINUTE),
        (guards.ANONYMOUS, 300, 5 * MINUTE),
        (UPLOADS, 30, 30 * MINUTE),
        (SIGN_UPS, 5, 30 * MINUTE),
        (REGISTRATIONS, 5, 10 * MINUTE),
        (DELETING, 30, 30 * MINUTE),
        (LOOKING, 30, 10 * MINUTE),
        (SIGN_UP_PAGE, 25, 5 * MINUTE),
        (MAILS, 5, 30 * MINUTE),
        (POSTING, 300, 3 * HOUR),
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
    posting = await call(keys[1], "POST", STATUSES, "two")
    unboosting = await call(keys[1], "POST", f"{STATUSES}/{first}/unreblog")
    deleting = await call(keys[1], "DELETE", f"{STATUSES}/{first}")

    told = [
        (answer.headers["x-ratelimit-limit"], int(answer.headers["x-ratelimit-remaining"]))
        for answer in (posting, unboosting, deleting)
    ]
    assert [limit for limit, _ in told] == ["300", "30", "30"]
    assert told[0][1] == 300 - 4, "a post, an edit and a boost with another token count too"
    assert told[1][1] == 29
    if unboosting.headers["x-ratelimit-reset"] == deleting.headers["x-ratelimit-reset"]:  # no window ended meanwhile
        assert told[2][1] == 28

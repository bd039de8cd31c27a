"""Posts as other sites embed them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.social.members import join, stranger
from tests.social.posts import does, post, said_elsewhere
from tests.social.shapes import check, entity
from tests.town import Town

OEMBED = entity("OEmbed")


async def ask(town: Town, url: str, **params: Any) -> tuple[int, dict[str, Any]]:
    answer = await town.http.get("/api/oembed", params={"url": url, **params})
    return answer.status_code, answer.json()


async def test_a_public_post_is_embedded_by_either_of_its_addresses(town: Town) -> None:
    ada = await join(town)
    said = await post(ada, "Look <here> & there", visibility="unlisted")

    for url in (said["url"], said["uri"], f"{said['url']}?a=b"):
        status, told = await ask(town, url)
        assert status == 200
        check(told, OEMBED)
        assert (told["type"], told["version"], told["width"], told["height"]) == ("rich", "1.0", 400, None)
        assert "Look &lt;here&gt; &amp; there" in told["html"]
        assert told["author_url"] == ada.me["url"]
    _, told = await ask(town, said["url"], maxwidth="250", maxheight="90")
    assert (told["width"], told["height"]) == (250, 90)


async def test_a_warning_hides_what_is_behind_it(town: Town) -> None:
    ada = await join(town)
    said = await post(ada, "the murderer", spoiler_text="The <end>")

    _, told = await ask(town, said["url"])

    assert "The &lt;end&gt;" in told["html"]
    assert "murderer" not in told["html"]


async def test_whatever_not_everybody_may_see_is_not_embedded(town: Town) -> None:
    ada, far = await join(town), await stranger(town)
    private = await post(ada, "psst", visibility="private")
    public = await post(ada, "hello")
    boost = await does(ada, "reblog", public)
    elsewhere = await said_elsewhere(town, far)
    urls = [
        private["url"],
        f"{town.base_url}/@{ada.name}/{boost['id']}",
        f"{town.base_url}/@{far.username}/{elsewhere}",
        f"{town.base_url}/@somebody/{public['id']}",
        f"{town.base_url}/@{ada.name}/1",
        f"{town.base_url}/@{ada.name}",
        f"https://elsewhere.example/@{ada.name}/{public['id']}",
        "",
        "x",
        f"{town.base_url}/@{ada.name}/{'9' * 19}",
    ]

    assert [(await ask(town, url))[0] for url in urls] == [404] * len(urls)
    assert (await ask(town, public["url"], format="xml"))[0] == 404
    await ada.delete(f"/api/v1/statuses/{public['id']}")
    assert (await ask(town, public["url"]))[0] == 404


@pytest.mark.parametrize("params", [{"maxwidth": "-1"}, {"maxwidth": "99999999"}, {"maxheight": "0"}])
async def test_sizes_nobody_can_mean_are_passed_over(town: Town, params: dict[str, str]) -> None:
    ada = await join(town)

    _, told = await ask(town, (await post(ada))["url"], **params)

    assert (told["width"], told["height"]) == (400, None)

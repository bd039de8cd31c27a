"""A small community in which every page has something to show."""

from __future__ import annotations

from datetime import date
from typing import Any
from urllib.parse import quote

from kith.base.blobs import Blobs
from kith.social.instance.service import write_page
from kith.social.moderation.appeal_keys import appeal_key
from tests.social import samples
from tests.social.members import Member, join, stranger, strangers
from tests.social.posts import arrive, post, said_elsewhere
from tests.social.staff import employ
from tests.social.trend_seeds import refresh, share, use
from tests.town import Person, Town

__all__ = ["Scenery", "build_scenery", "person_of"]

_WORDS = (
    "The tomatoes are up, all of them. I had given up hope in March. #garden",
    "Who comes to the workshop on Saturday? We repair bicycles and drink coffee.",
    "A walk along the river before breakfast is worth getting up for. #garden #morning",
)


class Scenery:
    """Who lives there, and what the braces in the table of addresses stand for."""

    def __init__(self, town: Town, ada: Member, bob: Member, owner: Person, values: dict[str, str]) -> None:
        self.town = town
        self.ada = ada
        self.bob = bob
        self.owner = owner
        self.values = values

    def filled(self, address: str) -> str:
        return address.format_map(self.values)


def person_of(member: Member) -> Person:
    return Person(member.town.http, member.name, f"correct horse {member.name}")


async def build_scenery(town: Town) -> Scenery:
    """Ada is the member who looks; Bob and somebody elsewhere have posted."""
    ada, bob, owner = await join(town, "ada"), await join(town, "bob"), await town.owner()
    away = await stranger(town, display_name="Noor of Elsewhere", note="<p>From <b>elsewhere</b></p>")
    await arrive(ada, bob)
    await ada.to(bob, "follow")
    await bob.to(ada, "follow")
    await _introduce(bob)
    first, *_ = [await post(bob, words) for words in _WORDS]
    poll = await post(bob, "Soup or salad?", poll={"options": ["Soup", "Salad"], "expires_in": 3600})
    own = await post(ada, f"@{bob.name} me!", in_reply_to_id=first["id"])
    await _post_more(ada, bob, first)
    await said_elsewhere(town, away, "Good morning from elsewhere")
    made = await ada.post("/api/v1/lists", json={"title": "Neighbours"})
    await ada.call("POST", f"/api/v1/lists/{made['id']}/accounts", json={"account_ids": [bob.id]})
    await arrive(ada, bob)
    values = await _look_after(ada, bob, owner, first) | {
        "ada": ada.name,
        "bob": bob.name,
        "bob_id": bob.id,
        "stranger": f"{away.username}@{away.domain}",
        "post": first["id"],
        "poll": poll["id"],
        "own_post": own["id"],
        "list": made["id"],
        "owner_id": str(await _id_of(owner)),
        "base_url": town.base_url,
    }
    values |= await _keep_house(town, owner) | await _hold_back(town, ada) | await _decide_about(ada)
    return Scenery(town, ada, bob, owner, values)


async def _decide_about(ada: Member) -> dict[str, str]:
    """Something that the team said to her, and the key with which she could appeal from outside."""
    staff = await employ(ada.town, "owner")
    words = {"type": "none", "text": "Please mind the hours of the workshop."}
    await staff.call("POST", f"/api/v1/admin/accounts/{ada.id}/action", json=words)
    [strike] = await ada.get("/api/v1/strikes")
    async with ada.town.house() as house, house.works.begin() as work:
        return {"strike": strike["id"], "appeal_key": appeal_key(work, int(strike["id"]))}


async def _look_after(ada: Member, bob: Member, owner: Person, first: dict[str, Any]) -> dict[str, str]:
    """What the console has pages for."""
    words = {"title": "Noise", "context": ["home"], "keywords_attributes": [{"keyword": "drill"}]}
    kept = await ada.post("/api/v2/filters", json=words)
    report = {"account_id": bob.id, "status_ids": [first["id"]], "comment": "Too many tomatoes"}
    told = await ada.post("/api/v1/reports", json=report)
    users = await owner.get("/api/v2/core/users/", params={"username": bob.name})
    user = str(users.json()["results"][0]["pk"])
    group = await owner.call(
        "POST", "/api/v2/core/groups/", json={"name": "Gardeners", "parent": None, "user_set": [int(user)]}
    )
    entry = {"name": "Wiki", "slug": "wiki", "meta_launch_url": "https://wiki.example"}
    application = await owner.call("POST", "/api/v2/core/applications/", json=entry)
    return {
        "filter": kept["id"],
        "report": told["id"],
        "bob_user_id": user,
        "group": group.json()["pk"],
        "application": application.json()["slug"],
    }


async def _keep_house(town: Town, owner: Person) -> dict[str, str]:
    """What the team has written, drawn, let through and set up."""
    team = await employ(town, "administrator", "grace")
    picture = {"image": ("tea.png", samples.image_file("PNG", (32, 32)), "image/png")}
    emoji = await team.post(
        "/api/v1/admin/custom_emojis", data={"shortcode": "tea", "category": "Drinks"}, files=picture
    )
    far = await strangers(town, 6, discoverable=True)
    link = "https://news.example/rain"
    async with town.house() as house, house.works.begin() as work:
        await work.find(Blobs).put("cards/rain.png", samples.image_file("PNG", (64, 64)), "image/png")
    card = await share(town, link, far, title="Rain at last", image="cards/rain.png")
    await use(town, "garden", far)
    await refresh(town)
    await team.post(f"/api/v1/admin/trends/links/{card}/approve")
    for tag in await team.get("/api/v1/admin/trends/tags"):
        await team.post(f"/api/v1/admin/trends/tags/{tag['id']}/approve")
    listed = await team.post("/api/v1/admin/block_lists", json={"url": "https://lists.example/worst.csv"})
    async with town.house() as house, house.works.begin() as work:
        await write_page(work, "terms_of_service", "Be kind.\n\nNo noise after ten.", begins=date(2024, 5, 1))
    url = "https://elsewhere.example/"
    source = {
        "name": "Elsewhere", "slug": "elsewhere", "provider_type": "openid-connect", "authorization_url": url,
        "access_token_url": url, "profile_url": url, "consumer_key": "x", "consumer_secret": "y",
    }  # fmt: skip
    made = await owner.call("POST", "/api/v2/sources/oauth/", json=source)
    return {
        "emoji": emoji["id"],
        "link": quote(link, safe=""),
        "block_list": listed["id"],
        "terms_day": "2024-05-01",
        "source": made.json()["pk"],
    }


async def _hold_back(town: Town, ada: Member) -> dict[str, str]:
    """Somebody whom Ada does not follow writes to her."""
    cleo = await join(town, "cleo")
    await ada.patch("/api/v2/notifications/policy", json={"for_not_following": "filter"})
    await post(cleo, f"@{ada.name} may I borrow the ladder?")
    await arrive(ada)
    [request] = await ada.get("/api/v1/notifications/requests")
    return {"request": request["id"]}


async def _introduce(bob: Member) -> None:
    await bob.patch(
        "/api/v1/accounts/update_credentials",
        data={
            "display_name": "Bob the gardener",
            "note": "Vegetables, bicycles and #garden pictures.",
            "fields_attributes[0][name]": "Website",
            "fields_attributes[0][value]": "https://example.org/bob",
        },
        files={"avatar": ("face.png", samples.image_file("PNG"), "image/png")},
    )


async def _post_more(ada: Member, bob: Member, first: dict[str, Any]) -> None:
    """A picture, a warning, a boost, a quote and a pinned post, and somebody who likes it."""
    file = {"file": ("a.png", samples.image_file("PNG", (640, 480)), "image/png")}
    picture = await bob.post("/api/v2/media", files=file, data={"description": "A basket of red tomatoes"})
    await post(bob, "The harvest", media_ids=[picture["id"]])
    await post(bob, "It was the gardener", spoiler_text="The end of the film")
    await post(bob, "As I said", quoted_status_id=first["id"])
    await post(bob, f"@{ada.name} a word in private", visibility="direct")
    for verb in ("favourite", "bookmark", "reblog"):
        await ada.post(f"/api/v1/statuses/{first['id']}/{verb}")
    await bob.post(f"/api/v1/statuses/{first['id']}/pin")


async def _id_of(owner: Person) -> int:
    answer = await owner.get("/api/v2/core/users/", params={"username": owner.username})
    return int(answer.json()["results"][0]["pk"])

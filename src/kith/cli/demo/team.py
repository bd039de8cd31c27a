"""What the team of the example community has set up, and what it has had to decide."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from kith.cli.demo import pictures
from kith.cli.demo.cast import GROUPS
from kith.cli.demo.past import Guest
from kith.cli.demo.story import Story

__all__ = ["plan_team"]

RULES = (
    ("Be kind, also when you are right.", "Talk to people, not about them."),
    ("No advertising.", "Asking for a sofa is fine; selling a hundred is not."),
    ("Describe your pictures.", "Some of us listen to them."),
    ("What is said in the house stays in the house.", "Ask before you quote somebody elsewhere."),
)
ABOUT = (
    "Harbour House is a neighbourhood centre with a garden, a workshop, a kitchen and a piano that nobody wants to"
    " sell. This server is our own: for talking, and as the one account for all our tools."
)
# Name, short name, which kind, where it is, what it is, and who may enter (everybody where that is empty).
APPLICATIONS = (
    ("House wiki", "wiki", "openid", "https://wiki.example.org", "Minutes, manuals and recipes", ""),
    ("Calendar and files", "cloud", "openid", "https://cloud.example.org", "Rooms, dates and shared folders", ""),
    ("Workshop booking", "workshop", "gateway", "https://workshop.example.org", "Machines and keys", "Workshop"),
    ("Accounts", "accounts", "saml", "https://accounts.example.org", "The books of the association", "House team"),
)
TAGS = ("firstfrost", "garden", "bikes", "birds", "bread", "coldwater", "knitting", "ceramics")


def plan_team(story: Story) -> None:
    days = story.ago
    story.plan(days(days=41.9), lambda: _set_up(story))
    story.plan(days(days=40.4), lambda: _give_role(story))
    story.plan(days(days=7.9), lambda: _make_groups(story))
    story.plan(days(days=7.5), lambda: _connect(story))
    story.plan(days(days=1.5), lambda: _enter_applications(story))
    story.plan(
        days(days=9.0), lambda: _announce(story, "The open stage is on the last Sunday of the month, as always.")
    )
    story.plan(days(days=0.9), lambda: _announce(
        story, "The water is off on Thursday from nine to eleven. Fill a kettle before. Pavel has ten."))  # fmt: skip
    story.plan(days(days=26.0), lambda: _first_case(story))
    story.plan(days(days=5.6), lambda: _report_spam(story))
    story.plan(days(days=3.8), lambda: _second_case(story))
    story.plan(days(days=3.1), lambda: _appeal(story))
    story.plan(days(days=1.0), lambda: _report_again(story))
    story.plan(days(days=2.0), lambda: _settle_in(story))
    story.plan(days(minutes=50), lambda: _write_privately(story))
    story.plan(days(minutes=20), lambda: _knock(story))
    story.plan(days(minutes=2), lambda: _let_trend(story))


async def _set_up(story: Story) -> None:
    owner = story.owner.app
    for place, (text, hint) in enumerate(RULES):
        await owner.call("POST", "/api/v1/admin/rules", json={"text": text, "hint": hint, "priority": place})
    await owner.call(
        "PUT", "/api/v1/admin/settings",
        json={"extended_description": ABOUT, "trends": True, "trendable_by_default": True},
    )  # fmt: skip
    for name in pictures.EMOJI:
        form = {"shortcode": name, "category": "House"}
        await owner.call("POST", "/api/v1/admin/custom_emojis", form=form, files={"image": pictures.emoji(name)})
    await owner.call(
        "POST", "/api/v1/admin/warning_presets", json={"title": "Tone", "text": "Please read rule 1 again."}
    )
    for domain, severity, why in (
        ("loans.example", "suspend", "Advertising without end"),
        ("noise.example", "silence", "Unmoderated"),
    ):
        wish = {"domain": domain, "severity": severity, "public_comment": why, "private_comment": "Seen in October"}
        await owner.call("POST", "/api/v1/admin/domain_blocks", json=wish)


async def _give_role(story: Story) -> None:
    roles = await story.owner.app.call("GET", "/api/v1/admin/roles")
    [role] = [one["id"] for one in roles if one["name"] == "Moderator"]
    moderator = story.moderator
    await story.owner.app.call("POST", f"/api/v1/admin/accounts/{moderator.id}/role", json={"role_id": role})
    token = await moderator.doors.token_for(moderator.app, moderator.name, moderator.password, is_team=True)
    moderator.app.authorization = f"Bearer {token}"


async def _user_ids(owner: Guest) -> dict[str, int]:
    found = await owner.call("GET", "/api/v2/core/users/?limit=100")
    return {one["username"]: one["pk"] for one in found["results"]}


async def _make_groups(story: Story) -> None:
    owner = story.owner.basic()
    ids = await _user_ids(owner)
    for member in story.here():
        await owner.call("PATCH", f"/api/v2/core/users/{ids[member.name]}/", json={"name": member.person.name})
    for name, people in GROUPS:
        wish = {"name": name, "parent": None, "user_set": [ids[one] for one in people if one in ids]}
        await owner.call("POST", "/api/v2/core/groups/", json=wish)


async def _connect(story: Story) -> None:
    """What the console's page for a new application asks of the API."""
    owner = story.owner.basic()
    groups = {one["name"]: one["pk"] for one in (await owner.call("GET", "/api/v2/core/groups/?limit=100"))["results"]}
    for name, slug, kind, address, words, group in APPLICATIONS:
        provider = await _provider(story, owner, name, slug, kind, address)
        wish = {
            "name": name,
            "slug": slug,
            "provider": provider,
            "meta_launch_url": address,
            "meta_description": words,
            "meta_publisher": "Harbour House",
            "policy_engine_mode": "any",
        }
        made = await owner.call("POST", "/api/v2/core/applications/", json=wish)
        if group:
            binding = {"target": made["pk"], "group": groups[group], "order": 0}
            await owner.call("POST", "/api/v2/policies/bindings/", json=binding)


async def _provider(story: Story, owner: Guest, name: str, slug: str, kind: str, address: str) -> int:
    if kind == "openid":
        values: dict[str, Any] = {
            "name": f"{name} ({slug})",
            "response_types": [1],
            "_redirect_uris": f"{address}/auth/callback",
        }
        made = await owner.call("POST", "/api/v2/providers/openid/", json=values)
    elif kind == "gateway":
        values = {"name": name, "mode": "forward_single", "external_host": address, "internal_host": ""}
        made = await owner.call("POST", "/api/v2/providers/applicationgateway/", json=values)
    else:
        key = {"common_name": f"SAML {slug}", "validity_days": 3650}
        signs = await owner.call("POST", "/api/v2/crypto/certificatekeypairs/generate/", json=key)
        values = {
            "name": name,
            "acs_url": f"{address}/saml/acs",
            "audience": address,
            "issuer": f"{story.past.house.settings.base_url}/application/saml/{slug}/metadata/",
            "sp_binding": "post",
            "signing_kp": signs["pk"],
        }
        made = await owner.call("POST", "/api/v2/providers/saml/", json=values)
    return int(made["pk"])


async def _enter_applications(story: Story) -> None:
    """Some have signed in at the wiki and at the calendar."""
    owner = story.owner.basic()
    clients = (await owner.call("GET", "/api/v2/providers/openid/?limit=20"))["results"]
    for name in ("juno", "noor", "arjun", "wanda", "tomas", "mira", "theo"):
        browser = await story.members[name].sign_in(story.luck)
        for client in clients:
            back = client["_redirect_uris"].split()[0]
            query = f"client_id={client['client_id']}&response_type=code&scope=openid+email+profile&redirect_uri={back}"
            await browser.call("GET", f"/application/o/authorize/?{query}&state=demo")


async def _announce(story: Story, text: str) -> None:
    made = await story.owner.app.call("POST", "/api/v1/admin/announcements", json={"text": text})
    for place, (name, emoji) in enumerate(
        (("wanda", "❤️"), ("theo", "sprout"), ("eva", "sprout"), ("pavel", "lantern"))
    ):
        at = story.past.now + timedelta(minutes=20 + place * 15)
        story.plan(at, _reacting(story, name, made["id"], emoji))


def _reacting(story: Story, name: str, id: str, emoji: str) -> Callable[[], Awaitable[None]]:
    async def react() -> None:
        if story.members[name].id:
            await story.members[name].app.call("PUT", f"/api/v1/announcements/{id}/reactions/{emoji}")

    return react


async def _report(story: Story, by: str, about: str, keys: tuple[str, ...], comment: str, category: str) -> str:
    sent: dict[str, Any] = {
        "account_id": story.members[about].id,
        "status_ids": [story.posts[key]["id"] for key in keys],
        "comment": comment,
        "category": category,
    }
    if category == "violation":
        rules = await story.owner.app.call("GET", "/api/v1/admin/rules")
        sent["rule_ids"] = [rules[0]["id"]]
    made = await story.members[by].app.call("POST", "/api/v1/reports", json=sent)
    return str(made["id"])


async def _first_case(story: Story) -> None:
    """Looked at, and nothing to be done."""
    report = await _report(story, "mateo", "pavel", (), "There is a beep in the stairwell every night.", "other")
    team = story.moderator.app
    await team.call("POST", f"/api/v1/admin/reports/{report}/assign_to_self")
    note = {"report_id": report, "content": "Talked to both. It was a smoke detector. Battery changed."}
    await team.call("POST", "/api/v1/admin/report_notes", json=note)
    await team.call("POST", f"/api/v1/admin/reports/{report}/resolve")


async def _report_spam(story: Story) -> None:
    await _report(story, "juno", "bargains", ("spam",), "Writes to everybody, wants to sell watches.", "spam")


async def _second_case(story: Story) -> None:
    """A warning, which the warned do not think is fair."""
    report = await _report(story, "clara", "bruno", ("rant",), "Everybody knows whom he means.", "violation")
    team = story.moderator.app
    await team.call("POST", f"/api/v1/admin/reports/{report}/assign_to_self")
    words = "Please talk to Clara directly, and take the post down yourself. See rule 1."
    act = {"type": "none", "report_id": report, "text": words}
    await team.call("POST", f"/api/v1/admin/accounts/{story.members['bruno'].id}/action", json=act)


async def _appeal(story: Story) -> None:
    bruno = story.members["bruno"].app
    [strike, *_] = await bruno.call("GET", "/api/v1/strikes")
    words = "I was rude, and I have said so to Clara. I would still like the warning to be taken back."
    await bruno.call("POST", f"/api/v1/strikes/{strike['id']}/appeal", json={"text": words})


async def _report_again(story: Story) -> None:
    await _report(story, "theo", "bargains", ("spam",), "The same message, in private, twice.", "violation")


async def _settle_in(story: Story) -> None:
    """What the member keeps for herself: lists, tags, bookmarks and a filter."""
    me = story.member.app
    for title, names in (("Garden and kitchen", ("wanda", "samir", "amara", "gardenbot", "freya")),
                         ("Out on the water", ("henrik", "eva", "freya"))):  # fmt: skip
        made = await me.call("POST", "/api/v1/lists", json={"title": title})
        for name in names:
            await story.member.to(story.members[name], "follow")
        ids = [story.members[name].id for name in names]
        await me.call("POST", f"/api/v1/lists/{made['id']}/accounts", json={"account_ids": ids})
    for tag in ("garden", "birds"):
        await me.call("POST", f"/api/v1/tags/{tag}/follow")
    await me.call("POST", "/api/v1/tags/garden/feature")
    for key in ("red-bike", "poem", "concert"):
        await me.call("POST", f"/api/v1/statuses/{story.posts[key]['id']}/bookmark")
    for announcement in await me.call("GET", "/api/v1/announcements"):
        await me.call("POST", f"/api/v1/announcements/{announcement['id']}/dismiss")
    words = {"title": "Spoilers", "context": ["home"], "keywords_attributes": [{"keyword": "last chapter"}]}
    await me.call("POST", "/api/v2/filters", json=words)


async def _write_privately(story: Story) -> None:
    story.posts["private"] = asked = await story.members["mateo"].post(
        status="@juno Rehearsal on Wednesday at six? Bring the cello, I bring the nerves.", visibility="direct"
    )
    await story.member.post(
        status="@mateo At six. I have my own nerves.", in_reply_to_id=asked["id"], visibility="direct"
    )
    await story.members["wanda"].post(status="@juno Shall I knit you a bag for the bow?", visibility="direct")


async def _knock(story: Story) -> None:
    """Whoever wants to follow people who want to be asked."""
    for name in ("theo", "wanda", "hana"):
        await story.members[name].to(story.members["private_ada"], "follow")
    for name in ("theo", "eva", "oskar"):
        await story.members[name].to(story.member, "follow")


async def _let_trend(story: Story) -> None:
    """The member follows nearly everybody; the team lets a few tags be shown."""
    for other in story.here():
        if other is not story.member and not other.person.is_locked and other.name != "bargains":
            await story.member.to(other, "follow")
    for tag in TAGS:
        found = await story.member.app.call("GET", f"/api/v1/tags/{tag}")
        await story.owner.app.call("PUT", f"/api/v1/admin/tags/{found['id']}", json={"trendable": True, "usable": True})

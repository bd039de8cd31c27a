"""What people here post, edit and delete: which servers hear of it, and which do not."""

from __future__ import annotations

import pytest

from kith.federation.outgoing import recipients
from kith.federation.people import store as people
from kith.federation.people.tables import RemoteActor
from kith.federation.posts import quoting
from kith.federation.relays import store as relays
from kith.federation.relays.tables import FederationRelay
from kith.social.accounts.tables import Account
from kith.social.ids import StatusId
from kith.social.statuses import store as statuses
from kith.social.statuses.facts import PollEnded, StatusDeleted, StatusEdited
from tests.federation.outgoing import FOLLOWERS, Village, elsewhere, follows, only, shared, told
from tests.social.members import join, set_state
from tests.social.posts import does, post, said_elsewhere
from tests.town import Town

VISIBILITIES = ("public", "unlisted", "private", "direct")
PUBLIC = "https://www.w3.org/ns/activitystreams#Public"


@pytest.mark.parametrize(
    ("visibility", "names", "hosts", "to"),
    [
        ("public", False, FOLLOWERS, "everybody"),
        ("public", True, FOLLOWERS | {"named.example"}, "everybody"),
        ("unlisted", False, FOLLOWERS, "followers"),
        ("unlisted", True, FOLLOWERS | {"named.example"}, "followers"),
        ("private", False, FOLLOWERS, "followers"),
        ("private", True, FOLLOWERS | {"named.example"}, "followers"),
        ("direct", False, set(), None),
        ("direct", True, {"named.example"}, "named"),
    ],
)
async def test_a_post_reaches_whom_it_is_addressed_to(
    village: Village, visibility: str, names: bool, hosts: set[str], to: str | None
) -> None:
    ada = village.ada
    words = f"{village.name('named')} hello" if names else "hello"

    made = await post(ada, words, visibility=visibility)
    found = await told(village.town)

    assert {host for one in found for host in one.hosts} == hosts
    if not hosts:
        assert found == []
        return
    one = only(found, "Create Note")
    assert one.sender == int(ada.id)
    assert one.activity["id"] == f"{made['uri']}/activity"
    assert one.activity["object"]["id"] == made["uri"]
    addressed = {"everybody": PUBLIC, "followers": f"{ada.me['uri']}/followers"}
    addressed["named"] = village.people["named"].uri
    assert one.activity["to"] == one.activity["object"]["to"] == [addressed[to or ""]]
    # Two people at one server share its inbox, and are told once.
    near = [inbox for inbox in one.inboxes if "near" in inbox]
    assert near == ([shared("near.example")] if "near.example" in hosts else [])
    if "alone.example" in hosts:
        assert f"{village.people['alone'].uri}/inbox" in one.inboxes


@pytest.mark.parametrize(
    ("visibility", "hosts"),
    [
        ("public", FOLLOWERS | {"bystander.example"}),
        ("unlisted", FOLLOWERS | {"bystander.example"}),
        ("private", FOLLOWERS),
        ("direct", set()),
    ],
)
async def test_whoever_is_answered_without_being_named_hears_of_what_is_open(
    village: Village, visibility: str, hosts: set[str]
) -> None:
    asked = await said_elsewhere(village.town, village.people["bystander"])

    await post(village.ada, "an answer", visibility=visibility, in_reply_to_id=asked)

    assert {host for one in await told(village.town) for host in one.hosts} == hosts


@pytest.mark.parametrize(
    ("visibility", "hosts"),
    [
        ("public", FOLLOWERS | {"bobs.example"}),
        ("unlisted", FOLLOWERS | {"bobs.example"}),
        ("private", FOLLOWERS),
        ("direct", set()),
    ],
)
async def test_an_open_answer_to_somebody_here_goes_to_their_followers_too(
    village: Village, visibility: str, hosts: set[str]
) -> None:
    asked = await post(village.bob, "a question", visibility="public")
    await told(village.town)

    await post(village.ada, f"@{village.bob.name} yes", visibility=visibility, in_reply_to_id=asked["id"])

    assert {host for one in await told(village.town) for host in one.hosts} == hosts


async def test_posts_of_somebody_with_many_followers_reach_the_same_servers(village: Village) -> None:
    await set_state(village.town, village.ada.id, lambda _: {"followers_count": recipients.MANY + 1})

    made = await post(village.ada, f"{village.name('named')} hello", visibility="public")
    assert only(await told(village.town), "Create Note").hosts == FOLLOWERS | {"named.example"}

    await village.ada.delete(f"/api/v1/statuses/{made['id']}")
    assert only(await told(village.town), "Delete Tombstone").hosts == FOLLOWERS | {"named.example"}


async def test_suspended_people_are_told_nothing(village: Village) -> None:
    for host in ("alone", "named"):
        await set_state(village.town, village.people[host].id, lambda work: {"suspended_at": work.now})

    await post(village.ada, f"{village.name('named')} hello", visibility="public")

    assert only(await told(village.town), "Create Note").inboxes == [shared("near.example")]


async def test_who_is_limited_speaks_to_those_who_want_to_hear_them(village: Village) -> None:
    await set_state(village.town, village.ada.id, lambda work: {"silenced_at": work.now})
    named = f"{village.name('named')} {village.name('near')} hello"

    await post(village.ada, named, visibility="direct")

    one = only(await told(village.town), "Create Note")
    assert one.hosts == {"near.example"}
    assert one.activity["to"] == [village.people["near"].uri]


async def test_posts_of_whom_nobody_elsewhere_knows_stay_here(village: Village) -> None:
    cy = await join(village.town)

    await post(cy, "hello", visibility="public")
    await post(cy, f"@{village.ada.name} hello", visibility="direct")

    assert await told(village.town) == []


# What becomes of posts


async def test_an_edit_goes_to_everybody_who_took_the_post_up(village: Village) -> None:
    town, ada = village.town, village.ada
    made = await post(ada, "first words", visibility="public")
    await told(town)
    fan, booster, replier = [await elsewhere(town, f"{name}.example") for name in ("fan", "booster", "replier")]
    await took_up(town, made["id"], fan=fan, booster=booster, replier=replier)
    await told(town)

    await ada.does("PUT", f"/api/v1/statuses/{made['id']}", json={"status": "other words"})

    one = only(await told(town), "Update Note")
    assert one.hosts == FOLLOWERS | {"fan.example", "booster.example", "replier.example"}
    assert one.activity["id"].startswith(f"{made['uri']}#updates/")
    assert one.activity["object"]["updated"]
    assert "other words" in one.activity["object"]["content"]

    await ada.delete(f"/api/v1/statuses/{made['id']}")

    one = only(await told(town), "Delete Tombstone")
    assert one.hosts == FOLLOWERS | {"fan.example", "booster.example", "replier.example"}
    assert one.activity["object"] == {"id": made["uri"], "type": "Tombstone", "atomUri": made["uri"]}


async def test_a_group_that_is_named_is_addressed_with_its_followers(village: Village) -> None:
    group = await elsewhere(village.town, "group.example", actor_type="Group")
    async with village.town.house() as house, house.works.begin() as work:
        await people.save_actor(work.db, RemoteActor(group.id, f"{group.uri}/inbox", followers=f"{group.uri}/members"))

    await post(village.ada, f"@{group.username}@{group.domain} {village.name('named')} hello", visibility="direct")

    told_of = only(await told(village.town), "Create Note")
    assert set(told_of.activity["to"]) == {group.uri, f"{group.uri}/members", village.people["named"].uri}


async def test_an_edit_of_what_is_private_goes_to_whom_it_is_addressed_to(village: Village) -> None:
    """Whoever it was shown to by somebody else is told when it is gone, and nothing before."""
    town, ada = village.town, village.ada
    made = await post(ada, f"{village.name('named')} first words", visibility="private")
    fan = await elsewhere(town, "fan.example")
    await took_up(town, made["id"], fan=fan)
    await told(town)

    await ada.does("PUT", f"/api/v1/statuses/{made['id']}", json={"status": "named nobody"})
    assert only(await told(town), "Update Note").hosts == FOLLOWERS | {"named.example"}

    await ada.delete(f"/api/v1/statuses/{made['id']}")
    assert only(await told(town), "Delete Tombstone").hosts == FOLLOWERS | {"named.example", "fan.example"}


async def test_edits_of_posts_from_elsewhere_are_told_by_their_own_server(village: Village) -> None:
    town = village.town
    theirs = await said_elsewhere(town, village.people["near"])
    async with town.house() as house, house.works.begin() as work:
        work.announce(StatusEdited(StatusId(int(theirs)), village.people["near"].id))
        work.announce(StatusDeleted(StatusId(int(theirs)), village.people["near"].id))

    assert await told(town) == []


async def test_a_boost_is_told_to_followers_and_to_the_author(village: Village) -> None:
    town, ada = village.town, village.ada
    theirs = await said_elsewhere(town, village.people["bystander"])

    boost = await does(ada, "reblog", theirs)
    one = only(await told(town), "Announce")
    assert one.hosts == FOLLOWERS | {"bystander.example"}
    assert one.activity["object"] == boost["reblog"]["uri"]
    assert one.activity["cc"] == [village.people["bystander"].uri, f"{ada.me['uri']}/followers"]

    await does(ada, "unreblog", theirs)
    undone = only(await told(town), "Undo Announce")
    assert undone.hosts == one.hosts
    assert undone.activity["object"] == {key: one.activity[key] for key in one.activity if key != "@context"}


@pytest.mark.parametrize(("visibility", "to"), [("public", PUBLIC), ("unlisted", None), ("private", None)])
async def test_a_boost_is_addressed_as_its_booster_wishes(village: Village, visibility: str, to: str | None) -> None:
    theirs = await said_elsewhere(village.town, village.people["bystander"])

    await does(village.ada, "reblog", theirs, visibility=visibility)

    one = only(await told(village.town), "Announce")
    assert one.hosts == FOLLOWERS | {"bystander.example"}
    assert one.activity["to"] == [to or f"{village.ada.me['uri']}/followers"]
    assert (PUBLIC in one.activity["cc"]) is (visibility == "unlisted")


async def test_a_boost_of_ones_own_private_post_brings_the_post(village: Village) -> None:
    made = await post(village.ada, "for followers", visibility="private")
    await told(village.town)

    await does(village.ada, "reblog", made["id"])

    one = only(await told(village.town), "Announce Note")
    assert one.hosts == FOLLOWERS
    assert one.activity["object"]["id"] == made["uri"]
    assert one.activity["to"] == [f"{village.ada.me['uri']}/followers"]


async def test_a_boost_that_goes_with_its_post_is_taken_back(village: Village) -> None:
    """Servers of the booster's followers may have had the post from here alone."""
    town = village.town
    made = await post(village.bob, "soon gone", visibility="public")
    await does(village.ada, "reblog", made["id"])
    await told(town)

    await village.bob.delete(f"/api/v1/statuses/{made['id']}")

    found = await told(town)
    assert only(found, "Delete Tombstone").hosts == {"bobs.example"}
    assert only(found, "Undo Announce").hosts == FOLLOWERS


async def test_votes_are_counted_for_everybody_who_has_the_poll(village: Village) -> None:
    town = village.town
    poll = {"options": ["rye", "wheat"], "expires_in": 3600}
    made = await post(village.ada, "which?", visibility="public", poll=poll)
    asked = only(await told(town), "Create Question")
    assert [one["name"] for one in asked.activity["object"]["oneOf"]] == ["rye", "wheat"]

    await village.bob.post(f"/api/v1/polls/{made['poll']['id']}/votes", json={"choices": [1]})

    one = only(await told(town), "Update Question")
    assert one.hosts == FOLLOWERS
    assert [option["replies"]["totalItems"] for option in one.activity["object"]["oneOf"]] == [0, 1]
    async with town.house() as house, house.works.begin() as work:
        work.announce(PollEnded(int(made["poll"]["id"]), StatusId(int(made["id"]))))
    assert only(await told(town), "Update Question").hosts == FOLLOWERS


async def test_votes_that_are_hidden_are_not_told_before_the_end(village: Village) -> None:
    poll = {"options": ["rye", "wheat"], "expires_in": 3600, "hide_totals": True}
    made = await post(village.ada, "which?", visibility="public", poll=poll)
    await told(village.town)

    await village.bob.post(f"/api/v1/polls/{made['poll']['id']}/votes", json={"choices": [1]})

    assert await told(village.town) == []


async def test_another_policy_for_quotes_is_told(village: Village) -> None:
    made = await post(village.ada, "quote me", visibility="public")
    await told(village.town)

    path = f"/api/v1/statuses/{made['id']}/interaction_policy"
    await village.ada.does("PUT", path, json={"quote_approval_policy": "nobody"})

    one = only(await told(village.town), "Update Note")
    policy = one.activity["object"]["interactionPolicy"]["canQuote"]
    assert policy == {"automaticApproval": [village.ada.me["uri"]]}


async def took_up(town: Town, id: str, **people: Account) -> None:
    """As it stands after what they did has arrived."""
    status_id = StatusId(int(id))
    if "booster" in people:
        await said_elsewhere(town, people["booster"], reblog_of_id=status_id)
    if "replier" in people:
        await said_elsewhere(town, people["replier"], in_reply_to_id=status_id)
    if "fan" in people:
        async with town.house() as house, house.works.begin() as work:
            await statuses.mark(work.db, "favourites", people["fan"].id, status_id, id=work.new_id(), now=work.now)


async def test_what_is_for_followers_says_who_follows_from_there(village: Village) -> None:
    """Only servers that follow from are told, each of its own people."""
    await post(village.ada, f"{village.name('named')} hello", visibility="private")

    one = only(await told(village.town), "Create Note")
    assert set(one.headers) == {shared("near.example"), f"{village.people['alone'].uri}/inbox"}
    header = one.headers[shared("near.example")]["collection-synchronization"]
    assert f'collectionId="{village.ada.me["uri"]}/followers"' in header
    assert header != one.headers[f"{village.people['alone'].uri}/inbox"]["collection-synchronization"]

    await post(village.ada, "hello", visibility="public")
    assert only(await told(village.town), "Create Note").headers == {}


async def test_a_host_whose_people_are_written_to_at_another_is_told_of_nobody(village: Village) -> None:
    """Neither of the two could tell who is missing."""
    whole = await elsewhere(village.town, "inboxes.example")
    split = await elsewhere(village.town, "people.example")
    other = await elsewhere(village.town, "people.example")
    async with village.town.house() as house, house.works.begin() as work:
        await people.save_actor(
            work.db, RemoteActor(split.id, "https://inboxes.example/split", shared("inboxes.example"))
        )
    for one in (whole, split, other):
        await follows(village.town, one, village.ada)

    await post(village.ada, "only us", visibility="private")

    sent = only(await told(village.town), "Create Note")
    assert {shared("inboxes.example"), shared("people.example")} <= set(sent.inboxes)
    assert set(sent.headers) == {shared("near.example"), f"{village.people['alone'].uri}/inbox"}


async def test_relays_get_public_posts_alone(village: Village) -> None:
    relay = await join_relay(village.town)
    made = {visibility: await post(village.bob, "hello", visibility=visibility) for visibility in VISIBILITIES}
    found = await told(village.town)
    assert [one.activity["object"]["id"] for one in found if relay in one.inboxes] == [made["public"]["uri"]]

    for one in made.values():
        await village.bob.delete(f"/api/v1/statuses/{one['id']}")
    found = await told(village.town)
    await leave_relay(village.town, relay)
    assert [one.activity["object"]["id"] for one in found if relay in one.inboxes] == [made["public"]["uri"]]


async def join_relay(town: Town) -> str:
    inbox = "https://relay.example/inbox"
    async with town.house() as house, house.works.begin() as work:
        row = FederationRelay(
            work.new_id(), inbox, "enabled", f"{town.base_url}/relay-{work.new_id()}", work.now, work.now
        )
        await relays.insert(work.db, row)
    return inbox


async def leave_relay(town: Town, inbox: str) -> None:
    async with town.house() as house, house.works.begin() as work:
        found = await relays.find_by_inbox(work.db, inbox)
        assert found is not None
        await relays.remove(work.db, found.id)


# Quotes


@pytest.mark.parametrize(
    ("visibility", "names", "is_shown"),
    [("public", False, True), ("unlisted", False, True), ("private", False, False), ("private", True, True)],
)
async def test_whoever_is_quoted_elsewhere_is_asked(
    village: Village, visibility: str, names: bool, is_shown: bool
) -> None:
    author = village.people["named"]
    theirs = await said_elsewhere(village.town, author)
    words = f"{village.name('named')} look" if names else "look"

    made = await post(village.ada, words, visibility=visibility, quoted_status_id=theirs)

    assert made["quote"]["state"] == "pending"
    one = only(await told(village.town), "QuoteRequest")
    assert one.inboxes == [shared("named.example")]
    assert one.activity["object"] == f"{author.uri}/{theirs}"
    instrument = one.activity["instrument"]
    assert (instrument["id"] if is_shown else instrument) == made["uri"]


async def test_the_leave_to_quote_is_told_with_the_post(village: Village) -> None:
    town, theirs = village.town, await said_elsewhere(village.town, village.people["named"])
    made = await post(village.ada, "look", visibility="public", quoted_status_id=theirs)
    await told(town)
    stamp = "https://named.example/stamps/1"
    async with town.house() as house, house.works.begin() as work:
        mine, quoted = [await statuses.find(work.db, StatusId(int(id))) for id in (made["id"], theirs)]
        assert mine is not None
        assert quoted is not None
        await quoting.accept(work, mine, quoted, stamp=stamp)

    one = only(await told(town), "Update Note")
    assert one.hosts == FOLLOWERS | {"named.example"}
    assert one.activity["object"]["quoteAuthorization"] == stamp


async def test_a_quote_that_is_taken_back_is_told_to_whoever_saw_either_post(village: Village) -> None:
    town, author = village.town, village.people["bystander"]
    made = await post(village.ada, "quote me", visibility="public")
    quote = await said_elsewhere(town, author, quoted_id=StatusId(int(made["id"])), quote_state="accepted")
    await told(town)

    await village.ada.post(f"/api/v1/statuses/{made['id']}/quotes/{quote}/revoke")

    one = only(await told(town), "Delete")
    assert one.hosts == FOLLOWERS | {"bystander.example"}
    assert one.activity["object"] == f"{village.ada.me['uri']}/quote_authorizations/{quote}"

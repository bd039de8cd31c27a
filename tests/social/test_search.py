from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.base.db import command, insert_into
from kith.base.work import Work
from kith.social.accounts.facts import AccountChanged
from kith.social.ids import AccountId, StatusId
from kith.social.search.queries import STEPS
from kith.social.search.query_syntax import read
from kith.social.search.tables import status_words
from kith.social.search.words import MOST_WORDS, for_postgres, for_sqlite, to_index, to_term
from kith.social.statuses.store import rows as status_rows
from kith.social.statuses.tables import statuses
from kith.social.tags.tables import tags
from tests.conftest import TownBuilder
from tests.social.members import Member, join, set_state, stranger, until
from tests.social.posts import said_elsewhere
from tests.social.shapes import ACCOUNT, check
from tests.town import Town

NO_WORDS = {"error": "At least one keyword or phrase is required"}


def rare() -> str:
    """A word that nobody else in a shared town has used."""
    return f"w{uuid.uuid4().hex[:12]}"


async def says(member: Member, text: str, **more: Any) -> str:
    posted = await member.post("/api/v1/statuses", json={"status": text} | more)
    return str(posted["id"])


async def finds(member: Member, q: str, **more: Any) -> list[str]:
    found = await member.get("/api/v2/search", params={"q": q, "type": "statuses"} | more)
    return [status["id"] for status in found["statuses"]]


async def names(member: Member, q: str, **more: Any) -> list[str]:
    return [account["acct"] for account in await member.get("/api/v1/accounts/search", params={"q": q} | more)]


async def learnt(member: Member, q: str, *ids: str) -> None:
    """Until the index has them all."""

    async def all_there() -> bool:
        return set(ids) <= set(await finds(member, q, limit=40))

    await until(all_there)


# The words themselves


@pytest.mark.parametrize("text", ["a " * 1000, "東" * 2000, "a b-" * 500])
def test_a_phrase_is_looked_for_by_its_beginning(text: str) -> None:
    """Each of its words is looked for at each place in each text."""
    term = to_term(text)
    assert term is not None
    assert len(term.words) == MOST_WORDS
    assert not term.is_open


@pytest.mark.parametrize(
    ("text", "asked", "found"),
    [
        ("A Café in ＫＹＯＴＯ", "cafe", True),
        ("Straße", "STRASSE", True),
        ("naïve", "naive", True),
        ("東京都に行く", "東京", True),
        ("東京都に行く", "京都に", True),
        ("東京都に行く", "く", True),
        ("東京都に行く", "京東", False),
        ("日本語 text here", "日本語 text", True),
        ("日本語 text here", "本語 text", True),
        ("日本語 text here", "日本 text", False),
        ("한국어를 배워요", "한국어", True),
        ("ภาษาไทย", "ไทย", True),
        ("state-of-the-art, e-mail@example.org", "example.org", True),
        ("user_name", "name", True),
        ("plain words", "word", False),
        ("हिन्दी में", "हिन्दी", True),
        ("v1.2.3 at 10:30", "10:30", True),
    ],
)
async def test_texts_are_found_by_what_is_in_them(town: Town, text: str, asked: str, found: bool) -> None:
    term = to_term(asked)
    assert term is not None
    async with town.house() as house:
        if house.database.dialect == "sqlite":
            reader = house.database.reader  # type: ignore[attr-defined]
            connection = type(reader)(":memory:")
            connection.execute("CREATE VIRTUAL TABLE t USING fts5(words, tokenize='unicode61 remove_diacritics 2')")
            connection.execute("INSERT INTO t VALUES (?)", [to_index(text)])
            rows = connection.execute("SELECT 1 FROM t WHERE t MATCH ?", [for_sqlite([term], every=True)]).fetchall()
            matches = bool(rows)
            connection.close()
        else:
            [[matches]] = await house.database.session().fetch(  # type: ignore[attr-defined]
                "SELECT to_tsvector('simple', $1) @@ to_tsquery('simple', $2)",
                to_index(text),
                for_postgres([term], every=True),
            )

    assert matches is found


QUERIES = st.one_of(
    st.text(max_size=80),
    st.lists(
        st.sampled_from([
            "-", "+", '"', "from:", "-from:me", "has:", "has:media", "is:reply", "language:", "language:de", "before:",
            "before:2024-01-01", "after:9999-12-31", "during:0001-01-01", "after:99999999999", "in:library",
            "-in:public", "NEAR(a b)", "a*", "col:x", "^x", "a OR b", "(", ")", "'", "\\", "!x", "a & b", "x:*", "<->",
            "日", "本語", "\0", "\ud800", "é", "NOT", "{a b}: c", " ",
        ]),
        max_size=12,
    ).map("".join),
)  # fmt: skip


@given(QUERIES)
def test_any_query_is_read_and_none_speaks_to_the_index_itself(text: str) -> None:
    asked = read(text)

    for term in (*asked.wanted, *asked.unwanted):
        assert term.words
        assert all(word and not re.search(r"""[\s"'():*&|!<>\\^+{}-]""", word) for word in term.words)
        assert re.fullmatch(r'"[^"]+"( \*)?', for_sqlite([term], every=True))
        assert re.fullmatch(r"\('[^']+'(?: <-> '[^']+')*(:\*)?\)", for_postgres([term], every=True))


async def test_no_query_is_a_fault_of_ours(town: Town) -> None:
    # given
    ada = await join(town)
    odd = ['"', '"a', "a*", "NEAR(a b)", "a AND", "-a", "'a' & !b:*", "x" * 3000, "日" * 500, "\u0300", "from:@", "😀", "%_!", "𞤀𞤁"]  # fmt: skip
    odd += ["before:2024-13-01 a", "during:9999-12-31 a", "after:99999999999 a", "a language:xx-yy-zz", "{a}: b"]

    # when
    answers = [await ada.call("GET", "/api/v2/search", params={"q": text}) for text in odd]
    answers += [await ada.call("GET", "/api/v2/search", params={"q": text, "type": "statuses"}) for text in odd]

    # then
    assert {answer.status_code for answer in answers} <= {200, 400}
    assert all(answer.json() == NO_WORDS for answer in answers if answer.status_code == 400)


# Statuses


async def test_whoever_searches_finds_what_they_had_to_do_with_and_what_is_open_to_search(town: Town) -> None:
    # given
    ada, bob, open_one = await join(town), await join(town), await join(town)
    await open_one.patch("/api/v1/accounts/update_credentials", json={"indexable": True})
    word = rare()
    own = await says(ada, f"{word} mine", visibility="private")
    closed = await says(bob, f"{word} not to be found")
    open_post = await says(open_one, f"{word} for everybody")
    unlisted = await says(open_one, f"{word} quietly", visibility="unlisted")
    named = await says(bob, f"{word} @{ada.name}", visibility="direct")
    marks = {verb: await says(bob, f"{word} {verb}") for verb in ("favourite", "bookmark", "reblog")}
    for verb, id in marks.items():
        await ada.post(f"/api/v1/statuses/{id}/{verb}")
    asked = await bob.post(
        "/api/v1/statuses", json={"status": word, "poll": {"options": ["x", "y"], "expires_in": 600}}
    )
    await ada.post(f"/api/v1/polls/{asked['poll']['id']}/votes", json={"choices": [0]})
    library = {own, named, asked["id"], *marks.values()}
    await learnt(ada, word, *library, open_post)
    await learnt(bob, word, closed)
    await learnt(open_one, word, unlisted)

    # then
    assert set(await finds(ada, word)) == library | {open_post}
    assert set(await finds(ada, f"{word} in:library")) == library
    assert await finds(ada, f"{word} in:public") == [open_post]
    assert await finds(ada, f"{word} -in:library") == [open_post]
    assert set(await finds(ada, "in:library", limit=40)) == library
    assert (await town.http.get("/api/v2/search", params={"q": word})).json()["statuses"] == []


async def test_words_phrases_and_filters_narrow(town: Town) -> None:
    # given
    ada = await join(town)
    word = rare()
    first = await says(ada, f"{word} the quick brown fox", language="en")
    second = await says(ada, f"{word} the brown quick Füchse", language="de", sensitive=True)
    reply = await says(ada, f"{word} answer", in_reply_to_id=first, spoiler_text="Beware")
    poll = await says(ada, word, poll={"options": ["Tea", "Coffee"], "expires_in": 600})
    await learnt(ada, word, first, second, reply, poll)
    today = datetime.now(UTC).date()
    tomorrow, yesterday = today + timedelta(days=1), today - timedelta(days=1)

    # then
    cases = {
        f"{word} quick": {first, second},
        f"{word} +quick +brown": {first, second},
        f'{word} "quick brown"': {first},
        f'{word} -"quick brown"': {second, reply, poll},
        f"{word} -quick": {reply, poll},
        f"{word} fuchse": {second},
        f"{word} BEWARE": {reply},
        f"{word} coffee": {poll},
        f"{word} language:de": {second},
        f"{word} language:de language:en quick": {first, second},
        f"{word} -language:de quick": {first},
        f"{word} is:sensitive": {second, reply},
        f"{word} -is:sensitive": {first, poll},
        f"{word} is:reply": {reply},
        f"{word} -is:reply": {first, second, poll},
        f"{word} has:poll": {poll},
        f"{word} -has:poll -is:reply": {first, second},
        f"{word} has:media": set(),
        f"{word} has:image": set(),
        f"{word} has:embed": set(),
        f"{word} -has:link -has:video -has:audio": {first, second, reply, poll},
        f"{word} is:quote": set(),
        f"{word} from:me": {first, second, reply, poll},
        f"{word} from:@{ada.name}": {first, second, reply, poll},
        f"{word} -from:me": set(),
        f"{word} from:nobody_at_all": set(),
        f"{word} -from:nobody_at_all has:poll": {poll},
        f"{word} before:{tomorrow} quick": {first, second},
        f"{word} before:{yesterday}": set(),
        f"{word} after:{yesterday} has:poll": {poll},
        f"{word} after:{today}": set(),
        f"{word} during:{yesterday}": set(),
        f"{word} -during:{yesterday} has:poll": {poll},
        f"{word} after:{int(datetime.now(UTC).timestamp()) - 86400} has:poll": {poll},
        f"{word} has:nothing": set(),
    }
    assert {q: set(await finds(ada, q)) for q in cases} == cases


async def test_edits_and_deletions_are_followed(town: Town) -> None:
    ada = await join(town)
    before, after = rare(), rare()
    id = await says(ada, before)
    await learnt(ada, before, id)

    await ada.does("PUT", f"/api/v1/statuses/{id}", json={"status": after})
    await learnt(ada, after, id)
    assert await finds(ada, before) == []

    await ada.delete(f"/api/v1/statuses/{id}")
    assert await finds(ada, after) == []


async def test_blocks_and_mutes_hide_and_who_is_blocked_finds_nothing(town: Town) -> None:
    # given
    ada, bob, eve = await join(town), await join(town), await join(town)
    word = rare()
    ids = []
    for member in (bob, eve):
        await member.patch("/api/v1/accounts/update_credentials", json={"indexable": True})
        ids.append(await says(member, word))
    await learnt(ada, word, *ids)

    # when
    await ada.to(bob, "mute")
    await eve.to(ada, "block")

    # then
    assert await finds(ada, word) == []
    found = await ada.get("/api/v1/search", params={"q": word})
    assert found == {"accounts": [], "statuses": [], "hashtags": []}


async def test_pages_are_turned_only_where_one_kind_is_asked_for(town: Town) -> None:
    ada = await join(town)
    word = rare()
    ids = [await says(ada, f"{word} {number}") for number in range(5)]
    await learnt(ada, word, *ids)
    ids.reverse()

    assert await finds(ada, word, limit=2) == ids[:2]
    assert await finds(ada, word, limit=2, offset=2) == ids[2:4]
    assert await finds(ada, word, max_id=ids[1], limit=2) == ids[2:4]
    assert await finds(ada, word, min_id=ids[2]) == ids[:2]
    assert await finds(ada, word, account_id=ada.id, limit=1) == ids[:1]
    assert await finds(ada, word, account_id="1") == []
    every = await ada.get("/api/v2/search", params={"q": word, "limit": 2, "offset": 2})
    assert [status["id"] for status in every["statuses"]] == ids[:2]
    assert set(every) == {"accounts", "statuses", "hashtags", "collections"}


@pytest.mark.parametrize(
    ("path", "who", "params", "status", "error"),
    [
        ("/api/v2/search", "nobody", {"q": "abc", "offset": 1, "type": "accounts"}, 401, "Search queries pagination is not supported without authentication"),
        ("/api/v2/search", "nobody", {"q": "abc", "resolve": "true"}, 401, "Search queries that resolve remote resources are not supported without authentication"),
        ("/api/v2/search", "ada", {"q": "abc", "offset": -1}, 400, "Pagination values for `offset` and `limit` must be positive"),
        ("/api/v2/search", "ada", {"q": "abc", "limit": -1}, 400, "Pagination values for `offset` and `limit` must be positive"),
        ("/api/v2/search", "ada", {}, 400, "param is missing or the value is empty or invalid: q"),
        ("/api/v2/search", "ada", {"q": "from:me"}, 400, "At least one keyword or phrase is required"),
        ("/api/v2/search", "ada", {"q": "!!", "type": "statuses"}, 400, "At least one keyword or phrase is required"),
        ("/api/v1/search", "nobody", {"q": "abc"}, 401, "The access token is invalid"),
    ],
)  # fmt: skip
async def test_what_cannot_be_answered_is_said(
    town: Town, path: str, who: str, params: dict[str, Any], status: int, error: str
) -> None:
    if who == "nobody":
        answer = await town.http.get(path, params=params)
    else:
        answer = await (await join(town)).call("GET", path, params=params)

    assert (answer.status_code, answer.json()) == (status, {"error": error})


async def test_a_post_is_found_by_its_address(town: Town) -> None:
    ada, bob = await join(town), await join(town)
    posted = await bob.post("/api/v1/statuses", json={"status": rare()})
    secret = await bob.post("/api/v1/statuses", json={"status": rare(), "visibility": "private"})

    found = await ada.get("/api/v2/search", params={"q": posted["url"], "resolve": "true"})
    hidden = await ada.get("/api/v2/search", params={"q": secret["url"]})
    person = await ada.get("/api/v2/search", params={"q": bob.me["url"]})

    assert [status["id"] for status in found["statuses"]] == [posted["id"]]
    assert hidden["statuses"] == []
    assert [account["id"] for account in person["accounts"]] == [bob.id]


# People and tags


async def test_people_are_found_exact_names_first_and_those_one_follows_before_others(town: Town) -> None:
    # given
    word = rare()
    ada = await join(town)
    exact, followed, famous, noted = [
        await join(town, name) for name in (word, f"{word}_b", f"{word}_c", f"n_{word[1:]}")
    ]
    await noted.patch("/api/v1/accounts/update_credentials", json={"note": f"All about {word}!"})
    await set_state(town, famous.id, lambda _: {"followers_count": 50})
    await ada.to(followed, "follow")

    async def all_known() -> bool:
        return len(await names(ada, word)) == 4

    await until(all_known)

    # then
    assert await names(ada, word) == [exact.name, followed.name, famous.name, noted.name]
    assert await names(ada, f"@{word.upper()}") == [exact.name, followed.name, famous.name, noted.name]
    assert await names(ada, word[:9]) == [followed.name, famous.name, exact.name, noted.name]
    assert await names(ada, word, following="true") == [followed.name]
    assert await names(ada, word, limit=2) == [exact.name, followed.name]
    assert await names(ada, word, limit=2, offset=2) == [famous.name, noted.name]
    assert await names(ada, f"{word} about") == [noted.name]
    found = await ada.get("/api/v2/search", params={"q": word, "type": "accounts"})
    check(found["accounts"], [ACCOUNT])
    assert found["statuses"] == found["hashtags"] == []

    # when
    await set_state(town, exact.id, lambda work: {"suspended_at": work.now})

    # then
    assert exact.name not in await names(ada, word)


async def test_people_who_are_kept_apart_are_found_by_their_whole_name_only(town: Town) -> None:
    # given
    word = rare()
    ada = await join(town)
    blocked, blocking, muted, welcome = [await join(town, f"{word}_{end}") for end in "abcd"]
    domain = f"{word}.example"
    far = await stranger(town, domain, username=f"{word}_e", username_key=f"{word}_e")
    await _make_known(town, far.id)
    everybody = {blocked.name, blocking.name, muted.name, welcome.name, f"{far.username}@{domain}"}

    async def all_known() -> bool:
        return set(await names(ada, word)) == everybody

    await until(all_known)

    # when
    await ada.to(blocked, "block")
    await blocking.to(ada, "block")
    await ada.to(muted, "mute")
    await ada.post("/api/v1/domain_blocks", json={"domain": domain})

    # then
    assert await names(ada, word) == [welcome.name]
    for name in everybody - {welcome.name}:
        assert await names(ada, name) == [name]


async def _make_known(town: Town, id: int) -> None:
    """To search, as an account is when it has changed."""
    async with town.house() as house, house.works.begin() as work:
        work.announce(AccountChanged(account_id=AccountId(id)))


async def test_somebody_without_a_name_must_know_three_letters_or_the_whole_name(town: Town) -> None:
    short = uuid.uuid4().hex[:2]
    person = await join(town, f"{short}_{rare()}")
    exact = await join(town, f"q{uuid.uuid4().hex[:1]}")

    async def found(q: str) -> list[str]:
        answer = await town.http.get("/api/v2/search", params={"q": q, "type": "accounts", "limit": 40})
        return [account["username"] for account in answer.json()["accounts"]]

    async def is_known() -> bool:
        return await found(person.name[:12]) == [person.name]

    await until(is_known)
    assert await found(short) == []
    assert await found(exact.name) == [exact.name]


async def test_people_elsewhere_are_found_by_their_whole_name(town: Town) -> None:
    ada = await join(town)
    known = await stranger(town)

    assert await names(ada, f"@{known.username}@elsewhere.example") == [known.acct]
    assert await names(ada, f"{known.username}@nowhere.example", resolve="true") == []


async def test_tags_are_found_by_how_they_begin(new_town: TownBuilder) -> None:
    # given
    town = await new_town()
    ada = await join(town)
    word = "Straßenmusik"
    await says(ada, f"#{word} #{word}Berlin #{word}Hidden #Other")
    async with town.house() as house, house.works.begin() as work:
        await _hide(work, "strassenmusikhidden")

    # then
    for q in ("#strassenm", "STRASSENM", "straßenmusik"):
        found = await ada.get("/api/v2/search", params={"q": q, "type": "hashtags"})
        assert [tag["name"] for tag in found["hashtags"]][:1] == [word]
        assert {tag["name"] for tag in found["hashtags"]} == {word, f"{word}Berlin"}
    old = await ada.get("/api/v1/search", params={"q": "strassenmusik"})
    assert old["hashtags"] == [word, f"{word}Berlin"]
    reviewed = await ada.get("/api/v2/search", params={"q": "strassenmusik", "exclude_unreviewed": "true"})
    assert reviewed["hashtags"] == []
    assert (await ada.get("/api/v2/search", params={"q": "%", "type": "hashtags"}))["hashtags"] == []


async def _hide(work: Work, name: str) -> None:
    """As the team does."""
    await work.db.run(command(tags.update().where(tags.c.name == name).values(listable=False)))


# Words that many have used


async def test_words_are_the_same_in_the_index_and_in_the_texts_of_one_person(town: Town) -> None:
    """What somebody said or kept is looked for in its text, what all said in the index."""
    me, word = await join(town), rare()
    texts = (
        "Ein grüner Wald",
        "日本語で話す",
        "foo-bar baz_qux example.com",
        "ΑΒΓ in der Straße",
        "हिन्दी में",
        "007 1e5 x²",
    )
    long = " ".join(f"part{number}" for number in range(30))
    said = [await says(me, f"{word} {text}") for text in (*texts, long)]
    await learnt(me, word, *said)
    wald, japanese, marks, greek, hindi, numbers, much = said
    wanted = {
        "": set(said), '"grüner wald"': {wald}, "gruner": {wald}, '"wald grüner"': set(), "日本": {japanese},
        "本語": {japanese}, "語": {japanese}, "日語": set(), "foo": {marks}, '"foo bar"': {marks}, "qux": {marks}, "oo": set(),
        "strasse αβγ": {greek}, "हिन्दी": {hindi}, "007": {numbers}, "1e5": {numbers}, "x2": {numbers},
        f'"{long}"': {much}, f'"{long} no"': set(), f'-"{long}"': set(said) - {much},
        "-wald": set(said) - {wald}, '-"foo bar"': set(said) - {marks}, "-日本 -007": set(said) - {japanese, numbers},
    }  # fmt: skip
    for words, ids in wanted.items():
        for more in ("", "from:me", "in:library"):
            assert set(await finds(me, f"{word} {words} {more}")) == ids, (words, more)


async def test_what_one_may_see_is_found_below_many_newer_ones_that_one_may_not(town: Town) -> None:
    me, word = await join(town), rare()
    mine = await says(me, f"{word} long ago")
    beside = await says(me, f"{word} with a wart")
    away = await stranger(town, indexable=False)
    await learnt(me, word, mine, beside)
    sample = await said_elsewhere(town, away, "nothing")
    async with town.house() as house, house.works.begin() as work:
        row = await status_rows.find(work.db, StatusId(int(sample)))
        assert row is not None
        ids = [work.new_id() for _ in range(STEPS[0].window + 50)]
        await work.db.many(
            command(insert_into(statuses)),
            [
                msgspec.structs.asdict(row)
                | {"id": id, "uri": f"{row.uri}/{id}", "url": f"{row.uri}/{id}", "conversation_id": id}
                for id in ids
            ],
        )
        await work.db.many(
            command(insert_into(status_words)), [{"status_id": id, "words": to_index(f"{word} new")} for id in ids]
        )

    assert await finds(me, word) == [beside, mine]
    assert await finds(me, word, limit=1) == [beside]
    assert await finds(me, word, limit=1, offset=1) == [mine]
    assert await finds(me, f"{word} -wart") == [mine]
    assert await finds(me, word, max_id=beside) == [mine]
    assert await finds(me, word, min_id=mine) == [beside]

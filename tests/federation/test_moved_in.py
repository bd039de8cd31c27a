"""Somebody elsewhere follows a person whose server becomes a Kith: they notice nothing."""

from __future__ import annotations

from pathlib import Path

from kith.federation.keys import store as keys
from kith.federation.keys.service import PLACE
from kith.identity.for_social import Sealer
from kith.social.accounts import store as accounts
from tests.cli.mastodon_server import TOKEN, MastodonServer
from tests.conftest import TownBuilder
from tests.federation.two_servers import arrived, follow, two_towns
from tests.social.members import Member, join, until
from tests.town import Town
from tests.town.nursery import run
from tests.town.town import Engine

ACTIVITY = {"Accept": "application/activity+json"}


async def test_remote_followers_notice_nothing(engine: Engine, new_town: TownBuilder, tmp_path: Path) -> None:
    async with two_towns(engine, tmp_path / "towns") as (here, there):
        # given
        ada, bob = await join(here, "ada"), await join(there)
        await follow(bob, ada)
        public, private = await _key_of(here, "ada")
        await here.stop()
        moved = await _empty(new_town, here)
        old = MastodonServer("4.3", here.base_url)
        await _add_follower(old, there, bob)
        for row in old.tables["accounts"]:
            if row["username"] == "ada":
                row |= {"public_key": public, "private_key": private}
        words = ("import", "mastodon", str(old.dump(tmp_path / "mastodon.sql")))
        done = await run(*words, environment=moved.environment)
        assert (done.code, "left out" in done.said) == (1, True), done.complained  # some of it is left out

        # when
        await moved.start()
        ada = Member(moved, TOKEN)
        post = await ada.post("/api/v1/statuses", json={"status": "same place, new walls", "visibility": "public"})
        came = await arrived(bob, post["uri"])
        await bob.post(f"/api/v1/statuses/{came['id']}/favourite")

        # then
        async def is_told() -> bool:
            told = await ada.get("/api/v1/notifications", params={"types[]": "favourite"})
            return [one["account"]["username"] for one in told] == [bob.name]

        await until(is_told)
        assert came["account"]["acct"] == f"ada@127.0.0.1:{here.port}"
        assert '"/users/{name}"' not in moved.log()  # nobody had to look who that is
        await moved.http.get("/users/ada", headers=ACTIVITY)
        await until(lambda: _logged(moved, '"/users/{name}"'))  # which would have been seen


async def _logged(town: Town, words: str) -> bool:
    return words in town.log()


async def _empty(new_town: TownBuilder, old: Town) -> Town:
    """A server that nobody has used, at the address of another."""
    made = await new_town(start=False, private_hosts=old.environment["KITH_PRIVATE_HOSTS"])
    await made.http.aclose()
    made.port, made.base_url, made.http = old.port, old.base_url, old.http
    return made


async def _key_of(town: Town, name: str) -> tuple[str, str]:
    async with town.house() as house, house.works.begin() as work:
        account = await accounts.find_named(work.db, name)
        assert account is not None
        key = await keys.find(work.db, account.id)
        assert key is not None
        return key.public_key, work.find(Sealer).open(key.private_key, PLACE)


async def _add_follower(old: MastodonServer, there: Town, bob: Member) -> None:
    uri = f"{there.base_url}/users/{bob.name}"
    actor = (await there.http.get(uri, headers=ACTIVITY)).json()
    old.add_stranger(
        bob.name, uri, f"127.0.0.1:{there.port}", inbox_url=actor["inbox"],
        shared_inbox_url=actor["endpoints"]["sharedInbox"], public_key=actor["publicKey"]["publicKeyPem"],
    )  # fmt: skip
    old.add("follows", **old.tables["follows"][0] | {"id": 77, "account_id": old.ids[bob.name], "target_account_id": 1})

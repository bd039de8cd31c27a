from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from kith.base.errors import Invalid, NotFound
from kith.base.settings import load
from kith.cli.actor_keys import rotate_key
from kith.cli.domains import allow, block_command
from kith.cli.inputs import WORDS
from kith.cli.running import as_json, house, reading, run, say
from kith.cli.showing import show_record, show_rows

if TYPE_CHECKING:
    from kith.base.work import Work
    from kith.federation.block_lists.planning import PlannedChange
    from kith.federation.block_lists.subscribing import Rehearsal
    from kith.federation.block_lists.tables import BlockList
    from kith.federation.peers import Peer
    from kith.federation.relays.tables import FederationRelay
    from kith.social.accounts.tables import Account


@click.group()
def federation() -> None:
    """See and govern what goes on with other servers."""


federation.add_command(block_command("suspend"))
federation.add_command(allow)
federation.add_command(rotate_key)


@federation.command()
@as_json
def peers(*, as_json: bool) -> None:
    """Every other server that is known here: its people, how deliveries go, and whether it is blocked."""
    from kith.federation.peers import every_peer  # noqa: PLC0415 - loaded when first used

    async def read() -> list[Peer]:
        async with reading() as work:
            return await every_peer(work)

    found = run(read())
    if as_json:
        say(found)
        return
    heads = ["domain", "accounts", "deliveries", "waiting", "block", "allowed"]
    rows = [[one.domain, one.accounts, one.state, one.waiting, one.block, one.allowed] for one in found]
    show_rows(heads, rows, nothing="No other servers are known.")


@federation.command()
@click.argument("handle", type=WORDS)
@as_json
def resolve(*, handle: str, as_json: bool) -> None:
    """Find HANDLE (user@domain, or the address of a profile or a post), fetch it and print its id."""
    found = run(_post_or_person(handle) if "://" in handle else _person(handle))
    if as_json:
        say(found)
    else:
        click.echo(found["id"])


async def _person(handle: str) -> dict[str, Any]:
    from kith.federation.fetching import FetchChain  # noqa: PLC0415 - loaded when first used
    from kith.federation.fetching.failures import FetchFailed  # noqa: PLC0415
    from kith.federation.people.fetching import fetch_handle  # noqa: PLC0415
    from kith.federation.vocabulary.incoming import DocumentRefused, read_handle  # noqa: PLC0415

    named = handle if "@" in handle.removeprefix("acct:").lstrip("@") else f"{handle.lstrip('@')}@{load().domain}"
    read = read_handle(named)
    if read is None:
        raise NotFound(f"{handle} is no handle such as user@example.org")
    async with house() as opened:
        try:
            found = await fetch_handle(opened.works, read, FetchChain())
        except (FetchFailed, DocumentRefused) as error:
            raise NotFound(f"{handle} cannot be found: {_why(error)}") from error
    if found is None:
        raise NotFound(f"{handle} cannot be found")
    return _shown_account(found)


# For those reasons that an operator can do something about, or meets often.
_REASONS = {
    "refused_address": "its address is none of the public internet (KITH_PRIVATE_HOSTS can name it)",
    "connect": "nothing answers there",
    "timeout": "its server does not answer in time",
    "tls": "its server shows no certificate that counts",
    "busy": "too much is asked for at once; try again",
    "blocked": "that server is blocked here",
    "not_found": "its server knows nobody and nothing of that name",
    "gone": "it was deleted there",
    "forbidden": "its server does not let us see it",
    "failed_before": "its server did not answer a moment ago; try again in some minutes",
}


def _why(error: Exception) -> str:
    """Without what is meant for the log."""
    reason = getattr(error, "reason", "")
    return _REASONS.get(reason, str(error).removeprefix(f"{reason}: "))


def _shown_account(account: Account) -> dict[str, Any]:
    return {"id": account.uri, "acct": account.acct, "url": account.url, "type": account.actor_type}


async def _post_or_person(address: str) -> dict[str, Any]:
    from kith.federation.people.looking_up import LookUp  # noqa: PLC0415 - loaded when first used
    from kith.social.accounts import store as accounts  # noqa: PLC0415
    from kith.social.search.elsewhere import FoundElsewhere  # noqa: PLC0415
    from kith.social.statuses import store as statuses  # noqa: PLC0415

    async with house() as opened, opened.works.begin() as work:
        found = await work.find(LookUp).look_up(work, address) or FoundElsewhere()
        status = None if found.status_id is None else await statuses.find(work.db, found.status_id)
        account_id = found.account_id if status is None else status.account_id
        account = None if account_id is None else await accounts.find(work.db, account_id)
        if account is None:
            raise NotFound(f"{address} cannot be found")
        if status is None:
            return _shown_account(account)
        kind = "Note" if status.poll_id is None else "Question"
        return {"id": status.uri, "acct": account.acct, "url": status.url, "type": kind}


@federation.command()
@click.argument("domain", type=WORDS, required=False)
def retry(*, domain: str | None) -> None:
    """Send now whatever waits for DOMAIN, or for any server, also to those that were given up."""
    from kith.federation.delivery import operators  # noqa: PLC0415 - loaded when first used

    async def do() -> int:
        async with house() as opened, opened.works.begin() as work:
            return await operators.retry_now(work, None if domain is None else domain.strip().lower())

    click.echo(f"{run(do())} deliveries are sent now.")


@federation.command()
@click.argument("domain", type=WORDS)
def purge(*, domain: str) -> None:
    """Forget whatever waits to be sent to DOMAIN."""
    from kith.federation.delivery import operators  # noqa: PLC0415 - loaded when first used

    async def do() -> int:
        async with house() as opened, opened.works.begin() as work:
            return await operators.purge_host(work, domain.strip().lower())

    click.echo(f"{run(do())} deliveries were forgotten.")


# Relays


@federation.group()
def relays() -> None:
    """Join relays, which pass public posts on, and leave them."""


def _address(text: str) -> str:
    """Check that a word is a web address. Whether plain http is allowed there is decided later."""
    url = urlsplit(text.strip())
    if url.scheme not in ("http", "https") or not url.hostname:
        raise Invalid(f"the address must be like https://example.org/..., not {text}")
    return text


@relays.command("add")
@click.argument("inbox", type=WORDS)
def add_relay(*, inbox: str) -> None:
    """Ask the relay at INBOX to pass our public posts on; it is enabled once it has accepted."""
    from kith.federation.relays import joining  # noqa: PLC0415 - loaded when first used
    from kith.social.staff import OPERATOR  # noqa: PLC0415

    async def do() -> FederationRelay:
        async with house() as opened, opened.works.begin() as work:
            return await joining.add(work, OPERATOR, _address(inbox))

    click.echo(f"Asked {run(do()).inbox}.")


@relays.command("list")
@as_json
def list_relays(*, as_json: bool) -> None:
    """Every relay, and what it has answered."""
    from kith.federation.relays import store  # noqa: PLC0415 - loaded when first used
    from kith.federation.relays.entities import render_relay  # noqa: PLC0415

    async def read() -> list[FederationRelay]:
        async with reading() as work:
            return await store.every(work.db)

    found = run(read())
    if as_json:
        say([render_relay(one) for one in found])
    else:
        rows = [[one.inbox, one.state, one.created_at, one.answered_at] for one in found]
        show_rows(["inbox", "state", "since", "answered"], rows, nothing="No relays.")


@relays.command("remove")
@click.argument("inbox", type=WORDS)
def remove_relay(*, inbox: str) -> None:
    """Leave the relay at INBOX."""
    from kith.federation.relays import joining, store  # noqa: PLC0415 - loaded when first used
    from kith.social.staff import OPERATOR  # noqa: PLC0415

    async def do() -> None:
        async with house() as opened, opened.works.begin() as work:
            found = await store.find_by_inbox(work.db, inbox.strip())
            if found is None:
                raise NotFound(f"there is no relay at {inbox}")
            await joining.remove(work, OPERATOR, found.id)

    run(do())
    click.echo(f"Left {inbox.strip()}.")


# Lists of servers to block


@federation.group()
def subscriptions() -> None:
    """Follow lists of servers to block that others keep."""


async def _find_list(work: Work, url: str) -> BlockList:
    from kith.federation.block_lists import store  # noqa: PLC0415 - loaded when first used

    found = await store.find_by_url(work.db, url.strip())
    if found is None:
        raise NotFound(f"there is no subscription to {url}")
    return found


async def _rehearse(url: str, *, is_new: bool, agrees: bool) -> Rehearsal:
    """Nothing is open while the list is fetched."""
    from kith.base.errors import Unprocessable  # noqa: PLC0415 - loaded when first used
    from kith.base.http import Outgoing  # noqa: PLC0415
    from kith.federation.block_lists import subscribing  # noqa: PLC0415
    from kith.federation.block_lists.csv_lists import BadBlockList  # noqa: PLC0415
    from kith.social.staff import OPERATOR  # noqa: PLC0415

    async with house() as opened:
        async with opened.works.begin() as work:
            found = await subscribing.add(work, OPERATOR, _address(url)) if is_new else await _find_list(work, url)
        async with opened.works.begin() as work:
            try:
                fetched = await subscribing.fetch(opened.find(Outgoing), work, found.url)
            except BadBlockList as error:
                raise Unprocessable(f"{found.url} {error}") from error
            shown = await subscribing.rehearse(work, await subscribing.keep(work, found.id, fetched))
            if agrees:
                await subscribing.apply(work, OPERATOR, found.id, fetched.digest)
        return shown


def _show(url: str, shown: Rehearsal, *, agrees: bool, as_json: bool) -> None:
    from kith.federation.block_lists.entities import render_rehearsal  # noqa: PLC0415 - loaded when first used

    if as_json:
        say(render_rehearsal(shown) | {"applied": agrees})
        return
    plan, word = shown.plan, "will" if agrees else "would"
    record: dict[str, Any] = {
        f"{word} be blocked": _named(plan.added),
        f"{word} be changed": _named(plan.changed),
        f"{word} be lifted": ", ".join(one.server.domain for one in plan.removed),
        "blocked by hand, and left so": ", ".join(plan.kept),
        "blocked with a domain above": ", ".join(plan.covered),
        "never blocked": ", ".join(plan.own),
        "follows that end": shown.severed,
    }
    show_record({name: value for name, value in record.items() if value != ""})
    if not agrees:
        again = f"kith federation subscriptions rehearse {url} --apply"
        click.echo(f"Nothing was changed. To act upon it: {again}", err=True)


def _named(changes: Iterable[PlannedChange]) -> str:
    return ", ".join(f"{one.server.domain} ({one.server.severity})" for one in changes)


_apply = click.option("--apply", "agrees", is_flag=True, help="Act upon it, and upon its small changes from now on.")


@subscriptions.command("add")
@click.argument("url", type=WORDS)
@_apply
@as_json
def add_list(*, url: str, agrees: bool, as_json: bool) -> None:
    """Subscribe to the list (CSV) at URL, and show what it would change."""
    _show(url, run(_rehearse(url, is_new=True, agrees=agrees)), agrees=agrees, as_json=as_json)


@subscriptions.command("rehearse")
@click.argument("url", type=WORDS)
@_apply
@as_json
def rehearse_list(*, url: str, agrees: bool, as_json: bool) -> None:
    """Fetch the list at URL again, and show what it would change."""
    _show(url, run(_rehearse(url, is_new=False, agrees=agrees)), agrees=agrees, as_json=as_json)


@subscriptions.command("list")
@as_json
def list_lists(*, as_json: bool) -> None:
    """Every list that is followed."""
    from kith.federation.block_lists import store  # noqa: PLC0415 - loaded when first used
    from kith.federation.block_lists.entities import render_list  # noqa: PLC0415

    async def read() -> list[BlockList]:
        async with reading() as work:
            return await store.every(work.db)

    found = run(read())
    if as_json:
        say([render_list(one) for one in found])
    else:
        rows = [[one.url, one.state, one.rows, one.fetched_at, one.reason or one.error] for one in found]
        show_rows(["address", "state", "domains", "fetched", "trouble"], rows, nothing="No subscriptions.")


@subscriptions.command("remove")
@click.argument("url", type=WORDS)
@click.option("--keep-blocks", is_flag=True, help="Leave what it has blocked as it is.")
def remove_list(*, url: str, keep_blocks: bool) -> None:
    """Follow the list at URL no longer; what only it has blocked is lifted."""
    from kith.federation.block_lists import subscribing  # noqa: PLC0415 - loaded when first used
    from kith.social.staff import OPERATOR  # noqa: PLC0415

    async def do() -> None:
        async with house() as opened, opened.works.begin() as work:
            await subscribing.remove(work, OPERATOR, (await _find_list(work, url)).id, keep_blocks=keep_blocks)

    run(do())
    click.echo(f"{url.strip()} is followed no longer.")

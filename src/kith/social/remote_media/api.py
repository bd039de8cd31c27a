from __future__ import annotations

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.limits import Limiter, address_key
from kith.base.routing import FromPath, get
from kith.base.work import Work
from kith.social.accounts.viewers import Viewer
from kith.social.addresses import file_url
from kith.social.guards import optional
from kith.social.media import store as media
from kith.social.remote_media.looks import LOOKING
from kith.social.remote_media.service import bring
from kith.social.statuses import store as statuses

KEPT = (b"cache-control", b"private, max-age=3600")
PAGES = (b"document", b"iframe", b"frame", b"embed", b"object")  # what a browser would show in place of a picture
PASSING = (b"cache-control", b"no-store")


@get("/media_proxy/{id}/{size}", guards=[optional("read:statuses")])
async def show_attachment(
    exchange: Exchange,
    work: Work,
    viewer: Viewer,
    id: FromPath[int],
    size: FromPath[str],
) -> Answer:
    """Where the file is, for whoever may see the post it belongs to.

    Until it is here, apps and pages that show it are sent to where it comes from. A browser that would open it as a
    page is not: an address of this server must not lead people to a page of somebody else's choice.
    """
    exchange.find(Limiter).spend(LOOKING, address_key(exchange.address))
    row = await media.find(work.db, id)
    if row is None or row.status_id is None or size not in ("original", "small"):
        raise NotFound
    if await statuses.find_visible(work.db, row.status_id, viewer) is None:
        raise NotFound
    here = await bring(work, row)
    if here is not None:
        return _sent_to(file_url(work.settings, (here.preview if size == "small" else "") or here.file), KEPT)
    elsewhere = row.remote_url if size == "original" else row.preview_remote_url
    if elsewhere is None or exchange.header(b"sec-fetch-dest") in PAGES:
        raise NotFound
    return _sent_to(elsewhere, PASSING)


def _sent_to(url: str, caching: tuple[bytes, bytes]) -> Answer:
    return Answer(302, ((b"location", url.encode()), caching))


routes = [show_attachment]

from __future__ import annotations

from litestar import Request, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from kith.base.errors import NotFound
from kith.base.paging import Envelope, Page, envelope, public_url
from kith.base.work import Work
from kith.identity.guards import administrator
from kith.identity.users import store
from kith.identity.users.entities import UserRecord, render_users


@get("/api/v2/core/users/", guards=[administrator], operation_id="core_users_list")
async def list_users(request: Request, work: NamedDependency[Work]) -> Envelope[UserRecord]:  # type: ignore[type-arg]
    page = Page.read(request.scope["query_string"])
    count, users = await store.page(work.db, limit=page.limit, offset=page.offset)
    url = public_url(work.settings.base_url, request.scope["path"])
    return envelope(url, page, count, await render_users(work, users))


@get("/api/v2/core/users/{id:str}/", guards=[administrator], operation_id="core_users_read")
async def read_user(work: NamedDependency[Work], id: FromPath[str]) -> UserRecord:
    if not id.isdecimal() or len(id) > 9:
        raise NotFound
    [record] = await render_users(work, [await store.get(work.db, int(id))])
    return record


routes = [list_users, read_user]

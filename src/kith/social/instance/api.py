from __future__ import annotations

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.response import Redirect

from kith.base.work import Work
from kith.identity import face as identity
from kith.social.guards import anyone
from kith.social.instance.entities import V1Instance, render_v1

PUBLIC = {"Cache-Control": "public, max-age=300, stale-while-revalidate=30, stale-if-error=86400"}


@get("/api/v1/instance", guards=[anyone])
async def show_instance(work: NamedDependency[Work]) -> Response[V1Instance]:
    members = await identity.count_members(work)
    return Response(render_v1(work.settings, members=members), headers=PUBLIC | {"Deprecation": "@1668384000"})


@get("/api/v1/instances", guards=[anyone])
async def show_instances() -> Redirect:
    """The group's name in the plural; the record was always at the singular path."""
    return Redirect("/api/v1/instance", status_code=301)


routes = [show_instance, show_instances]

"""/staff/signups/, where staff say yes or no to those who ask for an account; /confirm/, where addresses are confirmed.

A link in a mail only shows a page: programs that look into mails open links, but press no buttons.
"""

from __future__ import annotations

from kith.base import csrf
from kith.base.errors import Forbidden, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.keys import Keys
from kith.base.params import read_body
from kith.base.routing import FromPath, get, post
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.web.admin.frame import staff_page
from kith.web.pages import page, see_other
from kith.web.start import shown

HERE = "/staff/signups/"
SIGN_IN = f"/flows/-/default/authentication/?next={HERE}"
MOST = 200


@get(HERE)
async def show_signups(exchange: Exchange, work: Work) -> Answer:
    visitor = await _staff(exchange)
    if visitor is None:
        return see_other(SIGN_IN)
    found = await identity.signups.pending(work, most=MOST + 1)
    return await staff_page(
        exchange,
        "signups.html",
        visitor,
        waiting=found[:MOST],
        more=len(found) > MOST,
        by_hand=await identity.signups.current_mode(work) == "approval",
        messages=shown(await identity.take_messages(work, visitor.user.id)),
    )


@post(f"{HERE}{{id}}/approve")
async def approve(exchange: Exchange, work: Work, id: FromPath[int]) -> Answer:
    visitor = await _sent(exchange)
    if visitor is None:
        return see_other(SIGN_IN)
    user = await identity.find_user(work, id)
    await identity.signups.refuse_to_decide(work, visitor.user, user)
    await identity.signups.approve(work, user, by=visitor.user.id, by_name=visitor.user.username)
    await identity.leave_message(work, visitor.user.id, f"{user.username} has been approved.", "success")
    return see_other(HERE)


@post(f"{HERE}{{id}}/reject")
async def reject(exchange: Exchange, work: Work, id: FromPath[int]) -> Answer:
    visitor = await _sent(exchange)
    if visitor is None:
        return see_other(SIGN_IN)
    user = await identity.find_user(work, id)
    await identity.signups.refuse_to_decide(work, visitor.user, user)
    await identity.signups.reject(work, user, by=visitor.user.id, by_name=visitor.user.username)
    await identity.leave_message(work, visitor.user.id, f"{user.username} has been rejected.", "success")
    return see_other(HERE)


@get("/confirm/{key}")
async def show_link(exchange: Exchange, work: Work, key: FromPath[str]) -> Answer:
    user, address = await identity.signups.find_address(work, key)
    return page(exchange, "confirm.html", username=user.username, address=address, done=False)


@post("/confirm/{key}")
async def use_link(exchange: Exchange, work: Work, key: FromPath[str]) -> Answer:
    sent = await read_body(exchange)
    csrf.check(exchange, exchange.find(Keys).session, str(sent.get("csrf", "")))
    user = await identity.signups.confirm_address(work, key)
    return page(
        exchange,
        "confirm.html",
        username=user.username,
        address=user.email,
        done=True,
        waits=user.approved_at is None,
        visitor=await identity.find_visitor(exchange),
    )


async def _sent(exchange: Exchange) -> identity.Visitor | None:
    sent = await read_body(exchange)
    csrf.check(exchange, exchange.find(Keys).session, str(sent.get("csrf", "")))
    return await _staff(exchange)


async def _staff(exchange: Exchange) -> identity.Visitor | None:
    """Moderators and those above them; nobody else learns that there is such a page."""
    visitor = await identity.find_visitor(exchange)
    if visitor is not None and visitor.user.role not in identity.TEAM and not visitor.is_superuser:
        raise NotFound
    if visitor is not None and exchange.acting is not None and exchange.method != "GET":
        raise Forbidden("This is not available while you are viewing as another person.")
    return visitor


routes = [show_signups, approve, reject, show_link, use_link]

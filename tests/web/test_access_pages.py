"""/settings/access, as somebody whose browser runs no script sees it."""

from __future__ import annotations

from typing import Any

import pytest

from kith.web.settings.access_requests import durations, length_of
from tests.identity.records import API, make, new_name, results
from tests.town import Person, Town
from tests.web.browsing import Browser
from tests.web.conftest import NewBrowser

HERE = "/settings/access"


async def signed_in(town: Town, browser: Browser, person: Person | None = None) -> Person:
    who = person or await town.sign_up()
    await browser.sign_in(who.username, who.password)
    await browser.open(HERE)
    return who


async def offered(town: Town, approver: Person, **fields: Any) -> tuple[Person, dict[str, Any], str]:
    """The owner, a group that can be asked for, and the offer."""
    owner = await town.owner()
    group = await make(owner, "/core/groups/", name=new_name("crew"))
    [found] = await results(owner, "/core/users/", username=approver.username)
    offer = await make(owner, "/core/access_offers/", group=group["pk"], approvers=[found["pk"]], **fields)
    return owner, group, offer["pk"]


async def test_somebody_asks_and_somebody_else_approves(town: Town, new_browser: NewBrowser) -> None:
    here, there = new_browser(), new_browser()
    assert (await here.open(HERE)).url.path.startswith("/flows/")
    bob = await signed_in(town, there)
    assert "There is nothing that you can ask for" in there.page.text
    owner, group, offer = await offered(town, bob, longest="days=3", description="Keys to the <b>cellar</b>")
    ada = await signed_in(town, here)
    await here.open("/applications")
    assert HERE in here.page.text
    await here.open(HERE)
    assert "Keys to the &lt;b&gt;cellar&lt;/b&gt;" in here.page.text
    assert "3 days" in here.page.text
    assert "7 days" not in here.page.text

    refused = await here.press("/ask", offer=offer, reason="to look", duration="days=7")
    assert refused.status_code == 400
    assert "Access is given for at most days=3." in refused.text
    assert 'value="to look"' in refused.text
    await here.press("/ask", offer=offer, reason="<i>wine</i>", duration="hours=8")
    assert here.path == HERE
    assert "not decided yet" in here.page.text

    await there.open(HERE)
    assert f"{ada.username} asks for {group['name']}" in there.page.text
    assert "&lt;i&gt;wine&lt;/i&gt;" in there.page.text
    await there.press("/approve", answer="enjoy")
    assert there.path == HERE
    assert "asks for" not in there.page.text
    await here.open(HERE)
    assert "approved" in here.page.text
    assert "enjoy" in here.page.text
    [member] = (await owner.get(f"{API}/core/groups/{group['pk']}/members/")).json()["results"]
    assert member["username"] == ada.username

    await here.press("/end")
    assert "ended" in here.page.text
    assert (await owner.get(f"{API}/core/groups/{group['pk']}/members/")).json()["count"] == 0
    await here.press("/ask", offer=offer, reason="again", duration="days=3")
    await here.press("/withdraw")
    assert "withdrawn" in here.page.text


async def test_what_others_decide_and_forged_forms_change_nothing(town: Town, new_browser: NewBrowser) -> None:
    here, there = new_browser(), new_browser()
    bob = await signed_in(town, there)
    owner, group, offer = await offered(town, bob)
    await signed_in(town, here)
    await here.press("/ask", offer=offer, reason="please", duration="days=1")
    [request] = await results(owner, "/core/access_requests/", state="open", ordering="-created", limit=1)
    path = f"{HERE}/{request['pk']}/approve"
    csrf = here.forms()[0].values["csrf"]
    assert (await here.http.post(path, data={"answer": ""})).status_code == 403
    own = await here.http.post(path, data={"csrf": csrf})
    assert own.status_code == 403
    assert "You cannot decide about your own request." in own.text
    here.http.headers["Accept-Language"] = "de"
    assert "deine eigene Anfrage" in (await here.http.post(path, data={"csrf": csrf})).text
    for wrong in (f"{HERE}/x/approve", f"{HERE}/{group['pk']}/refuse"):
        assert (await here.http.post(wrong, data={"csrf": csrf})).status_code == 404
    await there.open(HERE)
    form = next(one for one in there.forms() if one.action == path)
    await there.http.post(path.replace("approve", "refuse"), data=form.values | {"answer": "no"})
    late = await there.http.post(path, data=form.values)
    assert late.status_code == 409
    assert "This request is not open any more." in late.text
    assert (await owner.get(f"{API}/core/groups/{group['pk']}/")).json()["user_set"] == []


@pytest.mark.parametrize(
    ("longest", "expected"),
    [
        ("minutes=45", ["minutes=45"]),
        ("hours=8", ["hours=1", "hours=8"]),
        ("days=2;hours=1", ["hours=1", "hours=8", "days=1", "hours=49"]),
        ("weeks=1", ["hours=1", "hours=8", "days=1", "days=7"]),
        ("seconds=61", ["seconds=61"]),
    ],
)
def test_durations_to_choose_from(longest: str, expected: list[str]) -> None:
    assert durations(longest) == expected
    assert length_of(longest)[1] == expected[-1].partition("=")[0]

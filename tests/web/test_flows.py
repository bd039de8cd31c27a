from __future__ import annotations

import re
import uuid
from typing import Any

import httpx
import pytest

from kith.web.assets import address
from tests.conftest import TownBuilder
from tests.town import Person, Town
from tests.web.browsing import Browser
from tests.web.conftest import NewBrowser

SIGN_IN = "/flows/default-authentication-flow/"


def word() -> str:
    return f"w{uuid.uuid4().hex[:10]}"


async def made(person: Person, path: str, **body: Any) -> dict[str, Any]:
    answer = await person.call("POST", f"/api/v2{path}", json=body)
    assert answer.status_code == 201, answer.text
    record: dict[str, Any] = answer.json()
    return record


async def flow_of(owner: Person, *stages: dict[str, Any], **values: Any) -> str:
    """A flow of one's own; its slug."""
    slug = word()
    body = {"name": slug, "slug": slug, "title": "Try it", "designation": "stage_setup"} | values
    flow = await made(owner, "/flows/instances/", **body)
    for order, stage in enumerate(stages):
        await made(
            owner, "/flows/bindings/", target=flow["pk"], stage=stage.get("stage_uuid", stage["pk"]), order=order
        )
    return slug


async def is_signed_in(browser: Browser) -> bool:
    return (await browser.http.get("/settings/security")).status_code == 200


# Signing in and out


async def test_a_person_signs_in_and_out_without_any_script(town: Town, browser: Browser) -> None:
    ada = await town.sign_up()

    await browser.open("/")
    assert "Sign in" in browser.page.text
    await browser.open("/flows/-/default/authentication/")
    assert browser.path == SIGN_IN
    await browser.submit(uid_field=ada.username)
    assert browser.path == SIGN_IN
    assert f"Account: {ada.username}." in browser.page.text
    await browser.submit(password=ada.password)

    assert browser.path == "/"
    assert f"You are signed in as {ada.username}." in browser.page.text
    assert "Successfully logged in!" in browser.page.text
    assert "Successfully logged in!" not in (await browser.open("/")).text

    token = re.search(r'name="csrf" value="([^"]+)"', browser.page.text)
    assert token is not None
    form = {"csrf": token[1], "component": "sign-out"}
    left = await browser.http.post("/flows/-/default/invalidation/", data=form, follow_redirects=True)

    assert left.url.path == "/"
    assert "Sign in" in left.text
    assert not await is_signed_in(browser)


async def test_a_wrong_password_is_told_beside_its_field(town: Town, browser: Browser) -> None:
    ada = await town.sign_up()

    page = await browser.sign_in(ada.username, "not this one")

    assert page.status_code == 400
    assert "Invalid password" in page.text
    assert "<title>Error: Sign in" in page.text
    assert re.search(
        r'<input id="f-password"[^>]* autofocus aria-invalid="true" aria-describedby=" ?f-password-error"', page.text
    )
    assert "not this one" not in page.text
    assert (await browser.submit(password=ada.password)).url.path == "/"


async def test_nobody_learns_whether_an_account_exists(town: Town, new_browser: NewBrowser) -> None:
    ada = await town.sign_up()
    known, unknown = new_browser(), new_browser()

    one = await known.sign_in(ada.username, "wrong")
    other = await unknown.sign_in("nobody-of-that-name", "wrong")

    def without_names(text: str, name: str) -> str:
        return re.sub(r'value="[^"]*"', "", text.replace(name, "NAME"))

    assert one.status_code == other.status_code
    assert without_names(one.text, ada.username) == without_names(other.text, "nobody-of-that-name")


async def test_after_too_many_wrong_passwords_the_walk_ends(town: Town, browser: Browser) -> None:
    ada = await town.sign_up()
    page = await browser.sign_in(ada.username, "wrong")

    for _ in range(10):
        if page.status_code == 403:
            break
        page = await browser.submit(password="wrong")

    assert page.status_code == 403
    assert "Too many wrong passwords." in page.text
    again = re.search(r'href="([^"]+)">Start over', page.text)
    assert again is not None
    assert "uid_field" in (await browser.open(again[1].replace("&amp;", "&"))).text


async def test_the_cookie_gets_a_new_key_at_sign_in_and_the_old_one_is_dead(town: Town, browser: Browser) -> None:
    ada = await town.sign_up()
    await browser.open(SIGN_IN)
    before = browser.cookie("kith_session")
    await browser.submit(uid_field=ada.username)
    assert browser.cookie("kith_session") == before
    await browser.submit(password=ada.password)
    after = browser.cookie("kith_session")

    assert before is not None
    assert after is not None
    assert before != after
    with_old = await town.http.get("/settings/security", headers={"Cookie": f"kith_session={before}"})
    with_new = await town.http.get("/settings/security", headers={"Cookie": f"kith_session={after}"})
    assert with_old.status_code == 303
    assert with_new.status_code == 200


async def test_a_link_alone_signs_nobody_out(town: Town, browser: Browser) -> None:
    ada = await town.sign_up()
    await browser.sign_in(ada.username, ada.password)

    page = await browser.open("/flows/-/default/invalidation/")
    assert "Do you want to sign out" in page.text
    assert await is_signed_in(browser)

    await browser.submit()
    assert browser.path == "/"
    assert not await is_signed_in(browser)


async def test_a_form_without_its_token_is_refused(town: Town, browser: Browser) -> None:
    ada = await town.sign_up()
    await browser.open(SIGN_IN)

    for csrf in ("", "x.y", "forged"):
        answer = await browser.http.post(SIGN_IN, data={"csrf": csrf, "uid_field": ada.username})
        assert answer.status_code == 403, csrf
        assert "text/html" in answer.headers["content-type"]
    page = await browser.open(SIGN_IN)
    assert "uid_field" in page.text


async def test_an_answer_to_another_stage_is_not_taken(town: Town, browser: Browser) -> None:
    ada = await town.sign_up()
    await browser.open(SIGN_IN)

    page = await browser.submit(component="userlogin", uid_field=ada.username)

    assert page.status_code == 200
    assert "uid_field" in page.text
    assert not await is_signed_in(browser)


@pytest.mark.parametrize(
    ("wanted", "reached"),
    [
        ("/settings/security", "/settings/security"),
        ("/settings/security?a=b", "/settings/security?a=b"),
        ("https://evil.example/", "/"),
        ("http:evil.example", "/"),
        ("https:evil.example", "/"),
        ("//evil.example", "/"),
        ("///evil.example", "/"),
        ("/\\evil.example", "/"),
        ("\\\\evil.example", "/"),
        ("/\t/evil.example", "/"),
        ("/\n/evil.example", "/"),
        (" //evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("data:text/html,x", "/"),
        ("@evil.example", "/"),
        ("", "/"),
    ],
)
async def test_next_leads_to_our_own_pages_only(town: Town, browser: Browser, wanted: str, reached: str) -> None:
    ada = await town.sign_up()
    query = str(httpx.QueryParams({"next": wanted}))
    await browser.open(f"{SIGN_IN}?{query}")
    await browser.submit(uid_field=ada.username)
    assert f"?{query}" in browser.path

    answer = await browser.submit(follow=False, password=ada.password)
    passed_on = await browser.http.get(f"{SIGN_IN}?{query}")
    cancelled = await browser.http.get(f"/flows/-/cancel/?{query}")

    assert answer.status_code == 303
    assert [one.headers["location"] for one in (answer, passed_on, cancelled)] == [reached] * 3


async def test_a_path_in_next_that_is_not_ascii_is_encoded(town: Town, browser: Browser) -> None:
    ada = await town.sign_up()
    await browser.open(f"{SIGN_IN}?next=/%C3%A4pfel")
    await browser.submit(uid_field=ada.username)

    answer = await browser.submit(follow=False, password=ada.password)

    assert answer.headers["location"] == "/%C3%A4pfel"


async def test_pages_of_a_flow_are_closed_to_frames_scripts_and_caches(town: Town) -> None:
    page = await town.http.get(SIGN_IN)

    assert page.headers["content-type"] == "text/html; charset=utf-8"
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'self'; script-src 'self';")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert page.headers["x-frame-options"] == "DENY"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["cache-control"] == "no-store"
    assert "style=" not in page.text
    assert re.findall(r"<script[^>]*>[^<]*", page.text) in ([], [f'<script src="{address("kith.js")}" defer>'])
    cookies = page.headers.get_list("set-cookie")
    session = next(cookie for cookie in cookies if cookie.startswith("kith_session="))
    assert "HttpOnly" in session
    assert "SameSite=Lax" in session


async def test_addresses_that_lead_to_a_flow(town: Town) -> None:
    old = await town.http.get("/if/flow/default-authentication-flow/?next=/x")
    default = await town.http.get("/flows/-/default/authentication/?next=/x")

    assert old.headers["location"] == default.headers["location"] == f"{SIGN_IN}?next=/x"
    assert (await town.http.get("/flows/no-such-flow/")).status_code == 404
    assert (await town.http.get("/flows/-/default/nonsense/")).status_code == 404


async def test_cancel_forgets_how_far_one_has_come(town: Town, browser: Browser) -> None:
    ada = await town.sign_up()
    for path in ("/flows/-/cancel/?flow=default-authentication-flow", "/flows/-/cancel/"):
        await browser.open(SIGN_IN)
        await browser.submit(uid_field=ada.username)
        assert "f-password" in browser.page.text

        await browser.open(path)
        assert browser.path == "/"
        assert "f-uid_field" in (await browser.open(SIGN_IN)).text


async def test_the_first_flow_whose_policies_pass_is_taken(new_town: TownBuilder) -> None:
    town = await new_town()
    owner = await town.owner()
    first = await made(
        owner, "/flows/instances/", name="First", slug="aaa", title="First", designation="authentication"
    )
    policy = await made(owner, "/policies/dummy/", name="no", result=False, wait_min=0, wait_max=0)
    await made(owner, "/policies/bindings/", target=first["pbm_uuid"], policy=policy["pk"], order=0)

    default = await town.http.get("/flows/-/default/authentication/")

    assert default.headers["location"] == SIGN_IN


# Signing up


async def test_a_person_signs_up_and_is_sent_a_mail(town: Town, browser: Browser) -> None:
    name = word()
    await browser.open("/flows/-/default/enrollment/?next=/settings/security")
    values = {"username": name, "name": "Grace", "email": f"{name}@example.org", "password": "a fine one 77"}

    differing = await browser.submit(0, values, password_repeat="another")
    assert differing.status_code == 400
    assert "Passwords don&#39;t match." in differing.text
    assert f'value="{name}"' in differing.text
    assert "a fine one 77" not in differing.text
    sent = await browser.submit(0, values, password_repeat="a fine one 77")

    assert "We have sent you an e-mail." in sent.text


async def test_a_taken_name_is_told_beside_its_field(town: Town, browser: Browser) -> None:
    ada = await town.sign_up()
    await browser.open("/flows/default-enrollment-flow/")

    page = await browser.submit(
        username=ada.username, email="x@example.org", password="a fine one 77", password_repeat="a fine one 77"
    )

    assert page.status_code == 400
    assert "Username is already taken." in page.text
    assert re.search(r'id="f-username"[^>]*aria-invalid="true"', page.text)


async def test_what_is_wrong_with_a_name_is_said_once_and_the_name_kept(town: Town, browser: Browser) -> None:
    ada = await town.sign_up()
    await browser.open("/flows/default-enrollment-flow/")
    hint = "At least 8 characters."
    assert browser.page.text.count(hint) == 1
    assert browser.page.text.index(hint) < browser.page.text.index('id="f-password_repeat"')
    secret = {"password": "a fine one 77", "password_repeat": "a fine one 77"}
    wrong = {
        "tea & friends": "A user name can have letters, digits and the signs . + - _ only, and no blanks.",
        f"{ada.username}@home": "A user name cannot contain @.",
        ada.username: "Username is already taken.",
    }
    for name, words in wrong.items():
        page = await browser.submit(0, secret, username=name, email="x y")
        assert page.status_code == 400
        [said] = re.findall(r'id="f-username-error">(.*?)</div>', page.text, re.DOTALL)
        assert re.findall("<p>(.*?)</p>", said) == [words], name
        assert browser.forms()[0].values["username"] == name
        assert browser.forms()[0].values["email"] == "x y"
        assert "a fine one 77" not in page.text
    page = await browser.submit(username="some_body", email="x@example.org", password="a fine one 77")
    assert "This field is required." in page.text
    assert "match." not in page.text


async def test_where_registrations_are_closed_nobody_is_invited_to_sign_up(new_town: TownBuilder) -> None:
    closed, opened = await new_town(registrations="closed"), await new_town(registrations="open")

    assert "Sign up" not in (await closed.http.get("/")).text
    assert "Sign up" in (await opened.http.get("/")).text


# Stages


async def test_every_type_of_field_is_shown_and_answered(town: Town, browser: Browser) -> None:
    owner = await town.owner()
    types = {
        "text": "words",
        "text_area": "more\nwords",
        "username": word(),
        "email": "a@example.org",
        "number": "3.5",
        "checkbox": "true",
        "radio-button-group": "red",
        "dropdown": "blue",
        "date": "2026-01-02",
        "date-time": "2026-01-02T03:04",
        "locale": "de",
    }
    others = (
        "text_read_only",
        "text_area_read_only",
        "separator",
        "hidden",
        "static",
        "alert_info",
        "alert_warning",
        "alert_danger",
    )
    fields = []
    for order, type in enumerate((*types, *others)):
        body: dict[str, Any] = {
            "field_key": f"attributes.{type.replace('-', '_')}",
            "label": f"The {type}",
            "type": type,
            "name": word(),
            "placeholder": f"a {type}",
            "order": order,
            "initial_value": f"initial {type}",
            "sub_text": f"Hint of {type}",
        }
        if type in ("radio-button-group", "dropdown"):
            body |= {"initial_value": "return ['red', 'blue']", "initial_value_expression": True}
        if type in types and "choices" not in body and type not in ("radio-button-group", "dropdown"):
            body["initial_value"] = ""
        fields.append((await made(owner, "/stages/prompt/prompts/", **body))["pk"])
    stage = await made(owner, "/stages/prompt/stages/", name=word(), fields=fields)
    after = await made(owner, "/stages/dummy/", name="the end is near")
    slug = await flow_of(owner, stage, after)

    page = await browser.open(f"/flows/{slug}/")
    assert page.status_code == 200
    for type in (*types, "text_read_only", "text_area_read_only"):
        assert f"The {type}" in page.text
        assert f"Hint of {type}" in page.text
    assert "initial static" in page.text

    await browser.submit(0, {f"attributes.{type.replace('-', '_')}": "" for type in types})
    assert browser.page.status_code == 400
    assert browser.page.text.count("This field is required.") == len(types) - 1
    assert browser.page.text.count(" autofocus") == 1

    await browser.submit(0, {f"attributes.{type.replace('-', '_')}": value for type, value in types.items()})
    assert "the end is near" in browser.page.text


async def test_a_file_is_an_answer_too(town: Town, browser: Browser) -> None:
    owner = await town.owner()
    field = await made(
        owner,
        "/stages/prompt/prompts/",
        field_key="attributes.photo",
        label="Photo",
        type="file",
        placeholder="x",
        name=word(),
    )
    stage = await made(owner, "/stages/prompt/stages/", name=word(), fields=[field["pk"]])
    slug = await flow_of(owner, stage, await made(owner, "/stages/dummy/", name="it was taken"))
    page = await browser.open(f"/flows/{slug}/")
    assert 'enctype="multipart/form-data"' in page.text
    values = browser.forms()[0].values
    values.pop("attributes.photo")

    nothing = await browser.http.post(page.url, data=values, files={"attributes.photo": ("", b"")})
    taken = await browser.http.post(
        page.url, data=values, files={"attributes.photo": ("a.png", b"\x89PNG", "image/png")}, follow_redirects=True
    )

    assert nothing.status_code == 400
    assert "it was taken" in taken.text


async def test_whoever_wants_to_is_remembered(town: Town, browser: Browser) -> None:
    owner = await town.owner()
    asked = (await made(owner, "/stages/password/", name=word(), backends=["internal"]))["pk"]
    page = {"user_fields": ["username"], "template": "login", "password_stage": asked}
    who = await made(owner, "/stages/identification/", name=word(), **page)
    login = await made(owner, "/stages/user_login/", name=word(), session_duration=60, remember_me_offset="days=30")
    slug = await flow_of(owner, who, login, designation="authentication")
    await browser.open(f"/flows/{slug}/")
    await browser.submit(uid_field=owner.username, password=owner.password)
    assert "Keep me signed in" in browser.page.text

    answer = await browser.submit(follow=False, remember_me="true")

    session = next(one for one in answer.headers.get_list("set-cookie") if one.startswith("kith_session="))
    assert f"Max-Age={30 * 86400 + 60}" in session


async def test_a_refusal_is_a_page_with_its_words(town: Town, browser: Browser) -> None:
    owner = await town.owner()
    slug = await flow_of(owner, await made(owner, "/stages/deny/", name=word(), deny_message="Not <today>."))

    page = await browser.open(f"/flows/{slug}/")

    assert page.status_code == 403
    assert "Not &lt;today&gt;." in page.text


async def test_a_stage_that_fails_says_whom_to_tell_what(town: Town, browser: Browser) -> None:
    owner = await town.owner()
    slug = await flow_of(owner, await made(owner, "/stages/dummy/", name=word(), throw_error=True))
    await browser.open(f"/flows/{slug}/")

    page = await browser.submit()

    assert page.status_code == 500
    assert page.headers["x-request-id"] in page.text


async def test_only_who_is_signed_in_may_delete_their_account(town: Town, browser: Browser) -> None:
    ada = await town.sign_up()
    assert (await browser.open("/flows/-/default/unenrollment/")).status_code == 403
    await browser.sign_in(ada.username, ada.password)

    await browser.open("/flows/-/default/unenrollment/")
    assert (await browser.submit(password="not this one")).status_code == 400
    await browser.submit(password=ada.password)
    assert f"This permanently deletes the account {ada.username}." in browser.page.text
    await browser.submit()

    assert browser.path == "/"
    assert not await is_signed_in(browser)
    assert (await browser.sign_in(ada.username, ada.password)).status_code == 400


# The start page


async def test_the_start_page_lists_what_one_may_open(new_town: TownBuilder) -> None:
    town = await new_town()
    owner, ada = await town.owner(), await town.sign_up("ada")
    apps: dict[str, dict[str, Any]] = {
        "Wiki": {
            "group": "Work",
            "meta_launch_url": "https://wiki.example/",
            "meta_publisher": "ACME",
            "meta_description": "All we know",
        },
        "Chat": {
            "group": "Work",
            "meta_launch_url": "https://chat.example/",
            "meta_icon_url": "https://cdn.example/i.png",
        },
        "Vault": {"meta_launch_url": "https://vault.example/"},
        "Hidden": {"meta_hide": True},
    }
    made_apps = {
        name: await made(owner, "/core/applications/", name=name, slug=name.lower(), **body)
        for name, body in apps.items()
    }
    user = (await owner.get(f"/api/v2/core/users/?username={owner.username}")).json()["results"][0]
    await made(owner, "/policies/bindings/", target=made_apps["Vault"]["pk"], user=user["pk"], order=0)
    browser, other = Browser(town), Browser(town)

    await browser.sign_in(ada.username, ada.password)
    await other.sign_in(owner.username, owner.password)
    mine = (await browser.open("/applications")).text
    theirs = (await other.open("/applications")).text
    await browser.close()
    await other.close()

    assert "Vault" not in mine
    assert "Hidden" not in mine + theirs
    assert theirs.index(">Vault") < theirs.index("Work") < theirs.index(">Chat") < theirs.index(">Wiki")
    for words in ('href="https://wiki.example/"', "ACME", "All we know"):
        assert words in mine
    assert "cdn.example" not in mine


async def test_whoever_has_nothing_to_open_is_told_so(new_town: TownBuilder) -> None:
    town = await new_town()
    ada = await town.sign_up()
    browser = Browser(town)

    await browser.sign_in(ada.username, ada.password)
    page = await browser.open("/applications")
    await browser.close()

    assert "You have no applications yet." in page.text

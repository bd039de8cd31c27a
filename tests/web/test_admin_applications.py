"""Adding applications in the console, with the settings to copy, and trying them as somebody."""

from __future__ import annotations

import pytest

from kith.web.admin.known_software import ALL
from kith.web.admin.new_applications import slug_of
from tests.town import Person, Town
from tests.web.browsing import Browser

HOSTS = {"gateway": "wiki0.example", "nginx": "wiki1.example", "traefik": "wiki2.example", "caddy": "wiki3.example"}


async def enter(town: Town, browser: Browser) -> Person:
    owner = await town.owner()
    await browser.sign_in(owner.username, owner.password)
    return owner


@pytest.mark.parametrize("software", ALL, ids=lambda one: one.key)
async def test_each_known_software_ends_with_settings_to_copy(town: Town, browser: Browser, software: object) -> None:
    owner = await enter(town, browser)
    key = software.key  # type: ignore[attr-defined]
    await browser.open("/admin/applications/new")
    assert f'href="/admin/applications/new/{key}"' in browser.page.text
    await browser.open(f"/admin/applications/new/{key}")
    address = f"https://{HOSTS.get(key, f'{key}.example')}"
    await browser.press(
        f"/new/{key}",
        name=f"Our {key}",
        address=address,
        redirect_uris=f"{address}/back",
        acs_url=f"{address}/acs",
        internal_host="http://127.0.0.1:8123",
    )
    assert browser.path == f"/admin/applications/our-{key}?for={key}&made=true", browser.page.text
    page = browser.page.text
    [application] = (await owner.get(f"/api/v2/core/applications/?slug=our-{key}")).json()["results"]
    path = {"openid": "openid", "saml": "saml"}.get(software.kind, "applicationgateway")  # type: ignore[attr-defined]
    provider = (await owner.get(f"/api/v2/providers/{path}/{application['provider']}/")).json()
    if path == "openid":
        assert provider["client_id"] in page
        assert provider["client_secret"] in page
        assert all(uri.startswith(address) for uri in provider["redirect_uris"])
        assert f"/application/o/our-{key}/" in page
        assert ("OIDC_ENDPOINT_JWKS_URL" in page and "OIDC_ISSUER" in page) == (key == "wordpress")
    elif path == "saml":
        assert provider["url_download_metadata"] in page
        metadata = (await owner.get(f"/api/v2/providers/saml/{provider['pk']}/metadata/")).json()["metadata"]
        assert "X509Certificate" in metadata
    else:
        assert HOSTS[key] in page
        assert "127.0.0.1:8123" in page
        assert ("tls: {}" in page) == (key == "traefik")
    way = {"openid": "OpenID Connect", "saml": "SAML"}.get(path, "Gateway")
    assert f'<span class="badge">{way}</span>' in page


async def test_what_is_wrong_stands_beside_its_field_and_nothing_is_made(town: Town, browser: Browser) -> None:
    owner = await enter(town, browser)
    before = (await owner.get("/api/v2/providers/all/")).json()["count"]
    await browser.open("/admin/applications/new/grafana")
    await browser.press("/new/grafana", name="Charts", address="http://grafana.example")
    assert browser.page.status_code == 400
    assert "must use https" in browser.page.text
    assert 'value="Charts"' in browser.page.text
    await browser.press("/new/grafana", name="Charts", address="our charts")
    assert "Enter an address such as https://app.example.org." in browser.page.text
    assert "is not a valid URI" not in browser.page.text
    await browser.press("/new/grafana", name="Charts", address="charts.example", slug="token")
    assert "is reserved" in browser.page.text
    assert (await owner.get("/api/v2/providers/all/")).json()["count"] == before
    await browser.press("/new/grafana", name="", address="")
    assert browser.page.text.count("This field is required.") == 2


async def test_who_may_enter_is_changed_and_tried(town: Town, browser: Browser) -> None:
    owner = await enter(town, browser)
    await town.sign_up("visitor_of_apps")
    group = (await owner.call("POST", "/api/v2/core/groups/", json={"name": "Gardeners"})).json()["pk"]
    await browser.open("/admin/applications/new/openid")
    await browser.press(
        "/openid", **{"name": "Garden", "redirect_uris": "https://garden.example/back", "groups[]": group}
    )
    place = "/admin/applications/garden"
    assert "Whoever one of these lets in" in browser.page.text
    assert "Gardeners" in browser.page.text

    await browser.press("#try", user="visitor_of_apps")
    assert "visitor_of_apps may not enter." in browser.page.text
    await browser.press("#try", user="nobody_like_that")
    assert browser.page.status_code == 400
    assert "There is no user with this name." in browser.page.text
    assert 'value="nobody_like_that"' in browser.page.text

    await browser.open(place)
    bind = next(number for number, form in enumerate(browser.forms()) if form.values.get("do") == "bind")
    await browser.submit(bind, group="", policy="", user="")
    assert "Choose a group or a policy, or type a user name." in browser.page.text
    await browser.submit(bind, group="", policy="", user="visitor_of_apps")
    assert browser.page.status_code == 200
    assert browser.path == place
    await browser.press("#try", user="visitor_of_apps")
    assert "visitor_of_apps may enter." in browser.page.text
    assert "&#34;preferred_username&#34;: &#34;visitor_of_apps&#34;" in browser.page.text

    await browser.open(f"/admin/records/core/groups/{group}")
    assert "1 rule about who may enter names it." in browser.page.text
    await owner.call("DELETE", f"/api/v2/core/groups/{group}/")
    await browser.open(place)
    assert "This named the group Gardeners, which was deleted." in browser.page.text
    await browser.press("#try", user=owner.username)
    assert f"{owner.username} may not enter." in browser.page.text

    await browser.open(place)
    unbind = [number for number, form in enumerate(browser.forms()) if form.values.get("do") == "unbind"]
    await browser.submit(unbind[1])
    await browser.press("#try", user="visitor_of_apps")
    assert "visitor_of_apps may not enter." in browser.page.text


async def test_others_see_nothing_of_it(town: Town, browser: Browser) -> None:
    person = await town.sign_up()
    await browser.sign_in(person.username, person.password)
    for path in ("/admin/applications", "/admin/applications/new", "/admin/applications/new/openid"):
        assert (await browser.open(path)).status_code == 404
    form = {"csrf": browser.cookie("kith_csrf") or "", "name": "Mine", "redirect_uris": "https://mine.example/"}
    assert (await browser.http.post("/admin/applications/new/openid", data=form)).status_code == 404
    assert (await browser.http.post("/admin/applications/new/openid", data={"name": "Mine"})).status_code == 403


async def test_what_is_not_there_is_not_found(town: Town, browser: Browser) -> None:
    await enter(town, browser)
    for path in ("/admin/applications/nothing-like-that", "/admin/applications/new/nothing"):
        assert (await browser.open(path)).status_code == 404
    assert "Nothing was found." in (await browser.open("/admin/applications?search=nothing-like-that")).text


@pytest.mark.parametrize(
    ("name", "slug"), [("Our Wiki", "our-wiki"), ("Äpfel & Birnen!", "apfel-birnen"), ("  x  ", "x"), ("日本", "")]
)
def test_short_names_are_made_from_names(name: str, slug: str) -> None:
    assert slug_of(name) == slug

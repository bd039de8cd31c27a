"""How others find out who is here, and what kind of server this is."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlsplit
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.base.settings import Settings
from kith.federation.discovery.nodeinfo import pages_in, project_pages
from kith.federation.discovery.resources import SERVER, name_in
from tests.conftest import TownBuilder
from tests.federation.asking import ACTIVITY, domain_of, fetch
from tests.social.members import Member, join, set_state
from tests.social.posts import post, settle
from tests.town import Town

HERE = Settings(base_url="https://web.example", local_domain="handles.example")


@pytest.mark.parametrize(
    ("resource", "name"),
    [
        ("acct:ada@handles.example", "ada"),
        ("acct:ada@web.example", "ada"),
        ("ACCT:ada@HANDLES.example", "ada"),
        ("ada@handles.example", "ada"),
        ("@ada@handles.example", "ada"),
        ("acct:%61da@web.example", "ada"),
        ("https://web.example/@ada", "ada"),
        ("https://web.example/users/ada", "ada"),
        ("https://web.example/@ada/", "ada"),
        ("https://web.example/users/ada#main-key", "ada"),
        ("HTTPS://WEB.example/@ada", "ada"),
        ("acct:web.example@handles.example", SERVER),
        ("acct:handles.example@handles.example", SERVER),
        ("handles.example", SERVER),
        ("https://web.example", SERVER),
        ("https://web.example/", SERVER),
        ("https://web.example/actor", SERVER),
        ("acct:ada@elsewhere.example", None),
        ("ada", None),
        ("acct:@web.example", SERVER),
        ("http://web.example/@ada", None),
        ("https://web.example.evil.example/@ada", None),
        ("https://web.example/@ada/1", None),
        ("https://web.example/users/", None),
        ("https://handles.example/@ada", None),
        ("mailto:ada@web.example", "mailto:ada"),
        ("", None),
    ],
)
def test_addresses_mean_people_the_server_or_nothing(resource: str, name: str | None) -> None:
    assert name_in(resource, HERE) == name


@given(st.text(max_size=200))
def test_whatever_is_asked_is_understood_or_nothing(resource: str) -> None:
    found = name_in(resource, HERE)
    assert found is None or isinstance(found, str)


async def finger(town: Town, resource: str, **options: Any) -> Any:
    url = f"/.well-known/webfinger?resource={quote(resource, safe='')}"
    return await town.http.get(url, follow_redirects=False, **options)


async def test_a_member_is_found_by_handle_and_addresses(town: Town) -> None:
    ada = await join(town)
    subject = f"acct:{ada.name}@{domain_of(town)}"

    for resource in (subject, subject[5:], ada.me["uri"], ada.me["url"], f"acct:{ada.name.upper()}@{domain_of(town)}"):
        answer = await finger(town, resource)
        assert answer.status_code == 200, resource
        assert answer.headers["content-type"].startswith("application/jrd+json")
        assert answer.headers["access-control-allow-origin"] == "*"
        told = answer.json()
        assert told["subject"] == subject
        assert told["aliases"] == [ada.me["url"], ada.me["uri"]]
        links = {link["rel"]: link for link in told["links"]}
        assert links["self"] == {"rel": "self", "type": ACTIVITY, "href": ada.me["uri"]}
        assert links["http://webfinger.net/rel/profile-page"]["href"] == ada.me["url"]
    assert "http://openid.net/specs/connect/1.0/issuer" in {link["rel"] for link in told["links"]}
    assert (await fetch(town, links["self"]["href"]))["preferredUsername"] == ada.name


async def test_the_server_is_found_by_its_names(town: Town) -> None:
    """What comes before the at sign has no port: not every server reads one there."""
    subject = f"acct:{domain_of(town).partition(':')[0]}@{domain_of(town)}"
    assert (await fetch(town, "/actor"))["preferredUsername"] == subject[5:].partition("@")[0]
    for resource in (
        subject,
        f"acct:{domain_of(town)}@{domain_of(town)}",
        town.base_url,
        f"{town.base_url}/actor",
        domain_of(town),
    ):
        told = (await finger(town, resource)).json()
        assert told["subject"] == subject
        assert {"rel": "self", "type": ACTIVITY, "href": f"{town.base_url}/actor"} in told["links"]


async def test_who_is_not_there_is_not_found(town: Town) -> None:
    ada, gone = await join(town), await join(town)
    await set_state(town, ada.id, lambda _: {"is_listed": False})
    await set_state(town, gone.id, lambda work: {"deleted_at": work.now})

    for missing in (f"acct:nobody_here@{domain_of(town)}", ada.me["uri"], f"acct:{ada.name}@{domain_of(town)}"):
        answer = await finger(town, missing)
        assert (answer.status_code, answer.headers["cache-control"]) == (404, "no-store")
    assert (await finger(town, f"acct:%00@{domain_of(town)}")).status_code == 404
    assert (await finger(town, "acct:ada@elsewhere.example")).status_code == 404
    assert (await finger(town, gone.me["uri"])).status_code == 410
    assert (await finger(town, "")).status_code == 400
    await set_state(town, ada.id, lambda _: {"is_listed": True})
    assert (await finger(town, ada.me["uri"])).status_code == 200


async def test_host_meta_leads_to_webfinger_in_both_shapes(town: Town) -> None:
    template = f"{town.base_url}/.well-known/webfinger?resource={{uri}}"

    xml = await town.http.get("/.well-known/host-meta")
    json = await town.http.get("/.well-known/host-meta", headers={"Accept": "application/json"})
    named = await town.http.get("/.well-known/host-meta.json")

    assert xml.headers["content-type"].startswith("application/xrd+xml")
    [link] = ET.fromstring(xml.text)
    assert (link.attrib["rel"], link.attrib["template"]) == ("lrdd", template)
    assert json.json() == named.json() == {"links": [{"rel": "lrdd", "template": template}]}


@pytest.mark.parametrize(
    ("urls", "pages"),
    [
        ([], {}),
        (["Homepage, https://kith.example/"], {"homepage": "https://kith.example/"}),
        (
            [
                "Source, https://code.example/kith",
                "Repository, https://code.example/other",
                "Issues, https://x.example",
            ],
            {"repository": "https://code.example/kith"},
        ),
        (["Homepage, javascript:x", "Homepage", "", "Repository,"], {}),
    ],
)
def test_nodeinfo_names_where_the_software_is_at_home(urls: list[str], pages: dict[str, str]) -> None:
    assert pages_in(urls) == pages


async def test_nodeinfo_has_only_what_its_schema_has(town: Town) -> None:
    """The address of a server is not the home of its software; what is not known is left out."""
    for version, allowed in (("2.0", set[str]()), ("2.1", {"homepage", "repository"})):
        software = (await town.http.get(f"/nodeinfo/{version}")).json()["software"]
        assert software.keys() - allowed == {"name", "version"}
        assert {name: software[name] for name in allowed & software.keys()} == (project_pages() if allowed else {})
        assert town.base_url not in software.values()


async def test_nodeinfo_tells_real_figures(new_town: TownBuilder) -> None:
    town = await new_town(title="Our place", description="For us", registrations="closed")
    ada: Member = await join(town)
    await post(ada)
    await settle(town)

    links = (await town.http.get("/.well-known/nodeinfo")).json()["links"]

    schema = "http://nodeinfo.diaspora.software/ns/schema"
    assert [link["rel"] for link in links] == [f"{schema}/2.0", f"{schema}/2.1"]
    for link, version in zip(links, ("2.0", "2.1"), strict=True):
        answer = await town.http.get(urlsplit(link["href"]).path)
        told = answer.json()
        assert f'profile="{schema}/{version}#"' in answer.headers["content-type"]
        assert (told["version"], told["software"]["name"]) == (version, "kith")
        assert told["protocols"] == ["activitypub"]
        assert told["services"] == {"inbound": [], "outbound": []}
        assert told["openRegistrations"] is False
        assert told["usage"]["localPosts"] == 1
        assert told["usage"]["users"]["total"] >= 1
        assert told["usage"]["users"]["activeHalfyear"] >= told["usage"]["users"]["activeMonth"] >= 1
        assert told["metadata"]["upstream"] == {"name": "mastodon"}
        assert (told["metadata"]["nodeName"], told["metadata"]["nodeDescription"]) == ("Our place", "For us")
    assert (await town.http.get("/nodeinfo/3.0")).status_code == 404


async def test_handles_may_live_at_another_host(new_town: TownBuilder) -> None:
    town = await new_town(local_domain="Handles.example")
    ada, bob = await join(town), await join(town)
    subject = f"acct:{ada.name}@handles.example"

    for resource in (subject, f"acct:{ada.name}@{domain_of(town)}", ada.me["uri"]):
        assert (await finger(town, resource)).json()["subject"] == subject
    moved = await finger(town, subject, headers={"Host": "handles.example"})
    assert moved.status_code == 301
    assert moved.headers["location"] == f"{town.base_url}/.well-known/webfinger?resource={quote(subject, safe='')}"
    for path in ("/.well-known/host-meta", "/.well-known/nodeinfo"):
        found = await town.http.get(path, headers={"Host": "handles.example"}, follow_redirects=False)
        assert (found.status_code, found.headers["location"]) == (301, f"{town.base_url}{path}")
    assert ada.me["uri"] == f"{town.base_url}/users/{ada.name}"
    assert (await town.http.get("/api/v1/instance")).json()["uri"] == "handles.example"
    assert (await town.http.get("/api/v2/instance")).json()["domain"] == "handles.example"
    said = await post(bob, f"@{ada.name}@handles.example and @{ada.name}@{domain_of(town)}")
    assert [one["id"] for one in said["mentions"]] == [ada.id]
    told = await fetch(town, said["uri"])
    assert [tag["name"] for tag in told["tag"]] == [f"@{ada.name}@handles.example"]
    assert (await fetch(town, "/actor"))["preferredUsername"] == "handles.example"

"""The console's pages of the social half, by links and forms alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kith.base.backups import store as backup_runs
from kith.base.backups.tables import BACKUP, REHEARSAL, BackupRun
from kith.base.blobs import Blobs
from kith.base.db import command, insert_into
from kith.base.jobs import store as job_store
from kith.base.jobs.tables import DEAD
from kith.base.mail import Mail
from kith.base.mailing import SEND_MAIL
from kith.base.stored_settings import STORABLE
from kith.social.emojis.tables import Emoji, emojis
from kith.web.admin.audit import changes_in
from kith.web.admin.frame import AREAS, NEEDS
from kith.web.admin.listings import LISTINGS
from tests.conftest import TownBuilder
from tests.social.members import Member, join, strangers, until
from tests.social.posts import post
from tests.social.samples import image_file
from tests.social.staff import employ, employ_as, verdict
from tests.social.trend_seeds import refresh, use
from tests.town import Town
from tests.web.browsing import Browser
from tests.web.conftest import NewBrowser

ADD_EMOJI = command(insert_into(emojis))
SOME_MAIL = Mail(to="ada@example.org", subject="Tea", text="At four")

MAIL_TEXTS = "/api/v1/admin/mail_texts"
MENU = tuple(address for area in AREAS for address, _ in area.pages)


async def signed_in(browser: Browser, member: Member) -> Member:
    await browser.sign_in(member.name, f"correct horse {member.name}")
    return member


async def administrator(town: Town, browser: Browser) -> Member:
    return await signed_in(browser, await employ(town, "owner"))


async def elsewhere_emoji(town: Town, shortcode: str, domain: str) -> None:
    """One that came with a post from there, whose picture was fetched already."""
    async with town.house() as house, house.works.begin() as work:
        key, id = f"emojis/{shortcode}.png", work.new_id()
        await work.find(Blobs).put(key, image_file("PNG", (32, 32)), "image/png")
        row = Emoji(id, shortcode, domain, key, key, None, True, False, None, work.now)
        await work.db.run(ADD_EMOJI, **msgspec.structs.asdict(row))


async def bury_jobs(town: Town, kind: str, count: int, error: str) -> None:
    async with town.house() as house, house.works.begin() as work:
        for _ in range(count):
            row = job_store.row_for(SEND_MAIL, SOME_MAIL, id=work.new_id(), at=work.now, now=work.now, key=None)
            await work.db.run(job_store.add, **(row | {"kind": kind, "state": DEAD, "error": error}))


async def press(browser: Browser, action: str, method: str = "") -> None:
    """A button of the page's shared forms, whose address ends so."""
    [found, *_] = re.findall(rf'formaction="([^"]*{re.escape(action)})"', browser.page.text)
    sent = {"csrf": browser.cookie("kith_csrf") or "", "next": browser.path}
    if method:
        sent["_method"] = method
    browser.page = await browser.http.post(found.replace("&amp;", "&"), data=sent, follow_redirects=True)


async def test_every_page_is_there_for_owners(town: Town, browser: Browser) -> None:
    await administrator(town, browser)
    for path in (*MENU, *(f"{one.place}/new" for one in LISTINGS)):
        answer = await browser.open(path)
        assert answer.status_code == 200, (path, answer.text)
        assert f'href="{path}" aria-current="page"' in answer.text or path.endswith("/new") or "/staff/" in path, path


async def test_a_page_is_there_for_those_only_whose_role_permits_it(town: Town, browser: Browser) -> None:
    owner = await employ(town, "owner")
    await signed_in(browser, await employ_as(town, owner, 5, "manage_custom_emojis"))

    assert (await browser.open("/admin/emoji")).status_code == 200
    assert "/admin/reports" not in browser.page.text
    nowhere = (await browser.open("/admin/no_such_page")).text
    for path in MENU:
        if path.startswith("/admin") and path in NEEDS and path != "/admin/emoji":
            answer = await browser.open(path)
            assert (path, answer.status_code) == (path, 404)
            assert answer.text == nowhere


async def test_whoever_is_not_of_the_team_finds_no_page(town: Town, browser: Browser) -> None:
    await browser.open("/admin/reports")
    assert "f-uid_field" in browser.page.text
    await signed_in(browser, await join(town))
    for path in MENU:
        assert (await browser.open(path)).status_code == 404
    form = {"csrf": browser.cookie("kith_csrf") or "", "text": "Mine"}
    assert (await browser.http.post("/admin/rules/new", data=form)).status_code == 404


async def test_a_report_is_dealt_with_as_a_case(town: Town, browser: Browser) -> None:
    await administrator(town, browser)
    ada, bob = await join(town), await join(town)
    said = await post(bob, "Cheap <b>watches</b>, everybody")
    report = await ada.post(
        "/api/v1/reports",
        json={"account_id": bob.id, "status_ids": [said["id"]], "comment": "An advert & a lie", "category": "spam"},
    )
    await browser.open("/admin/reports")
    assert "An advert &amp; a lie" in browser.page.text
    assert ">Newer</a>" not in browser.page.text
    assert ">Newer</a>" in (await browser.open(f"/admin/reports?max_id={int(report['id']) + 1}")).text
    await browser.open(f"/admin/reports/{report['id']}")
    assert "Cheap &lt;b&gt;watches&lt;/b&gt;, everybody" in browser.page.text

    await press(browser, "/assign_to_self")
    await browser.press("/report_notes", content="Looks like a robot")
    assert "Looks like a robot" in browser.page.text
    await browser.press(f"/reports/{report['id']}", type="nonsense")
    assert browser.page.status_code == 422
    await browser.press(f"/reports/{report['id']}", type="silence", text="No adverts, please")

    assert browser.page.status_code == 200, browser.page.text
    assert "Resolved by" in browser.page.text
    assert "Lift the limit" in browser.page.text
    await press(browser, "/unsilence")
    assert "Lift the limit" not in browser.page.text
    await press(browser, "/reopen")
    await press(browser, "/resolve")
    assert "There are no open reports" in (await browser.open("/admin/reports")).text
    assert f"/admin/reports/{report['id']}" in (await browser.open("/admin/reports?show=resolved")).text


async def test_an_appeal_is_approved(town: Town, browser: Browser) -> None:
    admin = await administrator(town, browser)
    bob = await join(town)
    await admin.post(f"/api/v1/admin/accounts/{bob.id}/action", json={"type": "sensitive", "text": "Too much"})
    strike = (await bob.get("/api/v1/notifications?types[]=moderation_warning"))[0]["moderation_warning"]["id"]
    await bob.post(f"/api/v1/strikes/{strike}/appeal", json={"text": "It was <art>"})
    await browser.open("/admin/appeals")
    assert "It was &lt;art&gt;" in browser.page.text

    await press(browser, "/approve")

    assert "There are no appeals here." in browser.page.text
    assert (await admin.get(f"/api/v1/admin/accounts/{bob.id}"))["sensitized"] is False


@pytest.mark.parametrize(
    ("name", "given", "shown", "changes"),
    [
        ("rules", {"text": "Be kind", "hint": "To everybody", "priority": "3"}, "Be kind", {"text": "Be gentle"}),
        ("announcements", {"text": "Tea at <four>"}, "Tea at &lt;four&gt;", {"text": "Tea at five"}),
        ("warning_presets", {"title": "Adverts", "text": "No adverts"}, "Adverts", {"title": "Commerce"}),
        ("domain_blocks", {"domain": "bad.example", "severity": "suspend"}, "bad.example", {"severity": "silence"}),
        ("domain_allows", {"domain": "good.example"}, "good.example", {}),
        ("email_domain_blocks", {"domain": "mail.example"}, "mail.example", {}),
        ("ip_blocks", {"ip": "192.0.2.0/24", "severity": "sign_up_block"}, "192.0.2.0/24", {"comment": "A flood"}),
        ("webhooks", {"url": "https://hook.example/x", "events[]": "report.created"}, "hook.example", {}),
    ],
)
async def test_a_list_is_added_to_changed_and_emptied(
    town: Town, browser: Browser, name: str, given: dict[str, str], shown: str, changes: dict[str, str]
) -> None:
    await administrator(town, browser)
    await browser.open(f"/admin/{name}/new")
    await browser.press("/new", **given)
    assert browser.page.status_code == 200, browser.page.text
    await browser.open(f"/admin/{name}")
    assert shown in browser.page.text
    [place, *_] = re.findall(rf'"(/admin/{name}/[0-9]+)"', browser.page.text)

    if changes:
        await browser.open(place)
        await browser.press(place, **changes)
        assert browser.page.status_code == 200, browser.page.text
        await browser.open(place)
        for value in changes.values():
            assert value in browser.page.text
    await browser.open(place)
    await browser.submit(len(browser.forms()) - 1)
    assert browser.path == f"/admin/{name}"
    assert place not in browser.page.text


async def test_what_is_wrong_with_a_form_stands_beside_it(town: Town, browser: Browser) -> None:
    await administrator(town, browser)
    await browser.open("/admin/ip_blocks/new")
    await browser.press("/new", ip="here", severity="no_access", comment='A "note"')

    assert browser.page.status_code == 422
    assert "This does not look right. Please check it." in browser.page.text
    assert "Nothing is saved yet." in browser.page.text
    assert 'value="A &#34;note&#34;"' in browser.page.text


async def test_emoji_are_uploaded_sorted_copied_and_deleted(town: Town, browser: Browser) -> None:
    admin = await administrator(town, browser)
    await browser.open("/admin/emoji")
    form = {"csrf": browser.cookie("kith_csrf") or "", "shortcode": "tea_cup", "category": "Drinks & more"}
    picture = {"image": ("x.png", b"no picture", "image/png")}
    assert (await browser.http.post("/admin/emoji", data=form, files=picture)).status_code == 422
    picture = {"image": ("x.png", image_file("PNG", (32, 32)), "image/png")}
    assert (await browser.http.post("/admin/emoji", data=form, files=picture)).status_code == 303
    assert "Drinks &amp; more" in (await browser.open("/admin/emoji")).text
    [own] = await admin.get("/api/v1/admin/custom_emojis")

    await browser.open(f"/admin/emoji/{own['id']}")
    await browser.press(own["id"], category="Hot drinks", disabled="true")
    [own] = await admin.get("/api/v1/admin/custom_emojis")
    assert (own["category"], own["disabled"]) == ("Hot drinks", True)

    await elsewhere_emoji(town, "far_tea", "far.example")
    await browser.open("/admin/emoji/elsewhere?search=far_&domain=far.example")
    assert ":far_tea:" in browser.page.text
    await browser.press("/elsewhere", shortcode="near_tea")
    assert browser.path == "/admin/emoji", browser.page.text
    assert ":near_tea:" in browser.page.text
    await browser.open(f"/admin/emoji/{own['id']}")
    await browser.submit(1)
    assert ":tea_cup:" not in browser.page.text


async def test_a_list_of_blocks_is_rehearsed_before_it_counts(town: Town, browser: Browser) -> None:
    admin = await administrator(town, browser)
    await browser.open("/admin/domain_blocks/import")
    await browser.press("/import", data=" ")
    assert "Choose a file, or put the list into the field." in browser.page.text
    listed = "#domain,#severity\nnoisy.example,silence\nevil.example,suspend\n"
    await browser.press("/import", data=listed)
    assert "2 servers would be blocked." in browser.page.text
    assert await admin.get("/api/v1/admin/domain_blocks") == []

    await browser.submit(0)

    assert "The server works through the list now." in browser.page.text

    async def are_blocked() -> bool:
        blocks = await admin.get("/api/v1/admin/domain_blocks")
        return {one["domain"] for one in blocks} == {"noisy.example", "evil.example"}

    await until(are_blocked)
    assert "evil.example" in (await browser.open("/admin/domain_blocks.csv")).text
    assert "noisy.example" in (await browser.open("/admin/federation?show=blocked")).text
    assert (await browser.open("/admin/federation/noisy.example")).status_code == 200
    for one in await admin.get("/api/v1/admin/domain_blocks"):
        await admin.delete(f"/api/v1/admin/domain_blocks/{one['id']}")


async def test_a_failed_job_is_explained_and_tried_again(town: Town, browser: Browser) -> None:
    admin = await administrator(town, browser)
    await bury_jobs(town, "mail.send", 2, "Traceback\nMailFailed: no <way> out")
    await browser.open("/admin/jobs")
    assert "MailFailed: no &lt;way&gt; out" in browser.page.text

    await press(browser, "/retry")

    assert "Nothing has failed." in browser.page.text
    assert await admin.get("/api/v1/admin/jobs?state=dead") == []


async def test_backups_are_shown_with_what_became_of_them(town: Town, browser: Browser) -> None:
    admin = await administrator(town, browser)
    async with town.house() as house, house.works.begin() as work:
        for kind, is_good, words in ((BACKUP, True, ""), (BACKUP, False, "no <room>"), (REHEARSAL, True, "9 rows")):
            run = BackupRun(
                id=work.new_id(), kind=kind, started_at=work.now, ended_at=work.now, succeeded=is_good, target="/x",
                backup="20261117T150000Z-0000000000", is_encrypted=True, size=5 << 20, new_bytes=2048, words=words,
            )  # fmt: skip
            await backup_runs.add(work.db, run)

    page = (await browser.open("/admin/backups")).text
    told = await admin.get("/api/v1/admin/backups")

    assert "No backups are made by this server." in page
    assert all(words in page for words in ("no &lt;room&gt;", "9 rows", "5 MB", "2 KB"))
    assert [one["succeeded"] for one in told["backups"]] == [False, True]
    assert "/x" not in page
    assert await verdict(admin, "POST", "/api/v1/admin/backups") == 422


async def test_whoever_sees_backups_starts_none_and_learns_no_path(
    town: Town, browser: Browser, tmp_path: Path
) -> None:
    boss = await administrator(town, browser)
    viewer = await employ_as(town, boss, 7, "view_devops")
    in_the_way = tmp_path / "in-the-way"
    in_the_way.write_text("")

    said = await town.kith("backup", str(in_the_way), expect=1)

    [run, *_] = (await viewer.get("/api/v1/admin/backups"))["backups"]
    assert run["succeeded"] is False
    assert "in-the-way" in said
    assert "in-the-way" not in run["words"]
    assert run["words"] == "A file or a connection failed. The log says more."
    for place in ("/api/v1/admin/backups", "/api/v1/admin/backups/rehearsals"):
        assert await verdict(viewer, "POST", place) == 403
        assert await verdict(boss, "POST", place) == 422  # it is not set where they go


async def test_trends_are_approved_and_rejected(town: Town, browser: Browser) -> None:
    admin = await administrator(town, browser)
    await use(town, "teatime", await strangers(town, 5))
    await refresh(town)
    await browser.open("/admin/trends")
    assert "#teatime" in browser.page.text
    [tag] = [one for one in await admin.get("/api/v1/admin/trends/tags") if one["name"] == "teatime"]

    for word, trendable in (("approve", True), ("reject", False)):
        await press(browser, f"/tags/{tag['id']}/{word}")
        [tag] = [one for one in await admin.get("/api/v1/admin/trends/tags") if one["name"] == "teatime"]
        assert (tag["trendable"], tag["requires_review"]) == (trendable, False)
    for kind in ("links", "links/publishers", "statuses", "statuses/accounts"):
        assert (await browser.open(f"/admin/trends?show={kind}")).status_code == 200, kind


async def test_the_community_is_set_up_on_its_page(town: Town, browser: Browser) -> None:
    admin = await administrator(town, browser)
    await browser.open("/admin/settings")
    await browser.press("/admin/settings", title="Tea & <friends>", registrations="approval", minimum_age="16")
    assert browser.page.status_code == 200, browser.page.text
    assert "Your changes count from now on." in browser.page.text
    assert "Tea &amp; &lt;friends&gt;" in (await browser.open("/about")).text
    instance = (await town.http.get("/api/v2/instance")).json()
    assert (instance["title"], instance["registrations"]["approval_required"]) == ("Tea & <friends>", True)

    await browser.open("/admin/settings")
    await browser.press("/admin/settings", title="", contact_email="nobody")
    assert browser.page.status_code == 422
    assert 'value="nobody"' in browser.page.text
    assert (await admin.get("/api/v1/admin/settings"))["title"] == "Tea & <friends>"

    await browser.open("/admin/audit?action=update_settings")
    assert "<ins>Tea &amp; &lt;friends&gt;</ins>" in browser.page.text
    assert '<option value="update_settings" selected>Changed the settings</option>' in browser.page.text
    assert '<p class="name">Changed the settings</p>' in browser.page.text
    await (await town.owner()).call("POST", "/api/v2/core/groups/", json={"name": "Tea circle"})
    page = await browser.open("/admin/audit?show=all&action=model_created")
    assert '<span class="badge">Group</span> Something was added: Tea circle</p>' in page.text
    events = await browser.open("/admin/records/audit/events?search=update_settings")
    assert ">Changed the settings</a>" in events.text
    await browser.open("/admin/audit?show=all&search=update_settings&since=2020-01-01")
    assert "<del>Kith</del>" in browser.page.text
    assert "Nothing was found." in (await browser.open("/admin/audit?show=all&search=never_ever")).text
    await browser.open("/admin/settings")
    await browser.press("/admin/settings", title="Kith", registrations="open", minimum_age="0")


async def test_settings_from_where_the_server_is_started_are_shown_as_they_are(new_town: TownBuilder) -> None:
    given = {
        "title": "Tea House", "description": "Tea & rain", "contact_email": "ops@example.org", "minimum_age": "14",
        "registrations": "approval", "confirm_email": "off", "publish_peers": "false", "publish_activity": "false",
        "publish_directory": "true", "publish_domain_blocks": "members", "mail_footer": "By the pond", "backups": "false",
    }  # fmt: skip
    assert set(given) == set(STORABLE)
    town = await new_town(**given)
    browser = Browser(town)
    await administrator(town, browser)
    page = await browser.open("/admin/settings")
    mails = await browser.open("/admin/mails")
    await browser.close()
    assert (page.status_code, mails.status_code) == (200, 200)
    for words in ("Tea House", "Tea &amp; rain", "ops@example.org", "14", "Anybody can ask, and the team decides"):
        assert f">{words}</p>" in page.text, words
    assert 'name="title"' not in page.text


async def test_a_logo_is_shown_and_removed(town: Town, browser: Browser) -> None:
    await administrator(town, browser)
    await browser.open("/admin/settings")
    form = {"csrf": browser.cookie("kith_csrf") or ""}
    wrong = {"logo": ("x.png", b"no picture", "image/png")}
    assert (await browser.http.post("/admin/settings/looks", data=form, files=wrong)).status_code == 422
    logo = {"logo": ("x.png", image_file("PNG", (32, 32)), "image/png")}
    assert (await browser.http.post("/admin/settings/looks", data=form, files=logo)).status_code == 303
    page = (await browser.open("/admin/settings")).text
    [address] = re.findall(r'src="(/static/brand/[^"]+)"', page)
    assert (await browser.http.get(address.replace("&amp;", "&"))).headers["content-type"] == "image/png"
    await browser.press("/looks", no_logo="true")
    assert "/static/brand/" not in browser.page.text.partition("<main")[2]


async def test_open_sign_up_can_ask_for_work(town: Town, browser: Browser, new_browser: NewBrowser) -> None:
    await administrator(town, browser)
    await browser.open("/admin/settings")
    await browser.press("/proof")
    assert "It is asked for." in browser.page.text
    assert "data-bits" in (await new_browser().open("/flows/-/default/enrollment/")).text
    await browser.press("/proof")
    assert "It is not asked for." in browser.page.text
    assert "data-bits" not in (await new_browser().open("/flows/-/default/enrollment/")).text


async def test_mails_are_written_on_their_page(town: Town, browser: Browser) -> None:
    admin = await administrator(town, browser)
    await browser.open("/admin/mails")
    await browser.press("/admin/mails", mail_footer="Tea House")
    assert (await admin.get("/api/v1/admin/settings"))["mail_footer"] == "Tea House"
    await browser.press("/admin/mails", mail_footer="")
    assert (await admin.get("/api/v1/admin/settings"))["mail_footer"] == ""

    await browser.open("/admin/mails/welcome?language=de")
    assert "Willkommen bei {site}" in browser.page.text
    shipped = browser.forms()[0].values["body"]
    await browser.press("/mails/welcome", subject="Oh, {name}!", body="Eins\n\nZwei {nobody}\n{")
    assert browser.page.status_code == 422
    assert "line 3, column 6: {nobody} is not known in this mail" in browser.page.text
    assert "line 4, column 1: this brace stands alone" in browser.page.text
    assert '<pre class="wrong" data-line="3">' in browser.page.text
    assert (await admin.get(f"{MAIL_TEXTS}/welcome"))["texts"]["de"]["is_own"] is False

    await browser.press("/mails/welcome", subject="Oh, {name}!", body="Hallo <b>{name}</b>", _preview="true")
    assert "Hallo &lt;b&gt;ada&lt;/b&gt;" in browser.page.text
    assert "Nothing has been saved or sent." in browser.page.text
    assert (await admin.get(f"{MAIL_TEXTS}/welcome"))["texts"]["de"]["is_own"] is False
    await browser.press("/mails/welcome", subject="Oh, {name}!", body="Hallo {name}, du bist da.")
    told = (await admin.get(f"{MAIL_TEXTS}/welcome"))["texts"]
    assert told["de"] == {"subject": "Oh, {name}!", "body": "Hallo {name}, du bist da.", "is_own": True}
    assert told["en"]["is_own"] is False
    assert "your words · de" in (await browser.open("/admin/mails")).text
    await browser.open("/admin/mails/welcome?language=de")
    await browser.submit(1)
    told = (await admin.get(f"{MAIL_TEXTS}/welcome"))["texts"]["de"]
    assert (told["is_own"], told["body"].strip()) == (False, shipped.strip())


async def test_mails_are_refused_that_would_be_of_no_use(town: Town) -> None:
    admin, moderator = await employ(town, "administrator"), await employ(town, "moderator")
    sent = {"language": "en", "subject": "New password", "body": "Here:\n{link}"}
    for changed, field in (
        ({"body": "No way in"}, "body"),
        ({"body": ""}, "body"),
        ({"subject": ""}, "subject"),
        ({"subject": "{link"}, "subject"),
        ({"subject": "x" * 201}, "subject"),
        ({"body": "{link}" + "x" * 5000}, "body"),
        ({"language": "tlh"}, "language"),
        ({"body": "https://evil.example/?key={link}"}, "body"),
        ({"body": "Here: {link}"}, "body"),
        ({"body": "evil.example/\u200b{link}\n\n{link}"}, "body"),
        ({"body": "Look: HTTPS://evil.example\n\n{link}"}, "body"),
        ({"subject": "{link}"}, "subject"),
        ({"subject": "www.evil.example"}, "subject"),
    ):
        answer = await admin.call("PUT", f"{MAIL_TEXTS}/password_reset", json=sent | changed)
        assert (answer.status_code, list(answer.json()["details"])) == (422, [field]), changed
    assert (await admin.call("PUT", f"{MAIL_TEXTS}/no_such_mail", json=sent)).status_code == 404
    for method, path in (("GET", ""), ("PUT", "/welcome"), ("DELETE", "/welcome"), ("POST", "/welcome/preview")):
        assert (await moderator.call(method, f"{MAIL_TEXTS}{path}", json=sent)).status_code == 403
    assert not [one for one in await admin.get(MAIL_TEXTS) if one["texts"]["en"]["is_own"]]


async def test_every_mail_has_a_page_and_can_be_filled_in(town: Town, browser: Browser) -> None:
    admin = await administrator(town, browser)
    for one in await admin.get(MAIL_TEXTS):
        page = await browser.open(f"/admin/mails/{one['name']}")
        assert page.status_code == 200, one["name"]
        for language, text in one["texts"].items():
            sent = {"language": language, "subject": text["subject"], "body": text["body"]}
            made = await admin.post(f"{MAIL_TEXTS}/{one['name']}/preview", json=sent)
            assert not set("{}") & set(made["subject"] + made["text"]), made


async def test_what_waits_for_a_server_is_sent_or_forgotten_by_those_who_may(town: Town, browser: Browser) -> None:
    owner, moderator = await employ(town, "owner"), await employ(town, "moderator")
    for verb in ("retry", "purge"):
        path = f"/api/v1/admin/peers/far.example/{verb}"
        assert await owner.post(path) == {"count": 0}
        assert await verdict(moderator, "POST", path) == 403
    assert await verdict(owner, "GET", "/api/v1/admin/peers/never-heard-of.example") == 404
    assert (await owner.get("/api/v1/admin/peers?q=never-heard-of"))["peers"] == []
    for path in ("jobs", "jobs/counts", "peers", "audit/days"):
        assert (path, await verdict(await join(town), "GET", f"/api/v1/admin/{path}")) == (path, 403)
    assert await verdict(owner, "POST", "/api/v1/admin/jobs/1/retry") == 404
    assert await verdict(owner, "DELETE", "/api/v1/admin/jobs/1") == 404
    await signed_in(browser, owner)
    assert (await browser.open("/admin/federation/never-heard-of.example")).status_code == 404


@pytest.mark.parametrize(
    ("context", "changes"),
    [
        ({}, []),
        ({"diff": {"name": {"previous_value": "a", "new_value": None}}}, [("name", "a", "")]),
        ({"diff": {"name": "odd"}}, []),
        ({"before": {"n": 1}, "after": {"n": [2]}}, [("n", "1", "[2]")]),
        ({"before": "then", "after": {"n": 2}}, []),
    ],
)
def test_changes_are_read_from_events(context: dict[str, Any], changes: list[tuple[str, str, str]]) -> None:
    assert changes_in(context) == changes

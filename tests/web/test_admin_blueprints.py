"""Blueprints in the console."""

from __future__ import annotations

from tests.identity.records import new_name
from tests.town import Town
from tests.web.browsing import Browser


async def test_a_blueprint_is_rehearsed_applied_and_kept(town: Town, browser: Browser) -> None:
    owner, name = await town.owner(), new_name("console")
    text = f"entries:\n- {{model: core.group, identifiers: {{name: {name}}}, attrs: {{attributes: {{a: <b>}}}}}}\n"
    await browser.sign_in(owner.username, owner.password)
    await browser.open("/admin/blueprints")

    await browser.press("/admin/blueprints", content=text, act="rehearse")
    assert f"added: <strong>{name}</strong> (core.group)" in browser.page.text
    await browser.press("/admin/blueprints", content=text, act="apply")
    assert "What it has changed" in browser.page.text
    await browser.press("/admin/blueprints", content=text.replace("<b>", "<i>"), act="rehearse")
    assert "attributes: {&#39;a&#39;: &#39;&lt;b&gt;&#39;} → {&#39;a&#39;: &#39;&lt;i&gt;&#39;}" in browser.page.text
    await browser.press("/admin/blueprints", content="entries: 7", act="rehearse")
    assert browser.page.status_code == 400
    assert "`entries` must be a list" in browser.page.text

    made = await owner.call("POST", "/api/v2/managed/blueprints/", json={"name": name, "content": text})
    assert made.status_code == 201, made.text
    await browser.open("/admin/blueprints")
    await browser.press(f"/admin/blueprints/{made.json()['pk']}/apply")
    assert name in browser.page.text

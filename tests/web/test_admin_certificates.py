"""Certificates in the console."""

from __future__ import annotations

from tests.town import Town
from tests.web.browsing import Browser


async def test_a_certificate_is_made_listed_and_downloaded(town: Town, browser: Browser) -> None:
    owner = await town.owner()
    await browser.sign_in(owner.username, owner.password)
    assert "There are none yet." in (await browser.open("/admin/certificates")).text
    await browser.press("/admin/certificates", common_name="", validity_days="many")
    assert browser.page.status_code == 400
    assert "A valid integer is required." in browser.page.text
    await browser.press("/admin/certificates", common_name="Short-lived", validity_days="20", alg="ecdsa")
    assert browser.page.status_code == 200
    assert "Short-lived" in browser.page.text
    assert "days left" in browser.page.text
    [pair] = (await owner.get("/api/v2/crypto/certificatekeypairs/")).json()["results"]
    answer = await browser.http.get(f"/api/v2/crypto/certificatekeypairs/{pair['pk']}/view_certificate/?download")
    assert answer.text.startswith("-----BEGIN CERTIFICATE-----")

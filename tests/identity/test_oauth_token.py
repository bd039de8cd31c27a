"""The token endpoint: every grant, every refusal, and what happens when many come at once."""

from __future__ import annotations

import asyncio
import base64
import time
import uuid
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from tests.conftest import TownBuilder
from tests.identity.flow_browser import Browser
from tests.identity.records import API, make, new_name, owner_of, results
from tests.identity.relying_party import CALLBACK, RelyingParty, half_hash, make_party, signed_in
from tests.identity.test_oauth_device import DEVICE, answer_page, start
from tests.town import Person, Town

ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
JWT_BEARER = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


async def told(answer: httpx.Response, status: int, error: str) -> None:
    assert (answer.status_code, answer.json().get("error")) == (status, error), answer.text
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["pragma"] == "no-cache"


async def test_a_code_becomes_tokens_that_say_who_it_is(town: Town, ada: Person) -> None:
    party = await make_party(town, ada)
    person, browser = await signed_in(town)

    answer = await party.trade(*await party.code(browser, nonce="n-0S6"))

    assert answer.headers["cache-control"] == "no-store"
    tokens = answer.json()
    assert set(tokens) == {"access_token", "token_type", "expires_in", "scope", "id_token", "refresh_token"}
    assert (tokens["token_type"], tokens["expires_in"]) == ("Bearer", 3600)
    claims = await party.read(tokens["id_token"])
    assert claims["nonce"] == "n-0S6"
    assert claims["at_hash"] == half_hash(tokens["access_token"])
    assert (claims["aud"], claims["azp"], claims["amr"]) == (party.id, party.id, ["pwd"])
    assert claims["preferred_username"] == person.username
    assert claims["email_verified"] is True
    assert abs(claims["auth_time"] - time.time()) < 600
    assert {"sid", "jti", "acr", "exp", "iat"} <= set(claims)
    assert None not in claims.values()
    about = (await party.userinfo(tokens["access_token"])).json()
    assert about["sub"] == claims["sub"]
    assert about["email"] == f"{person.username}@example.org"


async def test_refresh_tokens_are_used_once_and_a_thief_ends_the_family(town: Town, ada: Person) -> None:
    party = await make_party(town, ada)
    person, browser = await signed_in(town)
    first = await party.tokens(browser)

    second = (await party.refresh(first["refresh_token"])).json()
    assert second["refresh_token"] != first["refresh_token"]
    narrowed = (await party.refresh(second["refresh_token"], scope="openid offline_access")).json()
    assert narrowed["scope"] == "openid offline_access"
    assert (await party.userinfo(narrowed["access_token"])).json().keys() == {"sub"}
    await told(
        await party.refresh(narrowed["refresh_token"], scope="openid email offline_access"), 400, "invalid_scope"
    )
    await told(await party.refresh(narrowed["refresh_token"], scope="openid"), 400, "invalid_scope")

    await told(await party.refresh(first["refresh_token"]), 400, "invalid_grant")
    await told(await party.refresh(narrowed["refresh_token"]), 400, "invalid_grant")
    assert (await party.userinfo(narrowed["access_token"])).status_code == 401
    events = await results(ada, "/audit/events/", action="suspicious_request", user=await _id_of(ada, person))
    assert [event["context"]["client"] for event in events] == [party.id]


async def _id_of(owner: Person, person: Person) -> int:
    [found] = await results(owner, "/core/users/", username=person.username)
    return int(found["pk"])


async def test_of_many_uses_of_a_code_one_is_served_and_then_none(town: Town, ada: Person) -> None:
    party = await make_party(town, ada)
    _, browser = await signed_in(town)
    code, verifier = await party.code(browser)

    answers = await asyncio.gather(*(party.trade(code, verifier) for _ in range(200)))

    assert Counter(answer.status_code for answer in answers) == {200: 1, 400: 199}
    assert {answer.json()["error"] for answer in answers if answer.status_code == 400} == {"invalid_grant"}
    [served] = [answer.json() for answer in answers if answer.status_code == 200]
    assert (await party.userinfo(served["access_token"])).status_code == 401
    await told(await party.refresh(served["refresh_token"]), 400, "invalid_grant")


async def test_of_many_refreshes_at_once_no_two_families_live_on(town: Town, ada: Person) -> None:
    party = await make_party(town, ada)
    _, browser = await signed_in(town)
    tokens = await party.tokens(browser)

    answers = await asyncio.gather(*(party.refresh(tokens["refresh_token"]) for _ in range(30)))

    counted = Counter(answer.status_code for answer in answers)
    assert counted == {200: 1, 400: 29}
    [served] = [answer.json() for answer in answers if answer.status_code == 200]
    await told(await party.refresh(served["refresh_token"]), 400, "invalid_grant")
    assert (await party.userinfo(served["access_token"])).status_code == 401


async def test_a_code_is_only_good_for_whom_and_what_it_was_made_for(town: Town, ada: Person) -> None:
    party, other = await make_party(town, ada), await make_party(town, ada)
    _, browser = await signed_in(town)
    code, verifier = await party.code(browser)

    wrong: list[dict[str, Any]] = [
        {"redirect_uri": f"{CALLBACK}/"},
        {"redirect_uri": "https://rp.example/other"},
        {"code_verifier": "x" * 43},
        {"code_verifier": "short"},
        {"code_verifier": ""},
        {"code": "x" * 43},
    ]
    for change in wrong:
        await told(await party.trade(code, verifier, **change), 400, "invalid_grant")
    await told(await other.trade(code, verifier), 400, "invalid_grant")
    assert (await party.trade(code, verifier)).status_code == 200

    empty: list[dict[str, Any]] = [{"code": ""}, {"redirect_uri": ""}, {"grant_type": ""}]
    for change in empty:
        await told(await party.trade(code, verifier, **change), 400, "invalid_request")


async def test_a_verifier_without_a_challenge_is_refused(town: Town, ada: Person) -> None:
    party = await make_party(town, ada)
    _, browser = await signed_in(town)
    code, verifier = await party.code(browser, code_challenge="", code_challenge_method="")

    await told(await party.trade(code, verifier), 400, "invalid_grant")
    assert (await party.trade(code, "")).status_code == 200


async def test_how_a_request_must_be_made(town: Town, ada: Person) -> None:
    party = await make_party(town, ada)
    form = {"grant_type": "client_credentials", "client_id": party.id, "client_secret": party.secret}
    url = "/application/o/token/"
    assert (await town.http.post(url, data=form)).status_code == 200

    await told(await town.http.post(url, json=form), 415, "invalid_request")
    await told(await town.http.post(url, content=b"grant_type=a&grant_type=b", headers=_FORM), 400, "invalid_request")
    await told(await town.http.post(url, content=b"grant_type=%zz", headers=_FORM), 400, "invalid_request")
    await told(await town.http.post(url, data=form | {"grant_type": "magic"}), 400, "unsupported_grant_type")
    await told(await town.http.post(url, data=form | {"grant_type": "password"}), 400, "unauthorized_client")
    in_query = {name: value for name, value in form.items() if name != "client_secret"}
    await told(await town.http.post(f"{url}?client_secret={party.secret}", data=in_query), 400, "invalid_request")
    assert (await town.http.get(url)).status_code == 405


_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


async def test_clients_prove_themselves_in_one_way_and_learn_nothing_from_failing(town: Town, ada: Person) -> None:
    party = await make_party(town, ada, client_secret="a b+c%d:e/&")
    public = await make_party(town, ada, client_type="public")
    form = {"grant_type": "client_credentials"}
    url = "/application/o/token/"

    escaped = httpx.BasicAuth(party.id, "a+b%2Bc%25d%3Ae%2F%26")
    assert (await town.http.post(url, data=form, auth=escaped)).status_code == 200
    by_form = {"client_id": party.id, "client_secret": party.secret}
    assert (await town.http.post(url, data=form | by_form)).status_code == 200

    wrong = await town.http.post(url, data=form, auth=(party.id, "wrong"))
    unknown = await town.http.post(url, data=form, auth=(f"{party.id}x", "wrong"))
    for answer in (wrong, unknown):
        await told(answer, 401, "invalid_client")
        assert answer.headers["www-authenticate"].startswith("Basic ")
    assert wrong.json() == unknown.json()
    for refused in (
        {"client_id": party.id},
        {"client_id": party.id, "client_secret": "wrong"},
        {"client_id": "nobody"},
        {"client_id": public.id, "client_secret": "anything"},
        {},
    ):
        answer = await town.http.post(url, data=form | refused)
        await told(answer, 401, "invalid_client")
        assert "www-authenticate" not in answer.headers
    await told(await town.http.post(url, data=form | by_form, auth=escaped), 400, "invalid_request")
    await told(await town.http.post(url, data=form | {"client_id": "x"}, auth=escaped), 400, "invalid_request")
    await told(await town.http.post(url, data=form | {"client_id": public.id}), 400, "unauthorized_client")
    broken = {"Authorization": "Basic " + base64.b64encode(b"no colon").decode()}
    await told(await town.http.post(url, data=form, headers=broken), 401, "invalid_client")
    events = await results(ada, "/audit/events/", action="suspicious_request")
    assert party.id in [event["context"].get("client") for event in events]


async def test_a_signed_proof_counts_once_for_us_and_not_for_long(town: Town, ada: Person) -> None:
    key, stranger = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    public = jwt.algorithms.ECAlgorithm.to_jwk(key.public_key(), as_dict=True) | {"kid": "one"}
    party = await make_party(town, ada, jwks={"keys": [public]})
    audience = f"{town.base_url}/application/o/token/"

    async def prove(
        signer: Any = key, *, alg: str = "ES256", header: dict[str, Any] | None = None, **change: Any
    ) -> httpx.Response:
        now = int(time.time())
        claims = {
            "iss": party.id,
            "sub": party.id,
            "aud": audience,
            "exp": now + 60,
            "iat": now,
            "jti": str(uuid.uuid4()),
        }
        claims = {name: value for name, value in (claims | change).items() if value is not None}
        proof = jwt.encode(claims, signer, algorithm=alg, headers={"kid": "one"} | (header or {}))
        form = {"grant_type": "client_credentials", "client_assertion_type": JWT_BEARER, "client_assertion": proof}
        return await town.http.post("/application/o/token/", data=form)

    assert (await prove()).status_code == 200
    assert (await prove(aud=[party.issuer, "x"])).status_code == 200
    now = int(time.time())
    again: dict[str, Any] = {"jti": "twice"}
    assert (await prove(**again)).status_code == 200
    secret = party.secret.ljust(32, "x")
    refused = [
        await prove(**again),
        await prove(stranger),
        await prove(aud="https://elsewhere.example/"),
        await prove(exp=now - 60),
        await prove(exp=now + 3600),
        await prove(exp=None),
        await prove(jti=None),
        await prove(iss="somebody"),
        await prove(nbf=now + 600),
        await prove(header={"kid": "two"}),
        await prove(stranger, header={"jwk": jwt.algorithms.ECAlgorithm.to_jwk(stranger.public_key(), as_dict=True)}),
        await prove(secret, alg="HS256"),
        await prove("", alg="none"),
    ]
    for answer in refused:
        await told(answer, 401, "invalid_client")


async def test_what_a_client_may_do_for_itself(town: Town, ada: Person) -> None:
    party = await make_party(town, ada)
    answer = (await party.post("token", grant_type="client_credentials", scope="openid profile read write junk")).json()
    assert set(answer) == {"access_token", "token_type", "expires_in", "scope"}
    assert answer["scope"] == "profile"
    assert (await party.userinfo(answer["access_token"])).status_code == 403
    seen = (await party.post("introspect", token=answer["access_token"])).json()
    assert (seen["active"], seen["client_id"], seen["sub"]) == (True, party.id, party.id)
    assert "username" not in seen


async def test_the_name_of_somebody_is_told_to_whom_the_profile_was_allowed(town: Town, ada: Person) -> None:
    person, browser = await signed_in(town)
    party = await make_party(town, ada)
    for scope, name in (("openid", None), ("openid email", None), ("openid profile", person.username)):
        tokens = await party.tokens(browser, scope=scope)
        for key in (tokens["access_token"], tokens.get("refresh_token")):
            seen = (await party.post("introspect", token=key)).json() if key else {"username": name}
            assert seen.get("username") == name, seen


async def test_app_passwords_stand_for_people_and_their_passwords_do_not(town: Town, ada: Person) -> None:
    person = await town.sign_up()
    key = (await make(ada, "/core/tokens/", intent="app_password", user=await _id_of(ada, person)))["key"]
    party = await make_party(town, ada)
    by_password = await make_party(town, ada, "oauth", authorization_grant_type="password")

    for one, kind in ((party, "client_credentials"), (by_password, "password")):
        answer = await one.post("token", grant_type=kind, username=person.username, password=key, scope="openid email")
        assert answer.status_code == 200, answer.text
        about = (await one.userinfo(answer.json()["access_token"])).json()
        assert about["email"] == f"{person.username}@example.org"
        for username, password in ((person.username, person.password), (ada.username, key), ("nobody", key)):
            refused = await one.post("token", grant_type=kind, username=username, password=password)
            await told(refused, 400, "invalid_grant")


@pytest.mark.parametrize(("has", "asked", "gets"), [
    ("read:statuses", "read write", "read:statuses"),
    ("read", "read:statuses", "read:statuses"),
    ("read:statuses", "admin:read admin:write", None),
    ("openid email", "read", None),
    ("api", "read write", "read write"),
])  # fmt: skip
async def test_an_app_gets_no_more_than_the_app_password_allows(
    town: Town, ada: Person, has: str, asked: str, gets: str | None
) -> None:
    key = (await make(ada, "/core/tokens/", intent="app_password", scopes=has))["key"]
    every = "read write follow push admin:read admin:write"
    sent = {"client_name": "x", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob", "scopes": every}
    app = (await town.http.post("/api/v1/apps", json=sent)).json()
    form = {"grant_type": "password", "username": ada.username, "password": key, "scope": asked}
    answer = await town.http.post(
        "/oauth/token", data=form | {"client_id": app["client_id"], "client_secret": app["client_secret"]}
    )

    if gets is None:
        await told(answer, 400, "invalid_scope")
    else:
        assert (answer.status_code, answer.json().get("scope")) == (200, gets)


async def test_an_application_is_not_entered_with_an_app_password_for_something_else(town: Town, ada: Person) -> None:
    party, person = await make_party(town, ada), await town.sign_up()
    whose = {"intent": "app_password", "user": await _id_of(ada, person)}
    keys = [(await make(ada, "/core/tokens/", scopes=one, **whose))["key"] for one in ("read:statuses", "email")]
    form: dict[str, Any] = {
        "grant_type": "client_credentials",
        "username": person.username,
        "scope": "openid email",
    }
    answers = [await party.post("token", **form, password=key) for key in keys]

    await told(answers[0], 400, "invalid_scope")
    assert answers[1].json()["scope"] == "email"


async def test_what_was_given_for_an_app_password_ends_with_it(town: Town, ada: Person) -> None:
    person = await town.sign_up()
    made = await make(ada, "/core/tokens/", intent="app_password", user=await _id_of(ada, person))
    party = await make_party(town, ada, "oauth", authorization_grant_type="password")
    form = {"grant_type": "password", "username": person.username, "password": made["key"]}
    given = (await party.post("token", scope="openid offline_access", **form)).json()
    assert (await party.userinfo(given["access_token"])).status_code == 200

    assert (await ada.call("DELETE", f"{API}/core/tokens/{made['pk']}/")).status_code == 204

    assert (await party.userinfo(given["access_token"])).status_code == 401
    await told(await party.refresh(given["refresh_token"]), 400, "invalid_grant")


async def test_what_was_given_for_an_app_password_lasts_no_longer_than_it(town: Town, ada: Person) -> None:
    person = await town.sign_up()
    ends = datetime.now(UTC) + timedelta(seconds=90)
    made = await make(
        ada, "/core/tokens/", intent="app_password", user=await _id_of(ada, person), expires=ends.isoformat()
    )
    party = await make_party(town, ada, "oauth", authorization_grant_type="password", access_token_validity="hours=1")
    form = {"grant_type": "password", "username": person.username, "password": made["key"]}
    given = (await party.post("token", scope="openid offline_access", **form)).json()
    again = (await party.refresh(given["refresh_token"])).json()
    assert 0 < given["expires_in"] <= 90
    assert 0 < again["expires_in"] <= 90

    sooner = {"expires": (datetime.now(UTC) - timedelta(seconds=1)).isoformat()}
    changed = await ada.call("PATCH", f"{API}/core/tokens/{made['pk']}/", json=sooner)
    assert changed.status_code == 200, changed.text
    await told(await party.refresh(again["refresh_token"]), 400, "invalid_grant")


async def approved_device(party: RelyingParty, browser: Browser) -> str:
    """The code of a device for which somebody has said yes, and which has not come for its token yet."""
    started = await start(party)
    assert (await answer_page(browser, started["user_code"], "allow")).status_code == 200
    return str(started["device_code"])


async def test_policies_are_asked_wherever_somebody_gets_a_token(town: Town, ada: Person) -> None:
    party = await make_party(town, ada)
    person, browser = await signed_in(town)
    tokens = await party.tokens(browser)
    key = (await make(ada, "/core/tokens/", intent="app_password", user=await _id_of(ada, person)))["key"]
    code, device = await party.code(browser), await approved_device(party, browser)
    no = await make(
        ada, "/policies/expression/", name=new_name("no"), expression='pb_message("Not today.")\nreturn False'
    )
    await make(ada, "/policies/bindings/", policy=no["pk"], target=party.application["pk"], order=0)

    refused = await party.refresh(tokens["refresh_token"])
    await told(refused, 403, "access_denied")
    assert refused.json()["error_description"] == "Not today."
    await told(await party.trade(*code), 403, "access_denied")
    await told(await party.post("token", grant_type=DEVICE, device_code=device), 403, "access_denied")
    form = {"grant_type": "client_credentials", "username": person.username, "password": key}
    await told(await party.post("token", **form), 403, "access_denied")
    events = await results(ada, "/audit/events/", action="authorization_refused")
    assert party.id in [event["context"].get("client") for event in events]


async def test_whoever_is_disabled_can_do_nothing_from_that_moment(town: Town, ada: Person) -> None:
    party = await make_party(town, ada)
    person, browser = await signed_in(town)
    tokens, (code, verifier) = await party.tokens(browser), await party.code(browser)
    path = f"{API}/core/users/{await _id_of(ada, person)}/"

    await ada.call("PATCH", path, json={"is_active": False})

    refused = await party.userinfo(tokens["access_token"])
    assert refused.status_code == 401
    assert 'error="invalid_token"' in refused.headers["www-authenticate"]
    assert (await party.post("introspect", token=tokens["access_token"])).json() == {"active": False}
    await told(await party.refresh(tokens["refresh_token"]), 400, "invalid_grant")
    await told(await party.trade(code, verifier), 400, "invalid_grant")


async def test_a_new_password_ends_what_apps_were_given(town: Town, ada: Person) -> None:
    person = await town.sign_up()
    app = (
        await town.http.post("/api/v1/apps", data={"client_name": "a", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob"})
    ).json()
    form = {
        "grant_type": "password",
        "username": person.username,
        "password": person.password,
        "client_id": app["client_id"],
        "client_secret": app["client_secret"],
    }
    answer = await town.http.post("/oauth/token", data=form)
    assert answer.status_code == 200, answer.text
    key = answer.json()["access_token"]
    assert (await _social(town, key)).status_code == 200

    changed = await ada.call(
        "POST", f"{API}/core/users/{await _id_of(ada, person)}/set_password/", json={"password": "another one"}
    )
    assert changed.status_code == 204, changed.text
    await until(lambda: _social(town, key), 401)


async def _social(town: Town, key: str) -> httpx.Response:
    return await town.http.get("/api/v1/apps/verify_credentials", headers={"Authorization": f"Bearer {key}"})


async def until(call: Any, status: int) -> None:
    """What a job does is done soon."""
    async with asyncio.timeout(120):
        while (await call()).status_code != status:
            await asyncio.sleep(0.05)


async def test_revoking_ends_what_it_says_and_nothing_of_others(town: Town, ada: Person) -> None:
    party, other = await make_party(town, ada), await make_party(town, ada)
    _, browser = await signed_in(town)
    tokens = await party.tokens(browser)

    assert (await other.post("revoke", token=tokens["access_token"])).json() == {}
    assert (await other.post("introspect", token=tokens["access_token"])).json() == {"active": False}
    assert (await party.post("introspect", token=tokens["refresh_token"])).json()["active"] is True
    seen = (await party.post("introspect", token=tokens["access_token"])).json()
    assert (seen["scope"], seen["token_type"], seen["iss"]) == (tokens["scope"], "Bearer", party.issuer)
    assert (
        await party.post("revoke", token=tokens["access_token"], token_type_hint="refresh_token")
    ).status_code == 200
    assert (await party.userinfo(tokens["access_token"])).status_code == 401

    later = (await party.refresh(tokens["refresh_token"])).json()
    assert (await party.post("revoke", token=later["refresh_token"])).status_code == 200
    assert (await party.userinfo(later["access_token"])).status_code == 401
    assert (await party.post("introspect", token="unknown")).json() == {"active": False}
    assert (await party.post("revoke", token="unknown")).status_code == 200
    for endpoint in ("revoke", "introspect"):
        await told(await party.post(endpoint, secretly=False, token="x"), 401, "invalid_client")
        await told(await party.post(endpoint, other="x"), 400, "invalid_request")
    public = await make_party(town, ada, client_type="public")
    await told(await public.post("introspect", secretly=False, token="x"), 401, "invalid_client")


async def test_public_clients_get_a_new_refresh_token_every_time(town: Town, ada: Person) -> None:
    lazy = {"refresh_token_threshold": "days=1"}
    public = await make_party(town, ada, client_type="public", **lazy)
    secret = await make_party(town, ada, **lazy)
    _, browser = await signed_in(town)

    tokens = await public.tokens(browser, secretly=False)
    answer = (await public.refresh(tokens["refresh_token"], secretly=False)).json()
    assert answer["refresh_token"] != tokens["refresh_token"]
    kept = await secret.tokens(browser)
    for _ in range(2):
        assert "refresh_token" not in (await secret.refresh(kept["refresh_token"])).json()
    plain = await secret.tokens(browser, scope="openid email")
    assert "refresh_token" not in plain


async def test_a_token_can_be_exchanged_for_a_narrower_one_by_whom_it_is_for(town: Town, ada: Person) -> None:
    party, other = await make_party(town, ada), await make_party(town, ada)
    _, browser = await signed_in(town)
    tokens = await party.tokens(browser)
    form = {"grant_type": EXCHANGE, "subject_token": tokens["access_token"], "subject_token_type": ACCESS_TOKEN}

    narrow = (await party.post("token", **form, scope="openid email", audience=other.id)).json()
    assert (narrow["scope"], narrow["issued_token_type"]) == ("openid email", ACCESS_TOKEN)
    assert narrow["expires_in"] <= tokens["expires_in"]
    onward = await other.post("token", **form | {"subject_token": narrow["access_token"]}, scope="openid")
    assert onward.status_code == 200, onward.text
    assert (await other.userinfo(onward.json()["access_token"])).status_code == 200

    await told(await other.post("token", **form), 400, "invalid_grant")
    await told(await party.post("token", **form | {"subject_token": "x"}), 400, "invalid_grant")
    await told(await party.post("token", **form, scope="openid groups"), 400, "invalid_scope")
    await told(await party.post("token", **form | {"subject_token_type": "urn:x"}), 400, "invalid_request")
    await told(await party.post("token", **form, actor_token="x"), 400, "invalid_request")


async def test_a_token_for_another_application_needs_its_consent(town: Town, ada: Person) -> None:
    """Otherwise whoever is refused there comes in by an application that lets them in."""
    party, other, late = [await make_party(town, ada) for _ in range(3)]
    _, browser = await signed_in(town)
    tokens = await party.tokens(browser)
    form = {"grant_type": EXCHANGE, "subject_token": tokens["access_token"], "subject_token_type": ACCESS_TOKEN}
    given = (await party.post("token", **form, audience=f"{other.id} {late.id}")).json()["access_token"]
    no = await make(ada, "/policies/dummy/", name=new_name("no"), result=False, wait_min=0, wait_max=0)
    seen = [(await one.post("introspect", token=given)).json()["active"] for one in (party, other, late)]
    await make(ada, "/policies/bindings/", policy=no["pk"], target=other.application["pk"], order=0)

    for audience in (other.id, f"{late.id} {other.id}"):
        await told(await party.post("token", **form, audience=audience), 403, "access_denied")
    await told(await party.post("token", **form, audience="nobody"), 400, "invalid_target")
    now = [(await one.post("introspect", token=given)).json()["active"] for one in (party, other, late)]
    assert (seen, now) == ([True] * 3, [True, False, True])


async def test_an_exchanged_token_has_no_scope_that_the_other_lacked(town: Town, ada: Person) -> None:
    party, other = await make_party(town, ada), await make_party(town, ada)
    _, browser = await signed_in(town)
    found = {}
    for asked in ("nothing", "openid", "openid nothing", "email offline_access"):
        token, scopes = (await party.tokens(browser, scope=asked))["access_token"], set(asked.split())
        for number, asks in enumerate(("", "offline_access", "")):
            if asks not in ("", *scopes):
                continue
            form: dict[str, Any] = {"grant_type": EXCHANGE, "subject_token": token, "subject_token_type": ACCESS_TOKEN}
            wish: dict[str, Any] = {"scope": asks} if asks else {}
            told = (await party.post("token", **form, **wish)).json()
            onward = (await party.post("token", **form, audience=other.id)).json()["access_token"]
            there = (await other.post("token", **form | {"subject_token": onward})).json()
            found[asked, number] = (set(told["scope"].split()) | set(there["scope"].split())) - scopes
            claims = (await party.userinfo(told["access_token"])).json()
            assert "openid" in scopes or "sub" not in claims, asked
            token = told["access_token"] if asks else token

    assert len(found) == 9
    assert set().union(*found.values()) == set()


@pytest.mark.parametrize("end", ["revoke", "refresh", "withdraw", "sign out"])
async def test_an_exchanged_token_ends_with_the_one_it_was_given_for(town: Town, ada: Person, end: str) -> None:
    party, other, last = [await make_party(town, ada) for _ in range(3)]
    _, browser = await signed_in(town)
    tokens, kept = await party.tokens(browser), await party.tokens(browser)
    given = [one["access_token"] for one in (tokens, kept)]
    chain: list[list[tuple[RelyingParty, str]]] = [[], []]
    for tokens_of, first in zip(chain, given, strict=True):
        for at, to in ((party, other), (other, last), (last, party)):
            subject = tokens_of[-1][1] if tokens_of else first
            form: dict[str, Any] = {
                "grant_type": EXCHANGE,
                "subject_token": subject,
                "subject_token_type": ACCESS_TOKEN,
            }
            tokens_of.append((at, (await at.post("token", **form, audience=to.id)).json()["access_token"]))

    if end in ("revoke", "refresh"):
        token = tokens["access_token" if end == "revoke" else "refresh_token"]
        assert (await party.post("revoke", token=token)).status_code == 200
    elif end == "withdraw":
        csrf = browser.http.cookies.get("kith_csrf") or ""
        path = f"/oauth/authorized_applications/p{party.provider['pk']}"
        assert (await browser.http.post(path, data={"csrf": csrf})).status_code == 303
    else:
        await browser.sign_out()

    async def lives() -> list[list[bool]]:
        return [[(await at.post("introspect", token=token)).json()["active"] for at, token in one] for one in chain]

    expected = [[False] * 3, [end in ("revoke", "refresh")] * 3]

    async with asyncio.timeout(60):
        while await lives() != expected:  # what a job does is done soon
            await asyncio.sleep(0.05)


async def test_scripts_of_the_clients_own_site_may_read_answers(town: Town, ada: Person) -> None:
    party = await make_party(town, ada)
    url, form = "/application/o/token/", {"grant_type": "client_credentials"}

    async def allowed(origin: str, method: str = "POST") -> str | None:
        answer = await town.http.request(
            method,
            url,
            data=form if method == "POST" else None,
            auth=(party.id, party.secret),
            headers={"Origin": origin},
        )
        assert "access-control-allow-credentials" not in answer.headers
        found: str | None = answer.headers.get("access-control-allow-origin")
        return found

    assert await allowed("https://rp.example") == "https://rp.example"
    assert await allowed("https://rp.example", "OPTIONS") == "https://rp.example"
    for origin in ("https://evil.example", "null", "https://rp.example.evil.example", "http://rp.example"):
        assert await allowed(origin) is None
    assert await allowed("null", "OPTIONS") is None


async def test_guessing_secrets_is_slowed_down(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on")
    party = await make_party(town, await town.owner())
    codes = [
        (
            await town.http.post(
                "/application/o/token/", data={"grant_type": "client_credentials"}, auth=(party.id, str(n))
            )
        ).status_code
        for n in range(21)
    ]
    assert codes == [401] * 20 + [429]
    answer = await party.post("token", grant_type="client_credentials")
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) > 0

"""Providers that would be taken for others by their key pairs."""

from __future__ import annotations

import pytest

from kith.identity.collections import RESOURCES
from kith.identity.rest.fields import Reference
from tests.identity.record_maker import BY_PATH, Maker
from tests.identity.records import API, make, new_name, owner_of, person_who_may
from tests.identity.saml_keys import pair
from tests.identity.saml_services import store_pair
from tests.town import Town

# Key pairs that anybody may share: they prove the host where this server itself listens, or open and check alone.
_SHARED_KEYS = {
    ("/providers/ldap/", "certificate"),
    ("/providers/applicationgateway/", "certificate"),
    ("/providers/saml/", "verification_kp"),
    ("/providers/saml/", "encryption_kp"),
}
_OWN_KEYS = [
    (resource.path, field.name)
    for resource in {one.path: one for one in RESOURCES if "create" in one.allow}.values()
    for field in resource.all_fields
    if resource.area == "providers" and isinstance(field, Reference) and field.to == "identity_keypairs.kp_uuid"
    if (resource.path, field.name) not in _SHARED_KEYS
]


@pytest.mark.parametrize(("path", "name"), _OWN_KEYS)
async def test_a_provider_is_not_taken_for_another_by_its_key(town: Town, path: str, name: str) -> None:
    """Under a common issuer it would sign what others trust; a Wi-Fi of one's own would be the one people know."""
    ada, collection = await owner_of(town), BY_PATH[path]
    record = collection.record.lower()
    maker = await person_who_may(town, ada, *(f"providers.{verb}_{record}" for verb in ("view", "add", "change")))
    used, free = await store_pair(ada, pair("used")), await store_pair(ada, pair("free"))
    kept = await ada.call("POST", API + path, json=await Maker(ada).body(collection) | {name: used})
    assert kept.status_code == 201, kept.text
    body = await Maker(ada).body(collection)

    assert (await maker.call("POST", API + path, json=body | {name: used})).status_code == 403
    item = f"{API}{path}{(await make(maker, path, **body | {name: free}))['pk']}/"
    assert (await maker.call("PATCH", item, json={name: used})).status_code == 403
    assert (await maker.call("PATCH", item, json={"name": new_name("p")})).status_code == 200


def test_every_provider_with_a_key_of_its_own_is_known() -> None:
    assert {path for path, _ in _OWN_KEYS} == {
        "/providers/oauth/", "/providers/openid/", "/providers/radius/", "/providers/saml/"
    }  # fmt: skip

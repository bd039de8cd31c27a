"""And bovine: frameworks, whose users' servers write little beside what they must."""

from __future__ import annotations

from typing import Any

from tests.federation.neighbours.sample import AS, PEM, PUBLIC, Sample

A = "https://apkit.example/users/amy"
FOLLOW = "https://b.example/4d2f"


def _answer(kind: str, answered: Any) -> dict[str, Any]:
    return {"@context": AS, "type": kind, "id": f"{A}#{kind}", "actor": A, "object": answered}


SAMPLES: dict[str, Sample] = {
    "actor": Sample(
        "actor",
        {
            "@context": [AS, "https://w3id.org/security/v1", "https://w3id.org/security/data-integrity/v1"],
            "id": A,
            "type": "Person",
            "preferredUsername": "amy",
            "inbox": f"{A}/inbox",
            "outbox": f"{A}/outbox",
            "publicKey": [{"id": f"{A}#main-key", "type": "Key", "owner": A, "publicKeyPem": PEM}],
            "assertionMethod": [{"id": f"{A}#ed25519-key", "type": "Multikey", "controller": A}],
        },
        {"username": "amy", "followers": None, "keys.keys.0.id": f"{A}#main-key"},
    ),
    "acceptance of a type and an id": Sample(
        "activity", _answer("Accept", {"id": FOLLOW, "type": "Follow"}), {"object_id": FOLLOW, "answered": None}
    ),
    "refusal of a type and an id": Sample(
        "activity", _answer("Reject", {"id": FOLLOW, "type": "Follow"}), {"object_id": FOLLOW, "answered": None}
    ),
    "undoing of a type and an id": Sample(
        "activity", _answer("Undo", {"id": f"{A}#1", "type": "Follow"}), {"object_id": f"{A}#1", "undone": None}
    ),
    "acceptance of an id": Sample("activity", _answer("Accept", FOLLOW), {"object_id": FOLLOW, "answered": None}),
    "mention without a name": Sample(
        "note",
        {
            "@context": AS,
            "type": "Note",
            "id": f"{A}/1",
            "attributedTo": A,
            "to": [PUBLIC],
            "cc": ["https://b.example/users/bob"],
            "published": "2024-03-05T10:00:00Z",
            "content": "<p>Hello</p>",
            "tag": [{"@context": AS, "type": "Mention", "href": "https://b.example/users/bob"}],
        },
        {"tags.mentions.0.href": "https://b.example/users/bob"},
    ),
}

"""People and the server itself."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kith.base.settings import Settings
from kith.federation.vocabulary.outgoing import identifiers, tags
from kith.federation.vocabulary.outgoing.attachments import image
from kith.federation.vocabulary.outgoing.contexts import Doc
from kith.federation.vocabulary.outgoing.moments import midnight
from kith.social.accounts.tables import Account
from kith.social.emojis.tables import Emoji
from kith.social.text.parts import hashtags, normal_tag

__all__ = ["ActorParts", "actor", "server"]


class ActorParts(msgspec.Struct, frozen=True):
    """Somebody who lives here, with all that is told of them. `moved_to` is the address of who they are now."""

    account: Account
    public_pem: str
    emojis: Sequence[Emoji] = ()
    moved_to: str | None = None


def actor(settings: Settings, parts: ActorParts) -> Doc:
    """Of somebody who was shut out nothing is told but that they are."""
    row = parts.account
    made = _addresses(settings, row) | _ways(row, parts.public_pem)
    if row.is_gone:
        return made | {"name": "", "summary": "", "attachment": [], "tag": [], "suspended": True}
    made |= {
        "name": row.display_name,
        "summary": row.note_html,
        "tag": [
            *(tags.emoji(settings, one) for one in parts.emojis),
            *(tags.hashtag(settings, normal_tag(name)) for name in hashtags(row.note)),
        ],
        "attachment": [_field(field) for field in row.fields],
    }
    if row.avatar:
        made["icon"] = image(settings, row.avatar, row.avatar_description)
    if row.header:
        made["image"] = image(settings, row.header, row.header_description)
    if parts.moved_to is not None:
        made["movedTo"] = parts.moved_to
    if row.also_known_as:
        made["alsoKnownAs"] = list(row.also_known_as)
    if row.attribution_domains:
        made["attributionDomains"] = list(row.attribution_domains)
    return made


def _addresses(settings: Settings, row: Account) -> Doc:
    uri = row.uri
    return {
        "id": uri,
        "type": row.actor_type,
        "following": identifiers.following(uri),
        "followers": identifiers.followers(uri),
        "inbox": identifiers.inbox(uri),
        "outbox": identifiers.outbox(uri),
        "featured": identifiers.featured(uri),
        "featuredTags": identifiers.featured_tags(uri),
        "devices": identifiers.collection(uri, "collections/devices"),
        "endpoints": {"sharedInbox": identifiers.shared_inbox(settings)},
        "preferredUsername": row.username,
        "url": row.url or uri,
    }


def _ways(row: Account, pem: str) -> Doc:
    return {
        "manuallyApprovesFollowers": row.locked,
        "discoverable": bool(row.discoverable) and not row.is_gone,
        "indexable": row.indexable and not row.is_gone,
        "published": midnight(row.created_at),
        "memorial": row.memorial,
        "showFeatured": row.show_featured,
        "showMedia": row.show_media,
        "showRepliesInMedia": row.show_media_replies,
        "publicKey": _key(row.uri, pem),
    }


def _key(owner: str, pem: str) -> Doc:
    return {"id": identifiers.main_key(owner), "owner": owner, "publicKeyPem": pem}


def _field(field: Doc) -> Doc:
    return {"type": "PropertyValue", "name": field["name"], "value": field.get("html", "")}


def server(settings: Settings, public_pem: str) -> Doc:
    """The server as an actor of its own: it signs what nobody in particular asks for."""
    uri = identifiers.server_actor(settings)
    return {
        "id": uri,
        "type": "Application",
        "inbox": identifiers.inbox(uri),
        "outbox": identifiers.outbox(uri),
        "endpoints": {"sharedInbox": identifiers.shared_inbox(settings)},
        "preferredUsername": identifiers.server_name(settings),
        "url": f"{settings.base_url}/about",
        "manuallyApprovesFollowers": True,
        "publicKey": _key(uri, public_pem),
    }

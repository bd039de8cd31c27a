"""A day in which every call of the social API that changes something is made once, with something to change.

`{name}` in a path or a body stands for the id of what an earlier call made and `keeps`, or for who or what the day begins
with: ada, bob, eve, kim, lee, max, owner, and away, who is elsewhere.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from kith.app import ROUTES
from kith.social.errors import DIALECT

__all__ = ["LEFT", "WRITES", "Write", "write_templates"]

Who = Literal["ada", "bob", "eve", "kim", "lee", "max", "owner"]


class Write(msgspec.Struct, frozen=True):
    who: Who
    method: str
    path: str
    body: dict[str, Any] = {}
    keeps: str = ""
    status: int = 200
    picture: str = ""  # the field that carries one


def _w(who: Who, call: str, body: dict[str, Any] | None = None, keeps: str = "", status: int = 200) -> Write:
    method, _, path = call.partition(" ")
    return Write(who, method, path, body or {}, keeps, status)


_KEY = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
_PUSH = {
    "subscription": {"endpoint": "https://push.example/1", "keys": {"p256dh": _KEY, "auth": "8eDyX_uCN0XRhSbY5hs7Hg"}},
    "data": {"alerts": {"mention": True}, "policy": "all"},
}
_DEVICE_KEY = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo"  # a public one from RFC 8032
_DEVICE = {
    "device": {"device_id": "1", "name": "phone", "fingerprint_key": _DEVICE_KEY, "identity_key": _DEVICE_KEY},
    "one_time_keys": [],
}
_MESSAGE = {"account_id": "{ada}", "device_id": "1", "type": 0, "body": "sealed", "hmac": "AAAA"}

WRITES: tuple[Write, ...] = (
    # People
    _w("ada", "PATCH /api/v1/accounts/update_credentials", {"display_name": "Ada", "note": "gardens #garden"}),
    _w("ada", "PATCH /api/v1/profile", {"note": "gardens, mostly #garden"}),
    Write("ada", "PATCH", "/api/v1/accounts/update_credentials", picture="avatar"),
    Write("ada", "PATCH", "/api/v1/accounts/update_credentials", picture="header"),
    _w("ada", "DELETE /api/v1/profile/avatar"),
    _w("ada", "DELETE /api/v1/profile/header"),
    _w("ada", "PATCH /api/v1/preferences", {"posting:default:visibility": "public"}),
    _w("ada", "POST /api/v1/accounts/{bob}/follow"),
    _w("bob", "POST /api/v1/accounts/{ada}/follow", {"notify": True}),
    _w("eve", "POST /api/v1/follows", {"uri": "{bob_name}"}),
    _w("ada", "POST /api/v1/accounts/{bob}/pin"),
    _w("ada", "POST /api/v1/accounts/{bob}/unpin"),
    _w("ada", "POST /api/v1/accounts/{bob}/note", {"comment": "from the workshop"}),
    _w("bob", "POST /api/v1/accounts/{eve}/remove_from_followers"),
    _w("bob", "PATCH /api/v1/accounts/update_credentials", {"locked": True}),
    _w("eve", "POST /api/v1/accounts/{bob}/follow"),
    _w("bob", "POST /api/v1/follow_requests/{eve}/authorize"),
    _w("owner", "POST /api/v1/accounts/{bob}/follow"),
    _w("bob", "POST /api/v1/follow_requests/{owner}/reject"),
    _w("ada", "POST /api/v1/accounts/{eve}/mute", {"duration": 3600}),
    _w("ada", "POST /api/v1/accounts/{eve}/unmute"),
    _w("ada", "POST /api/v1/accounts/{eve}/block"),
    _w("ada", "POST /api/v1/accounts/{eve}/unblock"),
    _w("ada", "POST /api/v1/domain_blocks", {"domain": "loud.example"}),
    _w("ada", "DELETE /api/v1/domain_blocks", {"domain": "loud.example"}),
    # Posts
    Write("ada", "POST", "/api/v1/media", keeps="media", picture="file"),
    Write("ada", "POST", "/api/v2/media", keeps="loose", picture="file"),
    _w("ada", "PUT /api/v1/media/{media}", {"description": "a tomato", "focus": "0.5,0.5"}),
    _w("ada", "DELETE /api/v1/media/{loose}"),
    _w("ada", "POST /api/v1/statuses", {"status": "Tomatoes #garden", "media_ids": ["{media}"]}, "post"),
    _w(
        "ada",
        "POST /api/v1/statuses",
        {"status": "?", "poll": {"options": ["a", "b"], "expires_in": 3600}},
        "poll_post",
    ),
    _w("bob", "POST /api/v1/polls/{poll}/votes", {"choices": [0]}),
    _w("bob", "POST /api/v1/statuses", {"status": "@{ada_name} fine!", "in_reply_to_id": "{post}"}, "reply"),
    _w("bob", "POST /api/v1/statuses", {"status": "look", "quoted_status_id": "{post}"}, "quote"),
    _w("bob", "POST /api/v1/statuses", {"status": "@{ada_name} psst", "visibility": "direct"}, "direct"),
    _w("eve", "POST /api/v1/statuses", {"status": "bah"}, "rude"),
    _w("ada", "POST /api/v1/conversations/{conversation}/read"),
    _w("ada", "POST /api/v1/conversations/{conversation}/unread"),
    _w("ada", "DELETE /api/v1/conversations/{conversation}"),
    _w("ada", "PUT /api/v1/statuses/{post}", {"status": "Tomatoes, ripe #garden", "media_ids": ["{media}"]}),
    _w("ada", "PUT /api/v1/statuses/{post}/interaction_policy", {"quote_approval_policy": "followers"}),
    _w("bob", "POST /api/v1/statuses/{post}/favourite"),
    _w("bob", "POST /api/v1/statuses/{post}/reblog"),
    _w("bob", "POST /api/v1/statuses/{post}/bookmark"),
    _w("ada", "POST /api/v1/statuses/{post}/quotes/{quote}/revoke"),
    _w("ada", "POST /api/v1/statuses/{post}/pin"),
    _w("ada", "POST /api/v1/statuses/{post}/unpin"),
    _w("ada", "POST /api/v1/statuses/{post}/mute"),
    _w("ada", "POST /api/v1/statuses/{post}/unmute"),
    _w("bob", "POST /api/v1/statuses/{post}/unbookmark"),
    _w("ada", "POST /api/v1/statuses", {"status": "later", "scheduled_at": "2035-01-01T00:00:00Z"}, "later"),
    _w("ada", "PUT /api/v1/scheduled_statuses/{later}", {"scheduled_at": "2035-02-01T00:00:00Z"}),
    _w("ada", "DELETE /api/v1/scheduled_statuses/{later}"),
    _w("ada", "POST /api/v1/markers", {"home": {"last_read_id": "{post}"}}),
    _w("bob", "POST /api/v1/statuses/{post}/translate", status=404),
    # What one sorts by
    _w("ada", "POST /api/v1/lists", {"title": "Neighbours"}, "list"),
    _w("ada", "PUT /api/v1/lists/{list}", {"title": "Friends"}),
    _w("ada", "PATCH /api/v1/lists/{list}", {"exclusive": True}),
    _w("ada", "POST /api/v1/lists/{list}/accounts", {"account_ids": ["{bob}"]}),
    _w("ada", "DELETE /api/v1/lists/{list}/accounts", {"account_ids": ["{bob}"]}),
    _w("ada", "DELETE /api/v1/lists/{list}"),
    _w("bob", "POST /api/v1/tags/garden/follow"),
    _w("bob", "POST /api/v1/tags/garden/unfollow"),
    _w("ada", "POST /api/v1/featured_tags", {"name": "garden"}, "featured"),
    _w("ada", "DELETE /api/v1/featured_tags/{featured}"),
    _w("ada", "POST /api/v1/tags/garden/feature"),
    _w("ada", "POST /api/v1/tags/garden/unfeature"),
    _w(
        "ada",
        "POST /api/v2/filters",
        {"title": "news", "context": ["home"], "keywords_attributes": [{"keyword": "x"}]},
        "filter",
    ),
    _w("ada", "PUT /api/v2/filters/{filter}", {"title": "more news"}),
    _w("ada", "PATCH /api/v2/filters/{filter}", {"filter_action": "hide"}),
    _w("ada", "POST /api/v2/filters/{filter}/keywords", {"keyword": "election", "whole_word": True}, "keyword"),
    _w("ada", "PUT /api/v2/filters/keywords/{keyword}", {"keyword": "elections"}),
    _w("ada", "PATCH /api/v2/filters/keywords/{keyword}", {"keyword": "vote"}),
    _w("ada", "DELETE /api/v2/filters/keywords/{keyword}"),
    _w("ada", "POST /api/v2/filters/{filter}/statuses", {"status_id": "{reply}"}, "filtered"),
    _w("ada", "DELETE /api/v2/filters/statuses/{filtered}"),
    _w("ada", "DELETE /api/v2/filters/{filter}"),
    _w("ada", "POST /api/v1/filters", {"phrase": "spoiler", "context": ["home"]}, "old_filter"),
    _w("ada", "PUT /api/v1/filters/{old_filter}", {"phrase": "spoilers", "context": ["home"]}),
    _w("ada", "PATCH /api/v1/filters/{old_filter}", {"phrase": "spoil", "context": ["home"]}),
    _w("ada", "DELETE /api/v1/filters/{old_filter}"),
    _w("bob", "PATCH /api/v1/accounts/update_credentials", {"discoverable": True}),
    _w("owner", "PATCH /api/v1/accounts/update_credentials", {"discoverable": True}),
    _w("ada", "POST /api/v1/collections", {"name": "Gardeners", "description": "who garden"}, "collection"),
    _w("ada", "PATCH /api/v1/collections/{collection}", {"name": "All gardeners"}),
    _w("ada", "POST /api/v1/collections/{collection}/items", {"account_id": "{bob}"}, "item"),
    _w("bob", "POST /api/v1/collections/{collection}/items/{item}/revoke"),
    _w("ada", "POST /api/v1/collections/{collection}/items", {"account_id": "{owner}"}, "other_item"),
    _w("ada", "DELETE /api/v1/collections/{collection}/items/{other_item}"),
    _w("ada", "DELETE /api/v1/collections/{collection}"),
    # What one is told
    _w("ada", "PUT /api/v1/notifications/policy", {"filter_not_following": True}),
    _w("ada", "PATCH /api/v1/notifications/policy", {"filter_not_followers": True}),
    _w("ada", "PUT /api/v2/notifications/policy", {"for_not_following": "filter"}),
    _w("ada", "PATCH /api/v2/notifications/policy", {"for_not_followers": "accept"}),
    _w("eve", "POST /api/v1/statuses", {"status": "@{ada_name} hello"}),
    _w("kim", "POST /api/v1/statuses", {"status": "@{ada_name} hello"}),
    _w("lee", "POST /api/v1/statuses", {"status": "@{ada_name} hello"}),
    _w("max", "POST /api/v1/statuses", {"status": "@{ada_name} hello"}),
    _w("ada", "POST /api/v1/notifications/requests/{request1}/accept"),
    _w("ada", "POST /api/v1/notifications/requests/{request2}/dismiss"),
    _w("ada", "POST /api/v1/notifications/requests/accept", {"id": ["{request3}"]}),
    _w("ada", "POST /api/v1/notifications/requests/dismiss", {"id": ["{request4}"]}),
    _w("ada", "PUT /api/v1/notifications/emails", {}),
    _w("ada", "PATCH /api/v1/notifications/emails", {}),
    _w("ada", "POST /api/v1/push/subscription", _PUSH),
    _w("ada", "PUT /api/v1/push/subscription", {"data": {"alerts": {"follow": True}}}),
    _w("ada", "DELETE /api/v1/push/subscription"),
    _w("ada", "POST /api/v1/crypto/keys/upload", _DEVICE),
    _w("bob", "POST /api/v1/crypto/keys/upload", _DEVICE),
    _w("bob", "POST /api/v1/crypto/keys/query", {"id": ["{ada}"]}),
    _w("bob", "POST /api/v1/crypto/keys/claim", {"device": [{"account_id": "{ada}", "device_id": "1"}]}),
    _w("bob", "POST /api/v1/crypto/deliveries", {"device": [_MESSAGE]}),
    _w("ada", "POST /api/v1/crypto/encrypted_messages/clear", {"up_to_id": "{post}"}),
    _w("ada", "PUT /api/v1/statuses_cleanup_policy", {"enabled": True, "min_status_age": 1209600}),
    _w("ada", "PATCH /api/v1/statuses_cleanup_policy", {"keep_media": True}),
    _w("ada", "DELETE /api/v1/statuses_cleanup_policy"),
    _w("ada", "POST /api/v1/accounts/alias", {"acct": "{bob_name}"}),
    # The team
    _w("owner", "POST /api/v1/admin/announcements", {"text": "A party!"}, "announcement"),
    _w("owner", "PUT /api/v1/admin/announcements/{announcement}", {"text": "A party, at eight!"}),
    _w("owner", "PATCH /api/v1/admin/announcements/{announcement}", {"all_day": False}),
    _w("owner", "POST /api/v1/admin/announcements/{announcement}/publish"),
    _w("ada", "PUT /api/v1/announcements/{announcement}/reactions/🎉"),
    _w("ada", "DELETE /api/v1/announcements/{announcement}/reactions/🎉"),
    _w("ada", "POST /api/v1/announcements/{announcement}/dismiss"),
    _w("owner", "POST /api/v1/admin/announcements/{announcement}/distribution"),
    _w("owner", "POST /api/v1/admin/announcements/{announcement}/unpublish"),
    _w("owner", "DELETE /api/v1/admin/announcements/{announcement}"),
    _w("owner", "POST /api/v1/admin/suggestions", {"account_id": "{bob}"}),
    _w("eve", "DELETE /api/v1/suggestions/{bob}"),
    _w("owner", "DELETE /api/v1/admin/suggestions/{bob}"),
    Write("owner", "POST", "/api/v1/admin/custom_emojis", {"shortcode": "tomato"}, "emoji", picture="image"),
    _w("owner", "PUT /api/v1/admin/custom_emojis/{emoji}", {"category": "fruit"}),
    _w("owner", "PATCH /api/v1/admin/custom_emojis/{emoji}", {"category": "vegetables"}),
    _w("owner", "POST /api/v1/admin/custom_emojis/{emoji}/disable"),
    _w("owner", "POST /api/v1/admin/custom_emojis/{emoji}/enable"),
    _w("owner", "DELETE /api/v1/admin/custom_emojis/{emoji}"),
    _w("ada", "POST /api/v1/reports", {"account_id": "{eve}", "status_ids": ["{rude}"], "comment": "rude"}, "report"),
    _w("owner", "PUT /api/v1/admin/reports/{report}", {"category": "violation"}),
    _w("owner", "PATCH /api/v1/admin/reports/{report}", {"category": "spam"}),
    _w("owner", "POST /api/v1/admin/reports/{report}/assign_to_self"),
    _w("owner", "POST /api/v1/admin/reports/{report}/unassign"),
    _w("owner", "POST /api/v1/admin/report_notes", {"report_id": "{report}", "content": "hm"}, "report_note"),
    _w("owner", "DELETE /api/v1/admin/report_notes/{report_note}"),
    _w("owner", "POST /api/v1/admin/reports/{report}/resolve"),
    _w("owner", "POST /api/v1/admin/reports/{report}/reopen"),
    _w("owner", "POST /api/v1/admin/accounts/{eve}/action", {"type": "sensitive", "report_id": "{report}"}),
    _w("eve", "POST /api/v1/strikes/{strike}/appeal", {"text": "I did not"}),
    _w("owner", "POST /api/v1/admin/appeals/{appeal}/reject"),
    _w("owner", "POST /api/v1/admin/accounts/{eve}/unsensitive"),
    _w("owner", "POST /api/v1/admin/accounts/{eve}/action", {"type": "silence"}),
    _w("eve", "POST /api/v1/strikes/{next_strike}/appeal", {"text": "Nor that"}),
    _w("owner", "POST /api/v1/admin/appeals/{next_appeal}/approve"),
    _w("owner", "POST /api/v1/admin/accounts/{eve}/unsilence"),
    _w("owner", "POST /api/v1/admin/accounts/{eve}/action", {"type": "disable"}),
    _w("owner", "POST /api/v1/admin/accounts/{eve}/enable"),
    _w("owner", "POST /api/v1/admin/accounts/{away}/action", {"type": "suspend"}),
    _w("owner", "POST /api/v1/admin/accounts/{away}/unsuspend"),
    _w("owner", "POST /api/v1/admin/warning_presets", {"text": "careful"}, "preset"),
    _w("owner", "PUT /api/v1/admin/warning_presets/{preset}", {"text": "be careful"}),
    _w("owner", "PATCH /api/v1/admin/warning_presets/{preset}", {"text": "do be careful"}),
    _w("owner", "DELETE /api/v1/admin/warning_presets/{preset}"),
    _w("owner", "POST /api/v1/admin/roles", {"name": "helper", "permissions_as_keys": ["manage_reports"]}, "role"),
    _w("owner", "PUT /api/v1/admin/roles/{role}", {"name": "helpers"}),
    _w("owner", "PATCH /api/v1/admin/roles/{role}", {"name": "helping hands"}),
    _w("owner", "POST /api/v1/admin/accounts/{bob}/role", {"role_id": "{role}"}),
    _w("owner", "DELETE /api/v1/admin/roles/{role}"),
    _w("owner", "POST /api/v1/admin/domain_blocks", {"domain": "bad.example", "severity": "silence"}, "domain_block"),
    _w("owner", "PUT /api/v1/admin/domain_blocks/{domain_block}", {"severity": "suspend"}),
    _w("owner", "PATCH /api/v1/admin/domain_blocks/{domain_block}", {"severity": "noop"}),
    _w("owner", "DELETE /api/v1/admin/domain_blocks/{domain_block}"),
    _w("owner", "POST /api/v1/admin/domain_allows", {"domain": "good.example"}, "domain_allow"),
    _w("owner", "DELETE /api/v1/admin/domain_allows/{domain_allow}"),
    _w("owner", "POST /api/v1/admin/email_domain_blocks", {"domain": "mail.example"}, "mail_block"),
    _w("owner", "DELETE /api/v1/admin/email_domain_blocks/{mail_block}"),
    _w("owner", "POST /api/v1/admin/ip_blocks", {"ip": "10.1.2.3", "severity": "no_access"}, "ip_block"),
    _w("owner", "PUT /api/v1/admin/ip_blocks/{ip_block}", {"severity": "sign_up_block"}),
    _w("owner", "PATCH /api/v1/admin/ip_blocks/{ip_block}", {"comment": "hm"}),
    _w("owner", "DELETE /api/v1/admin/ip_blocks/{ip_block}"),
    _w("owner", "POST /api/v1/admin/canonical_email_blocks", {"email": "eve@example.net"}, "address_block"),
    _w("owner", "POST /api/v1/admin/canonical_email_blocks/test", {"email": "eve@example.net"}),
    _w("owner", "DELETE /api/v1/admin/canonical_email_blocks/{address_block}"),
    _w(
        "owner",
        "POST /api/v1/admin/measures",
        {"keys": ["new_users"], "start_at": "2026-01-01", "end_at": "2026-01-03"},
    ),
    _w(
        "owner",
        "POST /api/v1/admin/dimensions",
        {"keys": ["languages"], "start_at": "2026-01-01", "end_at": "2026-01-03"},
    ),
    _w("owner", "POST /api/v1/admin/retention", {"start_at": "2026-01-01", "end_at": "2026-01-03", "frequency": "day"}),
    _w("owner", "POST /api/v1/admin/rules", {"text": "be kind"}, "rule"),
    _w("owner", "PUT /api/v1/admin/rules/{rule}", {"text": "be very kind"}),
    _w("owner", "PATCH /api/v1/admin/rules/{rule}", {"hint": "always"}),
    _w("owner", "DELETE /api/v1/admin/rules/{rule}"),
    _w("owner", "PUT /api/v1/admin/settings", {"site_short_description": "gardens"}),
    _w("owner", "PATCH /api/v1/admin/settings", {"site_short_description": "gardens and more"}),
    _w(
        "owner",
        "POST /api/v1/admin/webhooks",
        {"url": "https://hook.example/", "events": ["report.created"]},
        "webhook",
    ),
    _w(
        "owner", "PUT /api/v1/admin/webhooks/{webhook}", {"url": "https://hook.example/2", "events": ["report.created"]}
    ),
    _w("owner", "PATCH /api/v1/admin/webhooks/{webhook}", {"enabled": False}),
    _w("owner", "POST /api/v1/admin/webhooks/{webhook}/rotate_secret"),
    _w("owner", "DELETE /api/v1/admin/webhooks/{webhook}"),
    _w("owner", "POST /api/v1/admin/invites", {"single_use": False}, "invite"),
    _w("owner", "DELETE /api/v1/admin/invites/{invite}"),
    _w("owner", "POST /api/v1/admin/relays", {"inbox_url": "https://relay.example/inbox"}, "relay"),
    _w("owner", "POST /api/v1/admin/relays/{relay}/enable"),
    _w("owner", "DELETE /api/v1/admin/relays/{relay}"),
    _w(
        "owner",
        "PUT /api/v1/admin/mail_texts/signup_approved",
        {"language": "en", "subject": "Yes", "body": "Come in!"},
    ),
    _w(
        "owner",
        "PATCH /api/v1/admin/mail_texts/signup_approved",
        {"language": "en", "subject": "Yes!", "body": "Come!"},
    ),
    _w(
        "owner",
        "POST /api/v1/admin/mail_texts/signup_approved/preview",
        {"language": "en", "subject": "Yes", "body": "Come!"},
    ),
    _w("owner", "DELETE /api/v1/admin/mail_texts/signup_approved?language=en"),
    _w("owner", "POST /api/v1/admin/peers/elsewhere.example/retry"),
    _w("owner", "POST /api/v1/admin/peers/elsewhere.example/purge"),
    _w("owner", "POST /api/v1/admin/jobs/retry"),
    _w("owner", "POST /api/v1/apps", {"client_name": "app", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob"}),
    _w("ada", "POST /api/v1/annual_reports/2025/generate"),
    _w("owner", "PUT /api/v1/admin/tags/{tag}", {"trendable": True}),
    _w("owner", "POST /api/v1/admin/trends/tags/{tag}/approve"),
    _w("owner", "POST /api/v1/admin/trends/tags/{tag}/reject"),
    _w("owner", "POST /api/v1/admin/trends/statuses/{post}/approve"),
    _w("owner", "POST /api/v1/admin/trends/statuses/{post}/reject"),
    _w("owner", "POST /api/v1/admin/trends/statuses/accounts/{ada}/approve"),
    _w("owner", "POST /api/v1/admin/trends/statuses/accounts/{ada}/reject"),
    _w(
        "owner",
        "POST /api/v1/admin/domain_blocks/import",
        {"data": "#domain,#severity\nworse.example,suspend\n", "apply": True},
    ),
    _w("owner", "POST /api/v1/admin/domain_allows/import", {"data": "#domain\nbetter.example\n", "apply": True}),
    # What ends
    _w("bob", "POST /api/v1/statuses/{post}/unfavourite"),
    _w("bob", "POST /api/v1/statuses/{post}/unreblog"),
    _w("ada", "POST /api/v1/notifications/{notification}/dismiss"),
    _w("ada", "POST /api/v1/notifications/dismiss", {"id": "{next_notification}"}),
    _w("ada", "POST /api/v2/notifications/{group}/dismiss"),
    _w("ada", "POST /api/v1/notifications/clear"),
    _w("ada", "POST /api/v2/notifications/clear"),
    _w("ada", "POST /api/v1/accounts/{bob}/unfollow"),
    _w("ada", "DELETE /api/v1/statuses/{post}"),
    _w("owner", "POST /api/v1/admin/accounts/{eve}/action", {"type": "suspend"}),
    _w("owner", "DELETE /api/v1/admin/accounts/{eve}"),
)

_ALIAS = "the same handlers as under /api/v1"
_LINKS = "no link trends in a day; see tests/social/test_trends.py, which runs on both"
_OF_ITS_OWN = "needs a part that the day has not, and has a test of its own on both"
LEFT: dict[str, str] = {
    "POST /api/v1_alpha/collections": _ALIAS,
    "PATCH /api/v1_alpha/collections/{id}": _ALIAS,
    "DELETE /api/v1_alpha/collections/{id}": _ALIAS,
    "POST /api/v1_alpha/collections/{collection_id}/items": _ALIAS,
    "DELETE /api/v1_alpha/collections/{collection_id}/items/{id}": _ALIAS,
    "POST /api/v1_alpha/collections/{collection_id}/items/{id}/revoke": _ALIAS,
    "POST /api/v1/admin/trends/links/publishers/{id}/approve": _LINKS,
    "POST /api/v1/admin/trends/links/publishers/{id}/reject": _LINKS,
    "POST /api/v1/admin/trends/links/{id}/approve": _LINKS,
    "POST /api/v1/admin/trends/links/{id}/reject": _LINKS,
    "POST /api/v1/appeals": _OF_ITS_OWN,
    "POST /api/v1/annual_reports/{year}/read": _OF_ITS_OWN,
    "DELETE /api/web/push_subscriptions/{link}": _OF_ITS_OWN,
    "POST /api/v1/accounts": _OF_ITS_OWN,
    "POST /api/v1/accounts/move": _OF_ITS_OWN,
    "POST /api/v1/accounts/{id}/email_subscriptions": "always 404, as where Mastodon has it switched off",
    "POST /api/v1/admin/accounts/{id}/approve": _OF_ITS_OWN,
    "POST /api/v1/admin/accounts/{id}/reject": _OF_ITS_OWN,
    "POST /api/v1/admin/backups": _OF_ITS_OWN,
    "POST /api/v1/admin/backups/rehearsals": _OF_ITS_OWN,
    "POST /api/v1/admin/block_lists": _OF_ITS_OWN,
    "POST /api/v1/admin/block_lists/{id}/apply": _OF_ITS_OWN,
    "POST /api/v1/admin/block_lists/{id}/rehearse": _OF_ITS_OWN,
    "DELETE /api/v1/admin/block_lists/{id}": _OF_ITS_OWN,
    "POST /api/v1/admin/jobs/{id}/retry": _OF_ITS_OWN,
    "DELETE /api/v1/admin/jobs/{id}": _OF_ITS_OWN,
    "POST /api/v1/admin/remote_emojis/{id}/copy": _OF_ITS_OWN,
    "POST /api/v1/emails/confirmations": _OF_ITS_OWN,
}


def write_templates() -> set[tuple[str, str]]:
    """Method and template of every route of the social API that may change something.

    What takes PUT and PATCH alike stands here with the one that its room has declared.
    """
    return {
        (route.methods[0], route.template)
        for route in ROUTES
        if route.dialect is DIALECT and route.template.startswith("/api/")
        if route.methods[0] in ("POST", "PUT", "PATCH", "DELETE")
    }

"""Descriptions of scopes for the consent page."""

from __future__ import annotations

from kith.base.work import Work
from kith.identity.providers.oauth2.claims.scope_mappings import mappings_of
from kith.identity.providers.oauth2.clients.client import Client

WORDS = {
    "openid": "Know who you are",
    "profile": "See your profile: name, user name, picture, language and time zone",
    "email": "See your e-mail address",
    "groups": "See which groups you are in",
    "entitlements": "See what you may do in the application",
    "offline_access": "Keep access while you are not using the application",
    "read": "Read everything in your account",
    "write": "Change everything in your account, and post in your name",
    "follow": "Follow, mute and block people for you",
    "push": "Send you notifications",
    "crypto": "Use end-to-end encryption for you",
    "read:accounts": "See accounts",
    "read:blocks": "See whom you block",
    "read:bookmarks": "See your bookmarks",
    "read:collections": "See your collections",
    "read:favourites": "See your favourites",
    "read:filters": "See your filters",
    "read:follows": "See whom you follow",
    "read:lists": "See your lists",
    "read:mutes": "See whom you mute",
    "read:notifications": "See your notifications",
    "read:reports": "See your reports",
    "read:search": "Search in your name",
    "read:statuses": "See posts",
    "write:accounts": "Change your profile",
    "write:blocks": "Block people and servers for you",
    "write:bookmarks": "Bookmark posts for you",
    "write:collections": "Change your collections",
    "write:conversations": "Mute and delete conversations",
    "write:favourites": "Favourite posts for you",
    "write:filters": "Change your filters",
    "write:follows": "Follow people for you",
    "write:lists": "Change your lists",
    "write:media": "Upload files",
    "write:mutes": "Mute people and conversations for you",
    "write:notifications": "Clear your notifications",
    "write:reports": "Report people for you",
    "write:statuses": "Post, edit and delete in your name",
    "admin:read": "Read everything that moderators see",
    "admin:write": "Change everything that moderators may change",
    "admin:read:accounts": "Read what moderators see of accounts",
    "admin:read:reports": "Read reports",
    "admin:read:domain_allows": "Read which servers are allowed",
    "admin:read:domain_blocks": "Read which servers are blocked",
    "admin:read:ip_blocks": "Read which addresses are blocked",
    "admin:read:email_domain_blocks": "Read which e-mail domains are blocked",
    "admin:read:canonical_email_blocks": "Read which e-mail addresses are blocked",
    "admin:write:accounts": "Moderate accounts",
    "admin:write:reports": "Handle reports",
    "admin:write:domain_allows": "Allow servers",
    "admin:write:domain_blocks": "Block servers",
    "admin:write:ip_blocks": "Block addresses",
    "admin:write:email_domain_blocks": "Block e-mail domains",
    "admin:write:canonical_email_blocks": "Block e-mail addresses",
}


def words_for(scope: str) -> str:
    return WORDS.get(scope, scope)


async def permissions(work: Work, client: Client, scopes: list[str]) -> list[dict[str, str]]:
    """Each scope with its description: the mapping's, else ours, else its name."""
    own = {one.scope_name: one.description for one in await mappings_of(work, client) if one.description}
    return [{"id": scope, "name": own.get(scope) or words_for(scope)} for scope in scopes]

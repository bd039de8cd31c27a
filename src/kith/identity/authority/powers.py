"""What protects or vouches for whom: the one rule of who may write what, as a table over all collections.

Whoever may change what somebody mightier trusts, is mightier. A permission lets its holder write the records of a
collection; an entry here says what that leads to (shown where permissions are given), and which writes it is not
enough for. Superusers are held to none of it. A collection without an entry cannot be served.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from kith.identity.authority import checks, places
from kith.identity.authority.checks import keep_off_ways_in, only_superusers
from kith.identity.authority.write import Check
from kith.identity.rest import Resource
from kith.identity.sources.reach import HARMLESS

__all__ = ["POWERS", "SPECIAL", "Power", "power_of"]

SOURCES = "Only a superuser may say where people come from, or what vouches for them."
HOSTS = "Only a superuser may change under which names and by which flows people sign in, and the style of all pages."
BLUEPRINTS = "Only a superuser may say what a blueprint does; import it to apply it with your own permissions."
# No style: it is on pages where people allow or change something too, and can lay their buttons under any click.
_LOOKS = ("branding_title", "branding_logo", "branding_favicon", "attributes")


class Power(msgspec.Struct, frozen=True):
    """`leads_to` is what whoever may write these records can bring about; `checks` refuse what goes beyond it."""

    leads_to: str
    checks: tuple[Check, ...] = ()


_READ = Power("Shows what there is, and changes nothing.")
_PEOPLE = (
    "Changes people who may not do more than oneself: their names, proven addresses, groups and so what they may enter."
)
_POLICY = Power(
    "Decides who may enter applications. What decides how people sign in stays with superusers.",
    (
        checks.look_up,
        keep_off_ways_in(checks.is_policy, also_new=False),
        keep_off_ways_in(checks.is_called, also_new=True),
    ),
)
_STAGE = Power(
    "Changes steps of flows, except those that something names, or by which people sign in or guard their accounts.",
    (checks.look_up, keep_off_ways_in(checks.is_stage, also_new=False)),
)
_FORM = "Changes questions in flows that nothing names. None of them asks for a password, or is on a way to sign in."
_PROVIDER = "Sets up how applications are entered. Whoever has this can enter these applications as anybody."
_TOLD = Power(
    "Says what applications are told of people. Whoever has this can enter applications as anybody.",
    (checks.look_up, keep_off_ways_in(checks.is_mapping, also_new=False)),
)
_FROM_SOURCES = Power(
    "Says what is taken over of people from sources. What a source uses stays with superusers.",
    (checks.look_up, keep_off_ways_in(checks.is_mapping, also_new=False)),
)
_SOURCE = Power(
    "Changes name, icon and place of a source. What it is and whom it vouches for stays with superusers.",
    (only_superusers(SOURCES, but=HARMLESS),),
)
_USER_CONNECTION = Power(
    "Unlinks accounts of people who may not do more than oneself. Linking them stays with superusers.",
    (checks.only_unlink,),
)
_GROUP_CONNECTION = Power(
    "Shows which groups a source fills. Changing that stays with superusers.", (only_superusers(checks.CONNECTIONS),)
)

POWERS: dict[str, Power] = {
    "core.user": Power(_PEOPLE, (checks.keep_deciding_groups("groups"), checks.keep_headers)),
    "core.group": Power(
        "Changes groups that grant nothing beyond one's own rights, and who is in them and so enters by them.",
        (checks.compare_group, checks.keep_headers),
    ),
    "rbac.role": Power("Changes roles that grant nothing beyond one's own rights.", (checks.compare_role,)),
    "core.token": Power("Makes and ends tokens of people who may not do more than oneself, and so acts for them."),
    "core.userconsent": Power("Ends what people have allowed applications."),
    "core.emailblock": Power("Keeps addresses from signing up."),
    "core.accessoffer": Power(
        "Says which groups and applications people can ask for, and who decides, as far as one may let people in.",
        (checks.keep_offers,),
    ),
    "core.accessrequest": Power("Shows what people have asked for."),
    "core.authenticatedsession": Power("Ends sessions of people who may not do more than oneself."),
    "audit.event": _READ,
    "managed.blueprintinstance": Power(
        "Renames blueprints, applies them again, and imports blueprints within one's own rights.",
        (only_superusers(BLUEPRINTS, but=("name",)),),
    ),
    "core.application": Power("Decides which applications there are and who may enter them."),
    "core.applicationentitlement": Power("Decides what people may do within applications."),
    "core.brand": Power(
        "Changes title and pictures of pages, and to which application guests are sent. Names of the server, its flows "
        "and the style of its pages stay with superusers.",
        (only_superusers(HOSTS, but=(*_LOOKS, "default_application")),),
    ),
    "flows.flow": Power(
        "Changes flows, except those that something names, or by which people sign in or guard their accounts.",
        (keep_off_ways_in(checks.is_flow, also_new=True),),
    ),
    "flows.flowstagebinding": Power(
        "Puts steps into flows, except those that something names, or by which people sign in or guard their accounts.",
        (keep_off_ways_in(checks.is_place, also_new=True),),
    ),
    "policies.policy": _READ,
    "policies.policybinding": Power(
        "Decides who may enter applications. What decides how people sign in stays with superusers.",
        (keep_off_ways_in(checks.is_binding, also_new=True), checks.bind_no_removal),
    ),
    "policies.passwordexpirypolicy": Power(_POLICY.leads_to, (*_POLICY.checks, checks.keep_passwords)),
    "policies.*policy": _POLICY,
    "policies.reputation": Power("Forgets that somebody, or an address, has failed to sign in."),
    "propertymappings.propertymapping": _READ,
    "propertymappings.ldappropertymapping": _FROM_SOURCES,
    "propertymappings.*sourcepropertymapping": _FROM_SOURCES,
    "propertymappings.notificationwebhookmapping": Power("Says what is sent of events.", (checks.look_up,)),
    "propertymappings.*mapping": _TOLD,
    "providers.provider": _READ,
    "providers.applicationgatewayprovider": Power(_PROVIDER, (places.keep_hosts, places.keep_upstream)),
    "providers.samlprovider": Power(_PROVIDER, (places.keep_key_apart("signing_kp"),)),
    "providers.oauth2provider": Power(_PROVIDER, (places.keep_key_apart("signing_key"),)),
    "providers.openidprovider": Power(_PROVIDER, (places.keep_key_apart("signing_key"),)),
    "providers.ldapprovider": Power(_PROVIDER, (places.keep_trees,)),
    "providers.radiusprovider": Power(_PROVIDER, (places.keep_key_apart("certificate"),)),
    "providers.scimprovider": Power("Says which services are told of people and groups, and how."),
    "providers.*provider": Power(_PROVIDER),
    "providers.samlsession": Power("Ends sessions of people at services."),
    "providers.registeredclient": Power("Ends clients that registered themselves with providers."),
    "sources.source": _READ,
    "sources.user*sourceconnection": _USER_CONNECTION,
    "sources.group*sourceconnection": _GROUP_CONNECTION,
    "sources.*source": _SOURCE,
    "stages.stage": _READ,
    "stages.userwritestage": Power(
        _STAGE.leads_to, (*_STAGE.checks, checks.keep_deciding_groups("create_users_group"))
    ),
    "stages.invitation": Power(
        "Invites people, also where nobody can sign up otherwise, and says what is known of them.",
        (checks.keep_invitation,),
    ),
    "stages.prompt": Power(_FORM, (checks.look_up, keep_off_ways_in(checks.is_prompt, also_new=True))),
    "stages.promptstage": Power(_FORM, (checks.look_up, keep_off_ways_in(checks.is_form, also_new=True))),
    "stages.*stage": _STAGE,
    "crypto.certificatekeypair": Power(
        "Adds certificates and keys. Those that something uses are changed and deleted by superusers only.",
        (checks.keep_key,),
    ),
    "events.notificationrule": Power("Says who is told of which events, and so what they learn of people."),
    "events.notificationtransport": Power(
        "Says where notifications of events are sent, and so who learns what happens.", (checks.keep_sender,)
    ),
    "events.notification": Power("Marks notifications as seen."),
}
# Permissions that are no writes of records.
SPECIAL: dict[str, str] = {
    "core.reset_user_password": "Sets the passwords of people who may not do more than oneself.",
    "core.remove_user_factor": "Takes second factors from people who may not do more than oneself.",
    "core.lockdown_user": "Ends everything of people who may not do more than oneself.",
    "core.view_secret": (
        "Shows secrets of records that one may change, also in blueprints. Whoever has this can speak for this server "
        "with other services."
    ),
    "crypto.view_certificatekeypair_key": (
        "Shows private keys. Whoever has one can enter every application that trusts it as anybody."
    ),
    "flows.inspect_flow": "Shows how flows would go for people.",
    "flows.export_flow": "Shows flows with all that is in them, except secrets.",
}


def power_of(resource: Resource[Any]) -> Power:
    """The entry of a collection: its own, or the longest pattern that fits."""
    return _entry(f"{resource.area}.{resource.model}")


@lru_cache(1024)
def _entry(name: str) -> Power:
    if name in POWERS:
        return POWERS[name]
    fitting = [pattern for pattern in POWERS if _fits(pattern, name)]
    return POWERS[max(fitting, key=len)]


def _fits(pattern: str, name: str) -> bool:
    start, star, end = pattern.partition("*")
    return bool(star) and len(name) >= len(start) + len(end) and name.startswith(start) and name.endswith(end)

"""Writes the answers of a run into the user, or makes a new user. Only fields that a form may set are written."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from kith.base.errors import Complaint, Conflict, Invalid
from kith.base.limits import Limiter, LimitRule, address_key
from kith.identity.audit import service as audit
from kith.identity.audit.private_values import told_changes
from kith.identity.flows.stages import STAGES, StageRecord
from kith.identity.group_grants import complain_grant
from kith.identity.groups import store as groups
from kith.identity.rest import RecordDraft, Resource, kind_table
from kith.identity.rest.fields import Boolean, Choice, Reference, Text
from kith.identity.sessions import service as sessions
from kith.identity.signups import addresses
from kith.identity.signups import service as signups
from kith.identity.stages import proofs
from kith.identity.stages.admission import DISABLED
from kith.identity.stages.invitation_checks import (
    find,
    gives_address,
    is_still_good,
    names_without_say,
    use,
    vouches,
)
from kith.identity.stages.kinds.invitation import REFUSED
from kith.identity.stages.password_rules import print_of
from kith.identity.stages.sign_in_sources import SignInSources
from kith.identity.stages.turn import PASSED, Challenge, Denied, Outcome, StageKind, Turn
from kith.identity.users import former_names, service, store
from kith.identity.users.identifying_attributes import complain_upn, identifying_names
from kith.identity.users.names import complain_chosen
from kith.identity.users.passwords import Passwords
from kith.identity.users.tables import User

FIELDS = (
    Choice(
        name="user_creation_mode",
        default="create_when_required",
        choices=("never_create", "create_when_required", "always_create"),
    ),
    Boolean(name="create_users_as_inactive", default=False),
    Reference(
        name="create_users_group",
        null=True,
        to="identity_groups.group_uuid",
        on_delete="RESTRICT",
        help="New people join it.",
    ),
    Choice(name="user_type", default="external", choices=("internal", "external", "service_account")),
    Text(name="user_path_template", default="", most=500),
)


class UserWriteStage(StageRecord, kw_only=True):
    user_creation_mode: str
    create_users_as_inactive: bool
    create_users_group: str | None
    user_type: str
    user_path_template: str


async def check(draft: RecordDraft[UserWriteStage]) -> None:
    """Callers cannot choose a group that grants more than they have."""
    if draft.caller.permissions is None or not draft.sets("create_users_group"):
        return
    group = draft.now.create_users_group
    words = await complain_grant(draft, [group] if group is not None else [])
    if words is not None:
        draft.complain("create_users_group", words, "permission_denied")


RESOURCE = Resource(
    path="/stages/user_write/",
    name="UserWriteStage",
    record=UserWriteStage,
    key="stage_uuid",
    family=STAGES,
    kind="userwrite",
    table=kind_table("identity_stages_user_write", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "user_creation_mode", "create_users_as_inactive", "create_users_group", "user_type"),
    prepare=check,
)


FAILED = "Failed to update user. Please try again later."
PLAIN = ("username", "name", "email")
SIGN_UPS = LimitRule("sign-up-page", most=25, seconds=300)


async def show(turn: Turn[UserWriteStage]) -> Outcome:
    data: dict[str, Any] = turn.context.answers
    if not data:
        return Denied("No Pending data.", "user_write without prompt_data")
    user = await turn.pending_user()
    mode = turn.stage.user_creation_mode
    makes = mode == "always_create" or (user is None and mode == "create_when_required")
    if user is None and not makes:
        return Denied(FAILED, "user_write may not make anybody")
    if user is not None and not makes and not user.is_active and turn.flow.designation != "enrollment":
        return Denied(DISABLED, "user inactive")
    if not makes and not turn.has_proof:
        return Denied(FAILED, "nothing in this flow has asked them to prove who they are")
    if makes and not await is_still_good(turn):
        return Denied(REFUSED, "somebody else has used the invitation")
    if not turn.may_act:
        return Challenge("userwrite", {"pending_user": turn.context.pending_user_identifier or ""})
    try:
        written = await (_make(turn, data) if makes or user is None else _change(turn, user, data))
    except Invalid as problem:
        await turn.work.rollback()  # a no leaves nothing behind
        return Denied(_words_of(problem), str(problem.fields))
    except signups.SignupClosed as problem:
        return Denied(str(problem.message), "registrations are closed")
    if user is not None:  # else whoever is new is the one who has proved something so far
        turn.context.turn_to(written.id)
    turn.context.pending_user = written.id
    turn.context.pending_user_identifier = written.username
    turn.context.prompt_data = None
    await proofs.renew(turn)
    return PASSED


def _words_of(problem: Invalid) -> str:
    """The messages about a refused password; anything else is not shown."""
    said = [one for one in problem.fields.get("password", []) if getattr(one, "code", "") == "policy"]
    return " ".join(said) or FAILED


def _is_judged(turn: Turn[UserWriteStage], password: str | None) -> bool:
    """Whether this password has passed the policies at the prompt stage."""
    return password is not None and turn.context.checked_password == print_of(password)


async def _check_chosen(turn: Turn[UserWriteStage], user: User | None, data: dict[str, Any]) -> None:
    """Nobody can choose a username that looks like an address, or was somebody's; an invitation can name one."""
    name, fixed = str(data.get("username") or ""), turn.context.invitation_data or {}
    if user is not None and name == user.username:
        return
    is_invited = name == fixed.get("username")
    complaint = None if is_invited else complain_chosen(name)
    if await former_names.is_of_another(turn.work.db, name, user.id if user is not None else None):
        is_given = is_invited and await vouches(turn.work, turn.context.invited_by)
        complaint = complaint or (None if is_given else Complaint("Username is already taken.", "taken"))
    if complaint is not None:
        raise Invalid(fields={"username": [complaint]})


async def _make(turn: Turn[UserWriteStage], data: dict[str, Any]) -> User:
    await _check_chosen(turn, None, data)
    turn.work.find(Limiter).spend(SIGN_UPS, address_key(turn.exchange.address))
    new = _signup(turn, data, vouched=await _vouched(turn))
    invitation = await find(turn.work, turn.context.invitation_uuid, turn.flow.flow_uuid)
    new.autofollow = invitation is not None and invitation.autofollow
    judged = _is_judged(turn, new.password)
    user = await signups.register(turn.work, turn.work.find(Passwords), new, judged=judged)
    if not user.owns_email and user.confirmed_at is not None:
        await addresses.tell_owner(turn.work, user.email, user.id)  # no mail follows that could tell them
    if not await use(turn):
        raise Conflict(REFUSED)  # of two who came with it at once, one is made and the other is not
    kind = turn.stage.user_type
    await store.place(turn.work.db, user.id, type=kind, active=not turn.stage.create_users_as_inactive)
    if turn.context.connection is not None:
        await turn.work.find(SignInSources).connect(turn.work, user, turn.context.connection)  # type: ignore[type-abstract]
    path = turn.stage.user_path_template.strip("/")
    if path:
        await store.write(turn.work.db, user.id, {"path": path}, turn.work.now)
    attributes = await _attributes(turn, user, {}, data)
    if attributes:
        await store.set_attributes(turn.work.db, user.id, attributes, turn.work.now)
    if turn.stage.create_users_group is not None:
        await groups.join(turn.work.db, turn.stage.create_users_group, user.id)
    await audit.record(
        turn.work,
        "user_write",
        "stages.user_write",
        user_id=user.id,
        username=user.username,
        context={"created": True, "fields": sorted(data)},
    )
    return user


async def _vouched(turn: Turn[UserWriteStage]) -> set[str]:
    """The addresses that count as confirmed: what the source has checked, and what the invitation names."""
    coming, found = turn.context.connection, set[str]()
    if coming is not None and coming.email:
        sources = turn.work.find(SignInSources)  # type: ignore[type-abstract]
        found |= {coming.email} if await sources.gives_address(turn.work, coming) else set()
    invited = str((turn.context.invitation_data or {}).get("email") or "")
    if invited and await gives_address(turn.work, turn.context.invited_by, invited):
        found.add(invited)
    return found


def _signup(turn: Turn[UserWriteStage], data: dict[str, Any], *, vouched: set[str]) -> signups.NewSignup:
    """`vouched` are addresses that count as confirmed.

    Where nobody can sign up, the flow of a source is the way in that the operator has made; it does not replace
    the approval of the staff.
    """
    email = str(data.get("email", ""))
    invited = turn.flow.designation != "enrollment" or bool(turn.context.invitation_in_effect)
    coming = turn.context.connection
    if coming is not None:
        invited = invited or turn.work.settings.registrations == "closed"
    language = turn.exchange.header(b"accept-language").decode("latin-1").partition(",")[0].partition(";")[0]
    return signups.NewSignup(
        username=str(data.get("username", "")),
        name=str(data.get("name", "")),
        email=email,
        password=str(data["password"]) if data.get("password") else None,
        reason=str(data.get(signups.REASON, "")),
        locale=str(data.get("locale") or language).strip(),
        client_name=turn.work.settings.title,
        invited=invited,
        invited_by=turn.context.invited_by,
        confirmed=email in vouched,
    )


async def _change(turn: Turn[UserWriteStage], user: User, data: dict[str, Any]) -> User:
    changed: dict[str, Any] = {
        name: str(data[name]) for name in PLAIN if data.get(name) and str(data[name]) != getattr(user, name)
    }
    service.check_names(changed)
    await _check_chosen(turn, user, data)
    address, mailed = changed.pop("email", None), False
    if address is not None:
        await addresses.count(turn.work, user)
        mailed = await addresses.may_get_mail(turn.work, address)
    password = str(data["password"]) if data.get("password") else None
    if password is not None:
        await service.set_password(
            turn.work,
            turn.work.find(Passwords),
            user,
            password,
            by=user.id,
            by_name=user.username,
            judged=_is_judged(turn, password),
        )
        await sessions.end_all(turn.work, user.id, but=turn.held.session.session_uuid)
        if turn.held.session.user_id == user.id:
            turn.held = await sessions.renew_key(turn.work, turn.held.session)
    if "username" in changed:
        changed |= await service.rename(turn.work, user, changed["username"])
    kept = (await store.hold(turn.work.db, user.id)).attributes
    attributes = await _attributes(turn, user, kept, data)
    if attributes != kept:
        changed["attributes"] = attributes
    if changed:
        await _write(turn, user, changed)
    if address is not None and not await addresses.change(
        turn.work, user, address, mails=mailed, by=user.id, by_name=user.username
    ):
        await addresses.tell_to_confirm(turn.work, user, address)
    return await store.get(turn.work.db, user.id)


async def _write(turn: Turn[UserWriteStage], user: User, changed: dict[str, Any]) -> None:
    await store.write(turn.work.db, user.id, changed, turn.work.now)
    diff = told_changes(turn.work, user.id, {name: getattr(user, name, None) for name in changed}, changed)
    await audit.record(
        turn.work,
        "user_write",
        "stages.user_write",
        user_id=user.id,
        username=user.username,
        context={"created": False, "diff": diff},
    )


async def _attributes(
    turn: Turn[UserWriteStage], user: User, before: dict[str, Any], data: dict[str, Any]
) -> dict[str, Any]:
    """Attributes that say who somebody is are taken from a source, or from an invitation whose maker may set them."""
    fixed = turn.context.invitation_data or {}
    may_say = set(data) if turn.context.connection is not None else set(fixed)
    unsaid = await names_without_say(turn.work, turn.context.invited_by, fixed)
    said = {name: value for name, value in data.items() if name not in unsaid or value != fixed[name]}
    after = write_attributes(before, said, may_say=may_say - unsaid)
    complaint = await complain_upn(turn.work, before, after, user.id)
    if complaint is not None:
        raise Invalid(fields={"attributes": [complaint]})
    return after


def write_attributes(before: dict[str, Any], data: dict[str, Any], *, may_say: Collection[str]) -> dict[str, Any]:
    """`attributes.x.y` sets a nested attribute; other names that a form may not set are ignored.

    `may_say` are names that may also set what says who somebody is.
    """
    after, kept = dict(before), identifying_names(data) - set(may_say)
    for name, value in data.items():
        if not name.startswith("attributes.") or name in kept:
            continue
        *path, last = name.removeprefix("attributes.").split(".")
        place = after
        for part in path:
            inner = place.get(part)
            place[part] = dict(inner) if isinstance(inner, dict) else {}
            place = place[part]
        place[last] = value
    return after


async def take(turn: Turn[UserWriteStage], _answer: dict[str, Any]) -> Outcome:
    return await show(turn)


STAGE = StageKind(RESOURCE, show, take)

"""What a run of a flow knows: filled in by whoever began it and by the stages it has passed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec


class PendingConnection(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What a source has said of the person who runs the flow; it is kept once they are known here.

    `email` is an address that the source has checked. `is_known`: they were connected when they came.
    """

    source: str
    identifier: str
    access_token: str = ""
    remote_session: str = ""
    groups: list[dict[str, Any]] | None = None
    group_matching_mode: str = "identifier"
    email: str = ""
    is_known: bool = False


# What a run knows whoever it is that runs it.
_OF_NOBODY = frozenset({
    "captcha", "is_redirected", "outpost", "application", "redirect", "consent_ask", "consent_header", "consent_mode",
    "consent_permissions", "consent_client", "deny_message", "invitation_in_effect", "cancel_url", "captcha_challenge",
    "assertion_challenge", "failed_passwords", "invitation_uuid", "invited_by", "invitation_data",
})  # fmt: skip
# What a visitor has, before they have said who they are: their answers, and the account elsewhere that they came with.
_BROUGHT = frozenset({
    "prompt_data", "password_answers", "checked_password", "is_sso", "source", "oauth_userinfo", "connection",
    "pending_user_identifier",
})  # fmt: skip


class PlanContext(msgspec.Struct, kw_only=True, omit_defaults=True):
    """None is what nobody has set. Stored by the names of the specification; those with an underscore are our own.

    Policies and expressions know all of it but our own (`public`).
    """

    # The user who runs the flow; None if an unknown name was given.
    pending_user: int | msgspec.UnsetType | None = msgspec.UNSET
    pending_user_identifier: str | None = None
    # What was answered in forms, or what an invitation says instead.
    prompt_data: dict[str, Any] | None = None

    # How they proved who they are.
    auth_method: str | None = None
    auth_method_args: dict[str, Any] | None = None
    captcha: dict[str, float] | None = None

    # From where they came, and where they go.
    is_sso: bool | None = None
    is_restored: bool | None = None
    is_redirected: bool | None = None
    outpost: Any = None
    application: dict[str, Any] | None = None
    source: dict[str, Any] | None = None
    oauth_userinfo: dict[str, Any] | None = None

    # For single stages.
    consent: bool | None = None
    consent_ask: bool | None = None
    consent_header: str | None = None
    consent_mode: str | None = None
    consent_permissions: list[dict[str, str]] | None = None
    deny_message: str | None = None
    email: str | None = None
    email_sent: bool | None = None
    invitation_in_effect: bool | None = None

    # Internal from here on. Where the run ends, which may hold the proof that it was run to its end (see `public`):
    redirect: str | None = msgspec.field(default=None, name="_redirect")
    # The page to go to when the run is cancelled:
    cancel_url: str | None = msgspec.field(default=None, name="_cancel")
    # The mailed link that led here, the step whose mail it was, and to which address it went:
    link_hash: str | None = msgspec.field(default=None, name="_link")
    link_step: str | None = msgspec.field(default=None, name="_arrived")
    link_address: str | None = msgspec.field(default=None, name="_address")
    mailed_step: str | None = msgspec.field(default=None, name="_mailed")
    # What was asked last, so that nothing else can be answered:
    captcha_challenge: str | None = msgspec.field(default=None, name="_work")
    assertion_challenge: str | None = msgspec.field(default=None, name="_asserting")
    registration_challenge: str | None = msgspec.field(default=None, name="_registering")
    consent_token: str | None = msgspec.field(default=None, name="_consent_token")
    # A print of who the client was that asks for consent:
    consent_client: str | None = msgspec.field(default=None, name="_consent_client")
    # How often an answer was wrong:
    failed_passwords: int | None = msgspec.field(default=None, name="_failed")
    failed_registrations: int | None = msgspec.field(default=None, name="_registrations")
    # What is set up, until they have shown that they have it:
    new_codes: list[str] | None = msgspec.field(default=None, name="_codes")
    new_totp_secret: str | None = msgspec.field(default=None, name="_totp_secret")
    # The invitation, and what it says in place of their answers:
    invitation_uuid: str | None = msgspec.field(default=None, name="_invitation")
    invited_by: int | None = msgspec.field(default=None, name="_invited_by")
    invitation_data: dict[str, Any] | None = msgspec.field(default=None, name="_fixed_data")
    # Which of the answers were typed as passwords:
    password_answers: list[str] | None = msgspec.field(default=None, name="_typed")
    # Hashes of the password that was checked at a form, and of the one that must be changed:
    checked_password: str | None = msgspec.field(default=None, name="_judged")
    expired_password: str | None = msgspec.field(default=None, name="_expired")
    # What the source that they came from has said:
    connection: PendingConnection | None = msgspec.field(default=None, name="_source_connection")
    # Whom the run is about, and what guarded their account when the run named them:
    security_stamp: tuple[int, str] | None = msgspec.field(default=None, name="_stamp")
    # Who has authenticated again in this run, and when:
    reauthenticated: tuple[int, float] | None = msgspec.field(default=None, name="_proved")

    @property
    def user_id(self) -> int | None:
        return self.pending_user if isinstance(self.pending_user, int) else None

    def turn_to(self, user_id: int | None) -> None:
        """Name the user who runs the flow. What was proved or said of another does not count for them.

        What is kept says nothing of a person; where nobody was named before, also what the visitor has brought along.
        """
        if self.pending_user is not msgspec.UNSET and self.pending_user == user_id:
            return
        kept = _OF_NOBODY | (_BROUGHT if self.user_id is None else frozenset())
        fresh = PlanContext()
        for name in self.__struct_fields__:
            if name not in kept:
                setattr(self, name, getattr(fresh, name))
        self.pending_user = user_id

    @property
    def answers(self) -> dict[str, Any]:
        return self.prompt_data or {}

    @property
    def typed_passwords(self) -> frozenset[str]:
        """What was typed as a password, which is written down nowhere."""
        given = (self.answers.get(name) for name in self.password_answers or ())
        return frozenset(one for one in given if isinstance(one, str) and one)

    def names(self) -> list[str]:
        """What is known, by the names it is stored under."""
        return list(_known(self))

    def only(self, names: Iterable[str]) -> PlanContext:
        wanted = set(names)
        attributes = zip(self.__struct_encode_fields__, self.__struct_fields__, strict=True)
        return PlanContext(**{name: getattr(self, name) for stored, name in attributes if stored in wanted})

    def public(self) -> dict[str, Any]:
        """What policies and whoever inspects a flow may know, by the specification's names.

        Of the address where the run ends they know the path: whoever reads its query could go on without the run.
        """
        known = {name: value for name, value in _known(self).items() if not name.startswith("_")}
        return known if self.redirect is None else known | {"redirect": self.redirect.partition("?")[0]}


def _known(context: PlanContext) -> dict[str, Any]:
    names = zip(context.__struct_encode_fields__, context.__struct_fields__, strict=True)
    found = {stored: getattr(context, name) for stored, name in names}
    if found["pending_user"] is msgspec.UNSET:
        del found["pending_user"]
    return {name: value for name, value in found.items() if value is not None or name == "pending_user"}

"""Lists of the social API that the team looks after, each told once: how it is shown, and what its form asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from kith.web.admin.questions import Option
from kith.web.translation import translatable

__all__ = ["LISTINGS", "AdminListing", "ListColumn", "ListInput", "RowButton"]


class ListColumn(msgspec.Struct, frozen=True):
    """`words` are shown in place of the values that they stand for."""

    name: str
    label: str
    words: Mapping[str, str] = {}


class ListInput(msgspec.Struct, frozen=True, kw_only=True):
    """One field of the form; `kind` as in `questions.Question`. What is `only_new` cannot be changed later."""

    name: str
    label: str
    kind: str = "text"
    help: str = ""
    options: Sequence[tuple[str, str]] = ()
    required: bool = False
    start: Any = ""
    only_new: bool = False

    def choices(self) -> list[Option]:
        return [Option(value, words) for value, words in self.options]


class RowButton(msgspec.Struct, frozen=True):
    """`path` stands behind the record's own address in the API."""

    words: str
    path: str
    is_shown: Callable[[Mapping[str, Any]], bool] = lambda _: True


class AdminListing(msgspec.Struct, frozen=True, kw_only=True):
    name: str  # in the addresses of the page and of the API
    heading: str
    about: str
    empty: str
    add: str
    label: str  # the field that records are known by
    columns: Sequence[ListColumn]
    inputs: Sequence[ListInput]
    buttons: Sequence[RowButton] = ()
    links: Sequence[tuple[str, str]] = ()  # other pages about the same
    may_change: bool = True
    by_pages: bool = True  # whether the API gives it in pages
    reveals: str = ""  # what is told once, when a record is made
    delete_words: str = translatable("This cannot be undone.")

    @property
    def place(self) -> str:
        return f"/admin/{self.name}"

    @property
    def api(self) -> str:
        return f"/api/v1/admin/{self.name}"


_SEVERITIES = (
    ("silence", translatable("Limit: only followers see what people there post")),
    ("suspend", translatable("Suspend: nothing is exchanged, and follows are severed")),
    ("noop", translatable("None: only what is ticked below")),
)
_SEVERE = {"silence": translatable("Limited"), "suspend": translatable("Suspended"), "noop": translatable("None")}
_IP_SEVERITIES = (
    ("sign_up_requires_approval", translatable("Who signs up from there must be approved")),
    ("sign_up_block", translatable("Nobody can sign up from there")),
    ("no_access", translatable("Nobody can use this server from there")),
)
_PERIODS = (
    ("0", translatable("until it is deleted")),
    ("86400", translatable("for a day")),
    ("1209600", translatable("for two weeks")),
    ("2678400", translatable("for a month")),
    ("15778476", translatable("for half a year")),
    ("31556952", translatable("for a year")),
)
_EVENTS = (
    ("account.created", translatable("Somebody signed up")),
    ("account.approved", translatable("Somebody was approved")),
    ("account.updated", translatable("A profile was changed")),
    ("report.created", translatable("Somebody reported something")),
    ("report.updated", translatable("A report was changed")),
    ("status.created", translatable("Somebody posted")),
    ("status.updated", translatable("A post was changed")),
)
_ADDED = ListColumn("created_at", translatable("Added"))
_TEXT = translatable("Text")

LISTINGS = (
    AdminListing(
        name="rules",
        heading=translatable("Rules"),
        about=translatable(
            "Everybody who signs up agrees to these rules, and can name them when they report something."
        ),
        empty=translatable("There are no rules yet. Good rules are few and short."),
        add=translatable("Add a rule"),
        label="text",
        columns=(ListColumn("hint", translatable("Explanation")), ListColumn("priority", translatable("Place"))),
        inputs=(
            ListInput(name="text", label=translatable("Rule"), kind="lines", required=True),
            ListInput(name="hint", label=translatable("Explanation"), kind="lines"),
            ListInput(
                name="priority",
                label=translatable("Place"),
                kind="number",
                help=translatable("Rules with lower numbers stand first."),
            ),
        ),
        by_pages=False,
        delete_words=translatable("Reports that name it keep its text."),
    ),
    AdminListing(
        name="announcements",
        heading=translatable("Announcements"),
        about=translatable("Members see announcements above their home page until they dismiss them."),
        empty=translatable("Nothing has been announced yet."),
        add=translatable("Announce something"),
        label="text",
        columns=(
            ListColumn("published", translatable("Published")),
            ListColumn("starts_at", translatable("Begins")),
            ListColumn("ends_at", translatable("Ends")),
            ListColumn("scheduled_at", translatable("Published on")),
            ListColumn("mailed_at", translatable("Mailed")),
        ),
        inputs=(
            ListInput(name="text", label=_TEXT, kind="lines", required=True),
            ListInput(name="starts_at", label=translatable("Begins (UTC)"), kind="when"),
            ListInput(
                name="ends_at",
                label=translatable("Ends (UTC)"),
                kind="when",
                help=translatable("After that it is taken down."),
            ),
            ListInput(name="all_day", label=translatable("Show the days without the time"), kind="tick"),
            ListInput(
                name="scheduled_at",
                label=translatable("Publish on (UTC)"),
                kind="when",
                help=translatable("Leave this empty to publish it at once."),
            ),
        ),
        buttons=(
            RowButton(translatable("Publish"), "publish", lambda one: not one["published"]),
            RowButton(translatable("Take down"), "unpublish", lambda one: one["published"]),
            RowButton(
                translatable("Mail it to everybody"),
                "distribution",
                lambda one: one["published"] and not one["mailed_at"],
            ),
        ),
    ),
    AdminListing(
        name="warning_presets",
        heading=translatable("Texts of warnings"),
        about=translatable("Texts that are often needed, to choose from when you act on a report."),
        empty=translatable("There are no texts yet."),
        add=translatable("Add a text"),
        label="title",
        columns=(ListColumn("text", _TEXT), _ADDED),
        inputs=(
            ListInput(name="title", label=translatable("Title")),
            ListInput(name="text", label=_TEXT, kind="lines", required=True),
        ),
        by_pages=False,
    ),
    AdminListing(
        name="domain_blocks",
        heading=translatable("Blocked servers"),
        about=translatable("A block of a server counts for everything below its name, too."),
        empty=translatable("No server is blocked."),
        add=translatable("Block a server"),
        label="domain",
        columns=(
            ListColumn("severity", translatable("How"), _SEVERE),
            ListColumn("reject_media", translatable("No media")),
            ListColumn("reject_reports", translatable("No reports")),
            ListColumn("public_comment", translatable("Public reason")),
            _ADDED,
        ),
        inputs=(
            ListInput(name="domain", label=translatable("Server"), required=True, only_new=True),
            ListInput(
                name="severity", label=translatable("How"), kind="choice", options=_SEVERITIES, required=True
            ),
            ListInput(name="reject_media", label=translatable("Fetch no media from there"), kind="tick"),
            ListInput(name="reject_reports", label=translatable("Ignore reports from there"), kind="tick"),
            ListInput(
                name="obfuscate",
                label=translatable("Hide part of the name in the public list"),
                kind="tick",
            ),
            ListInput(
                name="public_comment",
                label=translatable("Public reason"),
                kind="lines",
                help=translatable("Shown on the about page, where blocked servers are published."),
            ),
            ListInput(
                name="private_comment",
                label=translatable("Note for the team"),
                kind="lines",
            ),
        ),
        links=(
            ("/admin/domain_blocks/import", translatable("Import a list")),
            ("/admin/domain_blocks.csv", translatable("Download as CSV")),
        ),
        delete_words=translatable("What is exchanged with this server begins again. Severed follows do not come back."),
    ),
    AdminListing(
        name="domain_allows",
        heading=translatable("Allowed servers"),
        about=translatable("They count where the server was set up to talk to listed servers only."),
        empty=translatable("No server is listed."),
        add=translatable("Allow a server"),
        label="domain",
        columns=(_ADDED,),
        inputs=(ListInput(name="domain", label=translatable("Server"), required=True, only_new=True),),
        links=(("/admin/domain_allows.csv", translatable("Download as CSV")),),
        may_change=False,
        delete_words=translatable("Nothing is exchanged with it any more, where only listed servers are talked to."),
    ),
    AdminListing(
        name="relays",
        heading=translatable("Relays"),
        about=translatable("A relay passes public posts on between the servers that joined it."),
        empty=translatable("This server has not joined a relay."),
        add=translatable("Join a relay"),
        label="inbox_url",
        columns=(
            ListColumn(
                "state",
                translatable("State"),
                {
                    "pending": translatable("Waits for an answer"),
                    "accepted": translatable("Joined"),
                    "rejected": translatable("Refused"),
                },
            ),
            ListColumn("answered_at", translatable("Answered")),
            _ADDED,
        ),
        inputs=(
            ListInput(
                name="inbox_url",
                label=translatable("Address of its inbox"),
                required=True,
                help=translatable("For example https://relay.example/inbox"),
            ),
        ),
        buttons=(RowButton(translatable("Ask again"), "enable", lambda one: one["state"] != "accepted"),),
        may_change=False,
        by_pages=False,
        delete_words=translatable("The relay is told, and passes nothing on to us any more."),
    ),
    AdminListing(
        name="email_domain_blocks",
        heading=translatable("Blocked mail providers"),
        about=translatable("Nobody can sign up with an address at these domains."),
        empty=translatable("No mail provider is blocked."),
        add=translatable("Block a mail provider"),
        label="domain",
        columns=(ListColumn("allow_with_approval", translatable("With approval")), _ADDED),
        inputs=(
            ListInput(name="domain", label=translatable("Domain"), required=True),
            ListInput(
                name="allow_with_approval",
                label=translatable("Let people sign up, but have them approved"),
                kind="tick",
            ),
        ),
        may_change=False,
    ),
    AdminListing(
        name="canonical_email_blocks",
        heading=translatable("Blocked mail addresses"),
        about=translatable("Only a hash of each address is kept, so that it cannot be read here."),
        empty=translatable("No mail address is blocked."),
        add=translatable("Block a mail address"),
        label="canonical_email_hash",
        columns=(),
        inputs=(ListInput(name="email", label=translatable("E-mail address"), required=True),),
        may_change=False,
    ),
    AdminListing(
        name="ip_blocks",
        heading=translatable("Blocked IP addresses"),
        about=translatable("Addresses are often shared and change hands, so blocks should end by themselves."),
        empty=translatable("No IP address is blocked."),
        add=translatable("Block an IP address"),
        label="ip",
        columns=(
            ListColumn("severity", translatable("How"), dict(_IP_SEVERITIES)),
            ListColumn("comment", translatable("Note")),
            ListColumn("expires_at", translatable("Until")),
        ),
        inputs=(
            ListInput(
                name="ip",
                label=translatable("Address or network"),
                required=True,
                help=translatable("For example 192.0.2.7 or 2001:db8::/48"),
            ),
            ListInput(
                name="severity", label=translatable("How"), kind="choice", options=_IP_SEVERITIES, required=True
            ),
            ListInput(
                name="expires_in",
                label=translatable("How long, from now"),
                kind="choice",
                options=_PERIODS,
                required=True,
                start="1209600",
            ),
            ListInput(name="comment", label=translatable("Note")),
        ),
    ),
    AdminListing(
        name="webhooks",
        heading=translatable("Webhooks"),
        about=translatable("Programs elsewhere that are told of what happens here, signed with a secret."),
        empty=translatable("Nobody is told yet."),
        add=translatable("Add a webhook"),
        label="url",
        columns=(
            ListColumn("events", translatable("Told of")),
            ListColumn("enabled", translatable("Active")),
            _ADDED,
        ),
        inputs=(
            ListInput(name="url", label=translatable("Address"), required=True),
            ListInput(name="events", label=translatable("Told of"), kind="choices", options=_EVENTS, start=()),
            ListInput(name="enabled", label=translatable("Active"), kind="tick", start=True),
        ),
        by_pages=False,
        reveals="secret",
    ),
)  # fmt: skip

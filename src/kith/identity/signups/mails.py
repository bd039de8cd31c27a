"""The mails about new accounts and addresses."""

from __future__ import annotations

from kith.base.mail_texts import MailText

__all__ = ["APPROVED", "CONFIRM_ADDRESS", "REJECTED", "WAITING"]

WAITING = MailText(
    name="signup_waiting",
    subject="{person} wants to join {site}",
    body="""{person} would like to join {site}.

Review the sign-up:
{link}

Reason given: {reason}""",
    values={"person": "bob", "reason": "I live next door.", "link": "https://our.example/staff/signups/"},
)
APPROVED = MailText(
    name="signup_approved",
    subject="Your account at {site}",
    body="""Your account {name} at {site} has been approved. Welcome!

Sign in:
{link}""",
    values={"name": "ada", "link": "https://our.example/flows/-/default/authentication/"},
)
REJECTED = MailText(
    name="signup_rejected",
    subject="Your account at {site}",
    body="""Your request to join {site} as {name} was not accepted.

The information you gave us has been deleted.""",
    values={"name": "ada"},
)
CONFIRM_ADDRESS = MailText(
    name="confirm_address",
    subject="Confirm your e-mail address at {site}",
    body="""Please confirm that this is the e-mail address of your account {name} at {site}.

Confirm e-mail address:
{link}

The link works once and expires after two days.

If you did not request this, you can ignore this e-mail.""",
    values={"name": "ada", "link": "https://our.example/confirm/key"},
    needs=("link",),
    keys=("link",),
)
TEXTS = (WAITING, APPROVED, REJECTED, CONFIRM_ADDRESS)

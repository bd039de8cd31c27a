"""Checks a new password: its length and characters, its strength, and whether it is known from leaks."""

from __future__ import annotations

import string
from math import prod

from kith.base.work import Work
from kith.identity.policies.family import POLICIES, PolicyRecord
from kith.identity.policies.password_checks import MISSING, find_password, judge_breaches
from kith.identity.policies.request import PolicyRequest, PolicyVerdict
from kith.identity.rest.fields import Boolean, Integer, Text
from kith.identity.rest.resource import Resource, kind_table

LONGEST_JUDGED = 50
MOST_WAYS = 16
LONGEST_KNOWN = 150
SIGNS = ("4@", "({[<", "69", "1!|", "1|7", "$5", "+7")  # those that may stand for one letter
_SAME = str.maketrans("@{[<!|$+", "4(((1157")

FIELDS = (
    Integer(name="amount_uppercase", default=0, least=0, help="The least number of A-Z."),
    Integer(name="amount_lowercase", default=0, least=0, help="The least number of a-z."),
    Integer(name="amount_symbols", default=0, least=0, help="The least number of characters of symbol_charset."),
    Integer(name="amount_digits", default=0, least=0, help="The least number of 0-9."),
    Integer(name="length_min", default=0, least=0, most=1000),
    Text(name="symbol_charset", default=string.punctuation + " ", trim=False, help="A set of characters."),
    Text(name="error_message", required=True),
    Text(name="password_field", default="password", help="Where in the context the password is."),
    Boolean(name="check_static_rules", default=True, help="Whether the amounts and the length count."),
    Boolean(name="check_have_i_been_pwned", default=False),
    Integer(name="hibp_allowed_count", default=0, least=0, help="In how many leaks a password may be."),
    Boolean(name="check_zxcvbn", default=False, help="Whether it must be hard to guess."),
    Integer(name="zxcvbn_score_threshold", default=2, least=0, most=4, help="The score (0-4) must be higher."),
)


class PasswordPolicy(PolicyRecord, kw_only=True):
    amount_uppercase: int
    amount_lowercase: int
    amount_symbols: int
    amount_digits: int
    length_min: int
    symbol_charset: str
    error_message: str
    password_field: str
    check_static_rules: bool
    check_have_i_been_pwned: bool
    hibp_allowed_count: int
    check_zxcvbn: bool
    zxcvbn_score_threshold: int


def is_good(record: PasswordPolicy, password: str) -> bool:
    """Whether the password is long enough and has enough characters of each set."""
    wanted = (
        (record.amount_uppercase, string.ascii_uppercase),
        (record.amount_lowercase, string.ascii_lowercase),
        (record.amount_digits, string.digits),
        (record.amount_symbols, record.symbol_charset),
    )
    return len(password) >= record.length_min and all(
        sum(letter in characters for letter in password) >= amount for amount, characters in wanted
    )


def readable_at_once(password: str) -> str:
    """The password as zxcvbn gets it: cut, and with few signs that may stand for the same letter.

    zxcvbn tries every combination of letters that signs such as `@`, `4` and `(` may stand for, which can be hundreds.
    Where there are many, signs that stand for one letter are made the same.
    """
    password = password[:LONGEST_JUDGED]
    ways = prod(max(1, sum(sign in password for sign in signs)) for signs in SIGNS)
    return password if ways <= MOST_WAYS else password.translate(_SAME)


def words_if_weak(record: PasswordPolicy, password: str, known: list[str]) -> list[str]:
    """How zxcvbn would make it stronger; empty if it is strong enough."""
    from zxcvbn_rs_py import zxcvbn  # noqa: PLC0415 - loaded when first used

    found = zxcvbn(readable_at_once(password), known)
    if int(found.score) > record.zxcvbn_score_threshold:
        return []
    feedback = found.feedback
    said = [str(feedback.warning)] if feedback is not None and feedback.warning is not None else []
    return ["Password is too weak.", *said, *(str(one) for one in (feedback.suggestions if feedback else ()))]


def _known_of(work: Work, request: PolicyRequest) -> list[str]:
    """Words that are easy to guess for this person: their name, their address, the server's title."""
    answers = request.context.get("prompt_data")
    typed = [answers.get(name) for name in ("username", "name", "email")] if isinstance(answers, dict) else []
    user = request.person.user if request.person else None
    own = [user.username, user.name, user.email] if user else []
    return [str(one)[:LONGEST_KNOWN] for one in (*own, *typed, work.settings.title) if one]


async def passes(work: Work, record: PasswordPolicy, request: PolicyRequest) -> PolicyVerdict:
    password = find_password(request, record.password_field)
    if password is None:
        return PolicyVerdict(passing=False, messages=[MISSING])
    if not password or (record.check_static_rules and not is_good(record, password)):
        return PolicyVerdict(passing=False, messages=[record.error_message])
    if record.check_zxcvbn:
        weak = words_if_weak(record, password, _known_of(work, request))
        if weak:
            return PolicyVerdict(passing=False, messages=weak)
    if record.check_have_i_been_pwned:
        return await judge_breaches(work, password, record.hibp_allowed_count)
    return PolicyVerdict(passing=True)


RESOURCE = Resource(
    path="/policies/password/",
    name="PasswordPolicy",
    record=PasswordPolicy,
    key="policy_uuid",
    family=POLICIES,
    kind="password",
    table=kind_table("identity_policies_password", POLICIES, FIELDS),
    fields=FIELDS,
    exact=("name", *(field.name for field in FIELDS)),
)

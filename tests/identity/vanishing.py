"""What a decision can name, and the ways in which that can end, for searching what opens by it."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import Table, bindparam, delete, update

from kith.app import House
from kith.base.db import UID, Instant, command
from kith.identity.groups.tables import groups
from kith.identity.policies.bindings import bindings
from kith.identity.policies.kinds.expression import RESOURCE as EXPRESSIONS
from tests.identity.records import API, make, new_name
from tests.town import Person

AT_ONCE = {"wait_min": 0, "wait_max": 0}
End = Callable[[], Awaitable[Any]]


def _expressions() -> Table:
    assert EXPRESSIONS.table is not None
    return EXPRESSIONS.table


_key = _expressions().c.policy_uuid
_BREAK = command(
    update(_expressions()).where(_key == bindparam("wanted", type_=UID())).values(expression=bindparam("text"))
)
_AGE = command(
    update(bindings)
    .where(bindings.c.policy_binding_uuid == bindparam("wanted", type_=UID()))
    .values(expires=bindparam("past", type_=Instant()))
)
_the_group = groups.c.group_uuid == bindparam("wanted", type_=UID())
# As a source does.
_LEAVE = command(delete(groups).where(_the_group))
_CALL = command(update(groups).where(_the_group).values(name=bindparam("other")))


class Case(msgspec.Struct, frozen=True):
    """A binding of `decider` that ends by `way`; `company` is what is bound beside it: nothing, a yes or a no."""

    decider: str
    way: str
    negate: bool
    failure_result: bool
    mode: str
    company: str


class Named(msgspec.Struct):
    """What a binding names, and how that ends, by the name of the way."""

    fields: dict[str, Any]
    ends: dict[str, End] = {}


# Ways in which a check cannot be made. `failure_result` is what the operator says should count then.
FAILURES = ("raises", "does not compile", "times out")
_OF_BINDING = ("expired", "disabled")
WAYS: dict[str, tuple[str, ...]] = {
    "group": ("deleted", "renamed", *_OF_BINDING),
    "parent group": ("deleted", "cut off", *_OF_BINDING),
    "person": ("deleted", "disabled", "renamed", *_OF_BINDING[:1]),
    "policy that passes": ("deleted", *_OF_BINDING),
    "policy that refuses": ("deleted", *_OF_BINDING),
    "policy for a group": ("group deleted", "deleted"),
    "expression": ("deleted", *FAILURES),
    "expression that refuses": FAILURES,
    "expression for a group": ("group deleted", "group renamed", "group gone", "group called otherwise"),
    "expression against a group": ("group deleted", "group renamed", "group gone", "group called otherwise"),
    "expression for a group by its id": ("group deleted", "group gone"),
    "expression over the names of groups": ("group deleted", "group renamed"),
    "expression that asks a policy": ("policy deleted", "policy renamed", "policy raises"),
    "expression that turns a policy around": ("policy deleted", "policy renamed", "policy raises"),
}
COMPANIES = ("", "yes", "no")


def every_case() -> Iterator[Case]:
    switches = itertools.product((False, True), (False, True), ("all", "any"), COMPANIES)
    for (decider, ways), rest in itertools.product(WAYS.items(), list(switches)):
        for way in ways:
            case = Case(decider, way, *rest)
            if not _is_said_by_the_operator(case):
                yield case


def few_cases() -> Iterator[Case]:
    """Of each end the one most likely to open: where it stands alone, and for some also where it is turned around."""
    for case in every_case():
        plain = (case.negate, case.failure_result, case.mode) == (False, not _fails(case), "all")
        turned = (case.negate, case.failure_result, case.mode) == (True, False, "any")
        if not case.company and (plain or (turned and case.decider in ("group", "person", "expression"))):
            yield case


def _is_said_by_the_operator(case: Case) -> bool:
    """What is no end of a rule but another rule: a check that cannot be made counts as a yes, one of several does not
    count for now, or those who are kept out by being members are no members any more.
    """
    is_off = case.way == "disabled" and case.decider != "person"
    return (
        (_fails(case) and case.failure_result)
        or (is_off and bool(case.company))
        or (case.way == "cut off" and case.negate)
    )


def _fails(case: Case) -> bool:
    return case.way in FAILURES or case.way == "policy raises"


class Scene(msgspec.Struct):
    """`inside` is in the groups that are named, `outside` is not."""

    house: House
    owner: Person
    inside: int
    outside: int
    yes: str
    no: str

    async def application(self, mode: str) -> dict[str, Any]:
        name = new_name("guarded")
        return await make(self.owner, "/core/applications/", name=name, slug=name, policy_engine_mode=mode)

    async def admitted(self, application: dict[str, Any]) -> set[int]:
        """Who may enter, as the server says."""
        path = f"{API}/core/applications/{application['pk']}/check_access/"
        found = set()
        for person in (self.inside, self.outside):
            answer = await self.owner.get(path, params={"for_user": person})
            assert answer.status_code == 200, answer.text
            found |= {person} if answer.json()["passing"] else set()
        return found

    async def call(self, method: str, path: str, *, may_be: tuple[int, ...] = (200, 204), **sent: Any) -> Any:
        answer = await self.owner.call(method, API + path, json=sent)
        assert answer.status_code in may_be, (method, path, answer.text)
        return answer.json() if answer.content else None

    async def run(self, statement: Any, **values: Any) -> None:
        async with self.house.works.begin() as work:
            await work.db.run(statement, **values)

    async def group(self, **fields: Any) -> dict[str, Any]:
        return await make(
            self.owner, "/core/groups/", **{"name": new_name("named"), "user_set": [self.inside]} | fields
        )

    async def policy(self, expression: str) -> dict[str, Any]:
        return await make(self.owner, "/policies/expression/", name=new_name("asks"), expression=expression)

    def deletes(self, path: str, *, refused: bool = False) -> End:
        """Where the server refuses to delete it, it does not end."""
        return lambda: self.call("DELETE", path, may_be=(204, 409) if refused else (204,))

    def changes(self, path: str, *, refused: bool = False, **fields: Any) -> End:
        return lambda: self.call("PATCH", path, may_be=(200, 409) if refused else (200,), **fields)

    # What a binding can name

    async def name(self, decider: str) -> Named:
        words = decider.replace(" ", "_")
        made: Named = await getattr(self, f"_{words}")()
        return made

    async def _group(self) -> Named:
        group = await self.group()
        path = f"/core/groups/{group['pk']}/"
        ends = {
            "deleted": self.deletes(path),
            "renamed": self.changes(path, name=new_name("other")),
        }
        return Named({"group": group["pk"]}, ends)

    async def _parent_group(self) -> Named:
        above = await self.group(user_set=[])
        below = await self.group(parent=above["pk"])
        path = f"/core/groups/{below['pk']}/"

        async def delete() -> None:
            """It is held by the one below, which is placed elsewhere first."""
            await self.call("PATCH", path, parent=None)
            await self.call("DELETE", f"/core/groups/{above['pk']}/")

        return Named({"group": above["pk"]}, {"deleted": delete, "cut off": self.deletes(path)})

    async def _person(self) -> Named:
        name = new_name("somebody")
        user = await make(self.owner, "/core/users/", username=name, name=name, email=f"{name}@example.org")
        path = f"/core/users/{user['pk']}/"
        ends = {
            "deleted": self.deletes(path),
            "disabled": self.changes(path, is_active=False),
            "renamed": self.changes(path, username=new_name("other")),
        }
        return Named({"user": user["pk"]}, ends)

    async def _dummy(self, *, result: bool) -> Named:
        policy = await make(self.owner, "/policies/dummy/", name=new_name("dummy"), result=result, **AT_ONCE)
        return Named(
            {"policy": policy["pk"]}, {"deleted": self.deletes(f"/policies/dummy/{policy['pk']}/", refused=True)}
        )

    async def _policy_that_passes(self) -> Named:
        return await self._dummy(result=True)

    async def _policy_that_refuses(self) -> Named:
        return await self._dummy(result=False)

    async def _policy_for_a_group(self) -> Named:
        group = await self.group()
        policy = await make(self.owner, "/policies/group_membership/", name=new_name("of-group"), group=group["pk"])
        ends = {
            "group deleted": self.deletes(f"/core/groups/{group['pk']}/"),
            "deleted": self.deletes(f"/policies/group_membership/{policy['pk']}/", refused=True),
        }
        return Named({"policy": policy["pk"]}, ends)

    async def _asking(self, expression: str, **ends: End) -> Named:
        policy = await self.policy(expression)

        def becomes(text: str) -> End:
            return lambda: self.run(_BREAK, wanted=policy["pk"], text=text)

        own = {
            "deleted": self.deletes(f"/policies/expression/{policy['pk']}/", refused=True),
            "raises": becomes("return 1 / 0"),
            "does not compile": becomes("return (("),
            "times out": becomes("while True: pass"),
        }
        return Named({"policy": policy["pk"]}, own | ends)

    async def _expression(self) -> Named:
        return await self._asking("return True")

    async def _expression_that_refuses(self) -> Named:
        return await self._asking("return False")

    async def _of_group(self, expression: str) -> Named:
        group = await self.group()
        path = f"/core/groups/{group['pk']}/"
        made = await self._asking(expression % {"name": group["name"], "pk": group["pk"]})
        gone = {"wanted": group["pk"]}
        made.ends |= {
            "group deleted": self.deletes(path, refused=True),
            "group renamed": self.changes(path, refused=True, name=new_name("other")),
            "group gone": lambda: self.run(_LEAVE, **gone),
            "group called otherwise": lambda: self.run(_CALL, **gone, other=new_name("other")),
        }
        return made

    async def _expression_for_a_group(self) -> Named:
        return await self._of_group('return ak_is_group_member(request.user, name="%(name)s")')

    async def _expression_against_a_group(self) -> Named:
        return await self._of_group('return not ak_is_group_member(request.user, name="%(name)s")')

    async def _expression_over_the_names_of_groups(self) -> Named:
        made = await self._of_group('return "%(name)s" not in [one.name for one in user.all_groups]')
        return Named(made.fields, {way: made.ends[way] for way in WAYS["expression over the names of groups"]})

    async def _expression_for_a_group_by_its_id(self) -> Named:
        return await self._of_group('return not is_group_member(user, pk="%(pk)s")')

    async def _of_policy(self, expression: str, inner: str) -> Named:
        asked = await self.policy(inner)
        path = f"/policies/expression/{asked['pk']}/"
        made = await self._asking(expression % asked["name"])
        made.ends |= {
            "policy deleted": self.deletes(path, refused=True),
            "policy renamed": self.changes(path, name=new_name("other")),
            "policy raises": lambda: self.run(_BREAK, wanted=asked["pk"], text="return 1 / 0"),
        }
        return made

    async def _expression_that_asks_a_policy(self) -> Named:
        return await self._of_policy('return ak_call_policy("%s").passing', "return False")

    async def _expression_that_turns_a_policy_around(self) -> Named:
        return await self._of_policy('return not ak_call_policy("%s").passing', "return True")

    # One case

    async def opened_by(self, case: Case) -> set[int]:
        """Those who may enter after it has ended, and could not before."""
        application = await self.application(case.mode)
        target = {"target": application["pk"]}
        if case.company:
            policy = self.yes if case.company == "yes" else self.no
            await make(self.owner, "/policies/bindings/", policy=policy, order=0, **target)
        named = await self.name(case.decider)
        given = {"negate": case.negate, "failure_result": case.failure_result, "order": 1} | named.fields | target
        binding = await make(self.owner, "/policies/bindings/", **given)
        own = {
            "expired": lambda: self.run(_AGE, wanted=binding["pk"], past=datetime.now(UTC) - timedelta(seconds=1)),
            "disabled": self.changes(f"/policies/bindings/{binding['pk']}/", enabled=False),
        }
        before = await self.admitted(application)
        end = named.ends[case.way] if case.way in named.ends else own[case.way]
        await end()
        return await self.admitted(application) - before

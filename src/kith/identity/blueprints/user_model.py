"""People in blueprints: their password as a hash, and what they are to the team, beside what the API shows."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, select

from kith.base.db import query
from kith.base.errors import Forbidden
from kith.base.work import Work
from kith.identity.blueprints.models import SecretText, StoredValues, Values
from kith.identity.blueprints.record_models import RecordModel
from kith.identity.blueprints.run import BlueprintRun, NewPassword
from kith.identity.blueprints.tags import BadBlueprint
from kith.identity.reauthentication import refuse_app_password, require_current_password
from kith.identity.rest import operations
from kith.identity.users import service
from kith.identity.users import store as users
from kith.identity.users.brought_passwords import is_affordable
from kith.identity.users.passwords import Passwords
from kith.identity.users.service import complain_password, complaints_of
from kith.identity.users.tables import users as table

__all__ = ["UserModel"]

ROLES = ("user", "moderator", "administrator", "owner")
_OWN = ("role", "password", "password_hash", "current_password")
_more = query(
    select(table.c.password, table.c.role, table.c.approved_at, table.c.confirmed_at).where(
        table.c.id == bindparam("id")
    ),
    tuple,
)


class UserModel(RecordModel):
    """Whoever waits to be approved or has not confirmed their address is not exported: they have not come in yet."""

    async def _as_values(self, work: Work, pk: Any, stored: Values) -> StoredValues:
        found = await super()._as_values(work, pk, stored)
        row = await work.db.one(_more, id=pk)
        password, role, *_ = row or (None, "user")
        found.values |= {"role": role, "password_hash": SecretText(password or "")}
        return found

    async def every(self, work: Work) -> list[StoredValues]:
        self.exported = [*dict.fromkeys((*self.exported, "role", "password_hash"))]
        found = []
        for one in await super().every(work):
            row = await work.db.one(_more, id=one.pk)
            if row is not None and None not in row[2:]:
                found.append(one)
        return found

    async def hash_ahead(self, work: Work, username: Any, password: Any, *, compares: bool) -> NewPassword | None:
        """Before anything is written. Where it `compares`, None if it is their password already.

        What the operator writes is not judged by the policies; what people send is.
        """
        if not isinstance(password, str) or not isinstance(username, str):
            raise BadBlueprint("a password and the user name beside it must be texts")
        user = await users.find(work.db, username)
        if compares:
            complaint = complain_password(password)
            complaints = [] if complaint is None else [complaint]
        else:
            known = {"username": username}
            complaints = await complaints_of(work, password, user_id=user.id if user else None, known=known)
        if complaints:
            raise BadBlueprint(f"password: {', '.join(complaints)}")
        passwords = work.find(Passwords)
        if compares and user and user.password and await passwords.check(user.password, password, anew=True):
            return None
        return NewPassword(password, await passwords.hash(password), is_known=user is not None)

    async def create(self, run: BlueprintRun, attrs: Values) -> StoredValues:
        own = self._own(run, attrs)
        hashed = own.pop("password_hash", None)
        columns = {} if hashed is None else {"password": hashed, "password_changed_at": run.work.now}
        shown = {name: value for name, value in attrs.items() if name not in _OWN}
        made = await self.create_with(run, shown, columns)
        await self._set_own(run, made, own)
        return await self._must_find(run, made.pk)

    async def update(self, run: BlueprintRun, stored: StoredValues, attrs: Values) -> StoredValues:
        own = self._own(run, attrs)
        changed = await super().update(run, stored, {name: value for name, value in attrs.items() if name not in _OWN})
        if not await self._set_own(run, stored, own):
            return changed
        return await self._must_find(run, stored.pk)

    def _own(self, run: BlueprintRun, attrs: Values) -> Values:
        own = {name: attrs[name] for name in ("role", "password_hash") if attrs.get(name) not in (None, "")}
        if "password" in attrs and run.password is not None:
            own["password_hash"] = run.password.hashed
            refuse_app_password(run.caller)
            if not run.caller.may("core.reset_user_password"):
                raise Forbidden("You do not have permission to reset passwords.")
        elif "password_hash" in own and run.caller.permissions is not None:
            raise Forbidden("Only a superuser may set the hash of a password.")
        if "password_hash" in own and not is_affordable(str(own["password_hash"])):
            raise BadBlueprint("password_hash: this is no hash of a password, or one that costs too much to check")
        if "role" in own and own["role"] not in ROLES:
            raise BadBlueprint(f"role: must be one of {', '.join(ROLES)}")
        return own

    async def _set_own(self, run: BlueprintRun, stored: StoredValues, own: Values) -> bool:
        """Whether anything was another than it is to be."""
        changed = False
        role, hashed = own.get("role"), own.get("password_hash")
        if role is not None and role != stored.values["role"]:
            changed = True
            if run.caller.permissions is not None or (role == "owner" and run.caller.role != "owner"):
                raise Forbidden("Only a superuser may say who is on the team, and only an owner who is one.")
            user = await users.get(run.work.db, stored.pk)
            await service.set_role(run.work, user, role, by=run.caller.id or None, by_name=run.caller.username)
        if hashed is not None and hashed != stored.values["password_hash"].text:
            changed = True
            if stored.pk == run.caller.id:
                await require_current_password(run.work, run.caller, None)
            new = {"password": hashed, "password_changed_at": run.work.now}
            await operations.update(self.store, run.work, run.caller, stored.pk, {}, whole=False, carried=new)
            if run.password is not None and hashed == run.password.hashed:
                run.passwords[stored.pk] = run.password.text
        return changed

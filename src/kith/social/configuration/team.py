"""What the team works with: roles, who has one of the community's own, webhooks, and the texts of mails."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from kith.base.errors import NotFound
from kith.base.languages import LANGUAGES
from kith.base.mail_texts import STORED
from kith.base.stored_settings import read_stored
from kith.base.work import Work
from kith.identity import for_configuration as blueprints
from kith.identity.for_configuration import BadBlueprint, BlueprintRun, SecretText, StoredValues, Values
from kith.social.accounts import store as accounts
from kith.social.accounts import user_accounts
from kith.social.admin import mail_texts, roles, webhooks
from kith.social.configuration.listed import ListedModel
from kith.social.ids import UserId
from kith.social.roles import store as role_store
from kith.social.roles.permissions import names_of
from kith.social.roles.tables import EVERYONE, Role
from kith.social.staff import Staff

__all__ = ["MailTextModel", "MemberRoleModel", "RoleModel", "WebhookModel"]

FILE = "a6-team"


class RoleModel(ListedModel):
    """Those that every server has are known by their `base`, the community's own by their names."""

    name, file, permission, key = "social.role", FILE, "manage_roles", ("base", "name")
    fields: ClassVar[dict[str, Any]] = {
        "base": Literal["", "everyone", "moderator", "administrator", "owner", "user"],
        "name": str,
        "color": str,
        "position": int,
        "permissions": list[str],
        "highlighted": bool,
    }

    def natural(self, values: Values) -> tuple[str, ...]:
        return ("base",) if values.get("base") else ("name",)

    async def every(self, work: Work) -> list[StoredValues]:
        return [self._values(one) for one in (await role_store.load(work.db)).listed]

    def _values(self, role: Role) -> StoredValues:
        base = "" if not role.is_shipped else "everyone" if role.id == EVERYONE else role.base
        values: Values = {"base": base, "name": role.name, "color": role.color, "position": role.position}
        return StoredValues(
            role.id, values | {"permissions": names_of(role.permissions), "highlighted": role.highlighted}
        )

    async def find(self, run: BlueprintRun, wanted: Values) -> StoredValues | None:
        is_own = "name" in wanted and "base" not in wanted
        return await super().find(run, wanted | ({"base": ""} if is_own else {}))

    async def add(self, run: BlueprintRun, by: Staff, values: Values) -> Any:
        if values.pop("base", ""):
            raise BadBlueprint("base: there is no such role, and no other can be made")
        return (await roles.create(run.work, by, self._draft(values))).id

    def _draft(self, values: Values) -> roles.RoleDraft:
        keys = values.pop("permissions", None)
        return roles.RoleDraft(**values, permissions_as_keys=keys)

    async def change(self, run: BlueprintRun, by: Staff, stored: StoredValues, values: Values) -> None:
        values.pop("base", None)
        await roles.change(run.work, by, stored.pk, self._draft(values))

    async def delete(self, run: BlueprintRun, by: Staff, stored: StoredValues) -> None:
        await roles.remove(run.work, by, stored.pk)


class MemberRoleModel(ListedModel):
    """Who has a role of the community's own, by user name and the role's name. Shipped roles are the person's."""

    name, file, permission, key = "social.memberrole", FILE, "manage_roles", ("username",)
    fields: ClassVar[dict[str, Any]] = {"username": str, "role": str}

    async def every(self, work: Work) -> list[StoredValues]:
        found = []
        for role in (await role_store.load(work.db)).listed:
            if role.is_shipped:
                continue
            for account in await accounts.with_role_id(work.db, role.id):
                if account.user_id is not None:
                    name = await blueprints.name_of_user(work, account.user_id)
                    found.append(StoredValues(account.user_id, {"username": name, "role": role.name}))
        return found

    async def _give(self, run: BlueprintRun, by: Staff, username: str, role: str) -> int:
        user_id = await blueprints.id_of_user(run.work, username)
        if user_id is None:
            raise BadBlueprint(f"username: there is nobody called {username[:50]}")
        account = await accounts.find_of_user(run.work.db, UserId(user_id))
        if account is None:
            await user_accounts.make(run.work, UserId(user_id))
            account = await accounts.find_of_user(run.work.db, UserId(user_id))
        if account is None:
            raise BadBlueprint(f"username: {username[:50]} has no account")
        await roles.give(run.work, by, account, (await self._role(run.work, role)).id)
        return user_id

    async def _role(self, work: Work, name: str) -> Role:
        for role in (await role_store.load(work.db)).listed:
            if role.name == name:
                return role
        raise BadBlueprint(f"role: there is no role called {name[:50]}")

    async def add(self, run: BlueprintRun, by: Staff, values: Values) -> Any:
        return await self._give(run, by, values["username"], str(values.get("role") or ""))

    async def change(self, run: BlueprintRun, by: Staff, stored: StoredValues, values: Values) -> None:
        await self._give(run, by, stored.values["username"], str(values.get("role") or stored.values["role"]))

    async def delete(self, run: BlueprintRun, by: Staff, stored: StoredValues) -> None:
        account = await accounts.find_of_user(run.work.db, UserId(stored.pk))
        if account is None:
            raise NotFound
        await roles.give(run.work, by, account, EVERYONE)


class WebhookModel(ListedModel):
    name, file, permission, key = "social.webhook", FILE, "manage_webhooks", ("url",)
    fields: ClassVar[dict[str, Any]] = {"url": str, "events": list[str], "enabled": bool, "secret": SecretText}

    async def every(self, work: Work) -> list[StoredValues]:
        found = []
        for one in await webhooks.every(work.db):
            values: Values = {"url": one.url, "events": one.events, "enabled": one.enabled}
            found.append(StoredValues(one.id, values | {"secret": SecretText(webhooks.secret_of(work, one))}))
        return found

    async def add(self, run: BlueprintRun, by: Staff, values: Values) -> Any:
        secret = values.pop("secret", "")
        made = await webhooks.create(run.work, by, webhooks.WebhookDraft(**values))
        if secret:
            await webhooks.set_secret(run.work, by, made.id, secret)
        return made.id

    async def change(self, run: BlueprintRun, by: Staff, stored: StoredValues, values: Values) -> None:
        secret = values.pop("secret", "")
        if values:
            await webhooks.change(run.work, by, stored.pk, webhooks.WebhookDraft(**values))
        if secret:
            await webhooks.set_secret(run.work, by, stored.pk, secret)

    async def delete(self, run: BlueprintRun, by: Staff, stored: StoredValues) -> None:
        await webhooks.remove(run.work, by, stored.pk)


class MailTextModel(ListedModel):
    """Words of the community's own for a mail, in one language; without them it is as it comes with Kith."""

    name, file, permission, key = "social.mailtext", FILE, "manage_settings", ("mail", "language")
    fields: ClassVar[dict[str, Any]] = {"mail": str, "language": Literal[tuple(LANGUAGES)], "subject": str, "body": str}

    async def every(self, work: Work) -> list[StoredValues]:
        stored = (await read_stored(work.db)).get(STORED)
        found = []
        for mail, texts in sorted((stored or {}).items()):
            for language, text in sorted(texts.items()):
                values = {"mail": mail, "language": language, "subject": text["subject"], "body": text["body"]}
                found.append(StoredValues((mail, language), values))
        return found

    async def _write(self, run: BlueprintRun, by: Staff, values: Values) -> Any:
        draft = mail_texts.MailDraft(**{name: values.get(name, "") for name in ("language", "subject", "body")})
        await mail_texts.change(run.work, by, values["mail"], draft)
        return values["mail"], values["language"]

    async def add(self, run: BlueprintRun, by: Staff, values: Values) -> Any:
        return await self._write(run, by, values)

    async def change(self, run: BlueprintRun, by: Staff, stored: StoredValues, values: Values) -> None:
        await self._write(run, by, stored.values | values)

    async def delete(self, run: BlueprintRun, by: Staff, stored: StoredValues) -> None:
        await mail_texts.reset(run.work, by, *stored.pk)

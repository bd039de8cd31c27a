"""Who is kept out: servers, mail addresses and networks."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar, Literal

from kith.base.work import Work
from kith.identity.for_configuration import BadBlueprint, BlueprintRun, StoredValues, Values
from kith.social.admission import people, servers
from kith.social.admission import store as admission
from kith.social.configuration.listed import ListedModel
from kith.social.staff import Staff

__all__ = ["CanonicalEmailBlockModel", "DomainAllowModel", "DomainBlockModel", "EmailDomainBlockModel", "IPBlockModel"]

FILE = "a4-admission"


class _AdmissionModel(ListedModel):
    file = FILE
    kind: str
    columns: ClassVar[dict[str, str]] = {}  # where a field's column has another name

    async def known(self, work: Work) -> list[StoredValues]:
        return [self._values(one) for one in await admission.every(work.db, self.kind)]

    async def every(self, work: Work) -> list[StoredValues]:
        return await self.known(work)

    async def one(self, work: Work, pk: Any) -> StoredValues | None:
        row = await admission.find(work.db, self.kind, pk)
        return None if row is None else self._values(row)

    def _values(self, row: Any) -> StoredValues:
        return StoredValues(row.id, {name: getattr(row, self.columns.get(name, name)) for name in self.fields})

    async def change(self, _run: BlueprintRun, _by: Staff, _stored: StoredValues, _values: Values) -> None:
        raise BadBlueprint("what is blocked or allowed cannot be changed into something else")

    async def delete(self, run: BlueprintRun, by: Staff, stored: StoredValues) -> None:
        await people.remove(run.work, by, self.kind, stored.pk)


class DomainBlockModel(_AdmissionModel):
    """Blocks of domains below another come first: whoever asks for less than is there already is refused."""

    name, kind, permission, key = "social.domainblock", "domain_block", "manage_federation", ("domain",)
    fields: ClassVar[dict[str, Any]] = {
        "domain": str,
        "severity": Literal["silence", "suspend", "noop"],
        "reject_media": bool,
        "reject_reports": bool,
        "obfuscate": bool,
        "private_comment": str | None,
        "public_comment": str | None,
    }

    def before_others(self, values: Values) -> int:
        return -str(values["domain"]).count(".")

    async def add(self, run: BlueprintRun, by: Staff, values: Values) -> Any:
        domain = values.pop("domain")
        try:
            return (await servers.block(run.work, by, domain, servers.DomainBlockDraft(**values))).id
        except servers.StricterAlready as error:
            raise BadBlueprint(str(error)) from error

    async def change(self, run: BlueprintRun, by: Staff, stored: StoredValues, values: Values) -> None:
        for name in ("private_comment", "public_comment"):
            if name in values and values[name] is None:
                values[name] = ""
        await servers.change(run.work, by, stored.pk, servers.DomainBlockDraft(**values))

    async def delete(self, run: BlueprintRun, by: Staff, stored: StoredValues) -> None:
        await servers.unblock(run.work, by, stored.pk)


class DomainAllowModel(_AdmissionModel):
    name, kind, permission, key = "social.domainallow", "domain_allow", "manage_federation", ("domain",)
    fields: ClassVar[dict[str, Any]] = {"domain": str}

    async def add(self, run: BlueprintRun, by: Staff, values: Values) -> Any:
        return (await servers.allow(run.work, by, values["domain"])).id

    async def delete(self, run: BlueprintRun, by: Staff, stored: StoredValues) -> None:
        await servers.disallow(run.work, by, stored.pk)


class EmailDomainBlockModel(_AdmissionModel):
    name, kind, permission, key = "social.emaildomainblock", "email_domain_block", "manage_blocks", ("domain",)
    fields: ClassVar[dict[str, Any]] = {"domain": str, "allow_with_approval": bool}

    async def add(self, run: BlueprintRun, by: Staff, values: Values) -> Any:
        approval = values.get("allow_with_approval", False)
        made = await people.block_email_domain(run.work, by, values["domain"], allow_with_approval=approval)
        return made.id

    async def change(self, run: BlueprintRun, by: Staff, stored: StoredValues, values: Values) -> None:
        await people.change_email_domain(run.work, by, stored.pk, allow_with_approval=values["allow_with_approval"])


class CanonicalEmailBlockModel(_AdmissionModel):
    """An address that is kept out, known by its hash only."""

    name, kind, permission, key = "social.canonicalemailblock", "canonical_email_block", "manage_blocks", ("hash",)
    fields: ClassVar[dict[str, Any]] = {"hash": str}

    async def add(self, run: BlueprintRun, by: Staff, values: Values) -> Any:
        return (await people.block_email(run.work, by, email="", hash=values["hash"])).id


class IPBlockModel(_AdmissionModel):
    """Also until a moment; what is over is not exported."""

    name, kind, permission, key = "social.ipblock", "ip_block", "manage_blocks", ("ip",)
    fields: ClassVar[dict[str, Any]] = {
        "ip": str,
        "severity": Literal["sign_up_requires_approval", "sign_up_block", "no_access"],
        "comment": str,
        "expires_at": datetime | None,
    }
    columns: ClassVar[dict[str, str]] = {"ip": "network"}

    async def every(self, work: Work) -> list[StoredValues]:
        found = await self.known(work)
        return [one for one in found if one.values["expires_at"] is None or one.values["expires_at"] > work.now]

    def _read(self, run: BlueprintRun, given: Values) -> Values:
        read = super()._read(run, given)
        if "ip" in read:
            read["ip"] = people.network_of(read["ip"]) or read["ip"]
        return read

    async def add(self, run: BlueprintRun, by: Staff, values: Values) -> Any:
        ends = values.pop("expires_at", None)
        made = await people.block_ip(run.work, by, people.IPDraft(**values))
        await self._end(run, made.id, ends)
        return made.id

    async def change(self, run: BlueprintRun, by: Staff, stored: StoredValues, values: Values) -> None:
        if "expires_at" in values:
            await self._end(run, stored.pk, values.pop("expires_at"))
        if values:
            await people.change_ip(run.work, by, stored.pk, people.IPDraft(**values))

    async def _end(self, run: BlueprintRun, id: int, ends: datetime | None) -> None:
        await admission.change(run.work.db, self.kind, id, {"expires_at": ends})

"""A small authentik server, as rows of its tables and as its own export."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import uuid
from pathlib import Path
from typing import Any

import asyncpg
import yaml
from argon2 import PasswordHasher

from tests.identity.saml_keys import pair

INSTALL_ID = "5f0e9c0e-66a7-4a38-8f2d-3d0a4a4a7a11"
PASSWORD = "a long enough passphrase 17"
APP_PASSWORD = "appPasswordOfTheOldServer" + "0123456789" * 4
TOTP_KEY = "3132333435363738393031323334353637383930"  # hex, as it is kept there
CLIENT_ID, CLIENT_SECRET = "wiki-client", "wiki-secret-of-the-old-server"
PROFILE = 'return {"teams": [group.name for group in user.ak_groups.all()]}'
MEMBERS = "return request.user.ak_groups.filter(name='Choir').exists()"
OUTSIDE = "import requests\nreturn requests.get('https://example.org').ok"


def django_hash(password: str, iterations: int = 1000) -> str:
    made = hashlib.pbkdf2_hmac("sha256", password.encode(), b"salty", iterations)
    return f"pbkdf2_sha256${iterations}$salty${base64.b64encode(made).decode()}"


def subject_of(pk: int) -> str:
    return hashlib.sha256(f"{pk}-{INSTALL_ID}".encode()).hexdigest()


class AuthentikServer:
    def __init__(self) -> None:
        self.ids: dict[str, str] = {}
        self.tables: dict[str, list[dict[str, Any]]] = {}
        self.entries: list[dict[str, Any]] = []
        keys = pair("authentik")
        cert = {"name": "Wiki key", "certificate_data": keys.certificate, "key_data": keys.key}
        self.both("authentik_crypto.certificatekeypair", "kp_uuid", self.id("cert"), cert)
        self._people()
        self._flows()
        self._applications()
        self._devices()
        self.row("authentik_install_id", id=INSTALL_ID)

    def id(self, name: str) -> str:
        return self.ids.setdefault(name, str(uuid.uuid5(uuid.NAMESPACE_URL, name)))

    def row(self, table: str, **values: Any) -> None:
        if len(table) > 63:  # as Django shortens it
            table = f"{table[:59]}{hashlib.md5(table.encode(), usedforsecurity=False).hexdigest()[:4]}"
        self.tables.setdefault(table, []).append(values)

    def both(self, model: str, key: str, pk: Any, values: dict[str, Any], **in_table: Any) -> None:
        """A record whose table has all of it; references are columns that end with `_id`."""
        said = {name.removesuffix("_id") if name != "client_id" else name: one for name, one in values.items()}
        self.entry(model, pk, said)
        self.row(model.replace(".", "_"), **{key: pk}, **values, **in_table)

    def entry(self, model: str, pk: Any, values: dict[str, Any]) -> None:
        """What is empty or false is not in exports."""
        attrs = {name: one for name, one in values.items() if one is not False and one not in ("", None, [], {})}
        self.entries.append({"model": model, "identifiers": {"pk": pk}, "attrs": attrs, "state": "present"})

    def _people(self) -> None:
        admins = {"name": "authentik Admins", "is_superuser": True, "attributes": {}, "parent_id": None}
        choir = {"name": "Choir", "is_superuser": False, "attributes": {"room": 3}, "parent_id": None}
        tenors = {"name": "Tenors", "is_superuser": False, "attributes": {}, "parent_id": self.id("choir")}
        for name, group in (("tenors", tenors), ("admins", admins), ("choir", choir)):
            self.both("authentik_core.group", "group_uuid", self.id(name), group)
        argon = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1).hash(PASSWORD)
        self.person(7, "ada", ["choir", "admins"], email="ada@example.org", password=django_hash(PASSWORD))
        self.person(8, "bob", ["tenors"], email="bob@example.org", password=f"argon2{argon}", is_active=False)
        self.person(9, "eve", [], email="ada@example.org", password="md5$x$0cc175b9c0f1b6a831c399e269772661")
        self.person(10, "no such name!", [], email="", password="!unusable")
        self.person(11, "ak-outpost-1", [], email="", password="!", type="internal_service_account")

    def person(self, pk: int, username: str, groups: list[str], **values: Any) -> None:
        password = values.pop("password")
        common = {"username": username, "name": username.title(), "is_active": True, "path": "users"}
        common |= {"type": "internal", "attributes": {"shoe": 42}} | values
        self.entry("authentik_core.user", pk, common | {"groups": [self.id(name) for name in groups]})
        joined = "2021-03-04 05:06:07+00"
        self.row(
            "authentik_core_user", id=pk, uuid=self.id(username), password=password, date_joined=joined,
            last_login=None, first_name="", last_name="", password_change_date=joined, **common,
        )  # fmt: skip
        for name in groups:
            self.row("authentik_core_user_ak_groups", user_id=pk, group_id=self.id(name))

    def kind(self, base: str, key: str, pointer: str, model: str, pk: Any, shared: Any, own: Any) -> None:
        """A record of a kind whose family has a table of its own."""
        plain = {name.removesuffix("_id") if name != "client_id" else name: one for name, one in (shared | own).items()}
        self.entry(model, pk, {name: one for name, one in plain.items() if name != "_redirect_uris"})
        self.row(base, **{key: pk}, **shared)
        self.row(model.replace(".", "_"), **{pointer: pk}, **own)

    def mapping(self, name: str, expression: str, scope: str, managed: str | None = None) -> None:
        shared = {"name": name, "expression": expression, "managed": managed}
        own = {"scope_name": scope, "description": ""}
        self.kind(
            "authentik_core_propertymapping", "pm_uuid", "propertymapping_ptr_id",
            "authentik_providers_oauth2.scopemapping", self.id(name), shared, own,
        )  # fmt: skip

    def policy(self, name: str, expression: str) -> None:
        self.kind(
            "authentik_policies_policy", "policy_uuid", "policy_ptr_id",
            "authentik_policies_expression.expressionpolicy", self.id(name),
            {"name": name, "execution_logging": False}, {"expression": expression},
        )  # fmt: skip

    def target(self, name: str, mode: str = "any") -> str:
        self.row("authentik_policies_policybindingmodel", pbm_uuid=self.id(name), policy_engine_mode=mode)
        return self.id(name)

    def _flows(self) -> None:
        self.mapping("authentik default OAuth Mapping: OpenID 'openid'", "return {}", "openid",
                     "goauthentik.io/providers/oauth2/scope-openid")  # fmt: skip
        self.mapping("Teams", PROFILE, "teams")
        self.policy("only-choir", MEMBERS)
        self.policy("asks-outside", OUTSIDE)
        for slug in ("default-authentication-flow", "welcome", "default-provider-authorization-implicit-consent"):
            use = {"welcome": "enrollment", "default-authentication-flow": "authentication"}.get(slug, "authorization")
            flow = {"name": slug, "slug": slug, "title": slug, "designation": use, "layout": "stacked",
                    "authentication": "none", "denied_action": "message_continue", "compatibility_mode": False}  # fmt: skip
            self.both("authentik_flows.flow", "flow_uuid", self.id(slug), flow,
                      policybindingmodel_ptr_id=self.target(f"{slug}-target"))  # fmt: skip
        prompt = {"name": "nick", "field_key": "attributes.nick", "label": "Nickname", "type": "text", "required": True,
                  "placeholder": "", "order": 0, "sub_text": "", "initial_value": ""}  # fmt: skip
        self.both("authentik_stages_prompt.prompt", "prompt_uuid", self.id("nick"), prompt)
        source = {"name": "Forge", "slug": "forge", "enabled": True, "user_matching_mode": "identifier",
                  "user_path_template": "goauthentik.io/sources/%(slug)s"}  # fmt: skip
        forge = {"provider_type": "github", "consumer_key": "key", "consumer_secret": "hush", "oidc_jwks": {}}
        self.kind("authentik_core_source", "policybindingmodel_ptr_id", "source_ptr_id",
                  "authentik_sources_oauth.oauthsource", self.target("forge"), source, forge)  # fmt: skip
        self.row("authentik_core_usersourceconnection", id=1, user_id=7, source_id=self.id("forge"), identifier="4711")
        stages: tuple[tuple[str, str, dict[str, Any]], ...] = (
            ("ask nick", "authentik_stages_prompt.promptstage", {}),
            (
                "secret word",
                "authentik_stages_password.passwordstage",
                {
                    "backends": ["authentik.core.auth.InbuiltBackend"],
                    "failed_attempts_before_cancel": 5,
                    "allow_show_password": False,
                },
            ),
            (
                "second",
                "authentik_stages_authenticator_validate.authenticatorvalidatestage",
                {
                    "device_classes": ["totp", "webauthn"],
                    "not_configured_action": "skip",
                    "last_auth_threshold": "hours=1",
                    "webauthn_user_verification": "preferred",
                },
            ),
            (
                "who",
                "authentik_stages_identification.identificationstage",
                {
                    "user_fields": ["username", "email"],
                    "password_stage_id": self.id("secret word"),
                    "case_insensitive_matching": True,
                    "show_matched_user": True,
                    "pretend_user_exists": True,
                },
            ),
            ("go away", "authentik_stages_deny.denystage", {"deny_message": "Not now"}),
            (
                "default-authentication-login",
                "authentik_stages_user_login.userloginstage",
                {"session_duration": "seconds=0"},
            ),
        )
        for name, app, own in stages:
            self.kind("authentik_flows_stage", "stage_uuid", "stage_ptr_id", app, self.id(name), {"name": name}, own)
            if name == "ask nick":
                self.entries[-1]["attrs"]["fields"] = [self.id("nick")]
        self.row(
            "authentik_stages_prompt_promptstage_fields", promptstage_id=self.id("ask nick"), prompt_id=self.id("nick")
        )
        self.row("authentik_stages_identification_identificationstage_sources",
                 identificationstage_id=self.id("who"), source_id=self.id("forge"))  # fmt: skip
        for of, stage in (("welcome", "go away"), ("default-authentication-flow", "default-authentication-login")):
            step = {"target_id": self.id(of), "stage_id": self.id(stage), "order": 0, "evaluate_on_plan": False,
                    "re_evaluate_policies": True, "invalid_response_action": "retry"}  # fmt: skip
            self.both("authentik_flows.flowstagebinding", "fsb_uuid", self.id(f"{of}-step"), step,
                      policybindingmodel_ptr_id=self.target(f"{of}-step-target"))  # fmt: skip
        self.bind("welcome-step-target", 0, policy_id=self.id("asks-outside"))

    def bind(self, target: str, order: int, **decider: Any) -> None:
        values = {"policy_id": None, "group_id": None, "user_id": None, "target_id": self.id(target), "order": order}
        values |= {"enabled": True, "negate": False, "timeout": 30, "failure_result": False} | decider
        self.both("authentik_policies.policybinding", "policy_binding_uuid", self.id(f"{target}-{order}"), values)

    def provider(self, pk: int, model: str, name: str, own: dict[str, Any], pointer: str = "provider_ptr_id") -> None:
        flow = self.id("default-provider-authorization-implicit-consent")
        shared = {"name": name, "authorization_flow_id": flow, "is_backchannel": False}
        self.kind("authentik_core_provider", "id", pointer, model, pk, shared, own)

    def _applications(self) -> None:
        uris = [
            {"matching_mode": "strict", "url": "https://wiki.example.org/callback"},
            {"matching_mode": "regex", "url": r"https://[a-z]+\.wiki\.example\.org/callback"},
        ]
        oauth = {"client_type": "confidential", "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET,
                 "signing_key_id": self.id("cert"), "sub_mode": "hashed_user_id", "issuer_mode": "per_provider",
                 "include_claims_in_id_token": True, "_redirect_uris": uris, "access_token_validity": "minutes=10"}  # fmt: skip
        self.provider(3, "authentik_providers_oauth2.oauth2provider", "Wiki", oauth)
        self.entries[-1]["attrs"] |= {"redirect_uris": uris, "property_mappings": [self.id("Teams")]}
        self.row("authentik_core_provider_property_mappings", provider_id=3, propertymapping_id=self.id("Teams"))
        saml = {"acs_url": "https://hr.example.org/acs", "issuer": "authentik", "audience": "hr", "sp_binding": "post",
                "signing_kp_id": self.id("cert"), "sign_assertion": True,
                "digest_algorithm": "http://www.w3.org/2001/04/xmlenc#sha256",
                "signature_algorithm": "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"}  # fmt: skip
        self.provider(4, "authentik_providers_saml.samlprovider", "HR", saml)
        proxied = {"internal_host": "http://127.0.0.1:9", "external_host": "https://files.example.org", "mode": "proxy",
                   "internal_host_ssl_validation": True, "intercept_header_auth": True, "skip_path_regex": ""}  # fmt: skip
        self.row("authentik_core_provider", id=6, name="Files", authorization_flow_id=None)
        self.row("authentik_providers_oauth2_oauth2provider", provider_ptr_id=6, client_id="files-client",
                 client_secret="x", access_token_validity="hours=24")  # fmt: skip
        self.row("authentik_providers_proxy_proxyprovider", oauth2provider_ptr_id=6, **proxied)
        self.entry("authentik_providers_oauth2.oauth2provider", 6, {"name": "Files", "client_id": "files-client"})
        self.entry("authentik_providers_proxy.proxyprovider", 6, {"name": "Files", **proxied})
        directory = {"base_dn": "dc=example,dc=org", "uid_start_number": 2000, "gid_start_number": 4000,
                     "search_mode": "direct", "bind_mode": "direct", "mfa_support": True}  # fmt: skip
        self.provider(9, "authentik_providers_ldap.ldapprovider", "Directory", directory)
        self.row("authentik_core_provider", id=5, name="Remote desktops", authorization_flow_id=None)
        self.entry("authentik_providers_rac.racprovider", 5, {"name": "Remote desktops"})
        for slug, provider in (("wiki", 3), ("hr", 4), ("desktops", 5), ("secret", None), ("files", 6), ("ldap", 9)):
            app = {"name": slug.title(), "slug": slug, "group": "", "provider_id": provider, "open_in_new_tab": False}
            pk = self.target(slug)
            self.entry("authentik_core.application", pk,
                       {name.removesuffix("_id"): one for name, one in app.items()} | {"policy_engine_mode": "any"})  # fmt: skip
            self.row("authentik_core_application", policybindingmodel_ptr_id=pk, meta_icon="", **app)
        self.bind("wiki", 0, group_id=self.id("choir"))
        self.bind("hr", 0, policy_id=self.id("only-choir"))
        self.bind("desktops", 0, policy_id=self.id("asks-outside"))
        self.bind("secret", 0, user_id=10)  # somebody who cannot come

    def _devices(self) -> None:
        totp = {"name": "Phone", "confirmed": True, "user_id": 7, "key": TOTP_KEY, "step": 30, "t0": 0, "digits": 6}
        self.row("authentik_stages_authenticator_totp_totpdevice", id=1, last_t=-1, **totp)
        self.row("authentik_stages_authenticator_static_staticdevice", id=1, name="Codes", confirmed=True, user_id=8)
        for code in ("abcd1234", "efgh5678"):
            self.row("authentik_stages_authenticator_static_statictoken", device_id=1, token=code)
        token = {"identifier": "phone-mail", "key": APP_PASSWORD, "intent": "app_password", "user_id": 7}
        self.row("authentik_core_token", token_uuid=self.id("token"), expiring=False, expires=None, description="Mail",
                 **token)  # fmt: skip

    def dump(self, path: Path) -> Path:
        lines = ["--\n-- PostgreSQL database dump\n--\n"]
        for table, rows in self.tables.items():
            columns = list(dict.fromkeys(name for row in rows for name in row))
            lines.append(f"COPY public.{table} ({', '.join(columns)}) FROM stdin;")
            lines += ["\t".join(_copied(row.get(name)) for name in columns) for row in rows]
            lines.append("\\.\n")
        lines.append("--\n-- PostgreSQL database dump complete\n--\n")
        path.write_text("\n".join(lines))
        return path

    async def create(self, url: str) -> None:
        """The same as a database."""
        connection = await asyncpg.connect(url)
        try:
            for table, rows in self.tables.items():
                columns = list(dict.fromkeys(name for row in rows for name in row))
                declared = ", ".join(f'"{name}" text' for name in columns)
                await connection.execute(f"CREATE TABLE {table} ({declared})")
                lines = ["\t".join(_copied(row.get(name)) for name in columns) + "\n" for row in rows]
                source = io.BytesIO("".join(lines).encode())
                await connection.copy_to_table(table, source=source, columns=columns)
        finally:
            await connection.close()

    def export(self, path: Path) -> Path:
        path.write_text(yaml.safe_dump({"version": 1, "metadata": {"name": "Export"}, "entries": self.entries}))
        return path


def _copied(value: Any) -> str:
    if value is None:
        return "\\N"
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return "{" + ",".join(value) + "}"  # an array
    text = json.dumps(value) if isinstance(value, (dict, list)) else str(value)
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")

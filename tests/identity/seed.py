"""The identity API as it was asked for: every collection, its methods, its record, and a body that makes one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

ALL = "GET POST | GET PUT PATCH DELETE"
READ = "GET | GET"


class Collection(msgspec.Struct, frozen=True):
    """`body` is what a client of June 2020 sends, no more than was required then; `{name}` stands for a fresh word,
    and a value that starts with a slash for the identifier of a new record of that collection.
    """

    path: str
    methods: str
    record: str
    key: str
    body: Mapping[str, Any] = {}
    change: Mapping[str, Any] = {}
    key_type: type = str

    @property
    def operation(self) -> str:
        return self.path.strip("/").replace("/", "_")


NAMED = {"name": "{name}"}
FLOW = {"name": "{name}", "slug": "{name}", "designation": "authorization"}

ASKED_FOR = (
    Collection("/audit/events/", READ, "Event", "event_uuid"),
    Collection("/core/applications/", ALL, "Application", "pbm_uuid", NAMED | {"slug": "{name}"}, {"meta_publisher": "us"}),
    Collection("/core/groups/", ALL, "Group", "group_uuid", NAMED | {"parent": None, "user_set": []}, {"attributes": {"a": 1}}),
    Collection("/core/users/", ALL, "User", "id", {"username": "{name}", "name": "N"}, {"email": "n@example.org"}, int),
    Collection(
        "/flows/bindings/", ALL, "FlowStageBinding", "fsb_uuid",
        {"flow": "/flows/instances/", "stage": "/stages/dummy/", "order": 3}, {"order": 4},
    ),
    Collection("/flows/instances/", ALL, "Flow", "flow_uuid", FLOW, {"name": "other"}),
    Collection("/policies/all/", READ, "Policy", "policy_uuid"),
    Collection(
        "/policies/bindings/", ALL, "PolicyBinding", "policy_binding_uuid",
        {"policy": "/policies/dummy/", "target": "/core/applications/", "order": 1}, {"enabled": False},
    ),
    Collection("/policies/dummy/", ALL, "DummyPolicy", "policy_uuid", NAMED, {"result": True}),
    Collection("/policies/expression/", ALL, "ExpressionPolicy", "policy_uuid", NAMED | {"expression": "return True"}, {"expression": "return False"}),
    Collection("/policies/breachcheck/", ALL, "BreachCheckPolicy", "policy_uuid", NAMED, {"allowed_count": 3}),
    Collection("/policies/password/", ALL, "PasswordPolicy", "policy_uuid", NAMED | {"error_message": "no"}, {"length_min": 8}),
    Collection("/policies/passwordexpiry/", ALL, "PasswordExpiryPolicy", "policy_uuid", NAMED | {"days": 30}, {"deny_only": True}),
    Collection("/policies/reputation/", ALL, "ReputationPolicy", "policy_uuid", NAMED, {"threshold": -7}),
    Collection("/propertymappings/all/", READ, "PropertyMapping", "pm_uuid"),
    Collection(
        "/propertymappings/ldap/", ALL, "LDAPPropertyMapping", "pm_uuid",
        NAMED | {"expression": "return 1", "object_field": "name"}, {"object_field": "email"},
    ),
    Collection(
        "/propertymappings/saml/", ALL, "SAMLPropertyMapping", "pm_uuid",
        NAMED | {"expression": "return 1", "saml_name": "urn:x"}, {"friendly_name": "x"},
    ),
    Collection("/providers/all/", READ, "Provider", "id", key_type=int),
    Collection(
        "/providers/applicationgateway/", ALL, "ApplicationGatewayProvider", "id",
        NAMED | {"internal_host": "http://{name}.internal", "external_host": "https://{name}.example"},
        {"internal_host": "http://other.internal"}, int,
    ),
    Collection(
        "/providers/oauth/", ALL, "OAuth2Provider", "id",
        {"name": "{name}", "client_type": "confidential", "authorization_grant_type": "client-credentials"},
        {"client_type": "public"}, int,
    ),
    Collection(
        "/providers/openid/", ALL, "OpenIDProvider", "id",
        {"name": "{name}", "client_id": "{name}", "response_types": [1]}, {"reuse_consent": False}, int,
    ),
    Collection(
        "/providers/saml/", ALL, "SAMLProvider", "id",
        NAMED | {"processor_path": "x", "acs_url": "https://sp.example/acs", "issuer": "kith"}, {"audience": "them"}, int,
    ),
)  # fmt: skip

BEYOND = (
    Collection("/policies/event_matcher/", ALL, "EventMatcherPolicy", "policy_uuid", NAMED, {"action": "login"}),
    Collection(
        "/propertymappings/notification/", ALL, "NotificationWebhookMapping", "pm_uuid",
        NAMED | {"expression": "return {}"}, {"expression": "return {'a': 1}"},
    ),
    Collection("/events/rules/", ALL, "NotificationRule", "pbm_uuid", NAMED, {"severity": "alert"}),
    Collection("/events/transports/", ALL, "NotificationTransport", "uuid", NAMED, {"mode": "email"}),
    Collection(
        "/core/application_entitlements/", ALL, "ApplicationEntitlement", "pbm_uuid",
        NAMED | {"app": "/core/applications/"}, {"attributes": {"a": 1}},
    ),
    Collection("/core/brands/", ALL, "Brand", "brand_uuid", {"domain": "{name}.example"}, {"branding_title": "T"}),
    Collection("/policies/geoip/", ALL, "GeoIPPolicy", "policy_uuid", NAMED, {"countries": ["DE"]}),
    Collection("/policies/group_membership/", ALL, "GroupMembershipPolicy", "policy_uuid", NAMED, {"name": "{name}"}),
    Collection("/propertymappings/scope/", ALL, "ScopeMapping", "pm_uuid", NAMED | {"expression": "return {}", "scope_name": "x"}, {"description": "d"}),
    Collection("/propertymappings/source/oauth/", ALL, "OAuthSourcePropertyMapping", "pm_uuid", NAMED | {"expression": "return {}"}, {"expression": "return None"}),
    Collection("/propertymappings/source/saml/", ALL, "SAMLSourcePropertyMapping", "pm_uuid", NAMED | {"expression": "return {}"}, {"expression": "return None"}),
    Collection(
        "/providers/ldap/", ALL, "LDAPProvider", "id",
        NAMED | {"base_dn": "dc={name},dc=example"}, {"mfa_support": False}, int,
    ),
    Collection(
        "/providers/radius/", ALL, "RadiusProvider", "id",
        NAMED | {"shared_secret": "long enough"}, {"mfa_support": False}, int,
    ),
    Collection("/propertymappings/scim/", ALL, "SCIMMapping", "pm_uuid", NAMED | {"expression": "return {}"}, {"expression": "return {1: 2}"}),
    Collection(
        "/providers/scim/", ALL, "SCIMProvider", "id",
        NAMED | {"url": "https://{name}.example/scim/v2", "token": "secret"}, {"deprovision": "deactivate"}, int,
    ),
    Collection("/core/tokens/", ALL, "Token", "token_uuid", {"identifier": "{name}"}, {"description": "d"}),
    Collection("/core/email_blocks/", ALL, "EmailBlock", "block_uuid", {"value": "{name}.example"}, {"comment": "c"}),
    Collection(
        "/core/access_offers/", ALL, "AccessOffer", "offer_uuid",
        {"group": "/core/groups/", "approvers": ["/core/users/"]}, {"description": "d"},
    ),
    Collection("/rbac/roles/", ALL, "Role", "role_uuid", NAMED, {"permissions": ["core.view_user"]}),
    Collection("/sources/all/", READ, "Source", "pbm_uuid"),
    Collection(
        "/sources/ldap/", ALL, "LDAPSource", "pbm_uuid",
        NAMED | {"slug": "{name}", "server_uri": "ldap://ldap.example", "bind_cn": "cn=x", "bind_password": "p", "base_dn": "dc=x"},
        {"start_tls": True},
    ),
    Collection(
        "/sources/oauth/", ALL, "OAuthSource", "pbm_uuid",
        NAMED | {"slug": "{name}", "provider_type": "github", "authorization_url": "https://x.example/a",
                 "access_token_url": "https://x.example/t", "profile_url": "https://x.example/p", "consumer_key": "k",
                 "consumer_secret": "s"},
        {"enabled": False},
    ),
    Collection("/sources/scim/", ALL, "SCIMSource", "pbm_uuid", NAMED | {"slug": "{name}"}, {"enabled": False}),
    Collection("/stages/all/", READ, "Stage", "stage_uuid"),
    Collection("/stages/captcha/", ALL, "CaptchaStage", "stage_uuid", NAMED | {"public_key": "a", "private_key": "b"}, {"public_key": "c"}),
    Collection("/stages/consent/", ALL, "ConsentStage", "stage_uuid", NAMED, {"mode": "permanent"}),
    Collection("/stages/dummy/", ALL, "DummyStage", "stage_uuid", NAMED, {"name": "{name}"}),
    Collection("/stages/email/", ALL, "EmailStage", "stage_uuid", NAMED, {"port": 587}),
    Collection(
        "/stages/identification/", ALL, "IdentificationStage", "stage_uuid",
        NAMED | {"user_fields": ["username"], "template": "stages/identification/login.html"}, {"user_fields": ["email"]},
    ),
    Collection("/stages/invitation/", ALL, "InvitationStage", "stage_uuid", NAMED, {"continue_flow_without_invitation": True}),
    Collection("/stages/otp_static/", ALL, "OTPStaticStage", "stage_uuid", NAMED, {"token_count": 9}),
    Collection("/stages/otp_time/", ALL, "OTPTimeStage", "stage_uuid", NAMED | {"digits": 6}, {"digits": 8}),
    Collection("/stages/otp_validate/", ALL, "OTPValidateStage", "stage_uuid", NAMED, {"not_configured_action": "deny"}),
    Collection("/stages/password/", ALL, "PasswordStage", "stage_uuid", NAMED | {"backends": ["internal"]}, {"name": "{name}"}),
    Collection(
        "/stages/prompt/prompts/", ALL, "Prompt", "prompt_uuid",
        {"field_key": "a", "label": "A", "type": "text", "placeholder": "x"}, {"order": 2},
    ),
    Collection("/stages/prompt/stages/", ALL, "PromptStage", "pbm_uuid", NAMED | {"fields": ["/stages/prompt/prompts/"]}, {"name": "{name}"}),
    Collection("/stages/invitation/invitations/", ALL, "Invitation", "invite_uuid", {}, {"fixed_data": {"a": 1}}),
    Collection("/stages/user_delete/", ALL, "UserDeleteStage", "stage_uuid", NAMED, {"name": "{name}"}),
    Collection("/stages/user_login/", ALL, "UserLoginStage", "stage_uuid", NAMED, {"session_duration": 60}),
    Collection("/stages/user_logout/", ALL, "UserLogoutStage", "stage_uuid", NAMED, {"name": "{name}"}),
    Collection("/stages/user_write/", ALL, "UserWriteStage", "stage_uuid", NAMED, {"name": "{name}"}),
    Collection("/stages/webauthn/", ALL, "WebAuthnStage", "stage_uuid", NAMED, {"name": "{name}"}),
    Collection("/stages/deny/", ALL, "DenyStage", "stage_uuid", NAMED, {"name": "{name}"}),
)  # fmt: skip

EVERYTHING = (*ASKED_FOR, *BEYOND)

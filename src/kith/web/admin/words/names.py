"""What the collections of the identity API are called on pages: by the path of each, one record, many, and what for."""

from __future__ import annotations

import msgspec

__all__ = ["NAMES", "RecordName"]


class RecordName(msgspec.Struct, frozen=True):
    """Texts of the catalogue: the name of one, the heading above many, and a sentence (of stages: what they do)."""

    one: str
    many: str
    about: str


NAMES: dict[str, RecordName] = {
    "/core/users/": RecordName("Account", "Accounts", "Somebody, or a program, that can sign in."),
    "/core/groups/": RecordName("Group", "Groups", "People who have the same rights."),
    "/core/tokens/": RecordName("Token", "Tokens", "What programs sign in with, in place of a password."),
    "/core/user_consent/": RecordName("Consent", "Consents", "What somebody allowed an application."),
    "/audit/events/": RecordName("Event", "Events", "Something that happened here: a sign-in, a change, an error."),
    "/rbac/roles/": RecordName("Role", "Roles", "Permissions that groups and people are given together."),
    "/core/email_blocks/": RecordName(
        "Blocked mail domain or address", "Blocked mail domains and addresses", "Nobody can sign up with it."
    ),
    "/core/access_offers/": RecordName(
        "Access people can ask for",
        "Access people can ask for",
        "Access to an application or group that people can ask for, and that somebody decides about.",
    ),
    "/core/access_requests/": RecordName(
        "Request for access", "Requests for access", "Somebody asked for access, and why."
    ),
    "/core/authenticated_sessions/": RecordName("Session", "Sessions", "A browser in which somebody is signed in."),
    "/core/applications/": RecordName(
        "Application", "Applications", "A service that people enter with their account here."
    ),
    "/core/application_entitlements/": RecordName(
        "Entitlement",
        "Entitlements",
        "What somebody may do inside an application. Bind people or groups to it to grant it.",
    ),
    "/core/brands/": RecordName(
        "Brand", "Brands", "How the sign-in pages look and which flows they use, for each host name."
    ),
    "/flows/instances/": RecordName("Flow", "Flows", "The steps in which people sign in, sign up, sign out and so on."),
    "/flows/bindings/": RecordName("Stage in a flow", "Stages in flows", "Puts a stage into a flow, at its place."),
    "/policies/all/": RecordName("Policy", "Policies", "They decide who may enter, or which stages run."),
    "/policies/bindings/": RecordName(
        "Binding",
        "Bindings",
        "Puts a policy, a group or a person in front of an application, a flow, a stage or a source.",
    ),
    "/policies/breachcheck/": RecordName(
        "Leaked passwords", "Policies about leaked passwords", "Refuses passwords that are in known leaks."
    ),
    "/policies/dummy/": RecordName(
        "Test policy", "Test policies", "Always answers the same, after a while. For tests."
    ),
    "/policies/event_matcher/": RecordName(
        "Matching events", "Policies for matching events", "Lets events through that fit. For notifications."
    ),
    "/policies/expression/": RecordName(
        "Expression policy", "Expression policies", "Decides by a few lines of Python of your own."
    ),
    "/policies/geoip/": RecordName(
        "Place and network",
        "Policies about places and networks",
        "Decides by the country and the network somebody comes from.",
    ),
    "/policies/group_membership/": RecordName(
        "Membership in a group", "Policies about membership", "Lets the members of a group pass."
    ),
    "/policies/password/": RecordName(
        "Good passwords", "Policies about good passwords", "Says what a new password must look like."
    ),
    "/policies/passwordexpiry/": RecordName(
        "Age of passwords", "Policies about the age of passwords", "Asks for a new password after some days."
    ),
    "/policies/reputation/": RecordName(
        "Reputation",
        "Policies about reputation",
        "Passes where sign-ins failed often with this name or from this address. Use it to ask for more.",
    ),
    "/policies/reputation/scores/": RecordName(
        "Reputation score", "Reputation scores", "What is known of a name or an address: it falls with failed sign-ins."
    ),
    "/propertymappings/all/": RecordName(
        "Mapping", "Mappings", "They say what others are told of people and groups, or what is taken over from them."
    ),
    "/propertymappings/ldap/": RecordName(
        "LDAP attribute", "Mappings for LDAP", "One attribute of people or groups, from or to a directory."
    ),
    "/propertymappings/notification/": RecordName(
        "Text of a webhook", "Mappings for webhooks", "What a webhook is sent about an event."
    ),
    "/propertymappings/saml/": RecordName(
        "SAML attribute", "Mappings for SAML", "One attribute that a SAML service is told."
    ),
    "/propertymappings/scim/": RecordName(
        "SCIM record", "Mappings for SCIM", "What is written to a service over SCIM."
    ),
    "/propertymappings/scope/": RecordName(
        "Scope", "Scopes", "What an application is told of people when it asks for this scope."
    ),
    "/propertymappings/source/oauth/": RecordName(
        "From an OAuth source",
        "Mappings from OAuth sources",
        "What is taken over of people who sign in with another service.",
    ),
    "/propertymappings/source/saml/": RecordName(
        "From a SAML source", "Mappings from SAML sources", "What is taken over of people who sign in over SAML."
    ),
    "/providers/all/": RecordName("Provider", "Providers", "Ways in which applications let people in."),
    "/providers/applicationgateway/": RecordName(
        "Gateway",
        "Gateways",
        "Stands in front of a service that has no sign-in of its own, or tells your web server who may pass.",
    ),
    "/providers/oauth/": RecordName("OAuth", "OAuth providers", "For applications that speak OAuth 2."),
    "/providers/openid/": RecordName(
        "OpenID Connect", "OpenID providers", "For applications that speak OpenID Connect. Choose this if you can."
    ),
    "/providers/saml/": RecordName("SAML", "SAML providers", "For applications that speak SAML."),
    "/providers/saml/sessions/": RecordName(
        "SAML session", "SAML sessions", "Somebody who is signed in at a SAML service."
    ),
    "/providers/clients/": RecordName(
        "Registered client",
        "Registered clients",
        "A program that registered itself with a provider. It lets people in while whoever registered it may do so.",
    ),
    "/providers/ldap/": RecordName(
        "LDAP directory", "LDAP providers", "For programs that look people up and sign them in over LDAP."
    ),
    "/providers/radius/": RecordName("RADIUS", "RADIUS providers", "For Wi-Fi, VPN and other network devices."),
    "/providers/scim/": RecordName(
        "SCIM", "SCIM providers", "Writes people and groups into another service, and keeps them current there."
    ),
    "/sources/user_connections/all/": RecordName(
        "Linked account", "Linked accounts", "Somebody’s account elsewhere that belongs to their account here."
    ),
    "/sources/user_connections/ldap/": RecordName(
        "Linked account (LDAP)", "Linked accounts (LDAP)", "Somebody in a directory, and their account here."
    ),
    "/sources/user_connections/oauth/": RecordName(
        "Linked account (OAuth)", "Linked accounts (OAuth)", "An account at another service, and the one here."
    ),
    "/sources/user_connections/saml/": RecordName(
        "Linked account (SAML)", "Linked accounts (SAML)", "An account at an identity provider, and the one here."
    ),
    "/sources/user_connections/scim/": RecordName(
        "Linked account (SCIM)", "Linked accounts (SCIM)", "Somebody whom another service wrote here."
    ),
    "/sources/group_connections/all/": RecordName(
        "Linked group", "Linked groups", "A group elsewhere that belongs to a group here."
    ),
    "/sources/group_connections/ldap/": RecordName(
        "Linked group (LDAP)", "Linked groups (LDAP)", "A group in a directory, and the group here."
    ),
    "/sources/group_connections/oauth/": RecordName(
        "Linked group (OAuth)", "Linked groups (OAuth)", "A group at another service, and the group here."
    ),
    "/sources/group_connections/saml/": RecordName(
        "Linked group (SAML)", "Linked groups (SAML)", "A group at an identity provider, and the group here."
    ),
    "/sources/group_connections/scim/": RecordName(
        "Linked group (SCIM)", "Linked groups (SCIM)", "A group that another service wrote here."
    ),
    "/sources/all/": RecordName("Source", "Sources", "Other places where people have accounts, and come in from."),
    "/sources/ldap/": RecordName(
        "LDAP",
        "LDAP sources",
        "A directory: people and groups are copied from it, and sign in with their passwords there.",
    ),
    "/sources/oauth/": RecordName(
        "OAuth", "OAuth sources", "A service people sign in with, such as another server, Google or GitHub."
    ),
    "/sources/saml/": RecordName("SAML", "SAML sources", "An identity provider people sign in with, over SAML."),
    "/sources/scim/": RecordName("SCIM", "SCIM sources", "A service that writes people and groups here by itself."),
    "/stages/all/": RecordName("Stage", "Stages", "The steps of flows."),
    "/stages/captcha/": RecordName("Captcha", "Captcha stages", "asks for a captcha"),
    "/stages/consent/": RecordName("Consent stage", "Consent stages", "asks for consent"),
    "/stages/deny/": RecordName("Refusal", "Refusing stages", "turns people away"),
    "/stages/dummy/": RecordName("Test page", "Test pages", "shows a page for tests"),
    "/stages/email/": RecordName("Mail with a link", "Mailing stages", "sends a mail with a link"),
    "/stages/identification/": RecordName("Identification", "Identification stages", "asks who it is"),
    "/stages/invitation/": RecordName("Invitation stage", "Invitation stages", "asks for an invitation"),
    "/stages/invitation/invitations/": RecordName(
        "Invitation", "Invitations", "A link with which somebody can sign up."
    ),
    "/stages/otp/": RecordName("One-time codes", "One-time code stages", "asks for a code of an app, or sets one up"),
    "/stages/otp_static/": RecordName("Recovery codes", "Recovery code stages", "makes recovery codes"),
    "/stages/otp_time/": RecordName("Authenticator app", "Authenticator app stages", "sets up codes of an app"),
    "/stages/otp_validate/": RecordName("Second factor", "Second factor stages", "asks for a second factor"),
    "/stages/password/": RecordName("Password stage", "Password stages", "asks for the password"),
    "/stages/prompt/stages/": RecordName("Questions", "Question stages", "asks questions"),
    "/stages/prompt/prompts/": RecordName("Question", "Questions", "One field of a form that people fill in."),
    "/stages/user_delete/": RecordName("Deletion of the account", "Account deletion stages", "deletes the account"),
    "/stages/user_login/": RecordName("Sign-in", "Sign-in stages", "signs in"),
    "/stages/user_logout/": RecordName("Sign-out", "Sign-out stages", "signs out"),
    "/stages/user_write/": RecordName("Saving the account", "Account saving stages", "saves the account"),
    "/stages/webauthn/": RecordName("Passkey", "Passkey stages", "sets up a passkey"),
    "/crypto/certificatekeypairs/": RecordName(
        "Certificate", "Certificates", "A certificate, with or without its key, to sign, check or encrypt with."
    ),
    "/managed/blueprints/": RecordName(
        "Blueprint", "Blueprints", "A file that says how this server is to be, applied whenever it changes."
    ),
    "/events/rules/": RecordName(
        "Notification rule",
        "Notification rules",
        "Says who is told of which events. Bind policies to it: a rule without bindings tells nothing.",
    ),
    "/events/transports/": RecordName(
        "Way of notifying", "Ways of notifying", "How people are told of events: here, by mail or by webhook."
    ),
    "/events/notifications/": RecordName(
        "Notification of an event", "Notifications of events", "Somebody was told of an event."
    ),
}

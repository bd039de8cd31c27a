"""Every model of the social half, in the order in which their records come."""

from __future__ import annotations

from kith.identity.for_configuration import Model
from kith.social.configuration.admission import (
    CanonicalEmailBlockModel,
    DomainAllowModel,
    DomainBlockModel,
    EmailDomainBlockModel,
    IPBlockModel,
)
from kith.social.configuration.community import AnnouncementModel, PageModel, RuleModel, SettingsModel
from kith.social.configuration.emoji import EmojiModel
from kith.social.configuration.team import MailTextModel, MemberRoleModel, RoleModel, WebhookModel

__all__ = ["MODELS"]

MODELS: tuple[Model, ...] = (
    SettingsModel(),
    RuleModel(),
    PageModel(),
    AnnouncementModel(),
    EmojiModel(),
    DomainBlockModel(),
    DomainAllowModel(),
    EmailDomainBlockModel(),
    CanonicalEmailBlockModel(),
    IPBlockModel(),
    RoleModel(),
    MemberRoleModel(),
    WebhookModel(),
    MailTextModel(),
)

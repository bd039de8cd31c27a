"""How much of a document from elsewhere is read. Counts bound what is kept; texts past a limit are cut."""

from __future__ import annotations

DOCUMENT_BYTES = 1024 * 1024
DEPTH = 32
VALUES = 30_000  # the largest that others send have some thousands

URI_LENGTH = 2048  # bytes: PostgreSQL has no index for what is much longer
THREAD_LENGTH = 512  # the name of a conversation, which is no address
NAME_LENGTH = 2048
USERNAME_LENGTH = 512
SUMMARY_BYTES = 20 * 1024
FIELDS = 50
FIELD_LENGTH = 2047
KEYS = 10
ALIASES = 256
ATTRIBUTION_DOMAINS = 256
DOMAIN_LENGTH = 255

ATTACHMENTS = 4
DESCRIPTION_LENGTH = 10_000
MENTIONS = 250
HASHTAGS = 100
HASHTAG_LENGTH = 255
EMOJIS = 250
SHORTCODE_LENGTH = 2048
TAGS = 1000  # looked at; past them nothing is understood
POLL_OPTIONS = 500
OPTION_LENGTH = 2000
OPTIONS_LENGTH = 64_000  # of all of a poll together; where they are longer, each is cut
RECIPIENTS = 1000
APPROVALS = 100
REACTION_LENGTH = 2048

REPORT_LENGTH = 5000
REPORT_OBJECTS = 500
VOTES = POLL_OPTIONS
ITEMS = 1000
LINKS = 100
SOFTWARE_LENGTH = 255
HOST_META_BYTES = 64 * 1024
CIPHER_TEXT_LENGTH = 64 * 1024

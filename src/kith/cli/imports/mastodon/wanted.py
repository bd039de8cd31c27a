"""What is read of a Mastodon server: tables and columns of releases 4.2 to 4.5, as far as each has them."""

from __future__ import annotations

__all__ = ["NEEDED", "WANTED"]

_PAIR = "id account_id target_account_id created_at"

WANTED: dict[str, tuple[str, ...]] = {
    table: tuple(columns.split())
    for table, columns in {
        "accounts": (
            "id username domain private_key public_key created_at note display_name uri url avatar_file_name"
            " avatar_remote_url locked header_file_name header_remote_url inbox_url outbox_url shared_inbox_url"
            " followers_url following_url memorial moved_to_account_id featured_collection_url fields actor_type"
            " discoverable also_known_as silenced_at suspended_at hide_collections sensitized_at indexable"
            " attribution_domains id_scheme"
        ),
        "account_stats": "id account_id statuses_count following_count followers_count last_status_at",
        "users": (
            "id email created_at encrypted_password confirmed_at locale otp_required_for_login consumed_timestep"
            " otp_backup_codes account_id disabled chosen_languages approved sign_up_ip role_id settings"
            " encrypted_otp_secret encrypted_otp_secret_iv encrypted_otp_secret_salt otp_secret current_sign_in_at"
        ),
        "user_roles": "id name color position permissions highlighted created_at",
        "user_invite_requests": "id user_id text",
        "webauthn_credentials": "id external_id public_key nickname sign_count user_id created_at",
        "statuses": (
            "id uri text created_at in_reply_to_id reblog_of_id url sensitive visibility spoiler_text reply language"
            " conversation_id local account_id application_id in_reply_to_account_id poll_id deleted_at edited_at"
            " ordered_media_attachment_ids quote_approval_policy"
        ),
        "status_stats": "id status_id replies_count reblogs_count favourites_count quotes_count",
        "status_edits": (
            "id status_id text spoiler_text created_at ordered_media_attachment_ids media_descriptions poll_options"
            " sensitive"
        ),
        "quotes": "id status_id quoted_status_id state approval_uri",
        "conversations": "id uri",
        "polls": "id account_id status_id expires_at options cached_tallies multiple hide_totals voters_count",
        "poll_votes": "id account_id poll_id choice created_at",
        "media_attachments": (
            "id status_id file_file_name file_content_type remote_url created_at type file_meta account_id description"
            " blurhash thumbnail_file_name thumbnail_remote_url processing scheduled_status_id"
        ),
        "mentions": "id status_id account_id silent",
        "tags": "id name display_name usable trendable listable last_status_at created_at reviewed_at",
        "statuses_tags": "status_id tag_id",
        "tag_follows": "id tag_id account_id created_at",
        "featured_tags": "id account_id tag_id statuses_count last_status_at created_at name",
        "favourites": "id account_id status_id created_at",
        "bookmarks": "id account_id status_id created_at",
        "status_pins": "id account_id status_id created_at",
        "follows": f"{_PAIR} show_reblogs uri notify languages",
        "follow_requests": f"{_PAIR} show_reblogs uri notify languages",
        "blocks": f"{_PAIR} uri",
        "mutes": f"{_PAIR} hide_notifications expires_at",
        "account_pins": _PAIR,
        "account_notes": f"{_PAIR} comment",
        "account_domain_blocks": "id domain created_at account_id",
        "conversation_mutes": "id conversation_id account_id",
        "account_conversations": (
            "id account_id conversation_id participant_account_ids status_ids last_status_id unread"
        ),
        "lists": "id account_id title created_at replies_policy exclusive",
        "list_accounts": "id list_id account_id",
        "custom_filters": "id account_id expires_at phrase context action",
        "custom_filter_keywords": "id custom_filter_id keyword whole_word",
        "custom_filter_statuses": "id custom_filter_id status_id",
        "markers": "id user_id timeline last_read_id lock_version updated_at",
        "notification_policies": (
            "id account_id for_not_following for_not_followers for_new_accounts for_private_mentions"
            " for_limited_accounts"
        ),
        "custom_emojis": (
            "id shortcode domain image_file_name disabled uri image_remote_url visible_in_picker category_id updated_at"
        ),
        "custom_emoji_categories": "id name",
        "domain_blocks": (
            "id domain created_at severity reject_media reject_reports private_comment public_comment obfuscate"
        ),
        "domain_allows": "id domain created_at",
        "email_domain_blocks": "id domain created_at allow_with_approval",
        "ip_blocks": "id ip severity expires_at comment created_at",
        "canonical_email_blocks": "id canonical_email_hash created_at",
        "reports": (
            "id status_ids comment created_at updated_at account_id action_taken_by_account_id target_account_id"
            " assigned_account_id forwarded category action_taken_at rule_ids"
        ),
        "report_notes": "id content report_id account_id created_at",
        "account_warnings": (
            "id account_id target_account_id action text created_at report_id status_ids overruled_at"
        ),
        "account_warning_presets": "id text title created_at",
        "rules": "id priority deleted_at text hint",
        "announcements": (
            "id text published all_day scheduled_at starts_at ends_at created_at updated_at published_at"
        ),
        "settings": "id var value",
        "oauth_applications": "id name uid secret redirect_uri scopes created_at superapp website confidential",
        "oauth_access_tokens": (
            "id token expires_in revoked_at created_at scopes application_id resource_owner_id last_used_at"
        ),
        "scheduled_statuses": "id account_id scheduled_at params",
        "relays": "id inbox_url follow_activity_id created_at state",
    }.items()
}
# Without these it is no Mastodon server.
NEEDED = frozenset({"accounts", "users", "statuses", "follows", "oauth_applications", "oauth_access_tokens"})

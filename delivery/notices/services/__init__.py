"""Writes of this app: inbox and preferences, channels, announcements of events."""

from delivery.notices.services.announcements import announce
from delivery.notices.services.channels import (
    create_channel,
    replay,
    rotate_secret,
    send_again,
    send_test_message,
    switch_channel,
    update_channel,
)
from delivery.notices.services.inbox import (
    mark_all_read,
    mark_read,
    set_mail_setting,
    set_preferences,
)

__all__ = ["announce", "create_channel", "mark_all_read", "mark_read", "replay",
           "rotate_secret", "send_again", "send_test_message", "set_mail_setting",
           "set_preferences", "switch_channel", "update_channel"]

"""Tables of events, notices, preferences, channels and dispatches."""

from delivery.notices.models.channel import Channel, SendAttempt
from delivery.notices.models.dispatch import Dispatch
from delivery.notices.models.event import Event, Notice
from delivery.notices.models.preference import MailSetting, Pace, Preference

__all__ = ["Channel", "Dispatch", "Event", "MailSetting", "Notice", "Pace",
           "Preference", "SendAttempt"]

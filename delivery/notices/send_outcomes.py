"""How a message fared, and the sentences for it."""

from dataclasses import dataclass
from datetime import timedelta

from django.utils.translation import gettext_lazy as _

from engagements.text.text_joining import following

REASONS = {
    "refused": _("The address is not allowed; check DESK_NOTICE_HOSTS and DESK_NOTICE_NETWORKS."),
    "unresolved": _("The host's name cannot be resolved."),
    "unreachable": _("The host does not answer or closed the connection."),
    "timeout": _("The host did not answer in time."),
    "tls": _("The host's certificate could not be verified."),
    "too_large": _("The answer is larger than allowed."),
    "http": _("The host answered with an HTTP error."),
    "rejected": _("The robot rejected the message; look its code up in the robot's manual."),
    "signature": _("The robot does not accept the signature; check the signing secret."),
    "security": _("The robot's security settings refused the message; check its signing secret, "
                  "keywords and list of addresses."),
    "unreadable": _("The answer is not what this kind of robot sends."),
    "mail": _("The mail server did not accept the message."),
    "rate": _("The channel's rate is used up; try again in a minute."),
}


@dataclass(frozen=True)
class Outcome:
    """The fate of one message. `code` is what the other side said, for engineers."""

    is_ok: bool
    reason: str = ""
    code: str = ""
    http_status: int | None = None
    is_permanent: bool = False
    pause: timedelta = timedelta(0)  # no new attempt sooner than this

    @property
    def error(self) -> str:
        """As stored: the reason's code and the other side's."""
        return "" if self.is_ok else f"{self.reason} {self.code}".strip()


def sentence(error: str) -> str:
    """A stored error in the active language, with the other side's code."""
    reason, _space, code = error.partition(" ")
    text = str(REASONS.get(reason, reason))
    return following(text, code and _("Its code: %(code)s.") % {"code": code})

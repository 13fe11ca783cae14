"""Puts new keys in the place of old ones."""

from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from delivery.operation import key_rotation
from engagements.errors import DeskError
from engagements.management.translated import TranslatedCommand
from engagements.text.text_joining import following


def by_setting(variable: str, old: str) -> CommandError:
    return CommandError(_("%(variable)s is set in the environment: put the new key there and the "
                          "old one into %(old)s, then run this command again.") % {
        "variable": variable, "old": old})


class Command(TranslatedCommand):
    help = "New keys: of sessions (secret), of node credentials, of the audit log."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("which", choices=["secret", "credentials", "audit"])

    def handle(self, *args, which: str, **options):
        try:
            key_rotation.require_standstill()
            getattr(self, f"_{which}")()
        except DeskError as error:
            raise CommandError(error.message) from error

    def _secret(self) -> None:
        """Credentials may hang on the secret key: they are written under the new one first."""
        old = settings.SECRET_KEY
        if not settings.SECRET_KEY_FALLBACKS:
            saved = key_rotation.new_secret_key()
            if saved is None:
                raise by_setting("DESK_SECRET_KEY", "DESK_SECRET_KEY_FALLBACKS")
            settings.SECRET_KEY = (saved.parent / "secret-key").read_text().strip()
            settings.SECRET_KEY_FALLBACKS = [old]
            self.stdout.write(_("The old key is in %(path)s.") % {"path": saved})
        count = key_rotation.encrypt_credentials_anew()
        self.stdout.write(ngettext(
            "%(n)d credential is encrypted anew. Links and sessions of the old key end.",
            "%(n)d credentials are encrypted anew. Links and sessions of the old key end.",
            count) % {"n": count})

    def _credentials(self) -> None:
        if not settings.CREDENTIAL_KEYS:
            raise CommandError("\n".join((
                _("Put this key into DESK_CREDENTIAL_KEYS and run the command again (then keep it "
                  "as you keep the secret key):"), key_rotation.new_credential_key())))
        count = key_rotation.encrypt_credentials_anew()
        self.stdout.write(ngettext(
            "%(n)d credential is encrypted with the first key of DESK_CREDENTIAL_KEYS; the others "
            "may be removed.",
            "%(n)d credentials are encrypted with the first key of DESK_CREDENTIAL_KEYS; the "
            "others may be removed.", count) % {"n": count})

    def _audit(self) -> None:
        old, saved = settings.AUDIT_KEY_OLD, None
        if not old:
            old, saved = settings.AUDIT_KEY, key_rotation.new_audit_key()
            if saved is None:
                raise by_setting("DESK_AUDIT_KEY", "DESK_AUDIT_KEY_OLD")
            settings.AUDIT_KEY = (saved.parent / "audit-key").read_text().strip()
        try:
            count = key_rotation.seal_audit_log_anew(actor=None, old_key=old)
        except DeskError:
            if saved:
                Path(saved).replace(saved.parent / "audit-key")
            raise
        self.stdout.write(following(
            ngettext("%(n)d entry is sealed anew.", "%(n)d entries are sealed anew.", count) % {
                "n": count},
            saved and _("The old key is in %(path)s.") % {"path": saved}))

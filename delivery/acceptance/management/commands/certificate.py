"""Says which certificate seals documents; makes the practice certificate where none is set."""

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from delivery.acceptance.seals.certificate import facts_of, load_signer
from engagements.errors import DeskError


class Command(BaseCommand):
    help = "Prints the certificate that documents are sealed with; makes a practice one if need be."
    requires_migrations_checks = False

    def handle(self, *args, **options):
        try:
            facts = facts_of(load_signer().signing_cert)
        except DeskError as error:
            raise CommandError(error.message) from error
        self.stdout.write(facts.subject)
        self.stdout.write(_("valid until %(day)s, SHA-256 %(print)s") % {
            "day": facts.valid_until, "print": facts.fingerprint})
        if facts.is_practice:
            self.stdout.write(_("Practice certificate: seals have no legal effect. Set "
                                "DESK_SIGNING_KEY for the firm's own."))

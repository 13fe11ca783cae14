"""Says which certificate seals documents; makes the practice certificate where none is set."""

from pathlib import Path

from asn1crypto import pem
from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from bundle_verifier.signatures.certificates import facts_of
from delivery.acceptance.signing.seals import trial
from delivery.acceptance.signing.seals.certificate import load_signer
from engagements.errors import DeskError


class Command(BaseCommand):
    help = "Prints the certificate that documents are sealed with; makes a practice one if need be."
    requires_migrations_checks = False

    def add_arguments(self, parser):
        parser.add_argument("--try", action="store_true", dest="is_trial",
                            help="seal an empty page as a document would be; says what was reached")

        parser.add_argument("--out", type=Path, metavar="FILE.pem",
                            help="write the certificate for customers: what `verify "
                                 "--certificate` compares a bundle's signature with")

    def handle(self, *args, is_trial: bool, out: Path | None, **options):
        try:
            certificate = load_signer().signing_cert
            self._tell(facts_of(certificate))
            if out:
                out.write_bytes(pem.armor("CERTIFICATE", certificate.dump()))
            if is_trial:
                self.stdout.write(trial.reached(trial.seal_empty_page()))
        except DeskError as error:
            raise CommandError(error.message) from error
        except OSError as error:
            raise CommandError(_("A file cannot be read or written: %(cause)s") % {
                "cause": error}) from error

    def _tell(self, facts) -> None:
        self.stdout.write(facts.subject)
        self.stdout.write(_("valid until %(day)s, SHA-256 %(print)s") % {
            "day": facts.valid_until, "print": facts.fingerprint})
        if facts.is_practice:
            self.stdout.write(_("Practice certificate: seals have no legal effect. Set "
                                "DESK_SIGNING_KEY for the firm's own."))

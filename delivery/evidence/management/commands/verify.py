"""Checks signature, checksums, verdicts and seals of a bundle, offline; or the audit log."""

from collections.abc import Iterable
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from bundle_verifier.bundle_verification import verify_bundle
from bundle_verifier.check_steps import CheckStep
from bundle_verifier.manifest_signature import load_trust, named_signer
from bundle_verifier.named_files import UnreadableFile
from bundle_verifier.verification_report import (
    conclusion,
    status_text,
    write_report,
)
from delivery.evidence.verification.stored_bundles import recorded_signer
from engagements.management.translated import TranslatedCommand

OPEN = 3  # exit status of a bundle in which nothing is wrong, but not all could be checked


class Command(TranslatedCommand):
    help = ("Checks an evidence bundle from its raw files; needs no network. The database says who "
            "signed it, unless --certificate does. "
            "With --audit checks this installation's audit log, and bundles against it.")
    requires_system_checks = ()
    requires_migrations_checks = False

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("bundle", type=Path, nargs="*")
        parser.add_argument("--raw", type=Path,
                            help="folder with raw files that the bundle holds back")
        parser.add_argument("--trust", action="append", default=[], metavar="FILE",
                            help="certificate (PEM or DER) that signature and seals must lead to")
        parser.add_argument("--certificate", action="append", default=[], metavar="FILE",
                            help="the firm's certificate (PEM or DER), which must have signed the "
                                 "bundle; otherwise the one this installation recorded")
        parser.add_argument("--crl", action="append", default=[], metavar="FILE",
                            help="revocation list (PEM or DER) of who issued the certificate; "
                                 "beside those of DESK_SIGNING_CRLS")
        parser.add_argument("--ocsp", action="append", default=[], metavar="FILE",
                            help="OCSP answer (DER) on the certificate")
        parser.add_argument("--audit", action="store_true",
                            help="check the hash-chained audit log of the database, and that "
                                 "the rows are what it says")
        parser.add_argument("--resume", action="store_true",
                            help="with --audit: begin behind the entry that was reached last time; "
                                 "what was changed before it is not noticed")
        parser.add_argument("--archive", type=Path, metavar="DIR",
                            help="with --audit: folder with copies of the log's archives, read "
                                 "instead of those in the artifact store")
        parser.add_argument("--head", action="append", default=[], metavar="NUMBER:HASH",
                            help="with --audit: an entry as an auditor's mail or a webhook named "
                                 "it, which the log has to hold")
        parser.add_argument("--files", action="store_true",
                            help="with --audit: read every stored file, too")
        parser.add_argument("--report", type=Path, metavar="FILE.html",
                            help="write what was found in the bundles as a page to print")

    def handle(self, *args, bundle: list[Path], audit: bool, **options):
        if not (bundle or audit):
            raise CommandError(_("Name a bundle, or --audit."))
        for path in bundle:
            if not path.is_file():
                raise CommandError(_("There is no file %(path)s.") % {"path": path})
        if audit:
            self._audit(bundle, options)
        else:
            results = [(path, self._bundle(path, **options)) for path in bundle]
            if options["report"]:
                write_report(options["report"], results, get_language())
            # A failed one first: the exit status of one that is open must not hide it.
            for steps in sorted((steps for _path, steps in results),
                                key=lambda steps: all(step.is_good for step in steps)):
                self._conclude(steps)

    def _bundle(self, path: Path, raw: Path | None, trust: list[str], certificate: list[str],
                crl: list[str], ocsp: list[str], **_options) -> list[CheckStep]:
        try:
            roots, sources = load_trust(trust, [*settings.SIGNING_CRLS, *crl], ocsp)
            signer = named_signer(certificate) if certificate else recorded_signer(path)
        except UnreadableFile as error:
            raise CommandError(str(error)) from error
        return self._print_steps(verify_bundle(path, raw=raw, roots=roots, signer=signer,
                                              sources=sources))

    def _conclude(self, steps: list[CheckStep]) -> None:
        failed = sum(not step.is_good for step in steps)
        if failed:
            raise CommandError(ngettext("The bundle is NOT good: %(n)d step failed.",
                                        "The bundle is NOT good: %(n)d steps failed.", failed)
                               % {"n": failed})
        if any(step.is_open for step in steps):
            raise CommandError(conclusion(steps), returncode=OPEN)
        self.stdout.write(_("The bundle is good."))

    def _audit(self, bundles: list[Path], options: dict) -> None:
        from delivery.evidence.verification.audit_verification import verify_audit_log

        told = [text.partition(":") for text in options["head"]]
        if wrong := [number for number, _colon, _hash in told if not number.isdecimal()]:
            raise CommandError(_("--head takes NUMBER:HASH, not %(text)s.") % {"text": wrong[0]})
        steps = self._print_steps(verify_audit_log(
            bundles, goes_on=options["resume"], folder=options["archive"],
            heads=[(int(number), digest) for number, _colon, digest in told],
            reads_files=options["files"], progress=self._tell_progress))
        failed = sum(not step.is_good for step in steps)
        if failed:
            raise CommandError(_("The audit log was changed; findings: %(n)d.") % {"n": failed})
        self.stdout.write(
            _("The audit log is unbroken; what is open is named above.")
            if any(step.is_open for step in steps) else _("The audit log is unbroken."))

    def _tell_progress(self, number: int, last: int) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"\r{number:,} / {last:,}", ending="\n" if number == last else "")

    def _print_steps(self, steps: Iterable[CheckStep]) -> list[CheckStep]:
        """Print the steps as they come."""
        results = []
        for step in steps:
            results.append(step)
            self.stdout.write(f"{status_text(step)}  {step.text}")
        return results

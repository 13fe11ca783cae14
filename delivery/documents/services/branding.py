"""Document branding: each change is a new version; issued documents keep theirs."""

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from delivery.documents.branding.logos import checked_logo
from delivery.documents.branding.theme import LINE_CONTRAST, checked_colour, current
from delivery.documents.models import BrandingVersion
from engagements.access import require_administrator
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import Customer, User

TEXTS = ("header_zh", "header_en", "confidentiality_zh", "confidentiality_en")
LOGOS = ("logo", "partner_logo")


@transaction.atomic
def save_branding(*, actor: User, customer: Customer | None, **fields) -> BrandingVersion:
    """The next version of document branding, of the firm (None) or for a customer.

    Args:
        fields: of `BrandingVersion`; texts and colours that are not named become empty. `logo` and
            `partner_logo` are bytes of an uploaded file; None keeps the present one, b"" removes
            it.

    Drafts written or refreshed from now on take it; nothing that was submitted changes. Raises
    InvalidInput for a pale colour or a logo that is not a harmless picture.
    """
    require_administrator(actor)
    if customer:  # one at a time: versions have no gaps
        Customer.objects.select_for_update(of=("self",), no_key=True).get(pk=customer.pk)
    else:
        BrandingVersion.objects.select_for_update(of=("self",),
                                                  no_key=True).filter(customer=None).first()
    made = proposed(customer, **fields)
    last = BrandingVersion.objects.filter(customer=customer).aggregate(n=Max("version"))["n"]
    made.version, made.made_by = (last or 0) + 1, actor
    made.save()
    audit_log.record(actor=actor, action="identity.save", target=made, data={
        "customer": customer.pk if customer else None, "version": made.version,
        **{name: getattr(made, name) for name in ("colour", "accent", "cover", "seal_mm", *TEXTS)},
        **{name: bool(getattr(made, name)) for name in LOGOS}})
    return made


def proposed(customer: Customer | None, **fields) -> BrandingVersion:
    """The same version, checked but not stored: for the preview."""
    made = BrandingVersion(customer=customer, **_words(fields), **_looks(fields))
    before = current(customer)
    for name in LOGOS:
        upload, former = fields.get(name), getattr(before, name, None)
        setattr(made, name, former if upload is None else checked_logo(upload) if upload else None)
    if made.partner_logo and not customer:
        raise InvalidInput(_("The firm's documents have no second logo; set it for a customer."))
    _require_pairs(made)
    return made


def _looks(fields: dict) -> dict:
    named = BrandingVersion._meta.get_field
    return {
        "colour": checked_colour(fields.get("colour") or "", named("colour").verbose_name),
        "accent": checked_colour(fields.get("accent") or "", named("accent").verbose_name,
                                 LINE_CONTRAST),
        "cover": _choice(fields.get("cover") or ""), "seal_mm": _seal(fields.get("seal_mm"))}


def _choice(cover: str) -> str:
    if cover and cover not in BrandingVersion.Cover.values:
        raise InvalidInput(_("There is no cover “%(cover)s”.") % {"cover": cover[:20]})
    return cover


def _seal(value: int | None) -> int | None:
    if value in (None, ""):
        return None
    try:
        return BrandingVersion._meta.get_field("seal_mm").clean(value, None)
    except ValidationError as error:
        raise InvalidInput(_("The seal area measures 30 to 60 mm.")) from error


def _words(fields: dict) -> dict:
    found = {name: " ".join((fields.get(name) or "").split()) for name in TEXTS}
    for name, value in found.items():
        field = BrandingVersion._meta.get_field(name)
        if len(value) > field.max_length:
            raise InvalidInput(_("“%(title)s” has %(n)s characters; the limit is %(limit)s.") % {
                "title": field.verbose_name, "n": len(value), "limit": field.max_length})
    return found


def _require_pairs(made: BrandingVersion) -> None:
    for name in ("header", "confidentiality"):
        if getattr(made, f"{name}_en") and not getattr(made, f"{name}_zh"):
            raise InvalidInput(_("Enter the Chinese text as well; it prevails."))

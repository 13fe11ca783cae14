from django import template

from delivery.acceptance import document_verification

register = template.Library()


@register.simple_tag
def verification_code(number: str, content_hash: str, portal_url: str = "") -> str:
    """The QR code that leads to the verification page; empty for a draft."""
    return document_verification.verification_code(number, content_hash,
                                                   portal_url) if number else ""


@register.simple_tag
def verification_url(number: str, content_hash: str) -> str:
    """The URL encoded in the QR code."""
    return document_verification.verification_url(number, content_hash) if number else ""

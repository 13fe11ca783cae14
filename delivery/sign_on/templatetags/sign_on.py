from django import template

from delivery.sign_on.settings import LDAP_URL, LOCAL_LOGIN

register = template.Library()


@register.simple_tag
def takes_passwords() -> bool:
    """Whether anybody signs in by a form here: with a password of the desk's or the directory's."""
    return LOCAL_LOGIN or bool(LDAP_URL)

"""Settings of single sign-on (django-allauth), LDAP and second factors."""

import ssl
from importlib.util import find_spec
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_noop as _

from delivery.environment import setting

OIDC_ISSUER = setting("DESK_OIDC_ISSUER", "", _(
    "Issuer of OpenID Connect (Keycloak, Entra ID, Authing, …) whose accounts may sign in."))
OIDC_CLIENT = setting("DESK_OIDC_CLIENT_ID", "", _(
    "ID under which the desk is registered there."))
OIDC_SECRET = setting("DESK_OIDC_CLIENT_SECRET", "", _("Secret of that registration."))
OIDC_NAME = setting("DESK_OIDC_NAME", "Single sign-on", _(
    "What the button of the sign-in page says."))
OIDC_SCOPE = setting("DESK_OIDC_SCOPE", ["openid", "profile", "email"], _(
    "Scopes that are asked for."))
GROUPS_CLAIM = setting("DESK_GROUPS_CLAIM", "groups", _(
    "Claim in which the issuer names a person's groups."))
# [(group, role)], the first that fits counts; "*" is everybody.
GROUP_ROLES = [tuple(pair.rsplit("=", 1)) for pair in setting("DESK_GROUP_ROLES", [], _(
    "Which role people of a group of the company get at each sign-in: `group=role`, the first that "
    "fits counts; `*` is everybody. Who gets none is refused."))]
PLATFORMS = {  # work platforms whose accounts may sign in: client id and secret of an app there
    "dingtalk": (
        setting("DESK_DINGTALK_CLIENT_ID", "", _(
            "ID of an app of DingTalk, whose accounts may then sign in.")),
        setting("DESK_DINGTALK_CLIENT_SECRET", "", _("Secret of that app."))),
    "feishu": (
        setting("DESK_FEISHU_CLIENT_ID", "", _(
            "ID of an app of Feishu, whose accounts may then sign in.")),
        setting("DESK_FEISHU_CLIENT_SECRET", "", _("Secret of that app.")))}
LOCAL_LOGIN = setting("DESK_LOCAL_LOGIN", True, _(
    "Whether people may sign in with a password of the desk's own."))
SECOND_FACTOR_ROLES = setting("DESK_SECOND_FACTOR_ROLES", [], _(
    "Roles that have to use a second factor: administrator, manager, consultant, sales, operator, "
    "reviewer, auditor."))
HAS_SECOND_FACTOR = setting("DESK_SECOND_FACTOR", bool(SECOND_FACTOR_ROLES), _(
    "Whether people may add an authenticator app or a passkey to their password."),
    shown=_("true where a role has to, else false"))

LDAP_URL = setting("DESK_LDAP_URL", "", _(
    "Address of an LDAP directory or Active Directory whose passwords people sign in with: "
    "`ldaps://host` or `ldap://host`.")).rstrip("/")
# A file with the certificates that the directory's chain ends at, in place of the system's.
LDAP_CA = setting("DESK_LDAP_CA", "", _(
    "File with the certificates (PEM) that the directory's certificate has to lead to, in place of "
    "the system's."))
LDAP_HAS_STARTTLS = setting("DESK_LDAP_STARTTLS", True, _(
    "Whether an `ldap://` directory is asked for encryption (StartTLS) first; `false` sends "
    "passwords in the clear.")) and LDAP_URL.startswith("ldap://")
LDAP_BASE = setting("DESK_LDAP_BASE", "", _(
    "Where in the directory people are looked for."))
LDAP_USER_ATTRIBUTE = setting("DESK_LDAP_USER_ATTRIBUTE", "uid", _(
    "Attribute that holds the sign-in name; `sAMAccountName` in Active Directory."))
LDAP_BIND_NAME = setting("DESK_LDAP_BIND_NAME", "", _(
    "Account (full DN) with which the desk searches the directory; without one, that of the person "
    "who signs in."))
LDAP_BIND_PASSWORD = setting("DESK_LDAP_BIND_PASSWORD", "", _(
    "Password of that account."))
LDAP_GROUPS_ATTRIBUTE = setting("DESK_LDAP_GROUPS_ATTRIBUTE", "memberOf", _(
    "Attribute that names a person's groups."))
LDAP_DOMAIN = setting("DESK_LDAP_AD_DOMAIN", "", _(
    "Domain of an Active Directory, which people's names are completed with."))

USED_PLATFORMS = [name for name, (client, _secret) in PLATFORMS.items() if client]
HAS_PROVIDER = bool(OIDC_ISSUER or USED_PLATFORMS)
IS_ON = HAS_PROVIDER or HAS_SECOND_FACTOR
ROLES = {"administrator", "manager", "consultant", "sales", "operator", "reviewer", "auditor"}

if unknown := [pair for pair in GROUP_ROLES if len(pair) != 2 or pair[1] not in ROLES]:
    raise ImproperlyConfigured(
        f"DESK_GROUP_ROLES: {'='.join(unknown[0])} is not GROUP=ROLE; roles are "
        f"{', '.join(sorted(ROLES))}.")
if LDAP_URL and not LDAP_URL.startswith(("ldap://", "ldaps://")):
    raise ImproperlyConfigured("DESK_LDAP_URL begins with ldaps:// or ldap://.")
if LDAP_CA:
    try:
        ssl.create_default_context(cafile=LDAP_CA)
    except OSError as error:
        raise ImproperlyConfigured(
            f"DESK_LDAP_CA: {LDAP_CA} is no file with certificates in PEM ({error}).") from error
if not LOCAL_LOGIN and not HAS_PROVIDER and not LDAP_URL:
    raise ImproperlyConfigured("DESK_LOCAL_LOGIN is off, but no other way to sign in is set.")

for package, is_needed in (("allauth", IS_ON), ("ldap3", LDAP_URL)):
    if is_needed and not find_spec(package):
        raise ImproperlyConfigured("Single sign-on, LDAP and second factors need packages: "
                                   "pip install -r requirements-sign-on.txt")

APPS = ["allauth", "allauth.account", "allauth.socialaccount",
        "allauth.socialaccount.providers.openid_connect",
        *(f"allauth.socialaccount.providers.{name}" for name in USED_PLATFORMS),
        "allauth.mfa", "django.contrib.humanize", "delivery.sign_on"]
MIDDLEWARE = ["allauth.account.middleware.AccountMiddleware",
              "delivery.sign_on.second_factor.SecondFactorMiddleware"]
LOCAL_BACKEND = "django.contrib.auth.backends.ModelBackend"


def backends(own: list[str]) -> list[str]:
    """Django's list of ways to sign in, with those of the settings; no passwords of the desk's own
    where local log-in is off."""
    local = [name for name in own if LOCAL_LOGIN or name != LOCAL_BACKEND]
    ldap = ["delivery.sign_on.ldap_backend.LdapBackend"] if LDAP_URL else []
    provider = ["delivery.sign_on.backends.ProviderBackend"] if IS_ON else []
    return [*local, *ldap, *provider]


def library_settings(*, is_insecure_origin_allowed: bool) -> dict[str, Any]:
    """What django-allauth reads."""
    if not IS_ON:
        return {}
    apps = {name: {"APPS": [{"client_id": client, "secret": secret}]}
            for name, (client, secret) in PLATFORMS.items() if client}
    if OIDC_ISSUER:
        apps["openid_connect"] = {"OAUTH_PKCE_ENABLED": True, "SCOPE": OIDC_SCOPE, "APPS": [{
            "provider_id": "company", "name": OIDC_NAME, "client_id": OIDC_CLIENT,
            "secret": OIDC_SECRET, "settings": {"server_url": OIDC_ISSUER}}]}
    return {
        "ACCOUNT_ADAPTER": "delivery.sign_on.adapters.AccountAdapter",
        "ACCOUNT_LOGIN_METHODS": {"username"},
        "ACCOUNT_SIGNUP_FIELDS": ["username*", "password1*"],
        "ACCOUNT_EMAIL_VERIFICATION": "none",
        "ACCOUNT_LOGOUT_REDIRECT_URL": "login",
        "ACCOUNT_SESSION_REMEMBER": False,
        "ACCOUNT_EMAIL_NOTIFICATIONS": False,
        "SOCIALACCOUNT_ADAPTER": "delivery.sign_on.adapters.ProviderAdapter",
        "SOCIALACCOUNT_PROVIDERS": apps,
        "SOCIALACCOUNT_AUTO_SIGNUP": True,
        # A link: the content security policy lets no form lead to another host.
        "SOCIALACCOUNT_LOGIN_ON_GET": True,
        "SOCIALACCOUNT_STORE_TOKENS": False,
        "SOCIALACCOUNT_QUERY_EMAIL": True,
        "MFA_ADAPTER": "delivery.sign_on.adapters.SecondFactorAdapter",
        "MFA_SUPPORTED_TYPES": ["totp", "webauthn", "recovery_codes"],
        "MFA_PASSKEY_LOGIN_ENABLED": HAS_SECOND_FACTOR,
        "MFA_TOTP_ISSUER": "Delivery Desk",
        "MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN": is_insecure_origin_allowed,
    }

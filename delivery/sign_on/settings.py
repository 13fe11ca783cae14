"""Settings of single sign-on (django-allauth), LDAP and second factors."""

import ssl
from importlib.util import find_spec
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from delivery.environment import env, read

OIDC_ISSUER = read(env.str, "DESK_OIDC_ISSUER", "")
OIDC_CLIENT = read(env.str, "DESK_OIDC_CLIENT_ID", "")
OIDC_SECRET = read(env.str, "DESK_OIDC_CLIENT_SECRET", "")
OIDC_NAME = read(env.str, "DESK_OIDC_NAME", "Single sign-on")
OIDC_SCOPE = read(env.list, "DESK_OIDC_SCOPE", ["openid", "profile", "email"])
GROUPS_CLAIM = read(env.str, "DESK_GROUPS_CLAIM", "groups")
# [(group, role)], the first that fits counts; "*" is everybody.
GROUP_ROLES = [tuple(pair.rsplit("=", 1)) for pair in read(env.list, "DESK_GROUP_ROLES", [])]
PLATFORMS = {  # work platforms whose accounts may sign in: client id and secret of an app there
    name: (read(env.str, f"DESK_{name.upper()}_CLIENT_ID", ""),
           read(env.str, f"DESK_{name.upper()}_CLIENT_SECRET", ""))
    for name in ("dingtalk", "feishu")}
LOCAL_LOGIN = read(env.bool, "DESK_LOCAL_LOGIN", True)
SECOND_FACTOR_ROLES = read(env.list, "DESK_SECOND_FACTOR_ROLES", [])
HAS_SECOND_FACTOR = read(env.bool, "DESK_SECOND_FACTOR", bool(SECOND_FACTOR_ROLES))
IS_INSECURE_ORIGIN_ALLOWED = read(env.bool, "DESK_DEBUG", False)

LDAP_URL = read(env.str, "DESK_LDAP_URL", "").rstrip("/")
# A file with the certificates that the directory's chain ends at, in place of the system's.
LDAP_CA = read(env.str, "DESK_LDAP_CA", "")
LDAP_HAS_STARTTLS = LDAP_URL.startswith("ldap://") and read(env.bool, "DESK_LDAP_STARTTLS", True)
LDAP_BASE = read(env.str, "DESK_LDAP_BASE", "")
LDAP_USER_ATTRIBUTE = read(env.str, "DESK_LDAP_USER_ATTRIBUTE", "uid")
LDAP_BIND_NAME = read(env.str, "DESK_LDAP_BIND_NAME", "")
LDAP_BIND_PASSWORD = read(env.str, "DESK_LDAP_BIND_PASSWORD", "")
LDAP_GROUPS_ATTRIBUTE = read(env.str, "DESK_LDAP_GROUPS_ATTRIBUTE", "memberOf")
LDAP_DOMAIN = read(env.str, "DESK_LDAP_AD_DOMAIN", "")

USED_PLATFORMS = [name for name, (client, _secret) in PLATFORMS.items() if client]
HAS_PROVIDER = bool(OIDC_ISSUER or USED_PLATFORMS)
IS_ON = HAS_PROVIDER or HAS_SECOND_FACTOR
ROLES = {"administrator", "manager", "consultant", "sales", "operator", "reviewer"}

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
    kept = [name for name in own if LOCAL_LOGIN or name != LOCAL_BACKEND]
    ldap = ["delivery.sign_on.ldap_backend.LdapBackend"] if LDAP_URL else []
    provider = ["delivery.sign_on.backends.ProviderBackend"] if IS_ON else []
    return [*kept, *ldap, *provider]


def library_settings() -> dict[str, Any]:
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
        "MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN": IS_INSECURE_ORIGIN_ALLOWED,
    }

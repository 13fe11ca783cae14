"""What Celery is told about TLS to Redis."""

import ssl


def broker_tls(url: str) -> dict | bool:
    """Celery's `broker_use_ssl`: its connections verify nothing unless told, unlike those of the
    cache. What the address says itself (`?ssl_ca_certs=…`) is used in its place."""
    return {"ssl_cert_reqs": ssl.CERT_REQUIRED} if url.startswith("rediss://") else False

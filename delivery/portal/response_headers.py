"""Headers that every answer carries beside those of Django and of the content security policy."""

from django.http import HttpRequest, HttpResponse

# Nothing of the portal uses them; whoever slips a script in cannot either.
PERMISSIONS_POLICY = ", ".join(f"{feature}=()" for feature in (
    "accelerometer", "bluetooth", "camera", "display-capture", "geolocation", "gyroscope", "hid",
    "magnetometer", "microphone", "midi", "payment", "serial", "usb", "xr-spatial-tracking"))


class ResponseHeadersMiddleware:
    """Permissions-Policy on every answer; no copy in any cache of what says nothing about it.

    Pages, downloads and answers of the API are somebody's; static files are answered before.
    """

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        answer = self.get_response(request)
        answer.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        answer.headers.setdefault("Cache-Control", "no-store, private")
        return answer

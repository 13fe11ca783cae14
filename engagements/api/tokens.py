"""REST endpoints of API tokens, and the one that takes a name and a password for one."""

from django.contrib.auth import authenticate
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.views import APIView

from engagements import serializers, services
from engagements.models import ApiToken
from engagements.web.password_tokens import require_password_is_enough
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.strict_bodies import checked_body


class ApiTokenViewSet(mixins.CreateModelMixin, mixins.DestroyModelMixin, ScopedViewSet):
    """One's own API tokens; administrators see everybody's and make those of service accounts."""

    queryset = ApiToken.objects.select_related("engagement")
    serializer_class = serializers.ApiTokenSerializer
    filterset_fields = ["owner", "scope"]

    @extend_schema(request=serializers.NewTokenSerializer,
                   responses={201: serializers.MadeTokenSerializer})
    def create(self, request, *args, **kwargs):
        """The answer holds the key, which is never shown again."""
        facts = self.validated(serializers.NewTokenSerializer)
        facts.setdefault("owner", request.user)
        _token, key = services.create_token(actor=request.user, **facts)
        return Response(serializers.MadeTokenSerializer({"token": key, "made": _token}).data,
                        status=status.HTTP_201_CREATED)

    def perform_destroy(self, instance):
        services.revoke_token(actor=self.request.user, token=instance)


class TokenView(APIView):
    """A token for scripts, for a user name and a password."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(request=serializers.LogInSerializer,
                   responses=serializers.MadeTokenSerializer)
    def post(self, request):
        serializer = checked_body(serializers.LogInSerializer(data=request.data))
        serializer.is_valid(raise_exception=True)
        facts = dict(serializer.validated_data)
        user = authenticate(request, username=facts.pop("username"),
                            password=facts.pop("password"))
        if user is None:
            raise ValidationError(_("Unable to log in with provided credentials."),
                                  code="authorization")
        require_password_is_enough(user)
        token, key = services.create_token(actor=user, owner=user, **facts)
        return Response(serializers.MadeTokenSerializer({"token": key, "made": token}).data)


routes = [("tokens", ApiTokenViewSet, "token")]

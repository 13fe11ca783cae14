"""REST endpoints of delegations."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status

from engagements import services
from engagements.access import Can, require
from engagements.models import Delegation, User
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import ScopedViewSet


def _person(**more) -> serializers.SlugRelatedField:
    return serializers.SlugRelatedField(
        "username", queryset=User.objects.filter(is_active=True), **more)


class DelegationSerializer(serializers.ModelSerializer):
    """Who stands in for whom; `user` is left out by whoever is away."""

    user = _person(required=False)
    delegate = _person()

    class Meta:
        model = Delegation
        fields = ["id", "user", "delegate", "starts_on", "ends_on", "ended_at"]
        read_only_fields = ["ended_at"]
        validators = []  # the service says in a sentence what the constraint would only name


class DelegationViewSet(ScopedViewSet):
    """While somebody is away, a colleague does what waits for them by name."""

    queryset = Delegation.objects.select_related("user", "delegate")
    serializer_class = DelegationSerializer
    filterset_fields = ["user", "delegate"]
    end = RowAction(services.end_delegation, "delegation", "Take back what waits for oneself.")

    @extend_schema(request=DelegationSerializer, responses={201: DelegationSerializer})
    def create(self, request):
        """Delegate; for somebody else administrators do."""
        require(request.user, Can.VIEW_INTERNAL)
        return self.shown(services.delegate_duties(
            actor=request.user, **self.validated(DelegationSerializer)), status.HTTP_201_CREATED)


routes = [("delegations", DelegationViewSet, "delegation")]

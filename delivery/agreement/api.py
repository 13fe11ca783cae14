"""REST endpoints of the agreement."""

from drf_spectacular.utils import extend_schema
from rest_framework import status

from delivery.agreement import services
from delivery.agreement.models import Agreement
from delivery.agreement.serializers import (
    AgreementVersionSerializer,
    EnteredSerializer,
    NewAgreementSerializer,
)
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import ScopedViewSet


class AgreementViewSet(ScopedViewSet):
    """What was contracted, by version; every fact with its source."""

    queryset = Agreement.objects.select_related("engagement__customer")
    serializer_class = AgreementVersionSerializer
    filterset_fields = ["engagement", "state"]
    enter = RowAction(services.enter_values, "agreement",
                      "Put values in the place of a draft's sources.", EnteredSerializer)

    @extend_schema(request=NewAgreementSerializer, responses={201: AgreementVersionSerializer})
    def create(self, request):
        """The draft of the next version; the one there is, where there is one."""
        fields = self.validated(NewAgreementSerializer, context={
            "request": request, "user": request.user})
        return self.shown(services.draft_agreement(actor=request.user, **fields),
                          status.HTTP_201_CREATED)


routes = [("agreements", AgreementViewSet, "agreement")]

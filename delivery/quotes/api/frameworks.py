"""REST endpoints of framework contracts."""

from rest_framework import mixins, status

from delivery.quotes import serializers, services
from delivery.quotes.api.quotes import FirmOnly
from delivery.quotes.models import FrameworkContract
from engagements.access import Can
from engagements.web.row_action import RowAction
from engagements.web.service_hooks import creating, updating


class FrameworkContractViewSet(mixins.CreateModelMixin, mixins.UpdateModelMixin, FirmOnly):
    """Prices and terms agreed once with a customer, and what is left of them."""

    read_by = Can.PRICE
    http_method_names = ["get", "head", "options", "post", "patch"]
    queryset = FrameworkContract.objects.select_related("card")
    filterset_fields = ["customer", "number"]
    perform_create = creating(services.add_framework)
    perform_update = updating(services.change_framework, "framework")
    call_off = RowAction(services.call_off, "framework",
                         "A draft quote of an engagement under the contract.",
                         serializers.CallOffSerializer, answers=serializers.QuoteSerializer,
                         code=status.HTTP_201_CREATED, url_path="call-off")

    def get_serializer_class(self):
        return (serializers.ChangeFrameworkSerializer if self.action == "partial_update"
                else serializers.FrameworkContractSerializer)


routes = [("framework-contracts", FrameworkContractViewSet, "framework-contract")]

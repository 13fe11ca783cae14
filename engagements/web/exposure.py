"""What of a row stays within the firm: named once, in the `Meta` of its serializer."""

from rest_framework.serializers import BaseSerializer

from engagements.access import Can, allowed


class ForTheFirm(BaseSerializer):
    """Serializer mixin: a customer's reviewer does not get the fields of `Meta.for_the_firm`.

    They are left out, not emptied: an empty field would say that there is nothing.
    """

    def to_representation(self, instance):
        shown = super().to_representation(instance)
        if not allowed(self.context["request"].user, Can.VIEW_INTERNAL):
            for name in self.Meta.for_the_firm:
                shown.pop(name, None)
        return shown

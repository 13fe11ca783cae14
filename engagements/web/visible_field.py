"""References to rows of which the request's user sees only some."""

from rest_framework import serializers


class VisibleField(serializers.PrimaryKeyRelatedField):
    """A row by its key, among those of `queryset` that the user may see."""

    def get_queryset(self):
        return super().get_queryset().visible_to(self.context["request"].user)

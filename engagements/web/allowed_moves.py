"""The moves that an object's serializer names."""

from rest_framework import serializers

from engagements.moves import allowed_moves
from engagements.transitions import TransitionTable


class AllowedMovesField(serializers.ListField):
    """What state, role and separation of duties leave to the one who asks."""

    def __init__(self, table: TransitionTable, **options):
        self.table = table
        super().__init__(child=serializers.ChoiceField(table.moves.choices), source="*",
                         read_only=True, **options)

    def to_representation(self, data) -> list[str]:
        return allowed_moves(self.context["request"].user, self.table, data)

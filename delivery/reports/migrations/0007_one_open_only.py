"""One open draft of a kind, one open correction of a document, one open turn of a person.

Drafts and corrections that are open beside a newer one stay as they are, with a number that keeps
them apart: a person wrote them, and a person issues or discards them. The number stands in no audit
entry. Open turns of one person need none: each is given under the lock of its document, after a look
at the others.
"""

from collections import Counter

from django.db import migrations, models

OPEN = ["draft", "in_review", "reviewed", "issuing"]


def number_duplicates(apps, _schema_editor) -> None:
    """The newest keeps 0."""
    documents, seen = apps.get_model("reports", "Document").objects, Counter()
    for pk, *place in documents.filter(state__in=OPEN).order_by("-pk").values_list(
            "pk", "engagement", "kind", "replaces"):
        key = tuple(place) if place[-1] is None else place[-1]
        if seen[key]:
            documents.filter(pk=pk).update(duplicate=seen[key])
        seen[key] += 1


class Migration(migrations.Migration):

    dependencies = [
        ("reports", "0006_duplicate_drafts"),
    ]

    operations = [
        migrations.RunPython(number_duplicates, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="document",
            constraint=models.UniqueConstraint(
                fields=("engagement", "kind", "duplicate"), name="one_open_draft_per_kind",
                condition=models.Q(("replaces", None), ("state__in", OPEN))),
        ),
        migrations.AddConstraint(
            model_name="document",
            constraint=models.UniqueConstraint(
                fields=("replaces", "duplicate"), name="one_open_correction",
                condition=models.Q(("state__in", OPEN))),
        ),
        migrations.AddConstraint(
            model_name="approvalturn",
            constraint=models.UniqueConstraint(
                fields=("document", "holder"), name="one_open_turn_per_holder",
                condition=models.Q(("done_by", None), ("holder__isnull", False))),
        ),
    ]

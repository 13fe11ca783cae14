"""One draft of an engagement's criteria.

No others are stored: a draft is begun only behind a newest version that is none, and two that were
begun behind the same one would have had the same number, which `criteria_version_unique` refused.
The constraint's own index takes the place of the one on drafts.
"""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("assessments", "0014_mark_practice_readings"),
    ]

    operations = [
        migrations.AddConstraint(
            model_name="criteriaset",
            constraint=models.UniqueConstraint(
                fields=("engagement",), name="one_criteria_draft",
                condition=models.Q(("state", "draft"))),
        ),
        migrations.RemoveIndex(model_name="criteriaset", name="draft_criteria_sets"),
    ]

"""One draft of an engagement's estimate, one timesheet of a month that waits for the customer.

No others are stored: both were always begun under the lock of the engagement, after a look at the
newest one.
"""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("planning", "0010_wording"),
    ]

    operations = [
        migrations.AddConstraint(
            model_name="effortestimate",
            constraint=models.UniqueConstraint(
                fields=("engagement",), name="one_estimate_draft",
                condition=models.Q(("state", "draft"))),
        ),
        migrations.AddConstraint(
            model_name="timesheet",
            constraint=models.UniqueConstraint(
                fields=("engagement", "month"), name="one_waiting_timesheet",
                condition=models.Q(("state", "submitted"))),
        ),
    ]

"""Tokens of 1.0.0 were stored as they are and never expired; whoever needs one makes a new one."""

from django.db import migrations


def end_plain_tokens(apps, schema_editor):
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        if "authtoken_token" in connection.introspection.table_names(cursor):
            cursor.execute("DELETE FROM authtoken_token")


class Migration(migrations.Migration):

    dependencies = [
        ('engagements', '0004_api_tokens'),
    ]

    operations = [
        migrations.RunPython(end_plain_tokens, migrations.RunPython.noop),
    ]

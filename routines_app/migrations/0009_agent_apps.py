"""An agent says which apps it may use at most, and a run whose it is."""

import django.db.models.deletion
from django.db import migrations, models

# Runs that are here: by the agent that the snapshot names by its key, or by its name (one that was
# picked, or Assistant); those that never began, by whom the routine names now.
_WHOSE = """
UPDATE routines_app_run r SET agent_id = COALESCE(
    (SELECT a.id FROM routines_app_agent a
     WHERE a.workspace_id = r.workspace_id
       AND a.key::text = r.snapshot -> 'target' ->> 'agentId'),
    (SELECT a.id FROM routines_app_agent a
     WHERE a.workspace_id = r.workspace_id AND a.name = r.snapshot ->> 'agent'
     ORDER BY a.deleted_at DESC NULLS FIRST LIMIT 1),
    CASE WHEN NOT r.snapshot ? 'agent' THEN t.agent_id END)
FROM routines_app_routine t WHERE t.id = r.routine_id
"""


class Migration(migrations.Migration):
    dependencies = [("routines_app", "0008_app_sign_in")]

    operations = [
        migrations.AddField(
            model_name="agentversion",
            name="apps",
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="run",
            name="agent",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="runs",
                to="routines_app.agent",
            ),
        ),
        migrations.RunSQL(_WHOSE, migrations.RunSQL.noop),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["agent", "-queued_at"], name="run_by_agent"),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("finished_at__isnull", False), ("turn_at__isnull", False)),
                fields=["agent", "-finished_at"],
                name="run_turned_by_agent",
            ),
        ),
    ]

"""Workspaces that are here already get the whole roster, and runs that are over say when each
routine was last heard of."""

from django.db import migrations

from routines_app.rules.roster import ALL_TOOLS, THE_SEVEN

_HEARD = r"""
UPDATE routines_app_routinetotals t SET heard_at = h.at
FROM (SELECT routine_id, max(finished_at) AS at FROM routines_app_run
      WHERE status IN ('done_changed', 'stop_cost', 'stop_time') OR status LIKE 'fail\_%'
      GROUP BY routine_id) h
WHERE h.routine_id = t.routine_id
"""


def bring_the_seven(apps, schema_editor):
    """Add those of the seven that a workspace lacks; what somebody called so themselves stays as
    it is, and can be put back."""
    Workspace = apps.get_model("accounts", "Workspace")
    Agent = apps.get_model("routines_app", "Agent")
    AgentVersion = apps.get_model("routines_app", "AgentVersion")
    for workspace in Workspace.objects.all():
        there = {agent.slug: agent for agent in Agent.objects.filter(workspace=workspace)}
        if not there:
            continue  # not furnished yet: it gets the seven then
        for member in THE_SEVEN:
            tier = member.tier.value if member.tier else ""
            agent = there.get(member.slug)
            if agent is None:
                agent = Agent.objects.create(
                    workspace=workspace,
                    slug=member.slug,
                    name=member.name,
                    purpose=member.purpose,
                    runtime="model" if member.tier else "script",
                    came_as=member.slug,
                )
            else:
                Agent.objects.filter(pk=agent.pk).update(came_as=member.slug)
            AgentVersion.objects.get_or_create(
                agent=agent,
                number=agent.version,
                defaults={
                    "name": member.name,
                    "purpose": member.purpose,
                    "persona": member.persona,
                    "tools": list(member.tools),
                    "tier": tier,
                    "note": "As it came",
                },
            )
    for version in AgentVersion.objects.filter(name="").select_related("agent"):
        script = version.agent.runtime == "script"
        version.name, version.purpose = version.agent.name, version.agent.purpose
        version.tools = version.tools or (["run_command"] if script else list(ALL_TOOLS))
        version.tier = "" if script or version.model else "balanced"
        version.save()


class Migration(migrations.Migration):
    dependencies = [("routines_app", "0002_roster_and_quiet")]

    operations = [
        migrations.RunPython(bring_the_seven, migrations.RunPython.noop),
        migrations.RunSQL(_HEARD, migrations.RunSQL.noop),
    ]

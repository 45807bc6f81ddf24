"""Files of teams and of the organisation have a sensitivity; the activity log has an entry for its changes.

The defaults are constant, so no table is rewritten.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("teams", "0031_secret_handling"),
    ]

    operations = [
        migrations.AddField(
            model_name="organisationfile",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="organisationfileversion",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="teamfile",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="teamfileversion",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AlterField(
            model_name="activity",
            name="action",
            field=models.CharField(
                choices=[
                    ("person.created", "Account created"),
                    ("person.changed", "Account changed"),
                    ("person.password_reset", "Password reset"),
                    ("person.second_factor_removed", "Second factor removed"),
                    ("person.signed_out", "Signed out by an admin"),
                    ("team.created", "Team created"),
                    ("team.changed", "Team settings changed"),
                    ("team.deleted", "Team deleted"),
                    ("member.set", "Role set"),
                    ("member.removed", "Member removed"),
                    ("organisation_file.created", "Organisation knowledge created"),
                    ("organisation_file.renamed", "Organisation knowledge renamed"),
                    ("organisation_file.deleted", "Organisation knowledge deleted"),
                    ("agent.created", "Agent created"),
                    ("agent.changed", "Agent settings changed"),
                    ("agent.team_added", "Agent added to team"),
                    ("agent.team_removed", "Agent removed from team"),
                    ("agent.deleted", "Agent deleted"),
                    ("key.created", "API key created"),
                    ("key.revoked", "API key revoked"),
                    ("key.granted", "API key access granted"),
                    ("key.withdrawn", "API key access withdrawn"),
                    ("retention.set", "Data retention set"),
                    ("retention.cleared", "Data retention removed"),
                    ("limits.set", "Limits set"),
                    ("webhook.created", "Webhook created"),
                    ("webhook.changed", "Webhook changed"),
                    ("webhook.secret_changed", "Webhook secret changed"),
                    ("webhook.deleted", "Webhook deleted"),
                    ("source.created", "External source created"),
                    ("source.changed", "External source changed"),
                    ("source.deleted", "External source deleted"),
                    ("profile.tuning_changed", "Profile tuning changed"),
                    ("profile.deleted", "Profile deleted"),
                    ("profile.weights_on", "Learned weights switched on"),
                    ("profile.weights_off", "Learned weights switched off"),
                    ("kv_policy.saved", "Storage policy saved"),
                    ("kv_policy.reset", "Storage policy reset"),
                    ("rule.deleted", "Rule deleted"),
                    ("recall_test.deleted", "Recall test deleted"),
                    ("publication_guard.set", "Recall tests required for publishing"),
                    ("publication_guard.removed", "Recall tests not required for publishing any more"),
                    ("memory.deleted", "Memory deleted"),
                    ("conflict.resolved", "Conflict resolved"),
                    ("conflict.reopened", "Conflict reopened"),
                    ("sensitivity.changed", "Sensitivity changed"),
                    ("export.downloaded", "Export downloaded"),
                    ("bundle.downloaded", "Audit bundle downloaded"),
                    ("import.begun", "Import started"),
                ],
                max_length=40,
            ),
        ),
    ]

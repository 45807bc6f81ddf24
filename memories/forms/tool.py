"""The form of a tool."""

from django.utils.translation import gettext_lazy as _

from memories.forms.fields import JsonObject, Line, Text
from memories.forms.kept import KeptForm


class ToolForm(KeptForm):
    """What a tool is called, what it does and which arguments it takes."""

    name = Line(label=_("Name"), help_text=_("As the agent calls it: send_mail."), max_length=120)
    description = Text(label=_("What it does"), required=False)
    schema = JsonObject(
        label=_("Arguments"), help_text=_("A JSON schema, as the tool's maker gives it."), rows=10, required=False
    )

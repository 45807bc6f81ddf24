"""What is searched among memories."""

from django import forms
from django.utils.translation import gettext_lazy as _


class SearchForm(forms.Form):
    """A search by meaning."""

    q = forms.CharField(
        label=_("Search by meaning"),
        max_length=1000,
        required=False,
        widget=forms.TextInput(attrs={"type": "search", "autocomplete": "off"}),
    )

"""How a form's field is drawn."""

from django import forms, template
from django.forms.boundfield import BoundField
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def control(field: BoundField) -> SafeString:
    """The field's control with the class that its kind has here; placeholders are dropped."""
    widget = field.field.widget
    widget.attrs.pop("placeholder", None)
    match widget:
        case forms.Textarea():
            kind = "area"
        case forms.RadioSelect() | forms.CheckboxInput() | forms.HiddenInput():
            kind = ""
        case forms.Select():
            kind = "select"
        case _:
            kind = "input"
    return field.as_widget(attrs={"class": kind} if kind else None)

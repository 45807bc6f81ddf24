"""At start, a check says what is missing in the folder of the language model. It loads no model."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from assembly.conflicts.language_model.model_folder import ModelFolder, UnusableModel
from assembly.conflicts.language_model.onnx_inference import NOT_INSTALLED


@register("local_files")
def check_conflict_model(**_: Any) -> Sequence[CheckMessage]:
    """Return an error for a folder without a usable model, and for the missing package; nothing without a folder."""
    if settings.CONFLICT_MODEL_FOLDER is None:
        return []
    try:
        ModelFolder.read(settings.CONFLICT_MODEL_FOLDER, settings.CONFLICT_MODEL_LABELS)
    except UnusableModel as error:
        return [Error(str(error), id="conflicts.E001")]
    if find_spec("onnxruntime") is None:
        return [Error(NOT_INSTALLED, id="conflicts.E002")]
    return []

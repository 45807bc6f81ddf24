"""The language model that the settings name is loaded by the first comparison of a process that needs it.

A model that fails loses no job: conflicts are found by cues alone, the log says so, and after some minutes it is loaded
again. If it fails a second time, an alert tells it, which is closed when the model answers.
"""

import logging
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from time import monotonic

from django.conf import settings
from django.db import Error

from assembly.conflicts.detection.inference import Inference
from assembly.conflicts.language_model.model_folder import NAME_CHARACTERS, ModelFolder
from assembly.conflicts.language_model.onnx_inference import OnnxInference
from assembly.models import AlertKind
from assembly.monitoring.alerts.installation_alerts import alert_close, alert_open

logger = logging.getLogger(__name__)

REST_SECONDS = 300
"""The time for which a model that failed is not tried again."""
FAULT_CHARACTERS = 500
THING = "conflict_model"


class LanguageModel:
    """The model of a folder, which is loaded when it is asked for the first time."""

    def __init__(self, path: Path, labels: Sequence[str], *, threshold: float, threads: int) -> None:
        self.name = ""
        self.threshold = threshold
        self._path, self._labels, self._threads = path, labels, threads
        self._loaded: OnnxInference | None = None
        self._rests_until = 0.0
        self._failures = 0
        self._is_known_to_work = False  # the first answer closes an alert that another process has opened
        self._lock = Lock()

    @property
    def is_failing(self) -> bool:
        """Whether the model gave no answer when it was asked last."""
        return self._failures > 0

    def infer(self, pairs: Sequence[tuple[str, str]]) -> list[Inference] | None:
        """Return an inference per pair of premise and hypothesis; None where the model cannot be loaded or fails."""
        with self._lock:
            if monotonic() < self._rests_until:
                return None
            try:
                loaded = self._loaded or OnnxInference.load(
                    ModelFolder.read(self._path, self._labels), threads=self._threads
                )
                self._loaded, self.name = loaded, loaded.name
                found = loaded.infer(pairs)
            except Exception as error:  # noqa: BLE001 - whatever fails in the model must lose no job
                self._loaded, self._rests_until = None, monotonic() + REST_SECONDS
                logger.warning(
                    "conflicts are found by cues alone for %d seconds, because the language model failed: %s: %s",
                    REST_SECONDS,
                    type(error).__name__,
                    error,
                )
                self._failures, self._is_known_to_work = self._failures + 1, False
                if self._failures > 1:
                    self._tell(f"{type(error).__name__}: {error}")
                return None
            self._failures = 0
            if not self._is_known_to_work:
                self._is_known_to_work = True
                self._tell("")
            return found

    def _tell(self, fault: str) -> None:
        """Open an alert about the fault; without one, close it. If that fails, no job is lost either."""
        try:
            if fault:
                why = f"Conflicts are found by cues alone, because the language model fails: {fault[:FAULT_CHARACTERS]}"
                name = self._path.name[:NAME_CHARACTERS]
                alert_open(kind=AlertKind.MODEL_FAILING, thing=THING, name=name, why=why)
            else:
                alert_close(kind=AlertKind.MODEL_FAILING, thing=THING)
        except Error:
            logger.exception("an alert about the language model was not stored")


def model_in_use() -> LanguageModel | None:
    """Return the model that the settings name; None without one. Nothing is loaded yet."""
    if settings.CONFLICT_MODEL_FOLDER is None:
        return None
    return _model_of(
        settings.CONFLICT_MODEL_FOLDER,
        tuple(settings.CONFLICT_MODEL_LABELS),
        settings.CONFLICT_MODEL_PERCENT,
        settings.CONFLICT_MODEL_THREADS,
    )


@lru_cache(maxsize=1)
def _model_of(path: Path, labels: tuple[str, ...], percent: int, threads: int) -> LanguageModel:
    return LanguageModel(path, labels, threshold=percent / 100, threads=threads)

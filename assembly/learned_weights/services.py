"""This module learns weights, tries them in the shadow, and switches them on and off, each as a new row."""

from dataclasses import replace

from django.db import transaction

from assembly.engine.profile import Profile, Weights
from assembly.engine.types import field_values
from assembly.learned_weights.labelled_contexts import labelled_contexts
from assembly.learned_weights.recorded_items import LabelledRecord, labelled_records, mean_recalls
from assembly.learned_weights.shadow_run import SECONDS, run_in_shadow
from assembly.learned_weights.weight_fitting import fit_priority_weights
from assembly.models import LearnedWeights, ShadowReport
from assembly.profiles.catalogue import find_profile, find_profile_entry, find_profile_row
from assembly.profiles.learned_weights import State, fits_entry, newest_switch, switch_record, weights_in_force
from assembly.profiles.shipped import CONVERSATION
from assembly.profiles.tuning_versions import apply_tuning
from config.db.statements import lock_until_commit
from config.http.errors import Conflict, DossierError, NotFound
from memories.jobs.services import Advance
from teams.access import require_admin
from teams.principal import Principal

MIN_CONTEXTS = 200
"""The least number of contexts with feedback from which weights are learned."""
MIN_GAIN = 0.02
"""The least gain in the recall of used items, from 0 to 1, with which weights may be switched on."""
MIN_MEASURED = 20
"""The least number of measured contexts that can show a gain."""
MAX_VERSION = 2_147_483_647
"""The greatest number that the column of versions takes."""
LOCK_NUMBER = 0x1EA2_4ED0
"""The advisory lock of those who add rows."""


class TooFewContexts(DossierError):
    """Weights can be learned from too few contexts of the profile."""

    status = 409
    code = "too_few_contexts"
    title = "Too few contexts with feedback"


def require_contexts(found: int, written: Profile, least: int) -> None:
    """Check that weights can be learned from enough contexts. Raises TooFewContexts, which says from how many."""
    if found < max(1, least):
        counted = "1 context" if found == 1 else f"{found} contexts"
        raise TooFewContexts(
            f"Weights can be learned from {counted} of version {written.version} of the profile {written.name}, and"
            f" {least} are needed. A context counts if feedback says which of its blocks were used, and its request"
            " set neither weights nor a domain."
        )


class NoGainShown(DossierError):
    """No shadow run has shown that the learned weights are better."""

    status = 409
    code = "no_gain_shown"
    title = "No shadow run shows a gain"


def learnable_profile(name: str) -> Profile:
    """Return the profile as it is written. Raises NotFound, and Conflict for the profile that never has learned
    weights.
    """
    if name == CONVERSATION.name:
        raise Conflict(f"The profile {name} never has learned weights. Copy it under another name and use the copy.")
    if find_profile_row(name) is None:
        raise NotFound(f"The profile “{name}”")
    return find_profile(name)


def has_blocks(profile: Profile) -> bool:
    """Return whether the profile has sections whose items compete by their priority."""
    return any(section.shape == "blocks" for section in profile.sections)


def profile_to_learn(name: str) -> Profile:
    """Return the profile as it is written, to learn its weights. Raises as `learnable_profile` does, and Conflict for
    one without blocks.
    """
    written = learnable_profile(name)
    if not has_blocks(written):
        raise Conflict(f"The profile {name} has no section with blocks, so its weights decide nothing.")
    return written


def weights_learn(*, profile: str, principal: Principal, least: int = MIN_CONTEXTS) -> LearnedWeights:
    """Fit weights to the feedback on contexts of the profile, and store them as its next version, which is proposed.

    The caller must check that the principal may do this. Raises TooFewContexts if fewer than `least` contexts of the
    present version count; NotFound, Conflict, and Invalid for a profile that cannot be parsed.
    """
    written = profile_to_learn(profile)
    lists, held_out = [], list[LabelledRecord]()
    for labelled in labelled_records(labelled_contexts(written)):
        if labelled.is_held_out:
            held_out.append(labelled)
        else:
            lists.append(labelled.items)
    require_contexts(len(lists) + len(held_out), written, least)
    weights = fit_priority_weights(lists, written.weights)
    recalls = mean_recalls(held_out, _present_weights(written), weights) or (None, None)
    learned = LearnedWeights(
        profile=written.name,
        profile_version=written.version,
        state=State.PROPOSED,
        own_weights=field_values(written.weights),
        weights=field_values(weights),
        contexts=len(lists),
        held_out=len(held_out),
        recall_before=recalls[0],
        recall_after=recalls[1],
        by_ref=principal.ref,
        by_name=principal.name,
    )
    return _save_as_next_version(learned)


@transaction.atomic
def _save_as_next_version(learned: LearnedWeights) -> LearnedWeights:
    lock_until_commit(LOCK_NUMBER)
    newest = LearnedWeights.objects.filter(profile=learned.profile).order_by("-version").first()
    learned.version = newest.version + 1 if newest else 1
    learned.save(force_insert=True)
    return learned


def _present_weights(written: Profile) -> Weights:
    present = weights_in_force(written)
    return Weights(**present.weights) if present else written.weights


def _tuned(written: Profile, weights: Weights) -> Weights:
    """Return the weights as contexts would get them, with the tuning of the profile."""
    return apply_tuning(replace(written, weights=weights)).weights


def shadow_report_create(
    *, learned: LearnedWeights, seconds: float = SECONDS, advance: Advance = lambda _: None
) -> ShadowReport:
    """Run the learned weights in the shadow and store the report. `advance` is called after each context.

    They are compared with the weights in force, or with the profile's own if they are in force themselves. Raises
    Conflict if the profile has changed since they were learned.
    """
    written = _unchanged_profile(learned)
    present = weights_in_force(written)
    is_other = present is not None and present.version != learned.version
    before = _tuned(written, _present_weights(written) if is_other else written.weights)
    after = _tuned(written, Weights(**learned.weights))
    labelled = labelled_contexts(written)
    result = run_in_shadow(written, before, after, labelled, seconds=seconds, advance=advance)
    return ShadowReport.objects.create(
        profile=learned.profile,
        version=learned.version,
        contexts=result.contexts,
        measured=len(result.recalls),
        recall_before=result.recall_before,
        recall_after=result.recall_after,
        detail=result.detail(),
    )


def _unchanged_profile(learned: LearnedWeights) -> Profile:
    written = learnable_profile(learned.profile)
    if not fits_entry(learned, find_profile_entry(learned.profile)):
        raise Conflict(
            f"These weights were learned for version {learned.profile_version} of the profile {learned.profile}, which"
            " has been changed since, or created again. Learn weights again."
        )
    return written


@transaction.atomic
def learned_weights_switch(*, profile: str, version: int, is_on: bool, principal: Principal) -> LearnedWeights:
    """Switch a version of learned weights on or off, and return the row that says so; switching twice adds none.

    Switching one on switches the one before off, because the newest row is in force. Raises Forbidden; NotFound for an
    unknown profile or version; NoGainShown if the newest shadow report shows no gain; Conflict if the profile has
    changed, or the weights to switch off are not on.
    """
    require_admin(principal)
    learnable_profile(profile)
    lock_until_commit(LOCK_NUMBER)
    learned = version_numbered(profile, version)
    newest = newest_switch(profile)
    was_on = newest is not None and newest.version == version and newest.state == State.ON
    if is_on:
        _unchanged_profile(learned)
        require_gain(learned)
    elif not was_on:
        raise Conflict(f"Version {version} of the learned weights is not on.")
    if newest and was_on and is_on:
        return newest
    return switch_record(learned=learned, state=State.ON if is_on else State.OFF, principal=principal)


def version_numbered(profile: str, version: int) -> LearnedWeights:
    """Return the row with which this version was proposed. Raises NotFound."""
    found = LearnedWeights.objects.filter(profile=profile, version=version, state=State.PROPOSED).first()
    if found is None:
        raise NotFound(f"Version {version} of the learned weights")
    return found


def newest_report(learned: LearnedWeights) -> ShadowReport | None:
    """Return the newest report on this version; None if it was never tried."""
    found = ShadowReport.objects.filter(profile=learned.profile, version=learned.version)
    return found.order_by("-created", "-id").first()


def shows_gain(report: ShadowReport) -> bool:
    """Return whether the report is reason enough to switch the weights on."""
    return report.measured >= MIN_MEASURED and report.gain is not None and round(report.gain, 6) >= MIN_GAIN


def require_gain(learned: LearnedWeights) -> None:
    """Check that the newest shadow report shows a gain. Raises NoGainShown, which says what is missing."""
    report = newest_report(learned)
    if report is None:
        raise NoGainShown(f"There is no shadow report on version {learned.version} yet. Run it in the shadow first.")
    if not shows_gain(report):
        raise NoGainShown(missing_gain_sentence(report))


def missing_gain_sentence(report: ShadowReport) -> str:
    """Return why the report is no reason to switch the weights on."""
    if report.recall_before is None or report.recall_after is None or report.measured < MIN_MEASURED:
        return (
            f"The shadow run shows no gain: only {report.measured} contexts with feedback could be measured that the"
            f" weights were not trained on, and {MIN_MEASURED} are needed."
        )
    return (
        f"The shadow run shows no gain: the recall of used items is {report.recall_before:.3f} before and"
        f" {report.recall_after:.3f} after, and must rise by {MIN_GAIN} at least."
    )

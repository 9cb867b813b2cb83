"""A target refuses values that nothing can be judged with."""

from __future__ import annotations

from pathlib import Path

import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.errors import InputError
from ioi_eval.model import Isolation, Profile
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer
from tests.small_targets import small_target


def test_the_profile_may_be_a_text() -> None:
    """A sandbox of another package may write the profile's name."""
    assert small_target(profile="classic").profile is Profile.CLASSIC


@pytest.mark.parametrize("name", ["Bundled", "", None])
def test_another_profile_is_an_error(name: str) -> None:
    """It was an error of each submission, which blamed us."""
    with pytest.raises(InputError, match=r"^target 'far': profile .* is neither 'bundled' nor 'classic'$"):
        small_target(name="far", profile=name)
    with pytest.raises(InputError, match=r"^profile .* is neither 'bundled' nor 'classic'$"):
        LocalSandbox(profile=name)


@pytest.mark.parametrize("slots", [0, -3])
def test_a_sandbox_needs_a_slot(slots: int) -> None:
    """No slots meant all processors."""
    with pytest.raises(InputError, match=rf"^slots is {slots}; give 1 or more, or None for all processors$"):
        LocalSandbox(slots=slots)


def test_isolation_levels_may_be_texts() -> None:
    """A level is given by its name too; a name that does not exist is an error of the call, not of each submission."""
    assert Policy(least_isolation="full").least_isolation is Isolation.FULL  # type: ignore[arg-type]
    for wrong in (
        lambda: Policy(least_isolation="ful"),  # type: ignore[arg-type]
        lambda: LocalSandbox(least_isolation="ful"),
        lambda: LocalSandbox(strongest="ful"),
    ):
        with pytest.raises(InputError, match=r"^no such isolation level 'ful'\. Did you mean 'full'\?$"):
            wrong()


def test_kept_outputs_may_be_a_text(tmp_path: Path) -> None:
    """The scorer takes the names that `--keep` has."""
    Scorer(LocalSandbox(), artifacts=ArtifactStore(tmp_path), keep_outputs="failing")
    with pytest.raises(InputError, match="no such value of keep_outputs 'some'"):
        Scorer(LocalSandbox(), artifacts=ArtifactStore(tmp_path), keep_outputs="some")


def test_scripts_of_its_own_are_for_one_test_per_job() -> None:
    """Such scripts judge one test, so the target is not in the profile bundled."""
    assert small_target(profile=Profile.CLASSIC, has_own_scripts=True).has_own_scripts
    with pytest.raises(InputError, match="has_own_scripts is for the profile 'classic' only"):
        small_target(profile=Profile.BUNDLED, has_own_scripts=True)

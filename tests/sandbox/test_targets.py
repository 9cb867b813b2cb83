"""A target refuses values that nothing can be judged with."""

from __future__ import annotations

import pytest

from ioi_eval.errors import InputError
from ioi_eval.model import Profile
from ioi_eval.sandbox.local.sandbox import LocalSandbox
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


def test_scripts_of_its_own_are_for_one_test_per_job() -> None:
    """Such scripts judge one test, so the target is not in the profile bundled."""
    assert small_target(profile=Profile.CLASSIC, has_own_scripts=True).has_own_scripts
    with pytest.raises(InputError, match="has_own_scripts is for the profile 'classic' only"):
        small_target(profile=Profile.BUNDLED, has_own_scripts=True)

import pytest

from gateway import errors
from service_kit.problems import Unauthenticated

REFUSALS = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, Unauthenticated)]


@pytest.mark.parametrize("refusal", REFUSALS)
def test_whoever_is_not_signed_in_learns_which_credential_is_expected(refusal: type[Unauthenticated]) -> None:
    assert refusal().headers == {"WWW-Authenticate": "Bearer"}

import pytest

from inference.errors import ProviderRejected, ProviderUnavailable
from inference.retry import RetryPolicy


@pytest.mark.parametrize(
    ("error", "tries"), [(ProviderUnavailable("busy"), 3), (ProviderRejected("no", status=400), 1)]
)
async def test_the_last_error_is_raised(error: Exception, tries: int) -> None:
    tried = []

    async def attempt() -> None:
        tried.append(1)
        raise error

    with pytest.raises(type(error)):
        await RetryPolicy(attempts=3, first_seconds=0.001).run(attempt)
    assert len(tried) == tries

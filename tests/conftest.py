import pytest
from hypothesis import settings

settings.register_profile("muntin", deadline=None, derandomize=True)
settings.load_profile("muntin")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="write the golden files anew")

"""Tests of what only some of the supported versions of Spark have."""

from __future__ import annotations

import pyspark
import pytest

from muntin.spark.capabilities import Capabilities, Feature

HERE = Capabilities(pyspark.__version__)


def since(feature: Feature) -> pytest.MarkDecorator:
    """Skip a test where Spark lacks something, and say which Spark has it."""
    return pytest.mark.skipif(not HERE.has(feature), reason=HERE.lack(feature) or "")

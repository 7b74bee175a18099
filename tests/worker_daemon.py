"""PySpark's daemon with the libraries of our workers imported: its forks begin with them, where they would import them."""

import numba  # noqa: F401
import pandas  # noqa: F401
import pyarrow.compute
import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

import muntin.arrow.combine
import muntin.arrow.frames.rows
import muntin.arrow.state.bucket  # noqa: F401

if __name__ == "__main__":
    manager()

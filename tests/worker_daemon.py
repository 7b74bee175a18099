"""PySpark's daemon with the libraries that our workers need: its forks have what each of them would import."""

import numba  # noqa: F401
import pandas  # noqa: F401
import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

import muntin.arrow.combine
import muntin.arrow.frames.rows
import muntin.arrow.state.bucket  # noqa: F401

if __name__ == "__main__":
    manager()

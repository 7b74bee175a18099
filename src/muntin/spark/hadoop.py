"""Files through Hadoop, which knows every path that Spark knows: with a session, on the driver."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from muntin.files import Files, LocalFiles, files_of
from muntin.paths import is_remote
from muntin.safe_text import hide_user_info, safe_cause

_GONE = ("java.io.FileNotFoundException", "java.nio.file.NoSuchFileException")


@dataclass(frozen=True, slots=True)
class HadoopFiles:
    """Files of any file system that the session is set up for, with its settings and credentials."""

    spark: SparkSession

    def read(self, path: str) -> str:
        """Give the text of a file; FileNotFoundError if there is none."""
        store, place = self._at(path)
        with _missing_files(path):
            stream = store.open(place)
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def list(self, folder: str) -> dict[str, Hashable]:
        """Give what is in a folder, with the times of change."""
        store, place = self._at(folder)
        try:
            with _missing_files(folder):
                entries = store.listStatus(place)
        except FileNotFoundError:
            return {}
        return {entry.getPath().getName(): int(entry.getModificationTime()) for entry in entries}

    def exists(self, path: str) -> bool:
        """Tell whether there is a file or a folder."""
        store, place = self._at(path)
        return bool(store.exists(place))

    def make(self, folder: str) -> None:
        """Make a folder and those above it."""
        store, place = self._at(folder)
        store.mkdirs(place)

    def put(self, path: str, text: str) -> None:
        """Write a file; object stores show it when it is complete."""
        store, place = self._at(path)
        stream = store.create(place, True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()

    def move(self, source: str, target: str) -> None:
        """Give a file another name; object stores copy it."""
        store, place = self._at(source)
        if not store.rename(place, self._jvm.org.apache.hadoop.fs.Path(target)):
            raise OSError(hide_user_info(f"{source} cannot be renamed to {target}."))

    def remove(self, path: str) -> None:
        """Remove a file, or a folder with all that is in it."""
        store, place = self._at(path)
        store.delete(place, True)

    @property
    def _jvm(self) -> Any:
        return self.spark.sparkContext._jvm  # noqa: SLF001 - PySpark has no files

    def _at(self, path: str) -> tuple[Any, Any]:
        """Give Hadoop's file system of a path, and its path."""
        place = self._jvm.org.apache.hadoop.fs.Path(path)
        settings = self.spark._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001
        return place.getFileSystem(settings), place


@contextmanager
def _missing_files(path: str) -> Iterator[None]:
    """Say in Python's words that there is no such file."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

    try:
        yield
    except Py4JJavaError as error:
        if error.java_exception.getClass().getName() in _GONE:
            raise FileNotFoundError(hide_user_info(path)) from safe_cause(error)
        raise


def files_with(spark: SparkSession, place: str) -> Files:
    """Give what reads and writes a place: Python here, Hadoop elsewhere, and fsspec where a session has no JVM."""
    if not is_remote(place):
        return LocalFiles()
    return HadoopFiles(spark) if hasattr(spark, "_jsparkSession") else files_of(place)

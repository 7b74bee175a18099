"""A password is nowhere in what Muntin shows, whichever way it came in; with Spark, tests/spark/test_secrets.py."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable
from pathlib import Path
from time import process_time
from typing import Any
from uuid import uuid4

import fsspec
import pytest
from click.testing import CliRunner
from fsspec.implementations.memory import MemoryFileSystem
from rich.console import Console

from muntin.cli import main
from muntin.cli.queries import running, work
from muntin.cli.queries.inputs import sources
from muntin.cli.queries.options import Run
from muntin.cli.queries.outputs import Outputs, batch_outputs, stream_outputs
from muntin.cli.queries.sessions import checked_master, settings
from muntin.cli.queries.summary import Written, written_table
from muntin.cli.queries.topic_options import with_options
from muntin.errors import MuntinError, QueryError
from muntin.files import LocalFiles, files_of
from muntin.paths import folder, place_of
from muntin.registry import WindowRegistry
from muntin.safe_text import hide_secrets, hide_user_info, is_secret, secret_values
from muntin.spark.statements.plan import PlainStatement, SharedPlan, SqlPlan
from muntin.sqltext import point, read
from tests.passwords import PASSWORD, URL, shown_texts

SQL = "SELECT device, min(v) AS low FROM events GROUP BY device, window(ts, '1 minute')"
TALKATIVE = URL.replace("s3a", "talkative")
JAAS = f'org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="{PASSWORD}";'


class Talkative(MemoryFileSystem):  # type: ignore[misc]
    """A store whose errors quote all that it knows."""

    protocol = "talkative"
    cachable = False

    def __init__(self, **known: Any) -> None:
        super().__init__()
        self.known = known

    def cat_file(self, path: str, *_: Any, **__: Any) -> Any:
        inner = KeyError(f"no session for {self.known}")
        raise PermissionError(f"{path.partition('://')[2]} is not for {self.known}") from inner

    exists = ls = info = cat_file


@pytest.fixture(autouse=True)
def talkative() -> None:
    fsspec.register_implementation("talkative", Talkative, clobber=True)


class Everywhere(LocalFiles):
    """Files that are wherever somebody looks."""

    def exists(self, path: str) -> bool:
        return True

    def list(self, folder: str) -> dict[str, Hashable]:
        return {"thesis.txt": 1}

    def read(self, path: str) -> str:
        return '{"id": "one"}'


def remote(**options: Any) -> WindowRegistry:
    return WindowRegistry("talkative://bucket/windows", options=options)


@pytest.mark.parametrize(
    "act",
    [
        lambda: WindowRegistry("s3a://bucket/windows", options={"secret": PASSWORD.encode()}),
        lambda: WindowRegistry("s3a://bucket/windows", options={"client": {"secret": PASSWORD, "session": object()}}),
        lambda: WindowRegistry("/windows", options={"secret": PASSWORD}),
        lambda: WindowRegistry(URL).path,
        lambda: WindowRegistry(URL.encode()),  # type: ignore[arg-type]
        lambda: WindowRegistry(Path(URL)),
        lambda: WindowRegistry(URL.replace("s3a", "nowhere")).list(),
        lambda: WindowRegistry(f"memory://user:{PASSWORD}@{uuid4().hex}/windows").remove("five"),
        lambda: files_of("memory://b").read(f"memory://user:{PASSWORD}@{uuid4().hex}/windows"),
        lambda: files_of(TALKATIVE).read(TALKATIVE),
        lambda: remote(secret=PASSWORD).changes(),
        lambda: remote(client_kwargs={"aws_secret_access_key": PASSWORD}).changes(),
        lambda: remote(endpoint=f"http://user:{PASSWORD}@127.0.0.1:9000").identity(),
        lambda: place_of(Path(URL), "registry"),
        lambda: folder(URL, "checkpoint"),
        lambda: folder(f"file://user:{PASSWORD}@host/windows", "registry"),
        lambda: batch_outputs(URL, ["low"], overwrite=True, files=Everywhere()),
        lambda: batch_outputs(URL, ["low"], overwrite=False, files=Everywhere()),
        lambda: batch_outputs(URL, ["low"], [URL], overwrite=False),
        lambda: stream_outputs(URL, ["low"], files=Everywhere()),
        lambda: stream_outputs(URL, ["low"], files=Everywhere(), checkpoint=f"{URL}/state", overwrite=True),
        lambda: running.run(Run(file="a.sql", output=URL, checkpoint="state")),
        lambda: settings([f"spark.hadoop.fs.s3a.secret.key:{PASSWORD}"]),
        lambda: settings([f"spark.hadoop.fs.s3a.secret.key {PASSWORD}"]),
        lambda: checked_master(f"k9s://user:{PASSWORD}@host"),
        lambda: sources([URL]),
        lambda: sources([f"{URL}?a=b"]),
        lambda: sources([f"events={URL}"]),
        lambda: sources([f"events=kafka://user:{PASSWORD}@localhost:9092/clicks"]),
        lambda: sources([f"events=kafka://user:{PASSWORD}@localhost/clicks"]),
        lambda: topics(f"kafka.sasl.jaas.config:{PASSWORD}"),
        lambda: topics(f"sasl.jaas.config={JAAS}"),
        lambda: topics(f"kafka.sasl.password:{PASSWORD}=="),
        lambda: with_options(sources(["e=s3a://b/e.csv"]), [f"kafka.sasl.jaas.config={JAAS}"], []),
    ],
)
def test_errors_quote_no_password(act: Callable[[], Any]) -> None:
    with pytest.raises((MuntinError, OSError)) as error:
        act()
    assert PASSWORD not in shown_texts(error.value)


def topics(*given: str) -> Any:
    return with_options(sources(["clicks=kafka://localhost:9092/clicks"]), given, [])


def test_errors_of_stores_keep_their_kind_and_what_is_no_secret() -> None:
    with pytest.raises(PermissionError, match=r"^bucket/windows is not for \{'region': 'there', 'secret': '\*\*\*'\}$"):
        remote(secret=PASSWORD, region="there").changes()
    with pytest.raises(PermissionError, match=r"is not for \{'region': 'there'\}") as error:
        remote(region="there").changes()
    assert isinstance(error.value.__cause__, KeyError)


def test_no_repr_shows_a_password(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text(SQL, encoding="utf-8")
    asked = Run(
        file=str(tmp_path / "a.sql"),
        inputs=(f"events={URL}/events.csv", "clicks=kafka://localhost:9092/clicks"),
        input_options=(f"kafka.sasl.jaas.config={JAAS}",),
        conf=(f"spark.hadoop.fs.s3a.secret.key={PASSWORD}",),
        output=URL,
        checkpoint=f"{URL}/state",
    )
    job = work.prepared(asked)
    assert job.config == {"spark.hadoop.fs.s3a.secret.key": PASSWORD}
    assert job.sources[1].options == {"kafka.sasl.jaas.config": JAAS}
    registry = WindowRegistry(URL, options={"secret": PASSWORD})
    things = (asked, job, job.sources, registry, vars(registry)["_files"], Outputs({"low": URL}, URL, (URL,)))
    assert [thing for thing in things if PASSWORD in f"{thing!r} {thing!s}"] == []
    assert repr(registry) == "WindowRegistry('s3a://***@bucket/windows')"


def test_the_summary_has_no_password() -> None:
    console = Console(width=200)
    with console.capture() as out:
        console.print(written_table([Written("low", 1, f"{URL}/low")]))
    assert "s3a://***@bucket/windows/low" in out.get()


@pytest.fixture
def statements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.sql").write_text(SQL, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("command", ["run", "explain"])
@pytest.mark.usefixtures("statements")
def test_commands_print_no_password_of_what_they_were_given(command: str, caplog: pytest.LogCaptureFixture) -> None:
    given = ("--conf", f"spark.hadoop.fs.s3a.secret.key={PASSWORD}", "--debug", "-vv")
    with caplog.at_level(logging.DEBUG, "muntin"):
        result = CliRunner().invoke(main, (command, "a.sql", "--input", f"events={URL}", *given), color=True)
    assert result.exit_code == 2
    assert "input 'events': s3a://***@bucket/windows does not show its format" in result.output
    assert "Traceback" in result.output
    assert PASSWORD not in result.output + caplog.text


@pytest.mark.usefixtures("statements")
def test_commands_print_no_password_that_another_library_quotes(monkeypatch: pytest.MonkeyPatch) -> None:
    def prepared(asked: Run) -> None:
        inner = KeyError(f"{asked.inputs[0]}")
        raise OSError(f"cannot open {asked.inputs[0]}") from inner

    monkeypatch.setattr(running, "prepared", prepared)
    result = CliRunner().invoke(main, ("run", "a.sql", "--input", f"events={URL}", "--debug", "-vv"), color=True)
    assert "Error: cannot open events=s3a://***@bucket/windows" in result.output
    assert "the command fails" in result.output
    assert PASSWORD not in result.output


@pytest.mark.parametrize("arguments", [("list",), ("add", "1 hour"), ("remove", "five")])
def test_commands_print_no_password_of_a_registry(arguments: tuple[str, ...]) -> None:
    name, *given = arguments
    result = CliRunner().invoke(main, ("windows", name, TALKATIVE, *given), color=True)
    assert result.exit_code == 2
    assert "***@bucket/windows" in result.output
    assert PASSWORD not in result.output


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (URL, "s3a://***@bucket/windows"),
        ("s3a:/user:password@bucket/a", "s3a:/***@bucket/a"),  # as a Path has it
        ("s3a://AKIA:pass/word+1@bucket/a", "s3a://***@bucket/a"),
        ("s3a://user:pass word@bucket/a", "s3a://***@bucket/a"),
        ("s3a://user:p@ss@bucket/a", "s3a://***@bucket/a"),
        ("s3a://user:p@ss@bucket/a@b", "s3a://***@b"),  # it may all be a password
        ("s3a://AKIA:7sT/abcDEF@bucket/x", "s3a://***@bucket/x"),
        ("s3a://AKIAIOSFODNN7EXAMPLE:77/abcDEF@bucket/x", "s3a://***@bucket/x"),
        ("s3a://user:p@s/s@bucket", "s3a://***@bucket"),
        ("s3a://me@corp.com:p/w@bucket", "s3a://***@bucket"),
        ("s3a://user:pass\nword@bucket/a", "s3a://***@bucket/a"),
        ("s3a://user:12345@bucket/a", "s3a://***@bucket/a"),
        ("user@s3a://user:password@bucket/a", "user@s3a://***@bucket/a"),
        ("jdbc:oracle:thin:scott/tiger@host", "jdbc:oracle:thin:***@host"),
        ("jdbc:oracle:thin:scott/ti@ger@//host:1521/x", "jdbc:oracle:thin:***@//host:1521/x"),
        ("jdbc:mysql://scott:tiger@host/x", "jdbc:mysql://***@host/x"),
        ("jdbc:db2://h/x:user=me;pwd=abc;", "jdbc:db2://h/x:user=me;pwd=***;"),
        ("https://h/a?X-Amz-Signature=abc&b=1", "https://h/a?X-Amz-Signature=***&b=1"),
        ("jdbc:sqlserver://h:1433;user=me;password=abc;a=b", "jdbc:sqlserver://h:1433;user=me;password=***;a=b"),
        *(
            (text, text)
            for text in (
                *("s3a://bucket/a@b/c", "kafka://h:9092/t", "abfss://c@account/a", "file:/a@b", "a@b"),
                *("s3a://bucket:9000/x@y", "abfss://c@account:443/x@y", "file:///a/b:c@d", "jdbc:oracle:thin:@host"),
                *("s3a://bucket: no such bucket, ask me@there", "see https://host/a:b@c", "C:\\data@x"),
            )
        ),
    ],
)
def test_what_is_hidden_and_what_is_not(text: str, shown: str) -> None:
    assert hide_user_info(text) == shown
    assert hide_user_info(f"no folder {text}, check it") == f"no folder {shown}, check it"


@pytest.mark.parametrize(
    "name",
    [
        *("passphrase", "ssh_passphrase", "pass", "db.pass", "pkey", "private_key_passcode", "PWD", "master_key"),
        *("kafka.ssl.keystore.key", "fs.s3a.encryption.key", "fs.s3a.server-side-encryption.key"),
        *("parquet.encryption.key.list", "parquet.encryption.footer.key", "key", "fs.s3a.access.key"),
    ],
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "path",
            "passive",
            "bypass",
            "compass.mode",
            "keystore.location",
            "kafka.ssl.keystore.type",
            "key.deserializer",
        ),
        *("primaryKey", "spark.sql.shuffle.partitions", "endpoint_url", "fs.s3a.encryption.algorithm", "monkey"),
    ],
)
def test_names_that_are_of_no_secrets(name: str) -> None:
    assert not is_secret(name)


def test_secrets_may_be_no_texts() -> None:
    options = {"password": 123456, "token": b"abcd", "client": {"secret": [1.2345, None, True, 7], "retries": 100000}}
    assert sorted(secret_values(options)) == ["1.2345", "123456", "abcd"]
    assert hide_secrets("refused 123456, abcd", secret_values(options)) == "refused ***, ***"


@pytest.mark.parametrize(
    "part", ["a:/b:", "s3a://u:p", "a:/", "a://b@", "jdbc:oracle:a:", "jdbc:oracle:a:b/", "@", ":@/ "]
)
def test_texts_are_searched_in_linear_time(part: str) -> None:
    for text in (part * 50_000, part * 50_000 + "@"):
        start = process_time()
        hide_user_info(text)
        assert process_time() - start < 2


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT x FROM csv.`{url}` WHERE (",
        "SELECT 1 AS a FROM csv.`{url}`)",
        "SELECT x FROM csv.`{url}",
        "INSERT INTO csv.`{url}` SELECT 1",
        "SELECT x FROM events GROUP BY TUMBLE(ts, INTERVAL '{url}' MINUTE)",
    ],
)
@pytest.mark.parametrize("dialect", ["spark", "azure", "flink"])
def test_errors_of_sql_quote_no_password(sql: str, dialect: Any) -> None:
    with pytest.raises(MuntinError) as error:
        read(sql.format(url=URL), dialect)
    assert PASSWORD not in shown_texts(error.value)


def test_the_caret_stands_below_its_word_where_a_password_was() -> None:
    text = f"SELECT 1;\nSELECT x FROM csv.`{URL}` WHERE y"
    assert point(text, text.index("WHERE"), "no.") == (
        "line 2, column 56: no.\n  SELECT x FROM csv.`s3a://***@bucket/windows` WHERE y\n"
        "                                               ^"
    )


def test_plans_of_sql_have_no_password() -> None:
    plan = SqlPlan((), (PlainStatement("low", f"reads csv.`{URL}`"),))
    assert "s3a://***@bucket/windows" in str(plan)
    assert PASSWORD not in f"{plan.to_json()} {plan.plain!r} {plan}"
    assert SharedPlan(("low",), (f"csv.`{URL}`",), "start", plan).tables == ("csv.`s3a://***@bucket/windows`",)


def test_settings_come_from_files(tmp_path: Path) -> None:
    file = tmp_path / "spark.conf"
    text = f"""# passwords
        spark.hadoop.fs.s3a.secret.key {PASSWORD}
        spark.driver.memory=4g
        spark.driver.extraJavaOptions -Da=b \\
            -Dc=d
        spark.executor.memory : 1g
        spark.empty="""
    file.write_text(text, encoding="utf-8")
    assert settings(["spark.driver.memory=8g"], [str(file)]) == {
        "spark.hadoop.fs.s3a.secret.key": PASSWORD,
        "spark.driver.memory": "8g",
        "spark.driver.extraJavaOptions": "-Da=b -Dc=d",
        "spark.executor.memory": "1g",
        "spark.empty": "",
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"a=1\n\n{PASSWORD}\n".encode(), "line 3 is not KEY=VALUE"),
        (f"={PASSWORD}".encode(), "line 1 is not KEY=VALUE"),
        (f"a={PASSWORD}\xff".encode("latin-1"), "is not UTF-8 text"),
        (None, "there is no file"),
    ],
)
@pytest.mark.usefixtures("statements")
def test_a_file_of_settings_that_cannot_be_read(content: bytes | None, message: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "secret.conf").write_bytes(content)
    given = ("run", "a.sql", "--input", "events=kafka://localhost:9092/clicks", "--debug")
    for option in ("--conf-file", "--input-options-file"):
        result = CliRunner().invoke(main, (*given, option, "secret.conf"))
        assert result.exit_code == 2
        assert f"{option}" in result.output
        assert message in result.output
        assert PASSWORD not in result.output


def test_topics_have_options_of_the_command_line_and_of_files(tmp_path: Path) -> None:
    shared, own = tmp_path / "shared.conf", tmp_path / "own.conf"
    shared.write_text("kafka.security.protocol=SASL_SSL\nmaxOffsetsPerTrigger=10", encoding="utf-8")
    own.write_text(f"kafka.sasl.jaas.config = {JAAS}", encoding="utf-8")
    inputs = sources([*(f"{name}=kafka://localhost:9092/{name}" for name in ("a", "b")), "c=s3a://bucket/c.csv"])
    texts, files = ["b=kafka.security.protocol=SSL", "b=startingOffsets=latest"], [str(shared), f"a={own}"]
    assert [source.options for source in with_options(inputs, texts, files)] == [
        {"kafka.security.protocol": "SASL_SSL", "maxOffsetsPerTrigger": "10", "kafka.sasl.jaas.config": JAAS},
        {"kafka.security.protocol": "SSL", "maxOffsetsPerTrigger": "10", "startingOffsets": "latest"},
        {},
    ]


@pytest.mark.parametrize(
    ("inputs", "option", "message"),
    [
        (["a=kafka://h:1/a"], "security.protocol=SSL", "'security.protocol' is unknown. Write .* as kafka.KEY; others"),
        (["a=kafka://h:1/a"], "kafka.bootstrap.servers=x:1", "is given by the address of the topic"),
        (["a=kafka://h:1/a"], "subscribe=b", "'subscribe' is unknown"),
        (["a=kafka://h:1/a"], "kafka.security.protocol", "is not KEY=VALUE. Write --input-option kafka.security"),
        (["a=s3a://b/a.csv"], "kafka.security.protocol=SSL", "and no input is one"),
        (["a=s3a://b/a.csv", "b=kafka://h:1/a"], "a=kafka.security.protocol=SSL", "and input 'a' is none"),
    ],
)
def test_options_that_topics_do_not_have_are_refused(inputs: list[str], option: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        with_options(sources(inputs), [option], [])


def test_passwords_are_not_on_the_command_line_of_java(monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark import SparkContext, java_gateway

    import muntin as mt

    commands: list[list[str]] = []

    class Started(Exception):  # noqa: N818 - it is none
        pass

    def start(command: list[str], **_: Any) -> None:
        commands.append(command)
        raise Started

    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.setattr(java_gateway, "Popen", start)
    with pytest.raises(Started):
        mt.session(config={"spark.hadoop.fs.s3a.secret.key": PASSWORD, "spark.driver.memory": "3g"})
    assert "spark.driver.memory=3g" in commands[0]
    assert PASSWORD not in " ".join(commands[0])

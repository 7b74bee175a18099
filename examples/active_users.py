"""Active users: exact distinct counts over the last day, week and month, for every day and country.

python examples/active_users.py
"""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt

START = 1_767_225_600
"""The first visit: 2026-01-01 in UTC, in seconds since 1970."""
DAYS = 60
WINDOWS = [
    mt.tumbling("1 day", id="day"),
    mt.hopping("7 days", "1 day", id="week"),
    mt.hopping("30 days", "1 day", id="month"),
]


def visits(spark: SparkSession, rows: int) -> DataFrame:
    """Make sixty days of visits; a few users come often, most of them seldom."""
    draw = [F.rand(seed) for seed in range(2)]
    user = (draw[1] * draw[1] * (rows // 20)).cast("int")
    return spark.range(rows).select(
        F.timestamp_seconds(START + (draw[0] * DAYS * 86_400).cast("long")).alias("ts"),
        F.element_at(F.array(*map(F.lit, ("DE", "FR", "PL"))), user % 3 + 1).alias("country"),
        user.alias("user"),
    )


def main(spark: SparkSession, rows: int = 300_000) -> None:
    """Count users in three windows at once, show a country, and compare the weeks with plain Spark."""
    df = visits(spark, rows).cache()
    users = [mt.count_distinct("user").alias("users")]
    active = mt.aggregate(df, time="ts", by="country", windows=WINDOWS, aggregates=users).cache()

    full = F.col("window.end") <= F.timestamp_seconds(F.lit(START + DAYS * 86_400))
    day = F.to_date("window.end").alias("until")
    table = active.where(full).groupBy("country", day).pivot("window_id", ["day", "week", "month"]).sum("users")
    sticky = F.round(100 * F.col("day") / F.col("month"), 1).alias("day_of_month_%")
    print("Active users of the last day, week and month:")
    table.where("country = 'FR'").orderBy(F.desc("until")).select("*", sticky).show(7)

    week = F.window("ts", "7 days", "1 day").alias("window")
    plain = df.groupBy(week, "country").agg(F.count_distinct("user"))
    ours = active.where("window_id = 'week'").select("window", "country", "users")
    assert ours.exceptAll(plain).isEmpty()
    assert plain.exceptAll(ours).isEmpty()
    print("The weeks are those of count(DISTINCT user) by window in plain Spark.")

    chosen = mt.explain(df, time="ts", by="country", windows=WINDOWS, aggregates=users).to_dict()["steps"][1]
    print(f"Muntin evaluates all {len(WINDOWS)} windows by the shape {chosen['shape']}.")


if __name__ == "__main__":
    main(mt.session())

"""A feature table for payments: what each card did within the last hour, day and week before every payment.

python examples/features.py
"""

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import muntin as mt

START = 1_767_225_600
"""The first payment: 2026-01-01 in UTC, in seconds since 1970."""
DAYS = 30


def payments(spark: SparkSession, rows: int) -> DataFrame:
    """Make thirty days of payments; some cards pay far more often than others."""
    draw = [F.rand(seed) for seed in range(3)]
    return spark.range(rows).select(
        F.timestamp_seconds(START + (draw[0] * DAYS * 86_400).cast("long")).alias("ts"),
        F.format_string("card-%03d", (draw[1] * draw[1] * 200).cast("int")).alias("card"),
        F.round(5 + 200 * draw[2] * draw[2] * draw[2], 2).cast("decimal(10, 2)").alias("amount"),
    )


def main(spark: SparkSession, rows: int = 200_000) -> None:
    """Compute nine features in one call, show the last payments of a card, and compare with Spark's own windows."""
    df = payments(spark, rows).cache()
    features = mt.rolling(
        df,
        time="ts",
        by="card",
        ranges=["1 hour", "1 day", "7 days"],
        aggregates=[mt.count().alias("n"), mt.sum("amount").alias("spent"), mt.max("amount").alias("most")],
    ).cache()

    print(f"{features.count():,} payments, each with what its card did before:")
    shown = ["ts", "amount", "n_1h", "n_1d", "n_7d", "spent_1d", "most_7d"]
    features.where("card = 'card-042'").orderBy(F.desc("ts")).select(*shown).show(5, truncate=False)

    seconds = F.unix_micros("ts")
    week = Window.partitionBy("card").orderBy(seconds).rangeBetween(-7 * 86_400_000_000, 0)
    plain = df.select("ts", "card", "amount", F.count("*").over(week), F.sum("amount").over(week))
    ours = features.select("ts", "card", "amount", "n_7d", "spent_7d")
    assert ours.exceptAll(plain).isEmpty()
    assert plain.exceptAll(ours).isEmpty()
    print("n_7d and spent_7d are those of Spark's own RANGE BETWEEN frames.")

    usual = F.col("spent_7d") / F.col("n_7d")
    odd = features.where((F.col("n_7d") >= 5) & (F.col("amount") > 6 * usual))
    print(f"{odd.count():,} payments are more than six times the card's mean of the last week.")


if __name__ == "__main__":
    main(mt.session())

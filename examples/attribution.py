"""Attribution: which ad was shown within an hour, a day or a week before an order, by one join.

python examples/attribution.py
"""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt

START = 1_767_225_600
"""The first impression: 2026-01-01 in UTC, in seconds since 1970."""
DAYS = 30
WITHIN = ["1 hour", "1 day", "7 days"]


def events(spark: SparkSession, rows: int, time: str, seed: int) -> DataFrame:
    """Make thirty days of events of users."""
    draw = [F.rand(seed + number) for number in range(2)]
    return spark.range(rows).select(
        F.col("id").alias(f"{time}_id"),
        (draw[1] * 500).cast("int").alias("user"),
        F.timestamp_seconds(START + (draw[0] * DAYS * 86_400).cast("long")).alias(time),
    )


def main(spark: SparkSession, rows: int = 50_000) -> None:
    """Join impressions with the orders after them, count by ad and range, and compare with a plain join."""
    ad = F.element_at(F.array(*map(F.lit, ("coats", "hats", "shoes"))), (F.col("shown_id") % 3 + 1).cast("int"))
    impressions = events(spark, rows, "shown", 0).select("*", ad.alias("ad")).cache()
    amount = F.round(20 + F.col("bought_id") % 80, 2)
    orders = events(spark, rows // 10, "bought", 10).select("*", amount.alias("amount")).cache()

    pairs = mt.join(
        impressions, orders, on="user", left_time="shown", right_time="bought", within=WITHIN, direction="forward"
    ).cache()
    print(f"{pairs.count():,} pairs of an impression and a later order, by the shortest range:")
    counts = pairs.groupBy("ad").pivot("within", ["1h", "1d", "7d"]).count()
    counts.orderBy("ad").show()

    last = F.max_by("ad", "shown").alias("ad")
    credited = pairs.groupBy("bought_id", "amount").agg(last).groupBy("ad").agg(F.sum("amount").alias("amount"))
    print("Amount of orders, credited to the last ad shown within a week before:")
    credited.orderBy("ad").show()

    week = "shown <= bought AND bought <= shown + INTERVAL 7 DAYS"
    plain = impressions.join(orders, "user").where(week).select("shown_id", "bought_id")
    ours = pairs.select("shown_id", "bought_id")
    assert ours.exceptAll(plain).isEmpty()
    assert plain.exceptAll(ours).isEmpty()
    print("The pairs are those of a plain join on user and distance.")


if __name__ == "__main__":
    main(mt.session())

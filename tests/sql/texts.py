"""Texts that read, of every dialect: what tables of tests, round trips and mutations start from."""

PAPER = """SELECT DeviceID, System.Window().Id, Min(T) AS MinTemp
FROM Input TIMESTAMP BY EntryTime
GROUP BY DeviceID, Windows(
    Window('20 min', TumblingWindow(minute, 20)),
    Window('30 min', TumblingWindow(minute, 30)),
    Window('40 min', TumblingWindow(minute, 40)))"""

AZURE = [
    PAPER,
    "SELECT k, COUNT(*) AS n FROM Input TIMESTAMP BY ts WHERE v > 3 GROUP BY k, TumblingWindow(minute, 5) HAVING COUNT(*) > 2",
    "SELECT System.Timestamp() AS t, MAX(v) - MIN(v) AS spread INTO [out] FROM [my input] i TIMESTAMP BY i.ts "
    "GROUP BY Hopping(Duration(hour, 1), Hop(mi, 5), Offset(ms, -1))",
    "WITH s AS (SELECT i.k, i.v * 2 AS w FROM Input i TIMESTAMP BY i.ts WHERE i.v > 3), "
    "u AS (SELECT * FROM s WHERE System.Timestamp() > '2020-01-01') "
    "SELECT k, AVG(w) AS a, STDEV(w), VARP(w), COUNT(DISTINCT w) INTO one FROM u GROUP BY k, Windows(Tumbling(hh, 1), "
    "Session(Timeout(ss, 5)) OVER (PARTITION BY k)) SELECT k INTO two FROM s",
    "SELECT k, PERCENTILE_CONT(0.95) OVER (ORDER BY v) AS p FROM Input PARTITION BY k TIMESTAMP BY ts OVER k "
    "GROUP BY k, System.Timestamp()",
    "SELECT a.b.c AS d, CASE WHEN COUNT(*) > 1 THEN 'many' ELSE 'few' END AS said, CAST(SUM(v) AS float) / 2 "
    "FROM Input TIMESTAMP BY DATEADD(second, ms, ts) GROUP BY a.b.c, SnapshotWindow()",
    "SELECT k, SUM(v) FROM a TIMESTAMP BY ts GROUP BY k, TumblingWindow(d, 1) UNION "
    "SELECT k, SUM(v) FROM a TIMESTAMP BY ts GROUP BY k, TumblingWindow(d, 2)",
    "SELECT k, DATEDIFF(second, ts, u) AS late, 'x' + k AS named FROM Input TIMESTAMP BY ts WHERE k IN ('a', 'b') AND v IS NOT NULL",
]

SPARK = [
    "SELECT k, window, count(*), max(v) - min(v) AS spread FROM db.t WHERE x LIKE 'a%' "
    "GROUP BY k, window(ts, '10 minutes', '5 minutes') HAVING spread > 3 ORDER BY spread DESC, k LIMIT 5",
    "SELECT date(ts) AS d, window.start AS s, sum(v) AS x FROM t GROUP BY 1, window(ts, '5 minutes') "
    "UNION ALL SELECT date(ts), window.start, avg(v) FROM t GROUP BY date(ts), window(ts, '1 hour', '1 hour', '15 minutes')",
    "CREATE OR REPLACE TEMP VIEW a AS SELECT *, v + 1 AS w FROM raw WHERE ok;\n-- name: sessions\n"
    "SELECT session_window.end AS e, median(w), count(*) FILTER (WHERE w > 3) AS c FROM a "
    "GROUP BY session_window(ts, '5 minutes');",
    "WITH s AS (SELECT k, v, ts FROM t) SELECT upper(s.k) AS u, corr(v, v * 2), percentile(v, 0.9) AS p, "
    "count(DISTINCT v) FROM s GROUP BY upper(s.k), window(s.ts, '1 day')",
    "SELECT k, stddev(v), bool_or(v > 3), min_by(v, ts) FROM (SELECT * FROM a UNION ALL SELECT * FROM b) x "
    "GROUP BY k, window(ts, '1 week')",
    "SELECT a.k, count(*) FROM a JOIN b ON a.k = b.k GROUP BY a.k, window(ts, '5 minutes')",
    "SELECT transform(xs, x -> x + 1) AS ys, named_struct('a', 1).a, date '2020-01-01', 1L, ts + INTERVAL 1 DAY FROM t",
]

FLINK = [
    "SELECT window_start, window_end, w.k, SUM(price) AS p FROM TABLE(HOP(TABLE bids, DESCRIPTOR(ts), "
    "INTERVAL '5' MINUTES, INTERVAL '10' MINUTES)) AS w GROUP BY window_start, window_end, w.k",
    "SELECT window_time, COUNT(DISTINCT u) FROM TABLE(CUMULATE(DATA => TABLE bids, TIMECOL => DESCRIPTOR(ts), "
    "STEP => INTERVAL '1' HOUR, SIZE => INTERVAL '1' DAY)) GROUP BY window_start, window_end, window_time",
    "SELECT k, window_start, SUM(p) AS s FROM TABLE(SESSION(TABLE bids PARTITION BY k, DESCRIPTOR(ts), "
    "INTERVAL '10' MINUTES)) GROUP BY window_start, window_end, k",
    "SELECT k, TUMBLE_START(ts, INTERVAL '1' HOUR) AS s, TUMBLE_ROWTIME(ts, INTERVAL '1' HOUR), "
    "SUM(p) FILTER (WHERE p > 0) FROM bids GROUP BY k, TUMBLE(ts, INTERVAL '1' HOUR)",
    "WITH s AS (SELECT * FROM bids WHERE p > 0) SELECT LAST_VALUE(p) AS l FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), "
    "INTERVAL '01:30' HOUR TO MINUTE)) GROUP BY window_start, window_end",
    "SELECT SESSION_END(ts, INTERVAL '5' SECOND) AS e, k, COUNT(*) FROM bids GROUP BY SESSION(ts, INTERVAL '5' SECOND), k",
]

VALID = [("azure", text) for text in AZURE] + [("spark", text) for text in SPARK] + [("flink", text) for text in FLINK]

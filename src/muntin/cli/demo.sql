-- Four questions about the same readings, in Azure Stream Analytics' SQL:
-- each has its own windows, keys and filter.

-- name: coldest
SELECT device, System.Window().Id AS length, System.Timestamp() AS until,
    MIN(temperature) AS low
FROM readings TIMESTAMP BY ts
GROUP BY device, Windows(
    Window('20 min', TumblingWindow(minute, 20)),
    Window('30 min', TumblingWindow(minute, 30)),
    Window('40 min', TumblingWindow(minute, 40)));

-- name: trend
SELECT device, System.Timestamp() AS until,
    AVG(temperature) AS mean, COUNT(*) AS readings
FROM readings TIMESTAMP BY ts
GROUP BY device, HoppingWindow(minute, 60, 10);

-- name: hot_spells
SELECT device, System.Timestamp() AS until,
    COUNT(*) AS readings, MAX(temperature) AS high
FROM readings TIMESTAMP BY ts
WHERE temperature > 25
GROUP BY device, TumblingWindow(minute, 10)
HAVING COUNT(*) >= 5;

-- name: days
SELECT System.Timestamp() AS until,
    MIN(temperature) AS low, MAX(temperature) AS high
FROM readings TIMESTAMP BY ts
GROUP BY TumblingWindow(day, 1);

-- Four questions about the same readings, each with its own windows, keys and filter.

-- name: coldest
SELECT device, System.Window().Id AS length, System.Timestamp() AS until, MIN(temperature) AS low
FROM readings TIMESTAMP BY ts
GROUP BY device, Windows(
    Window('20 min', TumblingWindow(minute, 20)),
    Window('30 min', TumblingWindow(minute, 30)),
    Window('40 min', TumblingWindow(minute, 40)));

-- name: trend
SELECT device, window, avg(temperature) AS mean, count(*) AS readings
FROM readings
GROUP BY device, window(ts, '1 hour', '5 minutes');

-- name: hot_spells
SELECT device, window.start AS since, count(*) AS readings, max(temperature) AS high
FROM readings
WHERE temperature > 25
GROUP BY device, window(ts, '10 minutes')
HAVING count(*) >= 5;

-- name: days
SELECT window.start AS day, min(temperature) AS low, max(temperature) AS high, count(*) AS readings
FROM readings
GROUP BY window(ts, '1 day');

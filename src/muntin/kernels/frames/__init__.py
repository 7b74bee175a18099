"""Where windows begin and end over the rows of many keys in order: one kernel for each way that this is told.

Groups are keys. `codes` marks rows that begin or end a window where at most one is open at a time, and `runs` turns
the marks into ranges of rows. `stretches` and `growing` tell the instances on a grid of places: times, numbers of rows,
or a column that never falls. `lasting` looks back from where an instance ends. The rows of a key are counted from 0.
"""

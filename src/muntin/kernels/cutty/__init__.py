"""Cutty: slices that any windows share, cut where a window begins and nowhere else.

Windows may be periodic, sessions or anything whose begin is known when its first row arrives. A slice grows row by row
until a window begins; then it is stored, and the next one starts. A window that ends is put together from the stored
slices since its begin and the slice that still grows. So a slice is read half done, and ends need no cut.

| file | what it has |
|---|---|
| `marks` | which windows begin and end with which row: the discretizer's part, and its checks |
| `sharing` | the loop over rows, the paper's Algorithm 1 repaired |
| `store` | what a store of slices can do: append, merge, remove_up_to, forget |
| `lazy` | slices in a ring, merged when a window ends; neighbours become one when no window begins between them |
| `eager` | a FlatFAT over the ring, so that a merge reads few nodes |
| `unshared` | no slices: every active window has a partial of its own |
| `ways` | the paper's competitors by name: the same loop with other cuts and stores |

Carbone, Traub, Katsifodimos, Haridi, Markl: Cutty: Aggregate Sharing for User-Defined Windows (CIKM 2016). As printed,
Algorithm 1 removes slices before the window that needs them is emitted, and reads the slice before the begin as that
after it. Here windows are emitted first, and an id is the row that closes a slice.
"""

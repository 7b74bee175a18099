"""Windows of every kind over the rows of keys in order: where instances begin and end, and what they have in common.

A stretch is what is looked at once: for every key, the slices that open instances still need, and new rows. Each window
is framed: it says which of its instances have ended, and which rows begin those that are open. The stretch is cut where
instances begin or end, so that all windows read the same few partials; what is kept is cut where open instances begin,
and nowhere else.
"""

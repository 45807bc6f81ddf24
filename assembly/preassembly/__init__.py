"""What agents will probably ask for next is read before they ask, by a worker, while the machine is idle.

`occasions` finds agents whose situation has changed; `predictors` say which questions they will probably ask, in the
order in which they are read for; `expected` turns records into requests that are expected; `idle_time` says whether
anybody else needs the machine; `reading_ahead` reads, and shares what it has read.
"""

"""The engine: candidates in, one text and the reason for every candidate out.

Pure Python on immutable values. It reads no clock, no database, no file and no random number: equal input
gives equal bytes, so that a recorded assembly can be replayed for ever.
"""

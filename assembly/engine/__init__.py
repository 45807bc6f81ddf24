"""The engine turns candidates into one text and gives a reason for every candidate, included or excluded.

The engine is pure Python on immutable values. It reads no clock, no database, no file and no random number: equal
input gives equal bytes, so a recorded assembly can be replayed at any later time.
"""

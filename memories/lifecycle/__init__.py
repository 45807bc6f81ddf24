"""The lifecycle of memories, events and documents: which storage tier each is in, and what moves it."""

"""The data of a person is erased everywhere, with proof."""

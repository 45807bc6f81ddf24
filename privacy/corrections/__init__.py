"""A wrong value of a person is corrected in everything that is linked to them."""

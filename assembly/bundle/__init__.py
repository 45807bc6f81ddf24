"""The rooms of archives that hold what is the organisation's own: profiles and rules."""

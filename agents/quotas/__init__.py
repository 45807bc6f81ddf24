"""How much each key, person, agent and team may ask and store, and how much they did."""

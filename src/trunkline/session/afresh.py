"""What people are told of an agent that came back without its memory: in the journal, and by a face that cannot show that."""

AFRESH = "The agent started afresh"
LOST = "It could not bring its earlier session back and does not remember what was said before."

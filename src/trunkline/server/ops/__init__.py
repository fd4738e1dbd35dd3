"""Operations: health, metrics, the journal's state, and what a served hub does by itself."""

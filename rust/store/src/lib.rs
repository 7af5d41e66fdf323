//! What outlives a turn: sessions and spilled output.

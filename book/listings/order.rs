//! The part about order: what runs at the same time, and what says which comes first.

//! Layouts that the user pinned.

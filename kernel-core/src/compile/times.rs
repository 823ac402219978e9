//! How long the phases of a variant took, by the caller's clock.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use super::Phase;

/// The phases of an image: building it, and those of the variant that is being made.
pub(super) struct Times {
    clock: fn() -> u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// When the last phase ended.
    last: u64,
    build: u64,
    of_variant: Vec<(Phase, u64)>,
}

impl Times {
    pub(super) fn start(clock: fn() -> u64) -> Self {
        Times { clock, state: Mutex::new(State { last: clock(), ..State::default() }) }
    }

    /// A phase has ended, and the next one begins.
    pub(super) fn ended(&self, phase: Phase) {
        let now = (self.clock)();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let spent = now.saturating_sub(state.last);
        state.last = now;
        if phase == Phase::Build {
            state.build += spent;
            return;
        }
        match state.of_variant.iter_mut().find(|(of, _)| *of == phase) {
            Some((_, all)) => *all += spent,
            None => state.of_variant.push((phase, spent)),
        }
    }

    /// A variant begins.
    pub(super) fn begin_variant(&self) {
        let now = (self.clock)();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.last = now;
        state.of_variant.clear();
    }

    /// A line a phase, with nanoseconds. Building is done once for all variants.
    pub(super) fn text(&self) -> String {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        let built = (Phase::Build, state.build);
        for (phase, nanoseconds) in std::iter::once(&built).chain(&state.of_variant) {
            writeln!(text, "{} {nanoseconds}", phase.name()).expect("a String takes everything");
        }
        text
    }
}

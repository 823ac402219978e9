//! Where the lanes of a diverged warp wait for one another.

/// A place where lanes that parted meet again.
#[derive(Clone, Copy, Debug)]
struct Join {
    pc: u32,
    /// The lanes that are still expected; 0 for a free entry.
    members: u32,
}

/// The joins of a warp, by number.
#[derive(Debug, Default)]
pub(crate) struct Joins {
    entries: Vec<Join>,
}

impl Joins {
    pub(crate) fn reset(&mut self) {
        self.entries.clear();
    }

    /// Opens a join for lanes that are about to part.
    pub(crate) fn open(&mut self, pc: u32, members: u32) -> u32 {
        let join = Join { pc, members };
        let free = self.entries.iter().position(|entry| entry.members == 0);
        let index = free.unwrap_or_else(|| {
            self.entries.push(join);
            self.entries.len() - 1
        });
        self.entries[index] = join;
        u32::try_from(index).expect("a warp has at most as many joins as nested branches")
    }

    pub(crate) fn pc(&self, join: u32) -> u32 {
        self.entries[join as usize].pc
    }

    /// The lanes that are still expected.
    pub(crate) fn members(&self, join: u32) -> u32 {
        self.entries[join as usize].members
    }

    pub(crate) fn close(&mut self, join: u32) {
        self.entries[join as usize].members = 0;
    }

    /// Stops expecting lanes at one join.
    pub(crate) fn forget(&mut self, join: u32, lanes: u32) {
        self.entries[join as usize].members &= !lanes;
    }

    /// Stops expecting lanes that left.
    pub(crate) fn forget_everywhere(&mut self, lanes: u32) {
        for entry in &mut self.entries {
            entry.members &= !lanes;
        }
    }
}

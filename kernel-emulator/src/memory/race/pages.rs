//! The parts of global memory that a cluster accessed.

use std::collections::HashMap;

use super::clock::Epoch;
use super::space::Space;

/// Rows of 16 bytes of a page.
const ROWS: usize = 32;
/// Bytes of a page; no access of a lane crosses the end of one.
pub(super) const BYTES: u64 = 16 * ROWS as u64;
/// How many pages are found without looking them up; a power of two.
const RECENT: usize = 64;

/// What is known of each page.
#[derive(Debug)]
pub(super) struct Pages {
    /// Where a page stands in the list.
    numbers: HashMap<u64, usize>,
    recent: [(u64, usize); RECENT],
    spaces: Vec<Space>,
}

impl Default for Pages {
    fn default() -> Pages {
        Pages { numbers: HashMap::new(), recent: [(u64::MAX, 0); RECENT], spaces: Vec::new() }
    }
}

impl Pages {
    pub(super) fn reset(&mut self) {
        if !self.numbers.is_empty() {
            self.numbers.clear();
            self.recent.fill((u64::MAX, 0));
        }
    }

    /// A page by number.
    #[inline]
    pub(super) fn space(&mut self, page: u64) -> &mut Space {
        let place = usize::try_from(page % RECENT as u64).expect("few are recent");
        if self.recent[place].0 != page {
            self.recent[place] = (page, self.number(page));
        }
        &mut self.spaces[self.recent[place].1]
    }

    #[cold]
    fn number(&mut self, page: u64) -> usize {
        let next = self.numbers.len();
        let number = *self.numbers.entry(page).or_insert(next);
        if number == next {
            if self.spaces.len() == next {
                self.spaces.push(Space::default());
            }
            self.spaces[next].reset(ROWS, Epoch::NONE);
        }
        number
    }

    /// The last writes of words, none of them behind the end of their page.
    pub(super) fn writes(&mut self, (address, bytes): (u64, u32)) -> impl Iterator<Item = Epoch> {
        let first = usize::try_from(address % BYTES / 4).expect("a page is small");
        let space = self.space(address / BYTES);
        (first..first + bytes as usize / 4).map(|word| space.write(word))
    }

    /// All pages.
    pub(super) fn spaces(&mut self) -> impl Iterator<Item = &mut Space> {
        let used = self.numbers.len();
        self.spaces[..used].iter_mut()
    }
}

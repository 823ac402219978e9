//! What PTX for Blackwell has the hardware do, as its text says: the instructions of the loop that starts products, or of a kernel
//! that has none, by what they do.

/// Instructions, by what they do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// `tcgen05.mma`.
    pub products: usize,
    /// `tcgen05.cp`, and copies and reductions by TMA.
    pub copies: usize,
    /// Waits for an mbarrier or for stores by TMA, as often as they stand there.
    pub waits: usize,
    /// `tcgen05.commit`, fences, arrivals, barriers, and what ends a group of stores.
    pub synchronises: usize,
    /// Everything else: addresses, counters, branches, predicates.
    pub others: usize,
}

/// What a kernel repeats for each step of the depth, or all that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The innermost loop around the first product.
    Loop(Counts),
    /// The whole text: it starts no product in a loop.
    Whole(Counts),
}

impl Part {
    /// That of a text.
    pub fn of(text: &str) -> Part {
        let lines = lines(text);
        match product_loop(&lines) {
            Some(lines) => Part::Loop(Counts::of(lines)),
            None => Part::Whole(Counts::of(&lines)),
        }
    }

    /// The instructions.
    pub const fn counts(self) -> Counts {
        match self {
            Part::Loop(counts) | Part::Whole(counts) => counts,
        }
    }
}

impl Counts {
    fn of(lines: &[Line<'_>]) -> Counts {
        let mut counts = Counts::default();
        for line in lines {
            if let Line::Instruction(text, _) = line {
                counts.add(text);
            }
        }
        counts
    }

    fn add(&mut self, instruction: &str) {
        let is = |names: &[&str]| names.iter().any(|name| instruction.starts_with(name));
        let count = if is(&["tcgen05.mma"]) {
            &mut self.products
        } else if is(&["mbarrier.try_wait", "mbarrier.test_wait", "cp.async.bulk.wait_group"]) {
            &mut self.waits
        } else if is(&[
            "tcgen05.commit",
            "tcgen05.fence",
            "cp.async.bulk.commit_group",
            "fence.",
            "mbarrier.",
            "bar.",
            "barrier.",
        ]) {
            &mut self.synchronises
        } else if is(&["tcgen05.cp", "cp.async.bulk", "cp.reduce.async.bulk"]) {
            &mut self.copies
        } else {
            &mut self.others
        };
        *count += 1;
    }
}

/// A line of PTX, as far as it matters here.
#[derive(Debug, PartialEq, Eq)]
enum Line<'t> {
    Label(&'t str),
    /// An instruction without its guard, and where it jumps to, if it does.
    Instruction(&'t str, Option<&'t str>),
}

/// The labels and instructions of a text, one a line.
fn lines(text: &str) -> Vec<Line<'_>> {
    text.lines()
        .filter_map(|line| read(line.split("//").next().unwrap_or_default().trim()))
        .collect()
}

fn read(line: &str) -> Option<Line<'_>> {
    if let Some(label) = line.strip_suffix(':') {
        return Some(Line::Label(label));
    }
    let line = line.strip_suffix(';')?;
    let line = match line.strip_prefix('@') {
        Some(guarded) => guarded.split_once(char::is_whitespace)?.1.trim(),
        None => line,
    };
    let is_instruction = line.starts_with(|first: char| first.is_ascii_lowercase());
    let target = line.strip_prefix("bra").and_then(|rest| rest.split_whitespace().last());
    is_instruction.then_some(Line::Instruction(line, target))
}

/// The innermost loop around the first product: from a label to the last jump back to it. Loops that only wait are none.
fn product_loop<'l, 't>(lines: &'l [Line<'t>]) -> Option<&'l [Line<'t>]> {
    let is_product = |line: &Line<'_>| matches!(line, Line::Instruction(text, _) if text.starts_with("tcgen05.mma"));
    let product = lines.iter().position(is_product)?;
    let mut innermost: Option<(usize, usize)> = None;
    for (end, line) in lines.iter().enumerate().skip(product) {
        let Line::Instruction(_, Some(target)) = line else { continue };
        // Labels in braces may stand several times: the nearest one is meant.
        let start = lines[..end].iter().rposition(|line| *line == Line::Label(target));
        let Some(start) = start.filter(|start| *start <= product) else { continue };
        match &mut innermost {
            // A loop may jump back from several places.
            Some((known, last)) if *known == start => *last = end,
            Some((known, _)) if *known > start => {}
            _ => innermost = Some((start, end)),
        }
    }
    innermost.map(|(start, end)| &lines[start..=end])
}

#[cfg(test)]
mod tests {
    use super::{Counts, Part};

    /// A loop within a loop, with one that waits inside, and after it one whose label has the same name.
    const TEXT: &str = "
$outer:
	add.s32 %r1, %r1, 1;
$inner: // of the depth
	.loc 1 2 3
$wait:
	mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], %r3;
	@!%p1 bra $wait;
	tcgen05.fence::after_thread_sync;
	@%p2 tcgen05.cp.cta_group::1.128x256b [%r4], %rd1;
	@%p2 tcgen05.mma.cta_group::1.kind::f16 [%r4], %rd1, %rd2, %r5, %p3;
	@%p2 tcgen05.mma.cta_group::1.kind::f16 [%r4], %rd1, %rd2, %r5, %p3;
	@%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r6];
	add.s32 %r7, %r7, 64;
	setp.lt.s32 %p4, %r7, %r8;
	@%p4 bra $inner;
$wait:
	mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], %r3;
	@!%p1 bra $wait;
	setp.lt.s32 %p5, %r1, %r9;
	@%p5 bra.uni $outer;
	ret;
";

    #[test]
    fn the_innermost_loop_around_a_product_is_counted() {
        let required = Counts { products: 2, copies: 1, waits: 1, synchronises: 2, others: 4 };
        assert_eq!(Part::of(TEXT), Part::Loop(required));
    }

    #[test]
    fn without_a_product_the_whole_text_is_counted() {
        let without = TEXT.replace("tcgen05.mma", "tcgen05.shift");
        let required = Counts { products: 0, copies: 1, waits: 2, synchronises: 2, others: 11 };
        assert_eq!(Part::of(&without), Part::Whole(required));
    }

    /// Of the instructions of bulk copies, two copy nothing.
    #[test]
    fn stores_are_counted_apart_from_their_groups() {
        let text = "
	cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [map0, {%r1, %r2}], [%r3];
	cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [map1, {%r1}], [%r3];
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group.read 0;
	ret;
";
        let required = Counts { products: 0, copies: 2, waits: 1, synchronises: 1, others: 1 };
        assert_eq!(Part::of(text).counts(), required);
    }
}

//! A row of the instruction table: one form of an instruction, written as the manual writes it.
//!
//! ```text
//! "ldmatrix.sync.aligned.m8n8.(x1|x2|x4){.trans}.(shared|shared::cta).b16"   "={x}b32, []"   "80 7.0"
//! ```
//! **Modifiers.** `.word` must be there, `{.word}` may be, `.(a|b)` is one of several. A name in
//! capitals is a list of its own ([`LISTS`]). `word'90/8.0` asks for more than the row does.
//!
//! **Operands.** `=` marks a destination; `t0` is the first type among the modifiers, `w0` the type of
//! twice its width, and other types are written out; `+` after a type lets a register be wider; `_`
//! after a destination lets it be `_`. `p` is a predicate, `!p` one that may be negated, `|p` a second
//! result that may be left out. `{4}f32` is a vector of four, with counts from the modifiers: `{v}`
//! from `.v4`, `{x*2}` from `.x4`, `{n/2}` from `.m64n128k16`, `{pack}` as many as make up the type.
//! `[]` is an address, `[tensor]` a tensor map with one coordinate for each dimension, `[tensor5]` with
//! five; `#` is an integer literal, `#0..255` one of a range. `?x` may be left out; `word?x` is there
//! exactly when the modifier is.
//!
//! **Need.** The target and the PTX ISA version: `80` is `sm_80` and later, `90a` that target alone,
//! `90a+` it and later lettered ones, `100f` the lettered targets of a family, `100a*` those of them with an `a`.

use crate::target::{Need, Version};
use crate::{Modifier, Opcode, Type};

/// A form of an instruction.
#[derive(Debug)]
pub struct Row {
    /// The opcode.
    pub opcode: Opcode,
    /// The syntax of the opcode and the modifiers, as the `row` module explains it.
    pub syntax: &'static str,
    /// The syntax of the operands.
    pub operands: &'static str,
    /// The targets that have it.
    pub need: Need,
    /// The first PTX ISA version that has it.
    pub version: Version,
    pub(crate) slots: Vec<Slot>,
    pub(crate) patterns: Vec<Pattern>,
}

/// A place for one modifier.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) required: bool,
    pub(crate) choices: Vec<Choice>,
}

/// A modifier that a slot takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    pub(crate) modifier: Modifier,
    /// What it asks for beyond its row.
    pub(crate) extra: Option<(Need, Version)>,
}

/// What an operand may be.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) presence: Presence,
    pub(crate) shape: Shape,
    pub(crate) text: &'static str,
}

/// When an operand is there.
#[derive(Debug)]
pub(crate) enum Presence {
    Always,
    Optional,
    /// Exactly when one of these modifiers is.
    With(Vec<Modifier>),
}

/// The kind of an operand.
#[derive(Debug)]
pub(crate) enum Shape {
    /// A register to write.
    Dest { ty: Ref, sink: bool },
    /// A register, a literal, a special register or a symbol.
    Source(Ref),
    /// `d` or `d|p`.
    DestPair(Ref),
    /// `{..}`
    Vector { dest: bool, count: Count, ty: Ref },
    /// A predicate to read.
    Predicate { negatable: bool },
    /// `[a]`
    Address,
    /// `[map, {..}]`
    Tensor { gathered: bool },
    /// An integer literal in a range.
    Literal(i128, i128),
    /// The target of a branch.
    Label,
    /// The table of a branch.
    Table,
    /// `_`
    Sink,
    /// The operands of a call, whatever they are.
    Call,
}

/// A type, written or taken from the modifiers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ref {
    pub(crate) of: Of,
    /// A register may be wider than the type.
    pub(crate) wider: bool,
}

/// Where a type comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Of {
    Type(Type),
    /// The type in the n-th slot of types.
    Slot(usize),
    /// Twice as wide as that.
    Wide(usize),
}

/// How many elements a vector has.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Count {
    Exactly(u32),
    /// `.v2`, `.v4`, `.v8`; one where there is none.
    Vec,
    /// The number of `.x4` times this.
    Times(u32),
    /// N of `.m64n128k16` divided by this.
    Columns(u32),
    /// Elements that are together as wide as the type.
    Pack,
    /// The disabled lanes of tensor memory: 4 words for one CTA, 8 for two.
    Mask,
}

/// Lists of alternatives that many rows share.
#[rustfmt::skip]
const LISTS: &[(&str, &str)] = &[
    ("INT", "u16|s16|u32|s32|u64|s64"),
    ("WORD", "u32|s32|u64|s64"),
    ("ANY", "b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64"),
    ("MEM", "b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64"),
    ("MEM32", "b8|b16|b32|u8|u16|u32|s8|s16|s32|f32"),
    ("MEM64", "b64|u64|s64|f64"),
    ("CVT", "u8|s8|u16|s16|u32|s32|u64|s64"),
    ("RND", "rn|rz|rm|rp"),
    ("IRND", "rni|rzi|rmi|rpi"),
    ("CMP", "eq|ne|lt|le|gt|ge"),
    ("FCMP", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"),
    ("BOOL", "and|or|xor"),
    ("SCOPE", "cta|cluster'90/7.8|gpu|sys"),
    ("SHARED", "shared|shared::cta'80/7.8|shared::cluster'90/7.8"),
    ("EVICT1", "L1::evict_normal'80/7.4|L1::evict_unchanged'80/7.4|L1::evict_first'80/7.4|L1::evict_last'80/7.4|L1::no_allocate'80/7.4"),
    ("PREFETCH", "L2::64B'80/7.4|L2::128B'80/7.4|L2::256B'80/7.4"),
    ("DIM", "1d|2d|3d|4d|5d"),
    ("WG8", "m64n8k8|m64n16k8|m64n24k8|m64n32k8|m64n40k8|m64n48k8|m64n56k8|m64n64k8|m64n72k8|m64n80k8|m64n88k8|m64n96k8|m64n104k8|m64n112k8|m64n120k8|m64n128k8|m64n136k8|m64n144k8|m64n152k8|m64n160k8|m64n168k8|m64n176k8|m64n184k8|m64n192k8|m64n200k8|m64n208k8|m64n216k8|m64n224k8|m64n232k8|m64n240k8|m64n248k8|m64n256k8"),
    ("WG16", "m64n8k16|m64n16k16|m64n24k16|m64n32k16|m64n40k16|m64n48k16|m64n56k16|m64n64k16|m64n72k16|m64n80k16|m64n88k16|m64n96k16|m64n104k16|m64n112k16|m64n120k16|m64n128k16|m64n136k16|m64n144k16|m64n152k16|m64n160k16|m64n168k16|m64n176k16|m64n184k16|m64n192k16|m64n200k16|m64n208k16|m64n216k16|m64n224k16|m64n232k16|m64n240k16|m64n248k16|m64n256k16"),
    ("WG32", "m64n8k32|m64n16k32|m64n24k32|m64n32k32|m64n40k32|m64n48k32|m64n56k32|m64n64k32|m64n72k32|m64n80k32|m64n88k32|m64n96k32|m64n104k32|m64n112k32|m64n120k32|m64n128k32|m64n136k32|m64n144k32|m64n152k32|m64n160k32|m64n168k32|m64n176k32|m64n184k32|m64n192k32|m64n200k32|m64n208k32|m64n216k32|m64n224k32|m64n232k32|m64n240k32|m64n248k32|m64n256k32"),
    ("WGI", "m64n8k32|m64n16k32|m64n24k32|m64n32k32|m64n48k32|m64n64k32|m64n80k32|m64n96k32|m64n112k32|m64n128k32|m64n144k32|m64n160k32|m64n176k32|m64n192k32|m64n208k32|m64n224k32|m64n240k32|m64n256k32"),
    ("WG64", "m64n8k64|m64n16k64|m64n24k64|m64n32k64|m64n40k64|m64n48k64|m64n56k64|m64n64k64|m64n72k64|m64n80k64|m64n88k64|m64n96k64|m64n104k64|m64n112k64|m64n120k64|m64n128k64|m64n136k64|m64n144k64|m64n152k64|m64n160k64|m64n168k64|m64n176k64|m64n184k64|m64n192k64|m64n200k64|m64n208k64|m64n216k64|m64n224k64|m64n232k64|m64n240k64|m64n248k64|m64n256k64"),
    ("WGI64", "m64n8k64|m64n16k64|m64n24k64|m64n32k64|m64n48k64|m64n64k64|m64n80k64|m64n96k64|m64n112k64|m64n128k64|m64n144k64|m64n160k64|m64n176k64|m64n192k64|m64n208k64|m64n224k64|m64n240k64|m64n256k64"),
    ("COLLECTB", "collector::b0::fill|collector::b0::use|collector::b0::lastuse|collector::b0::discard|collector::b1::fill|collector::b1::use|collector::b1::lastuse|collector::b1::discard|collector::b2::fill|collector::b2::use|collector::b2::lastuse|collector::b2::discard|collector::b3::fill|collector::b3::use|collector::b3::lastuse|collector::b3::discard"),
    ("F8", "e4m3|e5m2"),
    ("F8F6F4", "e4m3|e5m2|e3m2|e2m3|e2m1"),
];

fn list(name: &str) -> Option<&'static str> {
    LISTS.iter().find(|list| list.0 == name).map(|list| list.1)
}

/// `80 7.0`, also with `/` between.
fn need(text: &str) -> Option<(Need, Version)> {
    let (need, version) = text.split_once([' ', '/'])?;
    let number = |text: &str| text.parse::<u32>().ok();
    let need = if let Some(sm) = need.strip_suffix("a+") {
        Need::LetteredOnwards(number(sm)?)
    } else if let Some(sm) = need.strip_suffix("a*") {
        Need::SpecificOfFamily(number(sm)?)
    } else if let Some(sm) = need.strip_suffix('a') {
        Need::Exactly(number(sm)?)
    } else if let Some(sm) = need.strip_suffix('f') {
        Need::Family(number(sm)?)
    } else {
        Need::Onwards(number(need)?)
    };
    let (major, minor) = version.split_once('.')?;
    Some((need, (number(major)?, number(minor)?)))
}

fn choices(text: &str, into: &mut Vec<Choice>) -> Option<()> {
    for word in text.split('|') {
        if let Some(list) = list(word) {
            choices(list, into)?;
            continue;
        }
        let (word, extra) = match word.split_once('\'') {
            Some((word, extra)) => (word, Some(need(extra)?)),
            None => (word, None),
        };
        into.push(Choice { modifier: Modifier::from_text(word)?, extra });
    }
    Some(())
}

/// The end of a slot that starts after its dot; parentheses hide the dots of versions.
fn slot_end(text: &str) -> usize {
    if text.starts_with('(') {
        text.find(')').map_or(text.len(), |end| end + 1)
    } else {
        text.find(['.', '{', '}']).unwrap_or(text.len())
    }
}

fn slots(mut text: &str) -> Option<Vec<Slot>> {
    let mut slots = Vec::new();
    while !text.is_empty() {
        let required = !text.starts_with('{');
        text = text.strip_prefix('{').unwrap_or(text).strip_prefix('.')?;
        let (slot, rest) = text.split_at(slot_end(text));
        let slot = slot.strip_prefix('(').and_then(|slot| slot.strip_suffix(')')).unwrap_or(slot);
        let mut found = Vec::new();
        choices(slot, &mut found)?;
        slots.push(Slot { required, choices: found });
        text = if required { rest } else { rest.strip_prefix('}')? };
    }
    Some(slots)
}

fn reference(text: &str) -> Option<Ref> {
    let (text, wider) = match text.strip_suffix('+') {
        Some(text) => (text, true),
        None => (text, false),
    };
    let of = match text.split_at_checked(1) {
        Some(("t", number)) if number.len() == 1 => Of::Slot(number.parse().ok()?),
        Some(("w", number)) if number.len() == 1 => Of::Wide(number.parse().ok()?),
        _ => Of::Type(*Type::ALL.iter().find(|ty| ty.text() == text)?),
    };
    Some(Ref { of, wider })
}

fn count(text: &str) -> Option<Count> {
    let number = |text: &str| text.parse().ok();
    Some(match text {
        "v" => Count::Vec,
        "x" => Count::Times(1),
        "pack" => Count::Pack,
        "mask" => Count::Mask,
        _ => match text.split_at_checked(2) {
            Some(("x*", factor)) => Count::Times(number(factor)?),
            Some(("n/", divisor)) => Count::Columns(number(divisor)?),
            _ => Count::Exactly(number(text)?),
        },
    })
}

fn shape(text: &str) -> Option<Shape> {
    Some(match text {
        "p" => Shape::Predicate { negatable: false },
        "!p" => Shape::Predicate { negatable: true },
        "[]" => Shape::Address,
        "[tensor]" => Shape::Tensor { gathered: false },
        "[tensor5]" => Shape::Tensor { gathered: true },
        "label" => Shape::Label,
        "table" => Shape::Table,
        "call" => Shape::Call,
        "_" => Shape::Sink,
        "#" => Shape::Literal(i128::MIN, i128::MAX),
        "=p" => Shape::Dest { ty: Ref { of: Of::Type(Type::Pred), wider: false }, sink: false },
        "=p|p" => Shape::DestPair(Ref { of: Of::Type(Type::Pred), wider: false }),
        _ => {
            if let Some(range) = text.strip_prefix('#') {
                let (low, high) = range.split_once("..")?;
                return Some(Shape::Literal(low.parse().ok()?, high.parse().ok()?));
            }
            let (dest, rest) = match text.strip_prefix('=') {
                Some(rest) => (true, rest),
                None => (false, text),
            };
            if let Some(rest) = rest.strip_prefix('{') {
                let (number, ty) = rest.split_once('}')?;
                return Some(Shape::Vector { dest, count: count(number)?, ty: reference(ty)? });
            }
            if !dest {
                return Some(Shape::Source(reference(rest)?));
            }
            if let Some(ty) = rest.strip_suffix("|p") {
                return Some(Shape::DestPair(reference(ty)?));
            }
            match rest.strip_suffix('_') {
                Some(ty) => Shape::Dest { ty: reference(ty)?, sink: true },
                None => Shape::Dest { ty: reference(rest)?, sink: false },
            }
        }
    })
}

fn patterns(text: &'static str) -> Option<Vec<Pattern>> {
    let mut patterns = Vec::new();
    for text in text.split(", ").filter(|text| !text.is_empty()) {
        let (presence, text) = match text.split_once('?') {
            Some(("", text)) => (Presence::Optional, text),
            Some((words, text)) => {
                let words = words.split('|').map(Modifier::from_text).collect::<Option<_>>()?;
                (Presence::With(words), text)
            }
            None => (Presence::Always, text),
        };
        patterns.push(Pattern { presence, shape: shape(text)?, text });
    }
    Some(patterns)
}

/// Rows are told apart by their text.
impl PartialEq for Row {
    fn eq(&self, other: &Row) -> bool {
        (self.opcode, self.syntax, self.operands) == (other.opcode, other.syntax, other.operands)
    }
}

impl Eq for Row {}

impl Row {
    /// Reads a row; `None` where it is not written as this module explains.
    pub(crate) fn read([syntax, operands, needs]: [&'static str; 3]) -> Option<Row> {
        let end = syntax.find(['.', '{']).unwrap_or(syntax.len());
        let (opcode, modifiers) = syntax.split_at(end);
        let opcode = *Opcode::ALL.iter().find(|candidate| candidate.text() == opcode)?;
        let (need, version) = need(needs)?;
        let slots = slots(modifiers)?;
        let patterns = patterns(operands)?;
        Some(Row { opcode, syntax, operands, need, version, slots, patterns })
    }
}

impl Shape {
    /// Whether the instruction writes it.
    pub(crate) fn is_result(&self) -> bool {
        match self {
            Shape::Dest { .. }
            | Shape::DestPair(_)
            | Shape::Vector { dest: true, .. }
            | Shape::Sink => true,
            Shape::Source(_)
            | Shape::Vector { dest: false, .. }
            | Shape::Predicate { .. }
            | Shape::Address
            | Shape::Tensor { .. }
            | Shape::Literal(..)
            | Shape::Label
            | Shape::Table
            | Shape::Call => false,
        }
    }
}

impl Slot {
    /// Types have their own numbers: `t0`, `t1`.
    pub(crate) fn is_type(&self) -> bool {
        self.choices.iter().all(|choice| matches!(choice.modifier, Modifier::Type(_)))
    }
}

//! Copies of tiles to blocks of tensor memory: all combinations of extents, blocks, swizzles, element types and orders. Those that the
//! hardware has compile, and each of the others is refused for a reason that it has, at the expression that is to blame.

use kernel_core::{
    Options,
    compile::compile_unit,
    diag::{Compared, Diagnostic, Problems},
    loc::{Loc, Locations},
    syntax,
};

/// The shared memory of a block on `sm_100a` (PTX ISA, "Shared State Space"; 228 KiB less 1 KiB of the system).
const SHARED_BYTES: u32 = 227 * 1024;
/// Blocks of tensor memory are copied to by columns of so many bits.
const COLUMN_BITS: u32 = 32;
/// And by so many rows at once.
const BLOCK_ROWS: u32 = 128;

/// A tile of shared memory, and the tile of tensor memory to which it is copied.
#[derive(Clone, Copy, Debug)]
struct Case {
    rows: u32,
    columns: u32,
    /// The bytes of the swizzle in shared memory, 0 for a tile without.
    swizzle: u32,
    /// Whether the rows lie side by side there, and not the columns.
    transposed: bool,
    bits: u32,
    block: [u32; 2],
}

/// What stands in the way of a copy.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reason {
    SwizzleWiderThanRow,
    BlockWiderThanTile,
    SharedMemory,
    NotSwizzled,
    Transposed,
    Bits,
    BlockRows,
    /// Columns that the swizzle exchanges do not follow one another in tensor memory.
    NoAtom,
}

impl Reason {
    /// Whether tensor memory would have to lie otherwise; else shared memory.
    fn is_of_tensor_memory(self) -> bool {
        match self {
            Reason::BlockWiderThanTile | Reason::Bits | Reason::BlockRows | Reason::NoAtom => true,
            Reason::SwizzleWiderThanRow
            | Reason::SharedMemory
            | Reason::NotSwizzled
            | Reason::Transposed => false,
        }
    }
}

impl Case {
    /// What the hardware does not have of it: the conditions as those state them who have copied all the other combinations on one.
    fn reasons(self) -> Vec<Reason> {
        let Case { rows, columns, swizzle, transposed, bits, block: [block_rows, block_columns] } =
            self;
        let contiguous = if transposed { rows } else { columns };
        let all = [
            (contiguous * bits / 8 < swizzle, Reason::SwizzleWiderThanRow),
            (columns < block_columns, Reason::BlockWiderThanTile),
            (rows * columns * bits / 8 > SHARED_BYTES, Reason::SharedMemory),
            (swizzle == 0, Reason::NotSwizzled),
            (transposed, Reason::Transposed),
            (bits != COLUMN_BITS, Reason::Bits),
            (block_rows != BLOCK_ROWS, Reason::BlockRows),
            (rows == 256 && swizzle / block_columns >= 8, Reason::NoAtom),
        ];
        all.into_iter().filter_map(|(holds, reason)| holds.then_some(reason)).collect()
    }

    fn element(self) -> &'static str {
        match self.bits {
            8 => "u8",
            16 => "f16",
            _ => "f32",
        }
    }

    /// The extents of shared memory as they are allocated.
    fn allocated(self) -> [u32; 2] {
        if self.transposed { [self.columns, self.rows] } else { [self.rows, self.columns] }
    }

    /// The layouts of shared and of tensor memory, as they are written.
    fn layouts(self) -> [String; 2] {
        let swizzle = self.swizzle;
        let shared =
            if swizzle == 0 { "row_major()".to_owned() } else { format!("swizzle({swizzle})") };
        // A column for each element.
        [shared, format!("tmem_block({:?}, {})", self.block, COLUMN_BITS / self.bits)]
    }

    fn source(self) -> &'static str {
        if self.transposed { "staged.t()" } else { "staged" }
    }

    /// A kernel that copies between these layouts of shared and of tensor memory. What threads write and read there are other tests' subject (and
    /// the example `tcgen05_copy`'s), and takes long to compile.
    fn kernel(self, [shared, memory]: &[String; 2]) -> String {
        let (element, allocated, source) = (self.element(), self.allocated(), self.source());
        let shape = [self.rows, self.columns];
        format!(
            "fn through() {{
                let staged = shared::<{element}>({allocated:?}).with_layout({shared});
                let held = tmem::<{element}>({shape:?}).with_layout({memory});
                let copied = barrier(1);
                tcgen05::copy({source}, held);
                tcgen05::commit(copied);
                copied.wait(0);
            }}"
        )
    }

    /// The code, the comparison and the place that a message for this reason has.
    fn said(self, reason: Reason) -> Said {
        let (bits, [block_rows, block_columns]) = (self.bits, self.block);
        let [shared, memory] = self.layouts();
        let row = if self.transposed { self.rows } else { self.columns };
        let (source, held) = (self.source().to_owned(), "held".to_owned());
        match reason {
            Reason::SwizzleWiderThanRow => {
                let least = format!("at least {}", self.swizzle * 8 / bits);
                Said::new("K0301", "elements of a row", &least, &row, shared)
            }
            Reason::BlockWiderThanTile => {
                let most = format!("at most {}, like the tile", self.columns);
                Said::new("K0301", "columns of a block", &most, &block_columns, memory)
            }
            Reason::SharedMemory => {
                let most = format!("at most {SHARED_BYTES}");
                let at = format!("shared::<{}>({:?})", self.element(), self.allocated());
                Said::new("K0501", "bytes", &most, &(self.rows * self.columns * bits / 8), at)
            }
            Reason::NotSwizzled => {
                let actual = format!("`{shared}`");
                Said::new("K0307", "layout", &self.nearest(), &actual, source)
            }
            Reason::Transposed => {
                let (what, required) = ("contiguous in shared memory", "columns of the tile");
                Said::new("K0307", what, required, &"rows of the tile", source)
            }
            Reason::Bits => {
                Said::new("K0307", "bits of an element", &COLUMN_BITS.to_string(), &bits, held)
            }
            Reason::BlockRows => {
                Said::new("K0307", "rows of a block", &BLOCK_ROWS.to_string(), &block_rows, held)
            }
            Reason::NoAtom => {
                let least = format!("{} or more", self.swizzle * 8 / bits);
                Said::new("K0307", "columns of a block", &least, &block_columns, held)
            }
        }
    }

    /// The layout of the widest swizzle from which the tile is copied. Where each swizzle exchanges columns that do not follow one
    /// another in tensor memory, one that has 16 bytes of each row, one after the other.
    fn nearest(self) -> String {
        let swizzles = [128, 64, 32].map(|swizzle| Case { swizzle, ..self });
        if let Some(case) = swizzles.into_iter().find(|case| case.reasons().is_empty()) {
            return format!("`swizzle({})`", case.swizzle);
        }
        // The columns of 128 rows alternate with those of the other 128, as many as a block has; 4 of all these are 16 bytes.
        let columns = self.columns;
        let (extents, strides) = match self.block[1] {
            1 => (format!("2, 128, {}, 2", columns / 2), "1, 4, 512, 2"),
            2 => (format!("2, 128, {}, 2", columns / 2), "2, 4, 512, 1"),
            4 => (format!("256, {}, 4", columns / 4), "4, 1024, 1"),
            // Whatever else stands in the way of such a tile is told first.
            _ => return String::new(),
        };
        format!("`layout!(S[({extents}) : ({strides})])`")
    }
}

/// What a message says.
#[derive(Clone, Debug, PartialEq)]
struct Said {
    code: &'static str,
    /// What is compared, what is required, and what is there.
    compared: Vec<[String; 3]>,
    /// The expression that is underlined.
    at: String,
}

impl Said {
    fn new(
        code: &'static str,
        what: &str,
        required: &str,
        actual: &dyn ToString,
        at: String,
    ) -> Said {
        let compared = [what.to_owned(), required.to_owned(), actual.to_string()];
        Said { code, compared: vec![compared], at }
    }
}

/// What is said of a kernel, with the help.
fn problems(source: &str) -> Vec<(Said, Option<String>)> {
    let function: syn::ItemFn = syn::parse_str(source).expect("the source is Rust");
    let locations = Locations::new(function.sig.ident.span());
    let mut problems = Problems::new();
    let attributes = quote::quote!(target = sm_100a, warps = 4);
    let unit = syntax::parse_function(attributes, &function, &locations, &mut problems);
    compile_unit(&unit, &locations, &mut problems, Options::default(), &mut Vec::new());
    let lines: Vec<&str> = source.lines().collect();
    let text = |loc: Loc| {
        let (first, last) = locations.spans(loc);
        let (start, end) = (first.start(), last.end());
        assert_eq!(start.line, end.line, "an expression of this kernel is on one line");
        lines[start.line - 1][start.column..end.column].to_owned()
    };
    let said = |problem: &Diagnostic| {
        let row = |row: &Compared| [row.what.clone(), row.required.clone(), row.actual.clone()];
        let compared = problem.compare.iter().map(row).collect();
        let code = problem.code.number();
        (Said { code, compared, at: text(problem.primary) }, problem.help.clone())
    };
    problems.iter().chain(problems.warnings()).map(said).collect()
}

/// Tries a case; whether it compiles.
fn copies(case: Case) -> bool {
    let layouts = case.layouts();
    let source = case.kernel(&layouts);
    let (found, reasons) = (problems(&source), case.reasons());
    let expected: Vec<Said> = reasons.iter().map(|&reason| case.said(reason)).collect();
    let context = || format!("{case:?}\n{found:#?}\nof {expected:#?}");
    for (said, _) in &found {
        assert!(expected.contains(said), "{}", context());
    }
    // Of several reasons those are told that are found first.
    assert_eq!(found.is_empty(), expected.is_empty(), "{}", context());
    let ([reason], [(_, help)]) = (reasons.as_slice(), found.as_slice()) else {
        assert_ne!(reasons.len(), 1, "{}", context());
        return found.is_empty();
    };
    if *reason == Reason::SharedMemory {
        assert_eq!(help.as_deref(), None, "{}", context());
        return false;
    }
    // What the help says instead of the layout is copied.
    let help = help.as_deref().unwrap_or_else(|| panic!("no help: {}", context()));
    let layout = help.strip_prefix(".with_layout(").and_then(|rest| rest.strip_suffix(')'));
    let mut mended = layouts;
    layout.unwrap_or(help).clone_into(&mut mended[usize::from(reason.is_of_tensor_memory())]);
    assert_eq!(problems(&case.kernel(&mended)), [], "{mended:?} of {}", context());
    false
}

/// The extents of a row of all cases.
const COLUMNS: &[u32] = &[16, 32, 64, 128, 256];
/// And of those that are refused whatever else they have.
const SOME_COLUMNS: &[u32] = &[16, 64, 256];

/// Every combination of so many columns, whether transposed, bits of an element and rows of a block.
fn cases(columns: &[u32], variations: &[(bool, u32, u32)]) -> Vec<Case> {
    let mut cases = Vec::new();
    for rows in [128, 256] {
        for &columns in columns {
            for block_columns in (0..=8).map(|bit| 1 << bit) {
                for swizzle in [0, 32, 64, 128] {
                    cases.extend(variations.iter().map(|&(transposed, bits, block_rows)| Case {
                        rows,
                        columns,
                        swizzle,
                        transposed,
                        bits,
                        block: [block_rows, block_columns],
                    }));
                }
            }
        }
    }
    cases
}

/// Sums as products leave them, rows of the tile along rows of shared memory.
#[test]
fn blocks_of_sums_are_copied_from_every_swizzle_that_has_an_instruction() {
    let cases = cases(COLUMNS, &[(false, 32, 128)]);
    let tried = cases.len();
    let without_instruction =
        cases.iter().filter(|case| case.reasons() == [Reason::NoAtom]).count();
    let copied = cases.into_iter().filter(|&case| copies(case)).count();
    assert_eq!((tried, copied, without_instruction), (360, 130, 43));
}

#[test]
fn nothing_is_copied_from_transposed_tiles_to_blocks_of_sums() {
    let copied =
        cases(SOME_COLUMNS, &[(true, 32, 128)]).into_iter().filter(|&case| copies(case)).count();
    assert_eq!(copied, 0);
}

#[test]
fn elements_of_16_and_8_bits_are_not_copied_to_blocks() {
    let cases = cases(SOME_COLUMNS, &[(false, 16, 128), (false, 8, 128)]);
    assert_eq!(cases.into_iter().filter(|&case| copies(case)).count(), 0);
}

#[test]
fn nothing_is_copied_to_blocks_of_64_rows() {
    let copied =
        cases(SOME_COLUMNS, &[(false, 32, 64)]).into_iter().filter(|&case| copies(case)).count();
    assert_eq!(copied, 0);
}

#[test]
fn what_has_several_reasons_is_refused_for_one_of_them() {
    let cases = cases(SOME_COLUMNS, &[(true, 16, 128), (true, 8, 64)]);
    assert_eq!(cases.into_iter().filter(|&case| copies(case)).count(), 0);
}

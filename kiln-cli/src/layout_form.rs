//! Reading a layout as it is written in kernels: `slice(0, blocked([1, 4], [32, 1], [1, 4], [1, 0]))`.

use kernel_core::diag::nearest;
use kernel_layout::forms::{TmemAtom, TmemColumns};
use kernel_layout::notation::{NotationError, Reader};
use kernel_layout::tile::{ComposeLayout, TileLayout};
use kernel_layout::{Basis, Dim, Form, Layout, LayoutError};

/// The functions of the language that make layouts.
pub const OF_KERNELS: [&str; 9] = [
    "blocked",
    "slice",
    "linear",
    "mma",
    "dot_operand",
    "swizzle",
    "swizzled",
    "row_major",
    "shared_linear",
];
/// What only `kiln layout` reads: layouts that the hardware has, and kernels do not name.
pub const ONLY_HERE: [&str; 6] =
    ["padded", "wgmma", "cluster", "tmem_block", "tmem_scales", "tmem_load"];

/// A layout as it is written: a form, perhaps with padding, which makes it no form since it is not linear.
#[derive(Clone, Debug)]
pub struct Spelled {
    /// The form.
    pub form: Form,
    /// `padded([[interval, elements], ..], form)`: intervals, and the elements skipped after each.
    pub padding: Option<Vec<[u32; 2]>>,
    /// Where its parts are written.
    pub places: Places,
}

/// Where a form and its arguments stand in the text, in characters from its start.
#[derive(Clone, Debug)]
pub struct Places {
    at: usize,
    arguments: Vec<Argument>,
    /// The form that it is made of, if there is one.
    inner: Option<Box<Places>>,
}

#[derive(Clone, Debug)]
struct Argument {
    /// As messages about it call it.
    name: &'static str,
    at: usize,
    /// Where each entry of a list is.
    entries: Vec<usize>,
}

impl Places {
    fn new(at: usize) -> Places {
        Places { at, arguments: Vec::new(), inner: None }
    }

    /// The form that this one is made of.
    pub fn inner(&self) -> Option<&Places> {
        self.inner.as_deref()
    }

    /// What an error is about: an entry, an argument of this form or of one inside, or the form.
    pub fn of(&self, error: &LayoutError) -> usize {
        let found = error.argument().and_then(|(name, entry)| self.argument(name, entry));
        found.unwrap_or(self.at)
    }

    fn argument(&self, name: &str, entry: Option<usize>) -> Option<usize> {
        let own = self.arguments.iter().find(|argument| argument.name == name);
        let place = |argument: &Argument| {
            entry.and_then(|entry| argument.entries.get(entry).copied()).unwrap_or(argument.at)
        };
        own.map(place).or_else(|| self.inner()?.argument(name, entry))
    }
}

/// Reads a layout in the spelling of kernels, in that in which [`Form`] prints it, or padded; `element_bits` is for `swizzle`, which
/// does not say.
///
/// ```
/// use kiln_cli::layout_form::parse_spelled;
/// let rows = parse_spelled("slice(0, blocked([1, 4], [32, 1], [1, 4], [1, 0]))", 32)?;
/// assert_eq!(rows.form.to_string(), "slice(0, blocked([1, 4], [32, 1], [1, 4], [1, 0]))");
/// let digits = parse_spelled("layout!(S[(8, 4) : (4 @ laneid, 1 @ laneid)])", 32)?;
/// assert_eq!(digits.form.to_string(), "S[(8, 4) : (4 @ laneid, 1 @ laneid)]");
/// # Ok::<(), kernel_layout::notation::NotationError>(())
/// ```
///
/// # Errors
/// [`NotationError`] at the first character that does not fit.
pub fn parse_spelled(text: &str, element_bits: u32) -> Result<Spelled, NotationError> {
    let mut reader = FormReader { reader: Reader::new(text), element_bits, depth: 0 };
    let start = reader.reader.next_at();
    let spelled = if reader.reader.peek_word() == "padded" {
        reader.padded(start)?
    } else {
        let (form, places) = reader.form()?;
        Spelled { form, padding: None, places }
    };
    reader.reader.end("the end of the layout")?;
    Ok(spelled)
}

/// As [`parse_spelled`], of a form without padding.
///
/// # Errors
/// As [`parse_spelled`], and for padding.
pub fn parse(text: &str, element_bits: u32) -> Result<Form, NotationError> {
    let spelled = parse_spelled(text, element_bits)?;
    match spelled.padding {
        None => Ok(spelled.form),
        Some(_) => Err(NotationError {
            text: text.to_owned(),
            at: spelled.places.at,
            problem: "required a layout without padding".to_owned(),
        }),
    }
}

/// How deep forms may stand in forms; no layout of any use comes close.
const MOST_DEPTH: u32 = 16;

struct FormReader {
    reader: Reader,
    element_bits: u32,
    depth: u32,
}

/// The bases of each dimension, and the shape.
type Bases = (Vec<(Dim, Vec<Basis>)>, Vec<u32>);

/// The arguments of a call while they are read.
struct Arguments<'r> {
    from: &'r mut FormReader,
    places: Places,
    /// Whether one has been read, so that a comma comes before the next.
    any: bool,
}

impl FormReader {
    fn padded(&mut self, start: usize) -> Result<Spelled, NotationError> {
        /// More than any tile has along an axis; addresses stay well within 32 bits.
        const MOST: u32 = 1 << 10;
        self.reader.word();
        self.reader.require("(")?;
        let at = self.reader.next_at();
        let mut intervals = Argument { name: "interval", at, entries: Vec::new() };
        let mut skipped = Argument { name: "padding", at, entries: Vec::new() };
        let pairs = self.reader.list(|reader| {
            let start = reader.next_at();
            let pair = reader.list(|reader| Ok((reader.next_at(), reader.small()?)))?;
            let [(interval_at, interval), (padding_at, padding)] = pair[..] else {
                return Err(reader.problem_at(start, "required an interval and its padding"));
            };
            if interval > MOST || padding > MOST {
                let problem = format!("required an interval and padding of at most {MOST}");
                return Err(reader.problem_at(start, problem));
            }
            Ok(([interval, padding], [interval_at, padding_at]))
        })?;
        self.reader.require(",")?;
        let (form, inner) = self.form()?;
        self.reader.passes(",");
        self.reader.require(")")?;
        intervals.entries = pairs.iter().map(|(_, places)| places[0]).collect();
        skipped.entries = pairs.iter().map(|(_, places)| places[1]).collect();
        let arguments = vec![intervals, skipped];
        let places = Places { at: start, arguments, inner: Some(Box::new(inner)) };
        Ok(Spelled { form, padding: Some(pairs.iter().map(|(pair, _)| *pair).collect()), places })
    }

    /// Extents and strides, which have a notation of their own, if they come next.
    fn tile(&mut self) -> Result<Option<Form>, NotationError> {
        let reader = &mut self.reader;
        match reader.peek_word().as_str() {
            "layout" => {
                reader.word();
                reader.require("!")?;
                reader.require("(")?;
                let layout = TileLayout::read(reader)?;
                reader.require(")")?;
                Ok(Some(Form::Tile(layout)))
            }
            "Compose" => Ok(Some(Form::SwizzledTile(ComposeLayout::read(reader)?))),
            "S" | "R" => Ok(Some(Form::Tile(TileLayout::read(reader)?))),
            word if word.starts_with(|c: char| c.is_ascii_digit())
                || reader.peek() == Some('-') =>
            {
                Ok(Some(Form::Tile(TileLayout::read(reader)?)))
            }
            _ => Ok(None),
        }
    }

    /// Refuses what makes no layout within another one; `start` is where the name stands.
    fn check_name(&mut self, name: &str, start: usize) -> Result<(), NotationError> {
        let known = || OF_KERNELS.into_iter().chain(ONLY_HERE);
        if name == "padded" {
            let problem = "required `padded(..)` around the whole layout";
            return Err(self.reader.problem_at(start, problem));
        }
        if known().any(|other| other == name) {
            return Ok(());
        }
        let meant = match nearest(name, known()) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => String::new(),
        };
        let problem = if name.is_empty() || self.reader.peek() == Some('(') {
            let names: Vec<&str> = known().collect();
            format!("required one of {}, layout!(S[..]){meant}", names.join(", "))
        } else {
            format!("required a layout, actual the name `{name}`: write what it stands for{meant}")
        };
        Err(self.reader.problem_at(start, problem))
    }

    fn form(&mut self) -> Result<(Form, Places), NotationError> {
        let start = self.reader.next_at();
        if let Some(form) = self.tile()? {
            return Ok((form, Places::new(start)));
        }
        let name = self.reader.word();
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            let problem = format!("forms stand in one another more than {MOST_DEPTH} deep");
            return Err(self.reader.problem_at(start, problem));
        }
        self.check_name(&name, start)?;
        self.reader.require("(")?;
        let element_bits = self.element_bits;
        let mut of = Arguments { from: self, places: Places::new(start), any: false };
        let mut form = match name.as_str() {
            "blocked" => Form::Blocked {
                per_thread: of.numbers("per_thread")?,
                lanes: of.numbers("lanes")?,
                warps: of.numbers("warps")?,
                order: of.numbers("order")?,
            },
            "slice" => Form::Slice { axis: of.number("axis")?, parent: of.form()? },
            "linear" => {
                let dims =
                    [("registers", Dim::Register), ("lanes", Dim::Lane), ("warps", Dim::Warp)];
                Form::Linear(of.literal(&dims)?)
            }
            "shared_linear" => Form::SharedLinear(of.literal(&[("offsets", Dim::Offset)])?),
            "mma" => Form::MmaV2 { warps: of.pair("warps")? },
            "wgmma" => Form::Wgmma { warps: of.pair("warps")?, n: of.number("n")? },
            "dot_operand" => Form::DotOperand {
                index: of.number("operand index")?,
                parent: of.form()?,
                k_width: of.number("k_width")?,
            },
            "swizzled" => {
                let vec = of.number("swizzle")?;
                let per_phase = of.number("per_phase")?;
                let max_phase = of.number("max_phase")?;
                // Messages take the three for one list.
                let entries = of.places.arguments.iter().map(|argument| argument.at).collect();
                of.places.arguments[0].entries = entries;
                Form::Swizzled { vec, per_phase, max_phase, order: of.numbers("order")? }
            }
            "swizzle" => Form::NvmmaShared {
                swizzle_bytes: of.number("swizzle")?,
                element_bits,
                transposed: false,
                fp4_padded: false,
            },
            "row_major" => Form::RowMajor,
            "tmem_block" => {
                let block = of.pair("block")?;
                let entries = of.places.arguments[0].entries.clone();
                for (name, at) in ["rows of a block", "columns of a block"].into_iter().zip(entries)
                {
                    of.places.arguments.push(Argument { name, at, entries: Vec::new() });
                }
                let col_stride = of.number("column stride")?;
                Form::TensorMemory { block, col_stride, two_ctas: false }
            }
            "tmem_scales" => Form::TensorMemoryScales,
            "tmem_load" => Form::TensorMemoryLoad {
                atom: of.atom()?,
                columns: TmemColumns::Whole,
                memory: of.form()?,
                warps: of.number("warps")?,
                element_bits,
            },
            "cluster" => Form::Cluster { bases: of.bases("blocks")?, per_block: of.form()? },
            other => unreachable!("`{other}` is not among the known names"),
        };
        let places = of.end()?;
        if let Form::NvmmaShared { transposed, fp4_padded, .. } = &mut form {
            *transposed = self.reader.passes(".transposed()");
            *fp4_padded = self.reader.passes(".fp4_padded()");
        }
        if let Form::TensorMemory { two_ctas, .. } = &mut form {
            *two_ctas = self.reader.passes(".two_ctas()");
        }
        if let Form::TensorMemoryLoad { columns, .. } = &mut form
            && self.reader.passes(".split()")
        {
            *columns = TmemColumns::Split;
        }
        self.depth -= 1;
        Ok((form, places))
    }
}

impl Arguments<'_> {
    /// Passes the comma before an argument, and notes where that begins.
    fn begin(&mut self, name: &'static str) -> Result<usize, NotationError> {
        let reader = &mut self.from.reader;
        if self.any {
            reader.require(",")?;
        }
        self.any = true;
        let at = reader.next_at();
        self.places.arguments.push(Argument { name, at, entries: Vec::new() });
        Ok(at)
    }

    /// Where the entries are of the argument that was begun last.
    fn entries(&mut self, entries: Vec<usize>) {
        if let Some(last) = self.places.arguments.last_mut() {
            last.entries = entries;
        }
    }

    fn number(&mut self, name: &'static str) -> Result<u32, NotationError> {
        self.begin(name)?;
        self.from.reader.small()
    }

    fn numbers(&mut self, name: &'static str) -> Result<Vec<u32>, NotationError> {
        self.begin(name)?;
        let items = self.from.reader.list(|reader| Ok((reader.next_at(), reader.small()?)))?;
        let (places, numbers) = items.into_iter().unzip();
        self.entries(places);
        Ok(numbers)
    }

    fn pair(&mut self, name: &'static str) -> Result<[u32; 2], NotationError> {
        let numbers = self.numbers(name)?;
        numbers.try_into().map_err(|_| {
            let at = self.places.arguments.last().map_or(0, |argument| argument.at);
            self.from.reader.problem_at(at, "required two numbers, along rows and columns")
        })
    }

    fn bases(&mut self, name: &'static str) -> Result<Vec<Basis>, NotationError> {
        self.begin(name)?;
        let items =
            self.from.reader.list(|reader| Ok((reader.next_at(), reader.list(Reader::small)?)))?;
        let (places, bases) = items.into_iter().unzip();
        self.entries(places);
        Ok(bases)
    }

    fn form(&mut self) -> Result<Box<Form>, NotationError> {
        self.begin("parent")?;
        let (form, places) = self.from.form()?;
        self.places.inner = Some(Box::new(places));
        Ok(Box::new(form))
    }

    fn atom(&mut self) -> Result<TmemAtom, NotationError> {
        let at = self.begin("atom")?;
        let name = self.from.reader.word();
        TmemAtom::from_name(&name).ok_or_else(|| {
            let names = TmemAtom::ALL.map(TmemAtom::name);
            self.from.reader.problem_at(at, format!("required one of {}", names.join(", ")))
        })
    }

    /// The bases of a layout, as kernels write them: one list for each of `dims`, and the shape; or as layouts are printed:
    /// `register [0,1], lane [0,2] [1,0] -> [2, 4]`.
    fn literal(&mut self, dims: &[(&'static str, Dim)]) -> Result<Layout, NotationError> {
        let start = self.from.reader.next_at();
        let (ins, sizes) = if self.from.reader.peek() == Some('[') {
            let mut ins = Vec::new();
            for &(name, dim) in dims {
                let bases = self.bases(name)?;
                let place = self.places.arguments.last().map_or(start, |argument| argument.at);
                if dim == Dim::Lane && bases.len() != 5 {
                    let problem = format!("required 5 bases, for 32 lanes, actual {}", bases.len());
                    return Err(self.from.reader.problem_at(place, problem));
                }
                ins.push((dim, bases));
            }
            (ins, self.numbers("shape")?)
        } else {
            self.printed(dims)?
        };
        let outs = Dim::axes(sizes.len().min(8)).into_iter().zip(sizes).collect();
        Layout::new(ins, outs).map_err(|error| {
            let named = error.argument().and_then(|(name, bit)| self.places.argument(name, bit));
            self.from.reader.problem_at(named.unwrap_or(start), error.to_string())
        })
    }

    fn printed(&mut self, dims: &[(&'static str, Dim)]) -> Result<Bases, NotationError> {
        let mut ins: Vec<(Dim, Vec<Basis>)> = Vec::new();
        while !self.from.reader.passes("->") {
            if !ins.is_empty() {
                self.from.reader.require(",")?;
            }
            let dim = self.dim()?;
            let name =
                dims.iter().find(|(_, other)| *other == dim).map_or("bases", |(name, _)| *name);
            let reader = &mut self.from.reader;
            let mut argument = Argument { name, at: reader.next_at(), entries: Vec::new() };
            let mut bases = Vec::new();
            while reader.peek() == Some('[') {
                argument.entries.push(reader.next_at());
                bases.push(reader.list(Reader::small)?);
            }
            self.places.arguments.push(argument);
            ins.push((dim, bases));
        }
        self.any = false;
        Ok((ins, self.numbers("shape")?))
    }

    fn dim(&mut self) -> Result<Dim, NotationError> {
        let start = self.from.reader.next_at();
        let name = self.from.reader.word();
        let dims = [Dim::Register, Dim::Lane, Dim::Warp, Dim::Block, Dim::Offset];
        dims.into_iter().find(|dim| dim.to_string() == name).ok_or_else(|| {
            let problem =
                "required lists of bases, or register, lane, warp, block or offset before them";
            self.from.reader.problem_at(start, problem)
        })
    }

    /// Passes the end of the call: what was read, and where.
    fn end(self) -> Result<Places, NotationError> {
        let reader = &mut self.from.reader;
        if self.any {
            // As in Rust, a comma may end the list.
            reader.passes(",");
        }
        reader.require(")")?;
        Ok(self.places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_as_it_is_printed() {
        for text in [
            "blocked([1, 4], [32, 1], [1, 4], [1, 0])",
            "slice(0, blocked([1, 4], [32, 1], [1, 4], [1, 0]))",
            "linear([[1], [2]], [[4], [8], [16], [32], [64]], [], [128])",
            "linear(register [0,1], lane [0,2], warp, block [1,0] -> [2, 4])",
            "mma([4, 1])",
            "wgmma([4, 1], 128)",
            "dot_operand(0, mma([2, 2]), 2)",
            "swizzled(8, 1, 8, [1, 0])",
            "swizzle(128)",
            "swizzle(64).transposed()",
            "swizzle(128).transposed().fp4_padded()",
            "row_major()",
            "shared_linear([[0, 1], [0, 2], [1, 0]], [2, 4])",
            "cluster([[1, 0], [0, 1]], swizzle(128))",
            "tmem_block([128, 64], 1)",
            "cluster([[1, 0]], tmem_block([64, 64], 2).two_ctas())",
            "tmem_scales()",
            "S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]",
            "Compose(3, 3, 3, S[(64, 4, 64) : (64, 4096, 1)])",
            "tmem_load(16x256b, tmem_block([128, 64], 1), 4)",
            "tmem_load(32x32b, tmem_block([128, 64], 1), 8).split()",
        ] {
            let form = parse(text, 16).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(form.to_string(), text);
        }
    }

    #[test]
    fn what_kernels_write_is_what_is_printed() {
        for (written, printed) in [
            (
                "linear(register [0,1] [0,2], lane [0,4] [0,8] [0,16] [1,0] [2,0], warp -> [4, 32])",
                "linear([[0, 1], [0, 2]], [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], [], [4, 32])",
            ),
            (
                "shared_linear([[0, 1], [0, 2], [1, 0],], [2, 4])",
                "shared_linear([[0, 1], [0, 2], [1, 0]], [2, 4])",
            ),
            (
                "layout!(S[(8, 4) : (4 @ laneid, 1)] + R[2 : 1 @ warpid])",
                "S[(8, 4) : (4 @ laneid, 1)] + R[2 : 1 @ warpid]",
            ),
            ("slice(0, layout!(S[(4, 8) : (8, 1)]),)", "slice(0, S[(4, 8) : (8, 1)])"),
            ("wgmma([4, 1], 1_2_8)", "wgmma([4, 1], 128)"),
        ] {
            let form = parse(written, 16).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(form.to_string(), printed);
        }
    }

    #[test]
    fn names_of_constants_and_bases_that_do_not_fit_are_marked() {
        let marked = |text: &str| parse_spelled(text, 16).expect_err("not a layout").to_string();
        for (text, at, problem) in [
            (
                "slice(0, ROWS)",
                9,
                "required a layout, actual the name `ROWS`: write what it stands for",
            ),
            ("swizzl(128)", 0, "did you mean `swizzle`?"),
            (
                "layout!(S[(N, 4) : (4, 1)])",
                11,
                "required a number, actual the name `N`: write its value",
            ),
            (
                "linear([[0, 1]], [[0, 2]], [], [2, 4])",
                17,
                "required 5 bases, for 32 lanes, actual 1",
            ),
            ("shared_linear([[0, 1], [0, 4]], [2, 4])", 23, "coordinate 4 along"),
            ("shared_linear([[0, 1], [2]], [2, 4])", 23, "has 1 coordinates"),
            ("shared_linear([[0, 1], [1, 0]], [3, 2])", 33, "must be a power of two, but is 3"),
            ("slice(0, padded([[32, 4]], row_major()))", 9, "around the whole layout"),
            ("row_major", 9, "required `(`"),
        ] {
            let error = marked(text);
            let mark = format!("{text}\n{:at$}^ ", "");
            assert!(error.starts_with(&mark) && error.contains(problem), "{error}");
        }
    }

    #[test]
    fn spaces_do_not_matter_and_commas_may_not_be_doubled() {
        let form = parse(" slice( 1 ,blocked([1,4],[32,1],[1,4],[1,0]) ) ", 16);
        let required = "slice(1, blocked([1, 4], [32, 1], [1, 4], [1, 0]))";
        assert_eq!(form.expect("a layout").to_string(), required);
        assert!(parse("mma([4,, 1])", 16).is_err());
    }

    #[test]
    fn the_place_of_an_error_is_marked() {
        let marked = |text: &str| parse(text, 16).expect_err("not a layout").to_string();
        assert_eq!(
            marked("slice(0, blockd([1]))"),
            "slice(0, blockd([1]))\n         ^ required one of blocked, slice, linear, mma, dot_operand, swizzle, swizzled, \
             row_major, shared_linear, padded, wgmma, cluster, tmem_block, tmem_scales, tmem_load, layout!(S[..]); did you mean \
             `blocked`?"
        );
        assert_eq!(
            marked("mma([4, x])"),
            "mma([4, x])\n        ^ required a number, actual the name `x`: write its value"
        );
        assert_eq!(marked("mma([4, 1]"), "mma([4, 1]\n          ^ required `)`");
        assert_eq!(
            marked("mma([4])"),
            "mma([4])\n    ^ required two numbers, along rows and columns"
        );
        assert_eq!(
            marked("row_major() x"),
            "row_major() x\n            ^ required the end of the layout"
        );
    }

    #[test]
    fn forms_in_forms_without_end_are_refused() {
        let text = format!("{}row_major(){}", "slice(0, ".repeat(10_000), ")".repeat(10_000));
        assert!(parse(&text, 16).is_err());
    }
}

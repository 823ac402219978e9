//! Reading a layout as it is written in kernels: `slice(0, blocked([1, 4], [32, 1], [1, 4], [1, 0]))`.

use std::fmt;

use kernel_layout::forms::{TmemAtom, TmemColumns};
use kernel_layout::tile::NotationError;
use kernel_layout::{Basis, Dim, Form, Layout};

/// Where a text stops being a layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormError {
    /// The text.
    pub text: String,
    /// The place, in characters from its start.
    pub at: usize,
    /// What should stand there, or what is wrong with what does.
    pub problem: String,
}

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{:at$}^ {}", self.text, "", self.problem, at = self.at)
    }
}

impl std::error::Error for FormError {}

impl From<NotationError> for FormError {
    fn from(NotationError { text, at, problem }: NotationError) -> FormError {
        FormError { text, at, problem }
    }
}

/// A layout as it is written: a form, or one with padding, which is no form since it is not linear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spelled {
    /// A form.
    Form(Form),
    /// `padded([[interval, elements], ..], form)`.
    Padded {
        /// Intervals, and the elements skipped after each.
        padding: Vec<[u32; 2]>,
        /// What the padding is put into.
        form: Form,
    },
}

/// As [`parse()`], and `padded(..)` as well.
///
/// # Errors
/// [`FormError`] at the first character that does not fit.
pub fn parse_spelled(text: &str, element_bits: u32) -> Result<Spelled, FormError> {
    if !text.trim_start().starts_with("padded") {
        return parse(text, element_bits).map(Spelled::Form);
    }
    let mut reader = Reader { text: text.chars().collect(), at: 0, element_bits, depth: 0 };
    reader.require("padded")?;
    reader.require("(")?;
    let padding = reader.then(|reader| reader.list(Reader::padding))?;
    let form = reader.form()?;
    reader.require(")")?;
    reader.end()?;
    Ok(Spelled::Padded { padding, form })
}

/// Reads a layout in the spelling in which [`Form`] prints it; `element_bits` is for `swizzle`, which does not say.
///
/// ```
/// let text = "slice(0, blocked([1, 4], [32, 1], [1, 4], [1, 0]))";
/// assert_eq!(kiln_cli::layout_form::parse(text, 32)?.to_string(), text);
/// # Ok::<(), kiln_cli::layout_form::FormError>(())
/// ```
///
/// # Errors
/// [`FormError`] at the first character that does not fit.
pub fn parse(text: &str, element_bits: u32) -> Result<Form, FormError> {
    // Extents and strides have a notation of their own.
    if text.trim_start().starts_with("Compose") {
        return Ok(Form::SwizzledTile(text.parse()?));
    }
    if text
        .trim_start()
        .starts_with(['S', 'R', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
    {
        return Ok(Form::Tile(text.parse()?));
    }
    let mut reader = Reader { text: text.chars().collect(), at: 0, element_bits, depth: 0 };
    let form = reader.form()?;
    reader.end()?;
    Ok(form)
}

/// How deep forms may stand in forms; no layout of any use comes close.
const MOST_DEPTH: u32 = 16;

struct Reader {
    text: Vec<char>,
    at: usize,
    element_bits: u32,
    depth: u32,
}

impl Reader {
    fn problem(&self, problem: impl Into<String>) -> FormError {
        FormError { text: self.text.iter().collect(), at: self.at, problem: problem.into() }
    }

    fn spaces(&mut self) {
        while self.text.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    /// Whether the text goes on with `token`, which is then passed.
    fn passes(&mut self, token: &str) -> bool {
        self.spaces();
        let fits = token.chars().enumerate().all(|(i, c)| self.text.get(self.at + i) == Some(&c));
        if fits {
            self.at += token.chars().count();
        }
        fits
    }

    fn require(&mut self, token: &str) -> Result<(), FormError> {
        if self.passes(token) { Ok(()) } else { Err(self.problem(format!("required `{token}`"))) }
    }

    fn word(&mut self) -> String {
        self.spaces();
        let word: String = self.text[self.at..]
            .iter()
            .take_while(|c| c.is_ascii_alphanumeric() || **c == '_')
            .collect();
        self.at += word.len();
        word
    }

    fn number(&mut self) -> Result<u32, FormError> {
        self.spaces();
        let start = self.at;
        let digits = self.word();
        digits.parse().map_err(|_| {
            self.at = start;
            self.problem("required a number")
        })
    }

    fn end(&mut self) -> Result<(), FormError> {
        self.spaces();
        if self.at == self.text.len() {
            Ok(())
        } else {
            Err(self.problem("required the end of the layout"))
        }
    }

    /// An interval and the elements skipped after it.
    fn padding(&mut self) -> Result<[u32; 2], FormError> {
        /// More than any tile has along an axis; addresses stay well within 32 bits.
        const MOST: u32 = 1 << 10;
        self.spaces();
        let start = self.at;
        let pair = self.pair()?;
        if pair.iter().all(|&part| part <= MOST) {
            Ok(pair)
        } else {
            self.at = start;
            Err(self.problem(format!("required an interval and padding of at most {MOST}")))
        }
    }

    /// `[item, item, ..]`.
    fn list<T>(
        &mut self,
        item: impl Fn(&mut Reader) -> Result<T, FormError>,
    ) -> Result<Vec<T>, FormError> {
        self.require("[")?;
        let mut items = Vec::new();
        while !self.passes("]") {
            if !items.is_empty() {
                self.require(",")?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn numbers(&mut self) -> Result<Vec<u32>, FormError> {
        self.list(Reader::number)
    }

    /// An argument that others follow.
    fn then<T>(
        &mut self,
        argument: impl FnOnce(&mut Reader) -> Result<T, FormError>,
    ) -> Result<T, FormError> {
        let value = argument(self)?;
        self.require(",")?;
        Ok(value)
    }

    fn pair(&mut self) -> Result<[u32; 2], FormError> {
        self.spaces();
        let start = self.at;
        let numbers = self.numbers()?;
        numbers.try_into().map_err(|_| {
            self.at = start;
            self.problem("required two numbers, along rows and columns")
        })
    }

    fn form(&mut self) -> Result<Form, FormError> {
        self.spaces();
        let start = self.at;
        let name = self.word();
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(
                self.problem(format!("forms stand in one another more than {MOST_DEPTH} deep"))
            );
        }
        let known = [
            "blocked",
            "slice",
            "linear",
            "mma",
            "wgmma",
            "dot_operand",
            "swizzled",
            "swizzle",
            "row_major",
            "shared_linear",
            "cluster",
            "tmem_block",
            "tmem_scales",
            "tmem_load",
        ];
        if !known.contains(&name.as_str()) {
            self.at = start;
            return Err(self.problem(format!("required one of {}", known.join(", "))));
        }
        self.require("(")?;
        let mut form = match name.as_str() {
            "blocked" => Form::Blocked {
                per_thread: self.then(Reader::numbers)?,
                lanes: self.then(Reader::numbers)?,
                warps: self.then(Reader::numbers)?,
                order: self.numbers()?,
            },
            "slice" => {
                Form::Slice { axis: self.then(Reader::number)?, parent: Box::new(self.form()?) }
            }
            "linear" => Form::Linear(self.literal(&[Dim::Register, Dim::Lane, Dim::Warp])?),
            "shared_linear" => Form::SharedLinear(self.literal(&[Dim::Offset])?),
            "mma" => Form::MmaV2 { warps: self.pair()? },
            "wgmma" => Form::Wgmma { warps: self.then(Reader::pair)?, n: self.number()? },
            "dot_operand" => Form::DotOperand {
                index: self.then(Reader::number)?,
                parent: Box::new(self.then(Reader::form)?),
                k_width: self.number()?,
            },
            "swizzled" => Form::Swizzled {
                vec: self.then(Reader::number)?,
                per_phase: self.then(Reader::number)?,
                max_phase: self.then(Reader::number)?,
                order: self.numbers()?,
            },
            "swizzle" => Form::NvmmaShared {
                swizzle_bytes: self.number()?,
                element_bits: self.element_bits,
                transposed: false,
                fp4_padded: false,
            },
            "row_major" => Form::RowMajor,
            "tmem_block" => Form::TensorMemory {
                block: self.then(Reader::pair)?,
                col_stride: self.number()?,
                two_ctas: false,
            },
            "tmem_scales" => Form::TensorMemoryScales,
            "tmem_load" => Form::TensorMemoryLoad {
                atom: self.then(Reader::atom)?,
                columns: TmemColumns::Whole,
                memory: Box::new(self.then(Reader::form)?),
                warps: self.number()?,
                element_bits: self.element_bits,
            },
            "cluster" => Form::Cluster {
                bases: self.then(|reader| reader.list(Reader::numbers))?,
                per_block: Box::new(self.form()?),
            },
            other => unreachable!("`{other}` is not among the known names"),
        };
        self.require(")")?;
        if let Form::NvmmaShared { transposed, fp4_padded, .. } = &mut form {
            *transposed = self.passes(".transposed()");
            *fp4_padded = self.passes(".fp4_padded()");
        }
        if let Form::TensorMemory { two_ctas, .. } = &mut form {
            *two_ctas = self.passes(".two_ctas()");
        }
        if let Form::TensorMemoryLoad { columns, .. } = &mut form
            && self.passes(".split()")
        {
            *columns = TmemColumns::Split;
        }
        self.depth -= 1;
        Ok(form)
    }

    fn atom(&mut self) -> Result<TmemAtom, FormError> {
        self.spaces();
        let start = self.at;
        let name = self.word();
        TmemAtom::from_name(&name).ok_or_else(|| {
            self.at = start;
            let names = TmemAtom::ALL.map(TmemAtom::name);
            self.problem(format!("required one of {}", names.join(", ")))
        })
    }

    /// The bases of a layout as kernels write them, a list for each of `dims` and the shape: `[[0, 1]], [[0, 2], [1, 0]], [], [2, 4]`;
    /// or with names, as they are printed: `register [0,1], lane [0,2] [1,0] -> [2, 4]`.
    fn literal(&mut self, dims: &[Dim]) -> Result<Layout, FormError> {
        self.spaces();
        let start = self.at;
        let mut ins: Vec<(Dim, Vec<Basis>)> = Vec::new();
        if self.text.get(self.at) == Some(&'[') {
            for &dim in dims {
                ins.push((dim, self.then(|reader| reader.list(Reader::numbers))?));
            }
            return self.layout_of(ins, start);
        }
        while !self.passes("->") {
            if !ins.is_empty() {
                self.require(",")?;
            }
            let dim = self.dim()?;
            let mut bases = Vec::new();
            self.spaces();
            while self.text.get(self.at) == Some(&'[') {
                bases.push(self.numbers()?);
                self.spaces();
            }
            ins.push((dim, bases));
        }
        self.layout_of(ins, start)
    }

    /// The layout with these bases and the shape that follows; errors are marked at `start`.
    fn layout_of(
        &mut self,
        ins: Vec<(Dim, Vec<Basis>)>,
        start: usize,
    ) -> Result<Layout, FormError> {
        let sizes = self.numbers()?;
        let outs = Dim::axes(sizes.len().min(8)).into_iter().zip(sizes).collect();
        Layout::new(ins, outs).map_err(|error| {
            self.at = start;
            self.problem(error.to_string())
        })
    }

    fn dim(&mut self) -> Result<Dim, FormError> {
        self.spaces();
        let start = self.at;
        let name = self.word();
        let dims = [Dim::Register, Dim::Lane, Dim::Warp, Dim::Block, Dim::Offset];
        dims.into_iter().find(|dim| dim.to_string() == name).ok_or_else(|| {
            self.at = start;
            self.problem("required register, lane, warp, block or offset")
        })
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
    fn bases_are_read_with_and_without_the_names_of_their_dimensions() {
        let named = parse("linear(register [1] [2], lane [4] [8] -> [16])", 16);
        let plain = parse("linear([[1], [2]], [[4], [8]], [], [16])", 16).expect("a layout");
        assert_eq!(named.expect("a layout").to_string(), plain.to_string());
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
            "slice(0, blockd([1]))\n         ^ required one of blocked, slice, linear, mma, wgmma, dot_operand, \
             swizzled, swizzle, row_major, shared_linear, cluster, tmem_block, tmem_scales, tmem_load"
        );
        assert_eq!(marked("mma([4, x])"), "mma([4, x])\n        ^ required a number");
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

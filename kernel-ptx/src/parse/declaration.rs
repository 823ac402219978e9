//! Variables, parameters and initialisers.

use super::Parser;
use super::expression::Value;
use super::lexer::Kind;
use crate::{Initial, Linkage, Modifier, Param, ParseError, Space, Type, Variable};

/// The space of a variable's directive.
pub(super) fn variable_space(word: &str) -> Option<Space> {
    Some(match word {
        "global" => Space::Global,
        "const" => Space::Const,
        "shared" | "shared::cta" => Space::Shared,
        "local" => Space::Local,
        "param" => Space::Param,
        _ => return None,
    })
}

/// The most elements that an initialiser may have, so that a padded one does not take all memory.
const ELEMENTS: usize = 1 << 22;

/// What stands before the names of a declaration.
#[derive(Clone, Copy)]
pub(super) struct Head {
    pub(super) ty: Type,
    /// 1, 2 or 4.
    pub(super) vector: u32,
    /// 0 where the text has none.
    pub(super) align: u32,
}

impl Head {
    /// The written alignment, or the size of an element.
    pub(super) fn alignment(self) -> u32 {
        match self.align {
            0 => u32::try_from(self.ty.bytes()).unwrap_or(1).max(1) * self.vector,
            written => written,
        }
    }
}

impl<'t> Parser<'t> {
    /// `.align 16 .v4 .f32` and the attributes that come with them.
    pub(super) fn head(&mut self) -> Result<Head, ParseError> {
        let (mut ty, mut vector, mut align, mut pointer) = (None, 1, 0, false);
        loop {
            let Kind::Dot(word) = self.kind() else {
                return match ty {
                    Some(ty) => Ok(Head { ty, vector, align }),
                    None => Err(self.error("a type")),
                };
            };
            match word {
                "align" => {
                    self.at += 1;
                    let at = self.at;
                    let bytes = self.count_u32()?;
                    if !bytes.is_power_of_two() || bytes > 1 << 20 {
                        return Err(self.error_at(at, "an alignment: a power of two"));
                    }
                    // After `.ptr` it is the alignment of what the pointer points at.
                    if !pointer {
                        align = bytes;
                    }
                    continue;
                }
                "attribute" => {
                    self.at += 1;
                    self.attribute()?;
                    continue;
                }
                "ptr" => pointer = true,
                "global" | "const" | "shared" | "local" | "param" if pointer => {}
                "v2" => vector = 2,
                "v4" => vector = 4,
                "v8" => vector = 8,
                _ => match Modifier::from_text(word) {
                    Some(Modifier::Type(word)) if ty.is_none() => ty = Some(word),
                    Some(_) | None => return Err(self.error("a type")),
                },
            }
            self.at += 1;
        }
    }

    /// `.attribute(.managed)` and `.attribute(.unified(..))` say where the driver puts a variable.
    pub(super) fn attribute(&mut self) -> Result<(), ParseError> {
        self.skip_brackets(["(", ")"], &[";", "{"], "a list that ends in `)`")
    }

    /// `[4][8]`; `[]` is an extent of 0.
    pub(super) fn dims(&mut self) -> Result<Vec<u64>, ParseError> {
        let mut dims = Vec::new();
        while self.eat("[") {
            if dims.is_empty() && self.eat("]") {
                dims.push(0);
                continue;
            }
            let at = self.at;
            dims.push(self.count(1 << 40)?);
            self.expect("]")?;
            let size =
                dims.iter().fold(1_u64, |size, extent| size.saturating_mul((*extent).max(1)));
            if size > 1 << 56 {
                return Err(self.error_at(at, "an array of at most 2^56 elements"));
            }
        }
        Ok(dims)
    }

    /// `.shared .align 16 .b8 a[64], b[64];` up to its semicolon.
    pub(super) fn variables(
        &mut self,
        linkage: Linkage,
    ) -> Result<Vec<(&'t str, Variable)>, ParseError> {
        let Kind::Dot(word) = self.kind() else {
            return Err(self.error("a state space"));
        };
        let Some(space) = variable_space(word) else {
            return Err(self.error("a state space"));
        };
        self.at += 1;
        let head = self.head()?;
        let mut variables = Vec::new();
        loop {
            let name = self.name("the name of a variable")?;
            let mut dims = self.dims()?;
            let init = if self.eat("=") { Some(self.initialiser(head, &mut dims)?) } else { None };
            let variable = Variable {
                name: name.to_owned(),
                linkage,
                space,
                ty: head.ty,
                vector: head.vector,
                align: head.alignment(),
                dims,
                init,
            };
            variables.push((name, variable));
            if !self.eat(",") {
                self.expect(";")?;
                return Ok(variables);
            }
        }
    }

    /// `.param .u64 .ptr .global .align 16 name` or `.reg .b32 %a`, without what is around it.
    pub(super) fn param(&mut self) -> Result<(&'t str, Param), ParseError> {
        let Kind::Dot(word @ ("param" | "reg")) = self.kind() else {
            return Err(self.error("`.param` or `.reg`"));
        };
        let space = if word == "param" { Space::Param } else { Space::Reg };
        self.at += 1;
        let head = self.head()?;
        if head.vector != 1 {
            return Err(self.error("a parameter that is no vector"));
        }
        let name = self.name("the name of a parameter")?;
        let dims = self.dims()?;
        let param = Param {
            name: name.to_owned(),
            space,
            ty: head.ty,
            align: head.alignment(),
            dims,
            register: None,
        };
        Ok((name, param))
    }

    /// The value after `=`. The first extent of `name[]` becomes what the values need.
    fn initialiser(&mut self, head: Head, dims: &mut [u64]) -> Result<Vec<Initial>, ParseError> {
        let mut shape = dims.to_vec();
        if head.vector != 1 {
            shape.push(u64::from(head.vector));
        }
        let mut elements = Vec::new();
        if matches!(self.kind(), Kind::Mark("{")) {
            self.braces(head.ty, &shape, &mut elements)?;
        } else {
            elements.push(self.element(head.ty)?);
        }
        if let [first, rest @ ..] = dims
            && *first == 0
        {
            let row = rest.iter().product::<u64>() * u64::from(head.vector);
            *first = (elements.len() as u64).div_ceil(row.max(1));
        }
        Ok(elements)
    }

    /// `{ {1, 2}, {3} }`: an inner list that is too short is padded where another follows.
    fn braces(
        &mut self,
        ty: Type,
        shape: &[u64],
        elements: &mut Vec<Initial>,
    ) -> Result<(), ParseError> {
        self.deeper(|parser| {
            parser.expect("{")?;
            let inner = shape.get(1..).unwrap_or(&[]);
            let size = inner.iter().product::<u64>();
            let zero = Initial::Bytes(vec![0; usize::try_from(ty.bytes()).unwrap_or(1)]);
            let start = elements.len();
            if parser.eat("}") {
                return Ok(());
            }
            loop {
                if matches!(parser.kind(), Kind::Mark("{")) {
                    // Elements that earlier lists left out.
                    let filled = (elements.len() - start) as u64;
                    let missing = usize::try_from(filled.next_multiple_of(size.max(1)) - filled)
                        .unwrap_or(usize::MAX);
                    if missing.saturating_add(elements.len()) > ELEMENTS {
                        return Err(parser.error("a shorter initialiser"));
                    }
                    elements.extend(std::iter::repeat_n(zero.clone(), missing));
                    let before = elements.len();
                    parser.braces(ty, inner, elements)?;
                    if elements.len() == before {
                        // `{}` stands for zeros; one of them marks the place.
                        elements.push(zero.clone());
                    }
                } else {
                    elements.push(parser.element(ty)?);
                }
                let room = match shape.first() {
                    Some(0) => u64::MAX,
                    _ => shape.iter().product(),
                };
                if elements.len() > ELEMENTS || (elements.len() - start) as u64 > room {
                    return Err(parser.error_at(parser.at - 1, "a shorter initialiser"));
                }
                if parser.eat("}") {
                    return Ok(());
                }
                parser.expect(",")?;
            }
        })
    }

    fn element(&mut self, ty: Type) -> Result<Initial, ParseError> {
        if let Kind::Name(name) = self.kind()
            && name != "WARP_SZ"
        {
            self.at += 1;
            if name != "generic" {
                return self.symbol_address(name, false);
            }
            self.expect("(")?;
            let symbol = self.name("the name of a variable")?;
            let inner = self.symbol_address(symbol, true)?;
            self.expect(")")?;
            let Initial::Address { symbol, offset, generic } = inner else {
                return Ok(inner);
            };
            let offset = offset.wrapping_add(self.offset()?);
            return Ok(Initial::Address { symbol, offset, generic });
        }
        let at = self.at;
        let value = self.expression()?;
        let width = usize::try_from(ty.bytes()).unwrap_or(1);
        initial_bytes(value, ty, width)
            .map(Initial::Bytes)
            .ok_or_else(|| self.error_at(at, &format!("a value of `.{}`", ty.text())))
    }

    fn symbol_address(&mut self, symbol: &str, generic: bool) -> Result<Initial, ParseError> {
        let offset = self.offset()?;
        Ok(Initial::Address { symbol: symbol.to_owned(), offset, generic })
    }

    /// `+8`, `-8`, `+-8` or nothing: the bytes after a base.
    pub(super) fn offset(&mut self) -> Result<i64, ParseError> {
        let at = self.at;
        let value = if self.eat("+") || matches!(self.kind(), Kind::Mark("-")) {
            self.integer()?
        } else {
            return Ok(0);
        };
        #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
        if (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&value) {
            Ok(value as i64)
        } else {
            Err(self.error_at(at, "an offset of at most 64 bits"))
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a literal takes the width and the precision of its variable"
)]
fn initial_bytes(value: Value, ty: Type, width: usize) -> Option<Vec<u8>> {
    let mut bytes = match (ty, value) {
        (Type::F32, Value::Float(value)) => (value as f32).to_le_bytes().to_vec(),
        (Type::F32, Value::F32(bits)) => bits.to_le_bytes().to_vec(),
        (Type::F32, Value::F64(bits)) => (f64::from_bits(bits) as f32).to_le_bytes().to_vec(),
        (Type::F32, _) => (value.integer()? as f32).to_le_bytes().to_vec(),
        (Type::F64, Value::Float(value)) => value.to_le_bytes().to_vec(),
        (Type::F64, Value::F32(bits)) => f64::from(f32::from_bits(bits)).to_le_bytes().to_vec(),
        (Type::F64, Value::F64(bits)) => bits.to_le_bytes().to_vec(),
        (Type::F64, _) => (value.integer()? as f64).to_le_bytes().to_vec(),
        (_, Value::F32(bits)) if width == 4 => bits.to_le_bytes().to_vec(),
        (_, Value::F64(bits)) if width == 8 => bits.to_le_bytes().to_vec(),
        _ => value.integer()?.to_le_bytes().to_vec(),
    };
    bytes.truncate(width);
    Some(bytes)
}

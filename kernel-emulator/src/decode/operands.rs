//! Modifiers and operands of one instruction.

use std::collections::BTreeMap;

use kernel_ptx::{
    Function, Instruction, Modifier, Module, Operand, Reg, Space, SpecialRegister, Symbol, Type,
    Word,
};

use super::layout::Frame;
use crate::code::{Address, Base, Code, D, P, Place, Pred, Preset, Q, Slot, Special, W};
use crate::machine::PARAM_BASE;
use crate::memory::local::LOCAL_BASE;

/// Why an instruction cannot be executed.
pub(crate) type Problem = String;
/// A decoded part of an instruction.
pub(crate) type Decoded<T> = Result<T, Problem>;

/// The modifiers of an instruction; each must be asked for.
pub(super) struct Modifiers {
    left: Vec<Modifier>,
}

impl Modifiers {
    pub(super) fn new(instruction: &Instruction) -> Modifiers {
        Modifiers { left: instruction.modifiers.clone() }
    }

    /// Takes a word if it is there.
    pub(super) fn word(&mut self, word: Word) -> bool {
        match self.left.iter().position(|m| *m == Modifier::Word(word)) {
            Some(index) => {
                self.left.remove(index);
                true
            }
            None => false,
        }
    }

    /// Takes every word of a list that is there.
    pub(super) fn ignore(&mut self, words: &[Word]) {
        self.left.retain(|m| !matches!(m, Modifier::Word(word) if words.contains(word)));
    }

    /// Takes the first word of a table that is there.
    pub(super) fn one_of<T: Copy>(&mut self, table: &[(Word, T)]) -> Option<T> {
        let index = self
            .left
            .iter()
            .position(|m| table.iter().any(|(word, _)| *m == Modifier::Word(*word)))?;
        let taken = self.left.remove(index);
        table.iter().find(|(word, _)| taken == Modifier::Word(*word)).map(|(_, value)| *value)
    }

    /// Takes the first word whose text is asked for.
    pub(super) fn take_text(&mut self, wanted: impl Fn(&str) -> bool) -> Option<&'static str> {
        let text = |m: &Modifier| match m {
            Modifier::Word(word) => Some(word.text()),
            Modifier::Type(_) | Modifier::Space(_) => None,
        };
        let index = self.left.iter().position(|m| text(m).is_some_and(&wanted))?;
        text(&self.left.remove(index))
    }

    /// Takes the next type.
    pub(super) fn next_type(&mut self) -> Option<Type> {
        let index = self.left.iter().position(|m| matches!(m, Modifier::Type(_)))?;
        match self.left.remove(index) {
            Modifier::Type(ty) => Some(ty),
            Modifier::Space(_) | Modifier::Word(_) => None,
        }
    }

    /// Takes the next type, which must be there.
    pub(super) fn ty(&mut self) -> Decoded<Type> {
        self.next_type().ok_or_else(|| "a type is missing".to_owned())
    }

    /// Takes the next state space.
    pub(super) fn space(&mut self) -> Decoded<Option<Place>> {
        let words = [
            (Word::SharedCta, Place::Shared),
            (Word::SharedCluster, Place::Shared),
            (Word::ParamEntry, Place::Param),
            (Word::ParamFunc, Place::Local),
        ];
        let index = self.left.iter().position(|m| match m {
            Modifier::Space(_) => true,
            Modifier::Word(word) => words.iter().any(|(w, _)| w == word),
            Modifier::Type(_) => false,
        });
        let Some(index) = index else { return Ok(None) };
        match self.left.remove(index) {
            Modifier::Space(Space::Global) => Ok(Some(Place::Global)),
            Modifier::Space(Space::Const) => Ok(Some(Place::Const)),
            Modifier::Space(Space::Local) => Ok(Some(Place::Local)),
            Modifier::Space(Space::Shared) => Ok(Some(Place::Shared)),
            Modifier::Space(Space::Param) => Ok(Some(Place::Param)),
            Modifier::Space(Space::Reg) => Err("`.reg` is no space of an access".to_owned()),
            Modifier::Word(word) => {
                Ok(words.iter().find(|(w, _)| *w == word).map(|(_, place)| *place))
            }
            Modifier::Type(_) => Ok(None),
        }
    }

    /// Every modifier must have been taken.
    pub(super) fn finish(&self) -> Decoded<()> {
        match self.left.first() {
            None => Ok(()),
            Some(modifier) => {
                let text = match modifier {
                    Modifier::Type(ty) => ty.text(),
                    Modifier::Space(space) => space.text(),
                    Modifier::Word(word) => word.text(),
                };
                Err(format!("`.{text}` is not modelled here"))
            }
        }
    }
}

/// Preset slots under construction.
#[derive(Default)]
pub(super) struct Presets {
    words: BTreeMap<Preset, u32>,
    doubles: BTreeMap<Preset, u32>,
    preds: BTreeMap<bool, u32>,
}

/// What is needed to decode the instructions of one function.
pub(super) struct Scope<'m> {
    pub(super) module: &'m Module,
    pub(super) function: &'m Function,
    /// The slot of each register of the function.
    pub(super) slots: &'m [Slot],
    pub(super) frame: &'m Frame,
    pub(super) layout: &'m mut super::layout::Layout,
    pub(super) presets: &'m mut Presets,
    pub(super) code: &'m mut Code,
}

/// The declared width of a register, in bits.
pub(super) fn register_bits(function: &Function, reg: Reg) -> u32 {
    function.registers[reg.0 as usize].ty.bits()
}

fn index<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).expect("fewer than 4 G slots")
}

impl Scope<'_> {
    /// The slot that holds a preset, 32 bits wide.
    pub(super) fn preset_w(&mut self, preset: Preset) -> W {
        let code = &mut *self.code;
        let slot = *self.presets.words.entry(preset).or_insert_with(|| {
            code.word_presets.push(preset);
            code.words + index(&code.word_presets) - 1
        });
        W(slot)
    }

    /// The slot that holds a preset, 64 bits wide.
    pub(super) fn preset_d(&mut self, preset: Preset) -> D {
        let code = &mut *self.code;
        let slot = *self.presets.doubles.entry(preset).or_insert_with(|| {
            code.double_presets.push(preset);
            code.doubles + index(&code.double_presets) - 1
        });
        D(slot)
    }

    /// A predicate that is always true, or never.
    pub(super) fn preset_p(&mut self, value: bool) -> P {
        let code = &mut *self.code;
        let slot = *self.presets.preds.entry(value).or_insert_with(|| {
            code.pred_presets.push(value);
            code.preds + index(&code.pred_presets) - 1
        });
        P(slot)
    }

    pub(super) fn reg(&self, reg: Reg) -> Slot {
        self.slots[reg.0 as usize]
    }

    /// A register operand that is written, or `_`.
    pub(super) fn target(&self, operand: &Operand) -> Decoded<Option<Slot>> {
        if let Operand::Reg(reg) = operand {
            Ok(Some(self.reg(*reg)))
        } else if matches!(operand, Operand::Sink) {
            Ok(None)
        } else {
            Err(format!("{} cannot be written", describe(operand)))
        }
    }

    /// A register operand that is written.
    pub(super) fn dest(&self, operand: &Operand) -> Decoded<Slot> {
        self.target(operand)?.ok_or_else(|| "a register is needed here, not `_`".to_owned())
    }

    pub(super) fn dest_w(&self, operand: &Operand) -> Decoded<W> {
        word(self.dest(operand)?)
    }

    /// A 32-bit register that is written, or `_`.
    pub(super) fn target_w(&self, operand: &Operand) -> Decoded<Option<W>> {
        self.target(operand)?.map(word).transpose()
    }

    pub(super) fn dest_d(&self, operand: &Operand) -> Decoded<D> {
        double(self.dest(operand)?)
    }

    pub(super) fn dest_p(&self, operand: &Operand) -> Decoded<P> {
        predicate(self.dest(operand)?)
    }

    /// A predicate that is written, or `_`.
    pub(super) fn target_p(&self, operand: &Operand) -> Decoded<Option<P>> {
        self.target(operand)?.map(predicate).transpose()
    }

    /// A 32-bit source.
    pub(super) fn w(&mut self, operand: &Operand) -> Decoded<W> {
        match operand {
            Operand::Reg(reg) => word(self.reg(*reg)),
            Operand::Int(value) => {
                if !(-(1 << 63)..1 << 64).contains(value) {
                    return Err(format!("{value} does not fit 64 bits"));
                }
                let bits = value.to_le_bytes();
                let word = u32::from_le_bytes([bits[0], bits[1], bits[2], bits[3]]);
                Ok(self.preset_w(Preset::Word(word)))
            }
            Operand::F32(bits) => Ok(self.preset_w(Preset::Word(*bits))),
            Operand::Special(special) => {
                let preset = special_preset(*special)?;
                Ok(self.preset_w(preset))
            }
            Operand::Symbol(symbol, offset) => match self.symbol(symbol, *offset)? {
                (preset @ (Preset::Shared(_) | Preset::DynamicShared(_)), _) => {
                    Ok(self.preset_w(preset))
                }
                (Preset::Double(value), _) => {
                    let value = u32::try_from(value).map_err(|_| "a 64-bit address".to_owned())?;
                    Ok(self.preset_w(Preset::Word(value)))
                }
                _ => Err("the address of a global variable needs 64 bits".to_owned()),
            },
            Operand::Not(_)
            | Operand::F64(_)
            | Operand::Vector(_)
            | Operand::Pair(..)
            | Operand::Address { .. }
            | Operand::TensorAddress { .. }
            | Operand::Label(_)
            | Operand::BranchTargets(_)
            | Operand::List(_)
            | Operand::Sink => Err(format!("{} where a 32-bit value is needed", describe(operand))),
        }
    }

    /// A 16-bit source: as [`w`](Self::w), with immediates cut to 16 bits.
    pub(super) fn h(&mut self, operand: &Operand) -> Decoded<W> {
        let Operand::Int(value) = operand else { return self.w(operand) };
        let [low, high, ..] = value.to_le_bytes();
        Ok(self.preset_w(Preset::Word(u32::from(u16::from_le_bytes([low, high])))))
    }

    /// A 64-bit source.
    pub(super) fn d(&mut self, operand: &Operand) -> Decoded<D> {
        match operand {
            Operand::Reg(reg) => double(self.reg(*reg)),
            Operand::Int(value) => {
                let bits = value.to_le_bytes();
                let low = bits.first_chunk::<8>().expect("16 bytes start with 8");
                Ok(self.preset_d(Preset::Double(u64::from_le_bytes(*low))))
            }
            Operand::F64(bits) => Ok(self.preset_d(Preset::Double(*bits))),
            Operand::Special(special) => {
                let preset = special_preset(*special)?;
                Ok(self.preset_d(preset))
            }
            Operand::Symbol(symbol, offset) => {
                let (preset, _) = self.symbol(symbol, *offset)?;
                Ok(self.preset_d(preset))
            }
            Operand::Not(_)
            | Operand::F32(_)
            | Operand::Vector(_)
            | Operand::Pair(..)
            | Operand::Address { .. }
            | Operand::TensorAddress { .. }
            | Operand::Label(_)
            | Operand::BranchTargets(_)
            | Operand::List(_)
            | Operand::Sink => Err(format!("{} where a 64-bit value is needed", describe(operand))),
        }
    }

    pub(super) fn q(&self, operand: &Operand) -> Decoded<Q> {
        let Operand::Reg(reg) = operand else {
            return Err(format!("{} where a 128-bit register is needed", describe(operand)));
        };
        let slot = self.reg(*reg);
        if let Slot::Q(slot) = slot {
            Ok(slot)
        } else {
            Err(format!("a register of 128 bits is needed, not {}", bank(slot)))
        }
    }

    /// A source of a type's width.
    pub(super) fn source(&mut self, operand: &Operand, bits: u32) -> Decoded<Slot> {
        match bits {
            ..=16 => self.h(operand).map(Slot::W),
            17..=32 => self.w(operand).map(Slot::W),
            33..=64 => self.d(operand).map(Slot::D),
            65.. => self.q(operand).map(Slot::Q),
        }
    }

    /// A source of at least a type's width: a wider register gives its low bits.
    pub(super) fn wide_source(&mut self, operand: &Operand, bits: u32) -> Decoded<Slot> {
        if let Operand::Reg(reg) = operand
            && register_bits(self.function, *reg) >= bits
        {
            return Ok(self.reg(*reg));
        }
        self.source(operand, bits)
    }

    /// A predicate source.
    pub(super) fn pred(&mut self, operand: &Operand) -> Decoded<Pred> {
        let (reg, negated) = match operand {
            Operand::Reg(reg) => (reg, false),
            Operand::Not(reg) => (reg, true),
            Operand::Int(value) => {
                return Ok(Pred { slot: self.preset_p(*value != 0), negated: false });
            }
            Operand::Special(SpecialRegister::IsExplicitCluster) => {
                return Ok(Pred { slot: self.preset_p(false), negated: false });
            }
            Operand::F32(_)
            | Operand::F64(_)
            | Operand::Special(_)
            | Operand::Vector(_)
            | Operand::Pair(..)
            | Operand::Address { .. }
            | Operand::TensorAddress { .. }
            | Operand::Symbol(..)
            | Operand::Label(_)
            | Operand::BranchTargets(_)
            | Operand::List(_)
            | Operand::Sink => {
                return Err(format!("{} where a predicate is needed", describe(operand)));
            }
        };
        Ok(Pred { slot: predicate(self.reg(*reg))?, negated })
    }

    /// An immediate integer.
    pub(super) fn immediate(operand: &Operand) -> Decoded<u32> {
        let Operand::Int(value) = operand else {
            return Err(format!("{} where an immediate is needed", describe(operand)));
        };
        u32::try_from(*value).map_err(|_| format!("{value} is out of range"))
    }

    /// The address of a symbol in its own space, and that space.
    fn symbol(&mut self, symbol: &Symbol, offset: i64) -> Decoded<(Preset, Place)> {
        let variable = match symbol {
            Symbol::Function(name) => {
                return Err(format!("the address of the function `{name}` is not modelled"));
            }
            Symbol::Param(i) => {
                let at = self.frame.params[*i as usize];
                let (base, place) = if self.function.is_entry {
                    (PARAM_BASE, Place::Param)
                } else {
                    (u64::from(LOCAL_BASE), Place::Local)
                };
                let address = (base + u64::from(at)).wrapping_add_signed(offset);
                return Ok((Preset::Double(address), place));
            }
            Symbol::Result(i) => {
                let at = u64::from(LOCAL_BASE + self.frame.results[*i as usize]);
                return Ok((Preset::Double(at.wrapping_add_signed(offset)), Place::Local));
            }
            Symbol::Local(i) => &self.function.variables[*i as usize],
            Symbol::Global(i) => &self.module.variables[*i as usize],
        };
        match variable.space {
            Space::Shared => {
                if variable.dims.first() == Some(&0) {
                    let offset = i32::try_from(offset).map_err(|_| "an offset of 64 bits")?;
                    return Ok((Preset::DynamicShared(offset.cast_unsigned()), Place::Shared));
                }
                let at = self.layout.shared(symbol, self.function, variable)?;
                let offset = i32::try_from(offset).map_err(|_| "an offset of 64 bits")?;
                Ok((Preset::Shared(at.wrapping_add_signed(offset)), Place::Shared))
            }
            Space::Local | Space::Param => {
                let Symbol::Local(i) = symbol else {
                    return Err(format!("`{}` is a local variable of module scope", variable.name));
                };
                let at = u64::from(LOCAL_BASE + self.frame.variables[*i as usize]);
                Ok((Preset::Double(at.wrapping_add_signed(offset)), Place::Local))
            }
            Space::Global | Space::Const => {
                let place =
                    if variable.space == Space::Const { Place::Const } else { Place::Global };
                let variable = match symbol {
                    Symbol::Global(i) => *i,
                    Symbol::Local(_)
                    | Symbol::Param(_)
                    | Symbol::Result(_)
                    | Symbol::Function(_) => {
                        return Err(format!(
                            "`{}` is a global variable of function scope, which is not modelled",
                            variable.name
                        ));
                    }
                };
                Ok((Preset::Global { variable, offset }, place))
            }
            Space::Reg => Err(format!("`{}` is a register", variable.name)),
        }
    }

    /// `[base + offset]` in a space; `None` is the generic one.
    pub(super) fn address(&mut self, operand: &Operand, place: Option<Place>) -> Decoded<Address> {
        let Operand::Address { base, offset } = operand else {
            return Err(format!("{} where an address is needed", describe(operand)));
        };
        let offset = *offset;
        let generic = place.unwrap_or(Place::Generic);
        match base {
            kernel_ptx::Base::Reg(reg) => {
                let base = match self.reg(*reg) {
                    Slot::W(slot) => Base::W(slot),
                    Slot::D(slot) => Base::D(slot),
                    other @ (Slot::Q(_) | Slot::P(_)) => {
                        return Err(format!("{} as an address", bank(other)));
                    }
                };
                if matches!(base, Base::W(_)) && matches!(generic, Place::Generic | Place::Global) {
                    return Err("a generic or global address has 64 bits".to_owned());
                }
                Ok(Address { place: generic, base, offset })
            }
            kernel_ptx::Base::Absolute => Ok(Address { place: generic, base: Base::None, offset }),
            kernel_ptx::Base::Symbol(symbol) => {
                let (preset, own) = self.symbol(symbol, 0)?;
                let fits = match place {
                    None => true,
                    // `ld.param` reads parameters of entries, of functions and of calls.
                    Some(Place::Param) => matches!(own, Place::Param | Place::Local),
                    Some(Place::Const) => own == Place::Const,
                    Some(place) => place == own,
                };
                if !fits {
                    return Err("the variable lies in another state space".to_owned());
                }
                match preset {
                    Preset::Double(value) => Ok(Address {
                        place: own,
                        base: Base::None,
                        offset: value.cast_signed().wrapping_add(offset),
                    }),
                    Preset::Shared(_) | Preset::DynamicShared(_) => {
                        Ok(Address { place: own, base: Base::W(self.preset_w(preset)), offset })
                    }
                    Preset::Word(_) | Preset::Special(_) | Preset::Global { .. } => {
                        Ok(Address { place: own, base: Base::D(self.preset_d(preset)), offset })
                    }
                }
            }
        }
    }
}

/// The two parts of `d|p`, or the operand alone.
pub(super) fn parts(operand: &Operand) -> (&Operand, Option<&Operand>) {
    if let Operand::Pair(d, p) = operand { (d, Some(p)) } else { (operand, None) }
}

/// An operand in words.
pub(super) fn describe(operand: &Operand) -> &'static str {
    match operand {
        Operand::Reg(_) => "a register",
        Operand::Not(_) => "a negated predicate",
        Operand::Int(_) => "an integer",
        Operand::F32(_) | Operand::F64(_) => "a floating-point literal",
        Operand::Special(_) => "a special register",
        Operand::Vector(_) => "a vector",
        Operand::Pair(..) => "a pair `p|q`",
        Operand::Address { .. } => "an address",
        Operand::TensorAddress { .. } => "a tensor address",
        Operand::Symbol(..) => "the address of a symbol",
        Operand::Label(_) => "a label",
        Operand::BranchTargets(_) => "a branch table",
        Operand::List(_) => "an argument list",
        Operand::Sink => "`_`",
    }
}

fn word(slot: Slot) -> Decoded<W> {
    if let Slot::W(slot) = slot {
        Ok(slot)
    } else {
        Err(format!("a register of at most 32 bits is needed, not {}", bank(slot)))
    }
}

fn double(slot: Slot) -> Decoded<D> {
    if let Slot::D(slot) = slot {
        Ok(slot)
    } else {
        Err(format!("a register of 64 bits is needed, not {}", bank(slot)))
    }
}

fn predicate(slot: Slot) -> Decoded<P> {
    if let Slot::P(slot) = slot {
        Ok(slot)
    } else {
        Err(format!("a predicate is needed, not {}", bank(slot)))
    }
}

const fn bank(slot: Slot) -> &'static str {
    match slot {
        Slot::W(_) => "one of at most 32 bits",
        Slot::D(_) => "one of 64 bits",
        Slot::Q(_) => "one of 128 bits",
        Slot::P(_) => "a predicate",
    }
}

/// The preset of a special register that does not change.
fn special_preset(special: SpecialRegister) -> Decoded<Preset> {
    use SpecialRegister as S;
    let value = match special {
        S::TidX => Special::Tid(0),
        S::TidY => Special::Tid(1),
        S::TidZ => Special::Tid(2),
        S::NtidX => Special::Ntid(0),
        S::NtidY => Special::Ntid(1),
        S::NtidZ => Special::Ntid(2),
        S::CtaidX => Special::Ctaid(0),
        S::CtaidY => Special::Ctaid(1),
        S::CtaidZ => Special::Ctaid(2),
        S::NctaidX => Special::Nctaid(0),
        S::NctaidY => Special::Nctaid(1),
        S::NctaidZ => Special::Nctaid(2),
        S::Laneid => Special::Laneid,
        S::Warpid => Special::Warpid,
        S::Nwarpid => Special::Nwarpid,
        S::Smid => Special::Smid,
        S::Nsmid => Special::Nsmid,
        S::Gridid => Special::Gridid,
        S::LanemaskEq => Special::LanemaskEq,
        S::LanemaskLe => Special::LanemaskLe,
        S::LanemaskLt => Special::LanemaskLt,
        S::LanemaskGe => Special::LanemaskGe,
        S::LanemaskGt => Special::LanemaskGt,
        S::DynamicSmemSize => Special::DynamicSmemSize,
        S::TotalSmemSize | S::AggrSmemSize => Special::TotalSmemSize,
        S::ClusterCtarank => Special::ClusterCtarank,
        S::ClusterNctarank => Special::ClusterNctarank,
        S::ClusterCtaidX => Special::ClusterCtaid(0),
        S::ClusterCtaidY => Special::ClusterCtaid(1),
        S::ClusterCtaidZ => Special::ClusterCtaid(2),
        S::ClusterNctaidX => Special::ClusterNctaid(0),
        S::ClusterNctaidY => Special::ClusterNctaid(1),
        S::ClusterNctaidZ => Special::ClusterNctaid(2),
        S::ClusteridX => Special::Clusterid(0),
        S::ClusteridY => Special::Clusterid(1),
        S::ClusteridZ => Special::Clusterid(2),
        S::NclusteridX => Special::Nclusterid(0),
        S::NclusteridY => Special::Nclusterid(1),
        S::NclusteridZ => Special::Nclusterid(2),
        // No graph launches the kernel, and nothing is reserved at the start of shared memory.
        S::CurrentGraphExec => return Ok(Preset::Double(0)),
        S::ReservedSmemOffsetBegin => return Ok(Preset::Word(0)),
        S::ReservedSmemOffsetEnd => return Ok(Preset::Word(crate::memory::shared::SHARED_BASE)),
        S::Clock
        | S::ClockHi
        | S::Clock64
        | S::Globaltimer
        | S::GlobaltimerLo
        | S::GlobaltimerHi => {
            return Err(format!("`{}` can be read by `mov` only", special.text()));
        }
        S::IsExplicitCluster => return Err("a predicate where a number is needed".to_owned()),
    };
    Ok(Preset::Special(value))
}

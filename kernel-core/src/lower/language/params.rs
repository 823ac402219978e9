//! Kernel parameters and grid coordinates.

use kernel_ptx::{Base, Opcode, Operand, Param, Space, SpecialRegister, Symbol, Type};

use crate::ir::{Dtype, Elem, Kernel, ParamKind};
use crate::lower::emitter::{Val, mods};
use crate::lower::tiles::scalar::held;
use crate::lower::{Lower, Slots, Stamping};

/// The parameters of the entry, and where each of the kernel's begins.
#[derive(Debug)]
pub(crate) struct Params {
    pub(crate) list: Vec<Param>,
    first: Vec<u32>,
    /// That of the memory for reports, which comes after those of the kernel, and how the memory is divided.
    pub(crate) reports: Option<(u32, Slots)>,
    /// The first of those of the memory for stamps, which come in the same place.
    pub(crate) stamps: Option<u32>,
    /// How many of the last are tensor maps.
    pub(crate) maps: usize,
}

impl Params {
    /// The parameters in the order of the ABI.
    pub(crate) fn of(kernel: &Kernel) -> Self {
        let mut params =
            Params { list: Vec::new(), first: Vec::new(), reports: None, stamps: None, maps: 0 };
        for (index, param) in kernel.params.iter().enumerate() {
            params.first.push(u32::try_from(params.list.len()).expect("few parameters"));
            if param.absent {
                continue;
            }
            let mut push = |field: String, ty: Type| {
                params.list.push(plain(&format!("p{index}_{field}"), ty));
            };
            match &param.kind {
                ParamKind::Tensor { rank, .. } => {
                    push("data".to_owned(), Type::U64);
                    (0..*rank).for_each(|axis| push(format!("dim{axis}"), Type::U32));
                    (0..*rank).for_each(|axis| push(format!("stride{axis}"), Type::U64));
                }
                ParamKind::Pointer(_) => push("data".to_owned(), Type::U64),
                ParamKind::Scalar(dtype) => push("value".to_owned(), dtype.row().memory),
            }
        }
        let index = u32::try_from(params.list.len()).expect("few parameters");
        if let Some(slots) = Slots::of(kernel) {
            params.reports = Some((index, slots));
            params.list.push(plain("reports", Type::U64));
        } else if kernel.is_stamped() {
            params.stamps = Some(index);
            params.list.extend(Stamping::PARAMS.map(|(name, ty)| plain(name, ty)));
        }
        params
    }
}

/// A parameter of the entry that no parameter of the kernel stands for.
fn plain(name: &str, ty: Type) -> Param {
    Param {
        name: name.to_owned(),
        space: Space::Param,
        ty,
        align: u32::try_from(ty.bytes()).expect("at most 8"),
        dims: Vec::new(),
        register: None,
    }
}

impl Lower<'_> {
    fn field(&mut self, param: u32, field: u32, register: Type) -> Val {
        self.entry_param(self.params.first[param as usize] + field, register)
    }

    /// The value of a parameter of the entry.
    pub(crate) fn entry_param(&mut self, index: u32, register: Type) -> Val {
        let ty = self.params.list[index as usize].ty;
        let address = Operand::Address { base: Base::Symbol(Symbol::Param(index)), offset: 0 };
        self.e.pure_of(
            Opcode::Ld,
            mods![Space::Param, ty],
            register,
            address,
            Val::Int(i64::from(index)),
        )
    }

    fn rank(&self, param: u32) -> u32 {
        match self.kernel.params[param as usize].kind {
            ParamKind::Tensor { rank, .. } => rank,
            ParamKind::Pointer(_) | ParamKind::Scalar(_) => {
                unreachable!("ir::verify rejects the extent of what is not a tensor")
            }
        }
    }

    /// The global address in a tensor or pointer parameter.
    pub(crate) fn param_pointer(&mut self, param: u32) -> Val {
        let generic = self.field(param, 0, Type::B64);
        self.e.pure(
            Opcode::Cvta,
            mods![kernel_ptx::Word::To, Space::Global, Type::U64],
            Type::B64,
            &[generic],
        )
    }

    /// An extent of a tensor.
    pub(crate) fn param_dim(&mut self, param: u32, axis: u32) -> Val {
        self.field(param, 1 + axis, Type::B32)
    }

    /// A stride of a tensor as it is passed, in elements.
    pub(crate) fn param_stride(&mut self, param: u32, axis: u32) -> Val {
        let rank = self.rank(param);
        self.field(param, 1 + rank + axis, Type::B64)
    }

    /// A stride of a tensor: a constant, if it is known.
    pub(crate) fn stride(&mut self, param: u32, axis: u32) -> Val {
        match self.facts.stride(param, axis) {
            Some(stride) => Val::Int(stride),
            None => self.param_stride(param, axis),
        }
    }

    /// The value of a scalar parameter.
    pub(crate) fn param_scalar(&mut self, param: u32) -> Val {
        let ParamKind::Scalar(dtype) = self.kernel.params[param as usize].kind else {
            unreachable!("ir::verify rejects the value of what is not a scalar")
        };
        if dtype == Dtype::Bool {
            let byte = self.field(param, 0, Type::B32);
            return self.e.compare(kernel_ptx::Word::Ne, Type::S32, byte, Val::Int(0));
        }
        self.field(param, 0, held(Elem::Number(dtype)))
    }

    /// The block's coordinate on an axis of the grid.
    pub(crate) fn grid_position(&mut self, axis: u32) -> Val {
        self.e.special(match axis {
            0 => SpecialRegister::CtaidX,
            1 => SpecialRegister::CtaidY,
            _ => SpecialRegister::CtaidZ,
        })
    }

    /// The extent of the grid on an axis.
    pub(crate) fn grid_extent(&mut self, axis: u32) -> Val {
        self.e.special(match axis {
            0 => SpecialRegister::NctaidX,
            1 => SpecialRegister::NctaidY,
            _ => SpecialRegister::NctaidZ,
        })
    }
}

//! Read-modify-write of memory.
//!
//! On a tile, one thread does each element, relaxed. On a scalar one thread acts for the block: what the block
//! wrote before is visible to threads that see the new value, and what others wrote before the old value is visible to the block.

use std::collections::BTreeSet;

use kernel_layout::{Dim, Layout};
use kernel_ptx::{Capability, Guard, Instruction, Modifier, Opcode, Operand, Space, Type, Word};

use super::access::bytes;
use crate::ir::dtype::{Class, Float, Register};
use crate::ir::{Atomic, Binary, Dtype, Elem, Evict, MemoryOrder, Ordered, Scope, Value};
use crate::lower::emitter::{FrameKind, Val, mods};
use crate::lower::tiles::coords::{ThreadMap, repeated_threads};
use crate::lower::tiles::scalar::{arithmetic, held, zero};
use crate::lower::{Data, Lower};

/// A read-modify-write of one element, in the threads for which `one` holds.
#[derive(Clone, Copy)]
struct Change<'a> {
    op: Atomic,
    dtype: Dtype,
    /// The address, and what is combined with the element.
    operands: &'a [Val],
    one: Val,
    ordered: Ordered,
    space: Modifier,
    evict: Evict,
    old: Old,
}

/// Whether something reads the old value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Old {
    Read,
    Unread,
}

impl Lower<'_> {
    /// A read-modify-write; the result is the old value, if something reads it.
    pub(crate) fn atomic(
        &mut self,
        (op, scope): (Atomic, Scope),
        args: &[Value],
        result: Option<Value>,
    ) -> Option<Data> {
        let Elem::Number(dtype) = self.pointee(args[0]) else {
            unreachable!("ir::verify rejects an atomic on pointers")
        };
        let wanted = result.filter(|&result| self.used.contains_idx(result));
        let Data::Tile(addresses) = self.values[args[0]].clone() else {
            let operands: Vec<Val> = args.iter().map(|&arg| self.scalar(arg)).collect();
            let one = self.e.first_of(self.e.threads - 1);
            self.barrier();
            let ordered = Ordered { order: MemoryOrder::AcquireRelease, scope };
            let (space, evict, old) = (Space::Global.into(), Evict::Normal, Old::Read);
            let old = self.modify(Change {
                op,
                dtype,
                operands: &operands,
                one,
                ordered,
                space,
                evict,
                old,
            });
            wanted?;
            let layout = Layout::zeros(Dim::Register, Dim::Axis(0), 1);
            return Some(Data::Scalar(self.broadcast(dtype, &layout, &[old], one)[0]));
        };
        let most = op.at_once(dtype, self.kernel.target);
        if wanted.is_none()
            && most > 1
            && self.change_addresses((op, args[0], scope), args[1], most)
        {
            return None;
        }
        let layout = self.layout(args[0]).clone();
        let repeated = repeated_threads(&layout, self.crew.warps);
        let free = layout.free_variable_mask(Dim::Register);
        let one = self.e.first_of(repeated);
        let mut old = vec![Val::Int(0); addresses.len()];
        for register in 0..layout.in_size(Dim::Register) {
            if register & free == 0 {
                let operands: Vec<Val> =
                    args.iter().map(|&arg| self.register(arg, register)).collect();
                let (space, read) = (Space::Global.into(), Old::Read);
                let operands = &operands;
                let ordered = Ordered { scope, ..Ordered::RELAXED };
                let evict = Evict::Normal;
                let change = Change { op, dtype, operands, one, ordered, space, evict, old: read };
                old[register as usize] = self.modify(change);
            }
        }
        wanted?;
        if repeated == 0 && free == 0 {
            return Some(Data::Tile(old));
        }
        Some(Data::Tile(self.broadcast(dtype, &layout, &old, one)))
    }

    /// A read-modify-write of a tensor's tile, of which one thread does each element; the result is the old value, if something reads it.
    pub(crate) fn atomic_tensor(
        &mut self,
        (op, evict, ordered): (Atomic, Evict, Ordered),
        param: u32,
        args: &[Value],
        result: Option<Value>,
    ) -> Option<Data> {
        let (offsets, values) = args.split_at(args.len() - op.values());
        let shaped = values.first().copied().or(result).expect("ir::verify requires a tile");
        let tile = self.tensor_tile(param, offsets, self.kernel.ty(shaped).shape());
        let read = result.is_some_and(|result| self.used.contains_idx(result));
        let most = op.at_once(tile.dtype, self.kernel.target);
        let alone = ordered == Ordered::RELAXED;
        if alone && !read && most > 1 && self.change_in_tensor((op, &tile, evict), values[0], most)
        {
            return None;
        }
        // The threads that do the operation vouch for what all threads wrote before it, by the barrier (PTX ISA, "causality order").
        if ordered.order.releases() {
            self.barrier();
        }
        let layout = self.layout(shaped).clone();
        let free = layout.free_variable_mask(Dim::Register);
        let registers = (0..layout.in_size(Dim::Register)).filter(|register| register & free == 0);
        let kept_at = Self::kept_at(registers.count());
        let place = |lower: &mut Self, register, one| {
            lower.element_place(&tile, &layout, register, kept_at, one)
        };
        let how = (Space::Global.into(), evict, ordered);
        self.change_elements((op, tile.dtype, how), (shaped, values), result, place)
    }

    /// A read-modify-write of elements of shared memory at tiles of indices; the result is the old value, if something reads it.
    pub(crate) fn atomic_shared(
        &mut self,
        op: Atomic,
        args: &[Value],
        result: Option<Value>,
    ) -> Option<Data> {
        let (at, values) = args.split_at(args.len() - op.values());
        let elements = self.indexed(at[0], &at[1..]);
        let place = |lower: &mut Self, register, one| lower.indexed_place(&elements, register, one);
        let (dtype, space) = (self.shared_type(at[0]).dtype, self.space_of(at[0]));
        let how = (space, Evict::Normal, Ordered::RELAXED);
        self.change_elements((op, dtype, how), (values[0], values), result, place)
    }

    /// A read-modify-write of the elements that `place` gives the address of, and a mask that includes its last argument.
    fn change_elements(
        &mut self,
        (op, dtype, (space, evict, ordered)): (Atomic, Dtype, (Modifier, Evict, Ordered)),
        (shaped, values): (Value, &[Value]),
        result: Option<Value>,
        mut place: impl FnMut(&mut Self, u32, Val) -> (Val, Val),
    ) -> Option<Data> {
        let wanted = result.filter(|&result| self.used.contains_idx(result));
        let layout = self.layout(shaped).clone();
        let repeated = repeated_threads(&layout, self.crew.warps);
        let free = layout.free_variable_mask(Dim::Register);
        let one = self.e.first_of(repeated);
        let elem = Elem::Number(dtype);
        let registers = (0..layout.in_size(Dim::Register)).filter(|register| register & free == 0);
        let mut old = vec![Val::Int(0); layout.in_size(Dim::Register) as usize];
        let read = if wanted.is_some() { Old::Read } else { Old::Unread };
        for register in registers {
            let (address, mask) = place(self, register, one);
            let mut operands = vec![address];
            operands.extend(values.iter().map(|&value| self.register(value, register)));
            let operands = &operands;
            let change =
                Change { op, dtype, operands, one: mask, ordered, space, evict, old: read };
            let new = self.modify(change);
            // Elements outside have no old value.
            old[register as usize] = match wanted {
                Some(_) => self.e.select(held(elem), mask, new, zero(elem)),
                None => new,
            };
        }
        let each_its_own = repeated == 0 && free == 0;
        if ordered.order.acquires() && (wanted.is_none() || each_its_own) {
            self.barrier();
        }
        wanted?;
        if each_its_own {
            return Some(Data::Tile(old));
        }
        // It has a barrier, which stands for that of an acquire.
        Some(Data::Tile(self.broadcast(dtype, &layout, &old, one)))
    }

    pub(crate) fn register(&self, value: Value, register: u32) -> Val {
        match &self.values[value] {
            Data::Scalar(value) | Data::Window(value) => *value,
            Data::Tile(registers) => registers[register as usize],
        }
    }

    /// What the threads for which `one` holds have, in all threads that hold the same element.
    fn broadcast(&mut self, dtype: Dtype, layout: &Layout, values: &[Val], one: Val) -> Vec<Val> {
        let elem = Elem::Number(dtype);
        let size = bytes(elem);
        let elements: u32 = layout.shape().iter().product();
        let scratch = self.scratch(elements * size);
        let flat = |basis: &Vec<u32>| {
            u32::try_from(layout.flatten_out(basis)).expect("a tile's index") * size
        };
        let mut bases: Vec<u32> = layout.bases(Dim::Lane).iter().map(flat).collect();
        bases.resize(5, 0);
        bases.extend(layout.bases(Dim::Warp).iter().map(flat));
        let map = ThreadMap::new(bases);
        let free = layout.free_variable_mask(Dim::Register);
        let places: Vec<u32> = (0..layout.in_size(Dim::Register))
            .map(|register| flat(&layout.apply(&[(Dim::Register, register)])))
            .collect();
        for (register, &place) in (0u32..).zip(&places) {
            if register & free == 0 {
                let address = self.scratch_address(scratch, &map, place);
                self.e.store(
                    Space::Shared,
                    elem,
                    &values[register as usize..=register as usize],
                    address,
                    one,
                );
            }
        }
        self.barrier();
        let mut done = BTreeSet::new();
        let mut result: Vec<Val> = vec![Val::Int(0); places.len()];
        for (register, &place) in places.iter().enumerate() {
            if done.insert(place) {
                let address = self.scratch_address(scratch, &map, place);
                result[register] =
                    self.e.load(Space::Shared, elem, 1, address, Val::Int(1), None)[0];
            } else {
                let first = places
                    .iter()
                    .position(|&other| other == place)
                    .expect("it was inserted before");
                result[register] = result[first];
            }
        }
        self.leave_scratch();
        result
    }

    /// The old value, if something reads it.
    fn modify(&mut self, change: Change<'_>) -> Val {
        let Change { op, dtype, operands, one, ordered, space, evict, old: read } = change;
        if matches!(op, Atomic::Load | Atomic::Store) {
            return self.access_at_once(change);
        }
        match native(op, dtype, self.kernel.target) {
            Some((word, ty)) => {
                let register = held(Elem::Number(dtype));
                let mut modifiers = ordered_modifiers(ordered);
                modifiers.extend([space, word.into()]);
                if matches!(ty, Type::F16 | Type::Bf16) {
                    modifiers.push(Word::Noftz.into());
                }
                // A comparison and exchange takes no policy.
                let policy = if word == Word::Cas { None } else { self.cache_policy(evict) };
                if policy.is_some() {
                    modifiers.push(Word::L2CacheHint.into());
                }
                modifiers.push(ty.into());
                let address = self.e.at(operands[0], 0);
                let mut list = vec![address];
                for &operand in &operands[1..] {
                    list.push(Operand::Reg(self.e.reg(operand, register)));
                }
                list.extend(policy);
                // Of global memory ptxas finds out for itself what is not read.
                let reduces =
                    space != Space::Global.into() && !matches!(word, Word::Exch | Word::Cas);
                if read == Old::Unread && reduces {
                    let guard = self.e.guard(one);
                    self.e.effect_if(guard, Opcode::Red, &modifiers, list);
                    return Val::Int(0);
                }
                let old = self.e.fresh(register);
                list.insert(0, Operand::Reg(old));
                let mut inst = Instruction::new(Opcode::Atom, modifiers, list);
                inst.guard = self.e.guard(one);
                self.e.push(inst, 1, true);
                Val::Reg(old)
            }
            None => self.exchange_loop(change),
        }
    }

    /// A load or a store of one element, in one step, by the threads for which `one` holds; of a load the value.
    fn access_at_once(&mut self, change: Change<'_>) -> Val {
        let Change { op, dtype, operands, one, ordered, space, evict, old: _ } = change;
        let register = held(Elem::Number(dtype));
        let mut modifiers = all_of(ordered).to_vec();
        modifiers.push(space);
        let policy = self.cache_policy(evict);
        if policy.is_some() {
            modifiers.push(Word::L2CacheHint.into());
        }
        modifiers.push(dtype.row().instruction.into());
        let mut list = vec![self.e.at(operands[0], 0)];
        if let [_, value] = operands {
            list.push(Operand::Reg(self.e.reg(*value, register)));
            list.extend(policy);
            let guard = self.e.guard(one);
            self.e.effect_if(guard, Opcode::St, &modifiers, list);
            return Val::Int(0);
        }
        debug_assert!(op == Atomic::Load, "a store has a value");
        list.extend(policy);
        let loaded = self.e.fresh(register);
        list.insert(0, Operand::Reg(loaded));
        let mut inst = Instruction::new(Opcode::Ld, modifiers, list);
        inst.guard = self.e.guard(one);
        self.e.push(inst, 1, true);
        Val::Reg(loaded)
    }

    /// A compare-and-swap loop on the element's bits.
    fn exchange_loop(&mut self, change: Change<'_>) -> Val {
        let Change { op, dtype, operands, one, ordered, space, evict: _, old: _ } = change;
        let elem = Elem::Number(dtype);
        let (word, compared) = match dtype.bytes() {
            2 => (Type::B16, Type::B16),
            8 => (Type::B64, Type::S64),
            _ => (Type::B32, Type::S32),
        };
        let outer = self.e.current();
        let address = operands[0];
        let current = self.e.fresh_in(word, outer);
        let (top, end) = (self.e.label(), self.e.label());
        if one != Val::Int(1) {
            let predicate = self.e.reg(one, Type::Pred);
            self.e.effect_if(
                Some(Guard { predicate, negated: true }),
                Opcode::Bra,
                &[],
                [Operand::Label(end)],
            );
        }
        // Threads that jump over this see nothing of what is computed in it.
        self.e.enter(FrameKind::Branch);
        let place = self.e.at(address, 0);
        self.e.push(
            Instruction::new(
                Opcode::Ld,
                [order_free(), space, word.into()],
                [Operand::Reg(current), place],
            ),
            1,
            true,
        );
        let frame = self.e.enter(FrameKind::Loop);
        self.e.rehome(current, frame);
        self.e.place_label(top);
        let now = Val::Reg(current);
        let element = self.element_of(dtype, now);
        let new = match op {
            Atomic::Add => self.e.binary(Binary::Add, elem, elem, element, operands[1]),
            Atomic::Max => self.e.binary(Binary::Max, elem, elem, element, operands[1]),
            Atomic::Min => self.e.binary(Binary::Min, elem, elem, element, operands[1]),
            Atomic::And => self.e.binary(Binary::And, elem, elem, element, operands[1]),
            Atomic::Or => self.e.binary(Binary::Or, elem, elem, element, operands[1]),
            Atomic::Xor => self.e.binary(Binary::Xor, elem, elem, element, operands[1]),
            Atomic::Exchange => operands[1],
            Atomic::Load | Atomic::Store => unreachable!("they need no loop"),
            Atomic::CompareExchange => {
                let same = self.e.compare_elem(crate::ir::Compare::Eq, elem, element, operands[1]);
                self.e.select(arithmetic(dtype), same, operands[2], element)
            }
        };
        let stored = self.bits_of_element(dtype, new);
        let old = self.e.fresh(word);
        let mut modifiers = ordered_modifiers(ordered);
        modifiers.extend([space, Word::Cas.into(), word.into()]);
        let place = self.e.at(address, 0);
        let stored = self.e.reg(stored, word);
        let list = [Operand::Reg(old), place, Operand::Reg(current), Operand::Reg(stored)];
        self.e.push(Instruction::new(Opcode::Atom, modifiers, list), 1, true);
        let changed = self.e.compare(Word::Ne, compared, Val::Reg(old), now);
        self.e.assign(current, Val::Reg(old));
        let predicate = self.e.reg(changed, Type::Pred);
        self.e.effect_if(
            Some(Guard { predicate, negated: false }),
            Opcode::Bra,
            &[],
            [Operand::Label(top)],
        );
        self.e.leave();
        self.e.leave();
        self.e.rehome(current, outer);
        self.e.place_label(end);
        // Threads leave the loop at different iterations.
        self.e.sync_warp();
        self.element_of(dtype, Val::Reg(current))
    }

    /// The element of these bits.
    fn element_of(&mut self, dtype: Dtype, bits: Val) -> Val {
        match dtype.register() {
            Register::F32 => self.e.pure(Opcode::Mov, mods![Type::B32], Type::F32, &[bits]),
            Register::F64 => self.e.pure(Opcode::Mov, mods![Type::B64], Type::F64, &[bits]),
            Register::B16 | Register::B32 | Register::B64 => bits,
            Register::Pred => unreachable!("elaborate refuses atomic operations on masks"),
        }
    }

    /// The bits of an element.
    fn bits_of_element(&mut self, dtype: Dtype, element: Val) -> Val {
        match dtype.register() {
            Register::F32 => self.e.pure(Opcode::Mov, mods![Type::B32], Type::B32, &[element]),
            Register::F64 => self.e.pure(Opcode::Mov, mods![Type::B64], Type::B64, &[element]),
            Register::B16 | Register::B32 | Register::B64 => element,
            Register::Pred => unreachable!("elaborate refuses atomic operations on masks"),
        }
    }
}

/// The order and the scope of `atom`, where they are not its defaults (PTX ISA, "atom").
pub(super) fn ordered_modifiers(ordered: Ordered) -> Vec<Modifier> {
    if ordered == Ordered::RELAXED { Vec::new() } else { all_of(ordered).to_vec() }
}

/// The words of an order and its scope.
fn all_of(Ordered { order, scope }: Ordered) -> [Modifier; 2] {
    let order = match order {
        MemoryOrder::Relaxed => Word::Relaxed,
        MemoryOrder::Acquire => Word::Acquire,
        MemoryOrder::Release => Word::Release,
        MemoryOrder::AcquireRelease => Word::AcqRel,
    };
    let scope = match scope {
        Scope::Gpu => Word::Gpu,
        Scope::System => Word::Sys,
    };
    [order.into(), scope.into()]
}

fn order_free() -> Modifier {
    Modifier::Word(Word::Volatile)
}

/// The instruction that does an operation at once (PTX ISA, "atom").
fn native(op: Atomic, dtype: Dtype, target: kernel_ptx::Target) -> Option<(Word, Type)> {
    let bits = match dtype.bytes() {
        4 => Type::B32,
        8 => Type::B64,
        _ => Type::Pred,
    };
    let integer = dtype.is_int() && bits != Type::Pred;
    match op {
        Atomic::Add => match dtype.class() {
            Class::Float(Float::Bf16) if !target.has(Capability::Bf16Atomics) => None,
            Class::Float(_) => Some((Word::Add, arithmetic(dtype))),
            // The sum wraps alike; 64-bit addition exists as unsigned only.
            Class::Signed | Class::Unsigned if dtype.bytes() == 8 => Some((Word::Add, Type::U64)),
            Class::Signed | Class::Unsigned if integer => Some((Word::Add, arithmetic(dtype))),
            Class::Bool | Class::Signed | Class::Unsigned | Class::Float8(_) | Class::Opaque => {
                None
            }
        },
        Atomic::Max if integer => Some((Word::Max, arithmetic(dtype))),
        Atomic::Min if integer => Some((Word::Min, arithmetic(dtype))),
        Atomic::And if integer => Some((Word::And, bits)),
        Atomic::Or if integer => Some((Word::Or, bits)),
        Atomic::Xor if integer => Some((Word::Xor, bits)),
        Atomic::Exchange if bits != Type::Pred => Some((Word::Exch, bits)),
        // Floats compare by value, so −0 matches 0: the loop compares them.
        Atomic::CompareExchange if integer => Some((Word::Cas, bits)),
        Atomic::Max
        | Atomic::Min
        | Atomic::And
        | Atomic::Or
        | Atomic::Xor
        | Atomic::Exchange
        | Atomic::CompareExchange
        | Atomic::Load
        | Atomic::Store => None,
    }
}

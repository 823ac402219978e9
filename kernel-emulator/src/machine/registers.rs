//! The register file of a warp: one array of 32 lanes for each register.

use crate::code::{Code, D, Doubles, LANES, P, Pred, Q, Slot, W, Words};

/// The registers of a warp, and which lanes of each hold a value that derives from written data only.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registers {
    pub(crate) w: Vec<Words>,
    pub(crate) d: Vec<Doubles>,
    pub(crate) q: Vec<[u128; LANES]>,
    pub(crate) p: Vec<u32>,
    w_defined: Vec<u32>,
    d_defined: Vec<u32>,
    q_defined: Vec<u32>,
    p_defined: Vec<u32>,
}

impl Registers {
    /// Makes room for a kernel; nothing is defined.
    pub(crate) fn reset(&mut self, code: &Code) {
        let words = code.words as usize + code.word_presets.len();
        let doubles = code.doubles as usize + code.double_presets.len();
        let preds = code.preds as usize + code.pred_presets.len();
        self.w.resize(words, [0; LANES]);
        self.d.resize(doubles, [0; LANES]);
        self.q.resize(code.quads as usize, [0; LANES]);
        self.p.resize(preds, 0);
        for (shadow, length) in [
            (&mut self.w_defined, words),
            (&mut self.d_defined, doubles),
            (&mut self.q_defined, code.quads as usize),
            (&mut self.p_defined, preds),
        ] {
            shadow.clear();
            shadow.resize(length, 0);
        }
    }

    #[inline]
    pub(crate) fn w(&self, slot: W) -> &Words {
        &self.w[slot.0 as usize]
    }

    #[inline]
    pub(crate) fn d(&self, slot: D) -> &Doubles {
        &self.d[slot.0 as usize]
    }

    #[inline]
    pub(crate) fn q(&self, slot: Q) -> &[u128; LANES] {
        &self.q[slot.0 as usize]
    }

    #[inline]
    pub(crate) fn p(&self, slot: P) -> u32 {
        self.p[slot.0 as usize]
    }

    /// The lanes where a predicate operand is true.
    #[inline]
    pub(crate) fn pred(&self, pred: Pred) -> u32 {
        let value = self.p[pred.slot.0 as usize];
        if pred.negated { !value } else { value }
    }

    #[inline]
    pub(crate) fn w_defined(&self, slot: W) -> u32 {
        self.w_defined[slot.0 as usize]
    }

    #[inline]
    pub(crate) fn d_defined(&self, slot: D) -> u32 {
        self.d_defined[slot.0 as usize]
    }

    #[inline]
    pub(crate) fn p_defined(&self, slot: P) -> u32 {
        self.p_defined[slot.0 as usize]
    }

    /// The lanes of a slot that are defined.
    #[inline]
    pub(crate) fn defined(&self, slot: Slot) -> u32 {
        match slot {
            Slot::W(W(i)) => self.w_defined[i as usize],
            Slot::D(D(i)) => self.d_defined[i as usize],
            Slot::Q(Q(i)) => self.q_defined[i as usize],
            Slot::P(P(i)) => self.p_defined[i as usize],
        }
    }

    /// Writes the lanes of `mask`; those of `defined` count as written.
    #[inline]
    pub(crate) fn set_w(&mut self, slot: W, value: &Words, mask: u32, defined: u32) {
        let i = slot.0 as usize;
        if mask == u32::MAX {
            self.w[i] = *value;
            self.w_defined[i] = defined;
        } else {
            let target = &mut self.w[i];
            for lane in 0..LANES {
                let keep = (mask >> lane & 1).wrapping_sub(1);
                target[lane] = target[lane] & keep | value[lane] & !keep;
            }
            merge(&mut self.w_defined[i], mask, defined);
        }
    }

    #[inline]
    pub(crate) fn set_d(&mut self, slot: D, value: &Doubles, mask: u32, defined: u32) {
        let i = slot.0 as usize;
        if mask == u32::MAX {
            self.d[i] = *value;
            self.d_defined[i] = defined;
        } else {
            let target = &mut self.d[i];
            for lane in 0..LANES {
                let keep = u64::from(mask >> lane & 1).wrapping_sub(1);
                target[lane] = target[lane] & keep | value[lane] & !keep;
            }
            merge(&mut self.d_defined[i], mask, defined);
        }
    }

    pub(crate) fn set_q(&mut self, slot: Q, value: &[u128; LANES], mask: u32, defined: u32) {
        let i = slot.0 as usize;
        for (lane, (target, value)) in self.q[i].iter_mut().zip(value).enumerate() {
            if mask >> lane & 1 != 0 {
                *target = *value;
            }
        }
        merge(&mut self.q_defined[i], mask, defined);
    }

    #[inline]
    pub(crate) fn set_p(&mut self, slot: P, value: u32, mask: u32, defined: u32) {
        let i = slot.0 as usize;
        self.p[i] = self.p[i] & !mask | value & mask;
        merge(&mut self.p_defined[i], mask, defined);
    }

    /// A slot as 64-bit lanes: narrower ones zero-extended, the low half of wider ones.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the low half is what is asked for")]
    pub(crate) fn wide(&self, slot: Slot) -> Doubles {
        match slot {
            Slot::W(s) => {
                let mut out = [0; LANES];
                let w = self.w(s);
                for lane in 0..LANES {
                    out[lane] = u64::from(w[lane]);
                }
                out
            }
            Slot::D(s) => *self.d(s),
            Slot::Q(s) => self.q(s).map(|v| v as u64),
            Slot::P(s) => std::array::from_fn(|lane| u64::from(self.p(s) >> lane & 1)),
        }
    }

    /// Writes the low bits of 64-bit lanes to a slot.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the low half is what is asked for")]
    pub(crate) fn set_wide(&mut self, slot: Slot, value: &Doubles, mask: u32, defined: u32) {
        match slot {
            Slot::W(s) => {
                let mut out = [0; LANES];
                for (out, value) in out.iter_mut().zip(value) {
                    *out = *value as u32;
                }
                self.set_w(s, &out, mask, defined);
            }
            Slot::D(s) => self.set_d(s, value, mask, defined),
            Slot::Q(s) => self.set_q(s, &value.map(u128::from), mask, defined),
            Slot::P(s) => {
                let mut bits = 0;
                for (lane, v) in value.iter().enumerate() {
                    bits |= u32::from(v & 1 != 0) << lane;
                }
                self.set_p(s, bits, mask, defined);
            }
        }
    }

    /// Whether lanes of a slot differ from those of another warp's, or whether they hold a value.
    fn slot_differs(&self, other: &Registers, slot: Slot, mask: u32) -> bool {
        let any =
            |differs: &dyn Fn(usize) -> bool| (0..LANES).any(|i| mask >> i & 1 != 0 && differs(i));
        let value = match slot {
            Slot::W(s) => self.w(s) != other.w(s) && any(&|i| self.w(s)[i] != other.w(s)[i]),
            Slot::D(s) => self.d(s) != other.d(s) && any(&|i| self.d(s)[i] != other.d(s)[i]),
            Slot::Q(s) => self.q(s) != other.q(s) && any(&|i| self.q(s)[i] != other.q(s)[i]),
            Slot::P(s) => (self.p(s) ^ other.p(s)) & mask != 0,
        };
        value || (self.defined(slot) ^ other.defined(slot)) & mask != 0
    }

    /// A slot of which lanes differ from those of a state of the same kernel, if there is one; `guess` is tried first.
    pub(crate) fn difference(
        &self,
        other: &Registers,
        mask: u32,
        guess: Option<Slot>,
    ) -> Option<Slot> {
        let differs = |slot: &Slot| self.slot_differs(other, *slot, mask);
        let all = (0u32..).take(self.w.len()).map(|i| Slot::W(W(i)));
        let all = all.chain((0u32..).take(self.d.len()).map(|i| Slot::D(D(i))));
        let all = all.chain((0u32..).take(self.p.len()).map(|i| Slot::P(P(i))));
        let all = all.chain((0u32..).take(self.q.len()).map(|i| Slot::Q(Q(i))));
        guess.into_iter().chain(all).find(differs)
    }

    /// Copies a slot to another of the same bank.
    pub(crate) fn copy(&mut self, from: Slot, to: Slot, mask: u32) {
        let defined = self.defined(from);
        if let (Slot::Q(a), Slot::Q(d)) = (from, to) {
            let value = *self.q(a);
            self.set_q(d, &value, mask, defined);
        } else {
            let value = self.wide(from);
            self.set_wide(to, &value, mask, defined);
        }
    }
}

#[inline]
fn merge(shadow: &mut u32, mask: u32, defined: u32) {
    *shadow = *shadow & !mask | defined & mask;
}

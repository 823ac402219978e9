//! Tensors of pointers, `Tensor<Ptr<f32>, 1>`: memory holds the addresses as `u64`.

use crate::{
    diag::Code,
    elaborate::{Builder, language::value::Val},
    ir::{Dtype, Elem, ElementwiseOp, Type, Value},
    loc::Loc,
};

impl Builder<'_> {
    /// Addresses of numbers, or numbers of addresses: the same bits.
    pub(crate) fn bits_as(&mut self, elem: Elem, value: Value, loc: Loc) -> Value {
        let ty = self.ty(value).with_elem(elem);
        self.emit(ElementwiseOp::Bitcast, vec![value], ty, loc)
    }

    /// The addresses that are stored to a tensor of such, as numbers.
    pub(crate) fn addresses_to_store(
        &mut self,
        value: &Val,
        of: Dtype,
        shape: &[u32],
        loc: Loc,
    ) -> Option<Value> {
        let tile = self.value(value, loc)?;
        let required = Type::Tile(Elem::Ptr(of), shape.to_vec());
        if *self.ty(tile) != required {
            let actual = self.describe(value);
            let required = format!("a `Tile<Ptr<{}>>` of extents {shape:?}", of.name());
            return self.refuse(
                Code::DtypeMismatch
                    .at(loc, "the tensor holds addresses")
                    .compare("", required, actual),
            );
        }
        Some(self.bits_as(Elem::Number(Dtype::U64), tile, loc))
    }
}

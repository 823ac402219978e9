//! The checks of a launch, in their order. Every check is a comparison of numbers; text is made only for an error.

use crate::{
    Actual, Argument, Device, Error, Fact, Grid, Image, ParamKind, Result, Variant,
    argument::{TensorValue, Value},
    grid::LIMITS,
    image, instance,
};

/// Those of an instance's images that are for the arguments that are absent. If there are none, those that differ in the fewest, so
/// that [`arguments`] names one that is wrong.
pub(super) fn for_arguments(
    images: &'static [Image],
    arguments: &[Argument<'_>],
) -> &'static [Image] {
    let differing = |images: &&[Image]| {
        let params = images.first().map_or(&[][..], |image| image.params).iter().zip(arguments);
        let differs = params.filter(|(param, argument)| {
            (param.kind == ParamKind::Absent) != matches!(argument.0, Value::Absent)
        });
        differs.count()
    };
    image::choices(images).min_by_key(differing).unwrap_or_default()
}

/// Checks each argument, and the written ones against the others.
pub(super) fn arguments(
    image: &'static Image,
    arguments: &[Argument<'_>],
    device: &Device,
) -> Result<()> {
    let Image { kernel, params, .. } = *image;
    if params.len() != arguments.len() {
        let (required, actual) = (params.len(), arguments.len());
        return Err(Error::ArgumentCount { kernel, required, actual });
    }
    for (param, argument) in params.iter().zip(arguments) {
        if !fits(param.kind, argument.kind()) {
            return Err(Error::ArgumentKind {
                kernel,
                argument: param.name,
                required: param.kind,
                actual: argument.kind(),
            });
        }
        match &argument.0 {
            Value::Tensor(value) => tensor(kernel, param.name, value, device)?,
            Value::Pointer { device: Some(owner), .. } if !device.reaches_number(*owner) => {
                return Err(Error::WrongDevice {
                    kernel,
                    argument: param.name,
                    required: device.label(),
                    actual: "another device".to_owned(),
                });
            }
            Value::Pointer { .. } | Value::Scalar { .. } | Value::Absent => {}
        }
    }
    for fact in image.declared {
        if let Err(actual) = holds(*fact, arguments) {
            let argument = params.get(fact.param()).map_or("", |param| param.name);
            return Err(Error::FactBroken { kernel, argument, required: *fact, actual });
        }
    }
    aliases(image, arguments)
}

/// The error if the program chose the instance: other instances may take an argument of another type.
pub(super) fn among(
    choices: &'static [&'static [Image]],
    image: &'static Image,
    arguments: &[Argument<'_>],
    error: Error,
) -> Error {
    if choices.is_empty() || !matches!(error, Error::ArgumentKind { .. }) {
        return error;
    }
    let takes = |image: &&Image| {
        let mut pairs = image.params.iter().zip(arguments);
        pairs.all(|(param, argument)| fits(param.kind, argument.kind()))
    };
    let fit = choices.iter().filter_map(|images| images.iter().find(takes));
    let fit: Vec<&str> = fit.map(|image| image.instance).collect();
    let instances = instance::listed(&fit).into();
    Error::InstanceArgument { cause: Box::new(error), instance: image.instance, instances }
}

/// The first variant whose facts hold.
pub(super) fn variant(
    image: &'static Image,
    arguments: &[Argument<'_>],
) -> Result<&'static Variant> {
    let all_hold =
        |variant: &&Variant| variant.requires.iter().all(|fact| holds(*fact, arguments).is_ok());
    image.variants.iter().find(all_hold).ok_or_else(|| Error::ModuleLoad {
        kernel: image.kernel,
        variant: "none",
        device: image.target.to_string(),
        cause: "the image has no variant for these arguments".into(),
        log: Box::default(),
    })
}

/// The grid, if one is given and the device accepts it; `None` for a grid without blocks.
pub(super) fn grid(
    image: &'static Image,
    blocks: Option<[i32; 3]>,
    persistent: Option<i32>,
) -> Result<Option<Grid>> {
    let kernel = image.kernel;
    let (grid, extents) = match (blocks, persistent) {
        (Some(blocks), _) => (Grid::Blocks(blocks), blocks),
        (None, Some(at_most)) => (Grid::Persistent { at_most }, [at_most, 1, 1]),
        (None, None) => return Err(Error::GridMissing { kernel }),
    };
    for (axis, (actual, limit)) in extents.into_iter().zip(LIMITS).enumerate() {
        if !(0..=limit).contains(&actual) {
            return Err(Error::GridOutOfRange { kernel, axis, limit, actual });
        }
        let required = image.cluster[axis];
        // A persistent grid is cut to whole clusters along x, and has one block along the others.
        let cut = axis == 0 && matches!(grid, Grid::Persistent { .. });
        if !cut && !actual.cast_unsigned().is_multiple_of(required) {
            return Err(Error::GridNotOfClusters { kernel, axis, required, actual });
        }
    }
    Ok((!extents.contains(&0)).then_some(grid))
}

/// Whether a parameter takes an argument. A read parameter takes a `&mut` argument's tensor too.
fn fits(required: ParamKind, actual: ParamKind) -> bool {
    match (required, actual) {
        (
            ParamKind::Tensor { dtype, rank, mutable },
            ParamKind::Tensor { dtype: actual_dtype, rank: actual_rank, mutable: actual_mutable },
        ) => dtype == actual_dtype && rank == actual_rank && (actual_mutable || !mutable),
        (ParamKind::Pointer { dtype }, ParamKind::Pointer { dtype: actual })
        | (ParamKind::Scalar { dtype }, ParamKind::Scalar { dtype: actual }) => dtype == actual,
        (ParamKind::Absent, ParamKind::Absent) => true,
        (
            ParamKind::Tensor { .. }
            | ParamKind::Pointer { .. }
            | ParamKind::Scalar { .. }
            | ParamKind::Absent,
            _,
        ) => false,
    }
}

fn tensor(
    kernel: &'static str,
    argument: &'static str,
    tensor: &TensorValue<'_>,
    device: &Device,
) -> Result<()> {
    let owner = tensor.buffer.home().device();
    if owner != device && !device.reaches(owner) {
        let (required, actual) = (device.label(), owner.label_beside(device));
        return Err(Error::WrongDevice { kernel, argument, required, actual });
    }
    let TensorValue { shape, strides, mutable, .. } = tensor;
    for (axis, extent) in shape.iter().copied().enumerate() {
        if i32::try_from(extent).is_err() {
            return Err(Error::DimTooLarge { kernel, argument, axis, actual: extent });
        }
    }
    if *mutable && !tensor.is_empty() && may_overlap(shape, strides) {
        let (shape, strides) = (shape.to_vec(), strides.to_vec());
        return Err(Error::OverlappingElements { kernel, argument, shape, strides });
    }
    Ok(())
}

/// Whether two elements may share an address. Axes are checked in the order of their strides: each has to step over
/// everything that the smaller ones cover, which every slice, permutation and reshape of a row-major tensor does.
fn may_overlap(shape: &[usize], strides: &[usize]) -> bool {
    // No allocation: the next larger (stride, axis) is searched for anew, and ranks are small.
    let mut reach = 0;
    let mut last = None;
    loop {
        let next = shape
            .iter()
            .enumerate()
            .filter(|(_, extent)| **extent > 1)
            .map(|(axis, _)| (strides[axis], axis))
            .filter(|candidate| last.is_none_or(|last| *candidate > last))
            .min();
        let Some((stride, axis)) = next else { return false };
        if stride <= reach {
            return true;
        }
        reach += stride * (shape[axis] - 1);
        last = next;
    }
}

/// Refuses a written tensor that shares bytes with another tensor of the launch. Borrows rule that out for tensors
/// directly from a caller, but two views may have been swapped, and memory of another library may have two names.
fn aliases(image: &'static Image, arguments: &[Argument<'_>]) -> Result<()> {
    for (index, argument) in arguments.iter().enumerate() {
        let Value::Tensor(written) = &argument.0 else { continue };
        if !written.mutable {
            continue;
        }
        for (other_index, other) in arguments.iter().enumerate() {
            let Value::Tensor(other) = &other.0 else { continue };
            let apart = other_index == index
                || written.end() <= other.address
                || other.end() <= written.address;
            if !apart {
                let name = |index: usize| image.params.get(index).map_or("", |param| param.name);
                return Err(Error::Aliased {
                    kernel: image.kernel,
                    argument: name(index),
                    other: name(other_index),
                });
            }
        }
    }
    Ok(())
}

/// Whether a fact holds; if not, the actual value.
fn holds(fact: Fact, arguments: &[Argument<'_>]) -> Result<(), Actual> {
    let argument = arguments.get(fact.param()).map(|argument| &argument.0);
    let tensor_axis = |axis: usize| match argument {
        Some(Value::Tensor(tensor)) => {
            tensor.shape.get(axis).copied().zip(tensor.strides.get(axis).copied())
        }
        Some(Value::Pointer { .. } | Value::Scalar { .. } | Value::Absent) | None => None,
    };
    match fact {
        Fact::PointerAligned { bytes, .. } => match argument {
            Some(Value::Tensor(TensorValue { address, .. }) | Value::Pointer { address, .. }) => {
                require(address.is_multiple_of(u64::from(bytes)), Actual::Address(*address))
            }
            Some(Value::Scalar { .. } | Value::Absent) | None => Err(Actual::None),
        },
        Fact::StrideEquals { axis, value, .. } => {
            let (extent, stride) = tensor_axis(axis).ok_or(Actual::None)?;
            let stride = signed(stride);
            // An axis of one element is never stepped along: its stride is multiplied by 0 only.
            require(stride == value || extent == 1, Actual::Stride(stride))
        }
        Fact::StrideMultiple { axis, of, .. } => {
            let (extent, stride) = tensor_axis(axis).ok_or(Actual::None)?;
            let stride = signed(stride);
            require(is_multiple(stride, of) || extent == 1, Actual::Stride(stride))
        }
        Fact::DimMultiple { axis, of, .. } => {
            let (extent, _) = tensor_axis(axis).ok_or(Actual::None)?;
            require(is_multiple(signed(extent), of), Actual::Extent(extent))
        }
        Fact::ScalarMultiple { of, .. } => match argument {
            Some(Value::Scalar { integer: Some(value), .. }) => {
                let multiple = of != 0 && value % i128::from(of) == 0;
                require(multiple, Actual::Scalar(*value))
            }
            Some(
                Value::Scalar { .. } | Value::Tensor(_) | Value::Pointer { .. } | Value::Absent,
            )
            | None => Err(Actual::None),
        },
    }
}

fn require(holds: bool, actual: Actual) -> Result<(), Actual> {
    if holds { Ok(()) } else { Err(actual) }
}

/// An extent or a stride of memory that exists, which is less than 2^63.
fn signed(elements: usize) -> i64 {
    i64::try_from(elements).unwrap_or(i64::MAX)
}

fn is_multiple(value: i64, of: i64) -> bool {
    of != 0 && value % of == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Whether two indices have one offset, by trying all.
    fn overlaps(shape: &[usize], strides: &[usize]) -> bool {
        let mut offsets = vec![0];
        for (extent, stride) in shape.iter().zip(strides) {
            offsets =
                offsets.iter().flat_map(|o| (0..*extent).map(move |i| o + i * stride)).collect();
        }
        offsets.iter().collect::<BTreeSet<_>>().len() != offsets.len()
    }

    #[test]
    fn overlap_is_never_missed() {
        for shape in [[2, 3, 4], [1, 3, 2], [4, 1, 1], [2, 2, 2]] {
            for code in 0..8usize.pow(3) {
                let strides = [code % 8, code / 8 % 8, code / 64];
                let safe = !may_overlap(&shape, &strides);
                assert!(!(safe && overlaps(&shape, &strides)), "{shape:?} {strides:?}");
            }
        }
    }

    #[test]
    fn slices_and_permutations_are_accepted() {
        for (shape, strides) in [
            ([2, 3, 4], [12, 4, 1]),
            ([4, 3, 2], [1, 4, 12]),
            ([2, 2, 3], [12, 8, 1]),
            ([1, 1, 1], [0, 0, 0]),
            ([3, 1, 5], [5, 0, 1]),
            ([2, 3, 4], [100, 1, 3]),
        ] {
            assert!(!may_overlap(&shape, &strides), "{shape:?} {strides:?}");
        }
        for (shape, strides) in
            [([2, 3, 4], [12, 4, 0]), ([2, 3, 4], [11, 4, 1]), ([4, 4, 1], [1, 1, 9])]
        {
            assert!(may_overlap(&shape, &strides), "{shape:?} {strides:?}");
        }
    }
}

//! The filters of tensor maps: `#[block(PLACES, 1, 1, CHANNELS, filter = [3, 3], stride = [2, 2], padding = [1, 1])]`.

use crate::{
    diag::Code,
    elaborate::{Builder, Env},
    ir::{FilterAxis, ParamKind},
    loc::Loc,
    syntax::{Expr, ExprKind, Literal, MapOption},
};

/// The options about the filter of a map, the filter itself first.
pub(super) const FILTER_OPTIONS: [&str; 4] = ["filter", "stride", "padding", "dilation"];
/// The places of a box, at most (CUDA driver API, `cuTensorMapEncodeIm2col`: pixelsPerColumn).
const MOST_PLACES: u32 = 1024;
/// The widest step from one place to the next (CUDA driver API, `cuTensorMapEncodeIm2col`: elementStrides).
const MOST_STEP: u32 = 8;

/// How far before or after the ends of an axis boxes of places begin and end, and half of how far taps are from the first
/// (CUDA driver API, `cuTensorMapEncodeIm2col`: pixelBoxLowerCorner).
fn limit(rank: u32) -> u32 {
    match rank {
        3 => 1 << 15,
        4 => 1 << 7,
        _ => 1 << 4,
    }
}

impl Builder<'_> {
    /// Reads the filter of a map, if it has one; `options` are those of [`FILTER_OPTIONS`] that it has.
    pub(super) fn filter_of_map(
        &mut self,
        param: u32,
        (extents, block): (&[Expr], &[u32]),
        options: &[&MapOption],
        scope: Env,
    ) -> Option<Vec<FilterAxis>> {
        let ParamKind::Tensor { dtype, rank, mutable } = self.params[param as usize].kind else {
            return None;
        };
        let Some(filter) = options.iter().find(|option| option.name.name == "filter") else {
            let Some(first) = options.first() else { return Some(Vec::new()) };
            let name = &first.name;
            return self.refuse(
                Code::FactAttribute
                    .at(name.loc, format!("a tensor map without a filter has no `{}`", name.name))
                    .why("`stride`, `padding` and `dilation` say where a filter is placed on the tensor")
                    .help(format!("filter = [3, 3], {} = [1, 1]", name.name))
                    .exemplified(),
            );
        };
        let at = filter.name.loc;
        if !(3..=5).contains(&rank) {
            return self.refuse(
                Code::TensorMap
                    .at(at, "a filter needs a tensor of three to five axes")
                    .compare("rank", "3 to 5", rank)
                    .why("the first axis counts images, the last one channels, and the filter moves along those between (CUDA driver API, `cuTensorMapEncodeIm2col`: tensorRank)"),
            );
        }
        if mutable {
            return self.refuse(
                Code::TensorMap.at(at, "a tensor map for stores cannot have a filter").why(
                    "several places of a filter are over the same element, so only loads have one",
                ),
            );
        }
        if dtype.row().packing.is_some() {
            return self.refuse(
                Code::DtypeRefused.at(at, "a filter cannot go over packed numbers").compare(
                    "element type",
                    "one number an element",
                    dtype.name(),
                ),
            );
        }
        let mut axes = Vec::new();
        let [taps, strides, paddings, dilations] = FILTER_OPTIONS.map(|name| {
            let option = options.iter().find(|option| option.name.name == name);
            let (least, most) = match name {
                "stride" => (1, MOST_STEP),
                "padding" => (0, limit(rank)),
                _ => (1, 2 * limit(rank)),
            };
            match option {
                Some(option) => self.of_each_axis(rank, option, (least, most), scope),
                None => Some(vec![least; rank as usize - 2]),
            }
        });
        let (taps, strides, paddings, dilations) = (taps?, strides?, paddings?, dilations?);
        let all = taps.iter().zip(strides).zip(paddings).zip(dilations);
        for (index, (((&taps, stride), padding), dilation)) in all.enumerate() {
            let axis = FilterAxis { taps, stride, padding, dilation };
            self.fits_a_box(rank, (index, axis), filter.value.part(index))?;
            axes.push(axis);
        }
        self.one_tap(extents, block)?;
        Some(axes)
    }

    /// A number for each axis that a filter moves along.
    fn of_each_axis(
        &mut self,
        rank: u32,
        option: &MapOption,
        (least, most): (u32, u32),
        scope: Env,
    ) -> Option<Vec<u32>> {
        let name = option.name.name.as_str();
        let axes = rank as usize - 2;
        let example =
            format!("{name} = [{}]", vec![if least == 0 { "1" } else { "2" }; axes].join(", "));
        let headline = format!("`{name}` has one entry for each axis that the filter moves along");
        let ExprKind::Array(parts) = &option.value.kind else {
            let loc = option.value.loc;
            let of_all = if let ExprKind::Lit(Literal::Int(number, _)) = &option.value.kind {
                Some(format!("{:?}", vec![*number; axes]))
            } else {
                None
            };
            let actual = if of_all.is_some() { "a number" } else { "no array" };
            let diagnostic = Code::FactAttribute
                .at(loc, headline)
                .compare("", format!("an array of {axes}"), actual)
                .why("a filter moves along the axes between the first, which counts images, and the last, which counts channels");
            return self.refuse(match of_all {
                Some(help) => diagnostic.help(help),
                None => diagnostic.help(example).exemplified(),
            });
        };
        if parts.len() != axes {
            return self.refuse(
                Code::FactAttribute
                    .at(option.value.loc, headline)
                    .compare("entries", axes, parts.len())
                    .why("these are the axes between the first, which counts images, and the last, which counts channels"),
            );
        }
        let mut values = Vec::new();
        for (axis, part) in (1..).zip(parts) {
            let val = self.expr(part, scope);
            let actual = self.const_int(&val, &format!("the {name} of a tensor map"), part.loc)?;
            let within = u32::try_from(actual).ok().filter(|value| (least..=most).contains(value));
            let Some(value) = within else {
                let why = match name {
                    "stride" => "a step is at most 8 elements (CUDA driver API, `cuTensorMapEncodeIm2col`: elementStrides)".to_owned(),
                    _ => format!(
                        "a tensor map of rank {rank} has few bits for where places begin and end (CUDA driver API, `cuTensorMapEncodeIm2col`: pixelBoxLowerCorner)"
                    ),
                };
                let diagnostic =
                    Code::TensorMap.at(part.loc, format!("no tensor map has this {name}")).compare(
                        format!("{name} along axis {axis}"),
                        format!("{least} to {most}"),
                        actual,
                    );
                let is_less = actual < i128::from(least);
                return self.refuse(if is_less { diagnostic } else { diagnostic.why(why) });
            };
            values.push(value);
        }
        Some(values)
    }

    /// Whether a tensor map can say where the places of a filter along an axis begin and end.
    fn fits_a_box(
        &mut self,
        rank: u32,
        (index, axis): (usize, FilterAxis),
        loc: Loc,
    ) -> Option<()> {
        let limit = limit(rank);
        let most = (2 * limit - 1).min(axis.padding + limit);
        let (reach, padding) = (axis.reach(), axis.padding);
        let diagnostic = if u64::from(axis.taps - 1) * u64::from(axis.dilation) > most.into() {
            Code::TensorMap
                .at(loc, format!("the filter is too long for a tensor map of rank {rank}"))
                .compare(
                    format!("elements from the first tap to the last along axis {}", index + 1),
                    format!("at most {most}"),
                    u64::from(axis.taps - 1) * u64::from(axis.dilation),
                )
        } else if padding > reach + limit - 1 {
            Code::TensorMap
                .at(loc, format!("the padding is too large for a tensor map of rank {rank}"))
                .compare(
                    format!("padding along axis {}", index + 1),
                    format!("at most {}", reach + limit - 1),
                    padding,
                )
        } else {
            return Some(());
        };
        self.refuse(diagnostic.why(format!(
            "in a tensor map of rank {rank} the places begin at most {limit} elements before the tensor, and end at most as many before its end (CUDA driver API, `cuTensorMapEncodeIm2col`: pixelBoxLowerCorner, pixelBoxUpperCorner)"
        )))
    }

    /// The block of a map with a filter: what is under one tap, at as many places as a box has.
    fn one_tap(&mut self, extents: &[Expr], block: &[u32]) -> Option<()> {
        let last = block.len() - 1;
        if let Some(axis) = (1..last).find(|&axis| block[axis] != 1) {
            let mut required = vec![1; block.len()];
            (required[0], required[last]) = (block[0], block[last]);
            return self.refuse(
                Code::TensorMap
                    .at(
                        extents[axis].loc,
                        "a block of a map with a filter has what is under one tap",
                    )
                    .compare("block", format!("{required:?}"), format!("{block:?}"))
                    .why("one instruction loads the elements under one tap, at a row of places")
                    .help("1"),
            );
        }
        if block[0] <= MOST_PLACES {
            return Some(());
        }
        self.refuse(
            Code::TensorMap
                .at(extents[0].loc, "the block has more places than a tensor map")
                .compare("places", format!("1 to {MOST_PLACES}"), block[0])
                .why("one instruction loads them all (CUDA driver API, `cuTensorMapEncodeIm2col`: pixelsPerColumn)")
                .help(MOST_PLACES.to_string()),
        )
    }

    /// Reports an access to a window of a map with a filter that is not a TMA copy.
    pub(crate) fn only_by_copy(&mut self, param: u32, what: &str, loc: Loc) -> Option<()> {
        if self.params[param as usize].map.filter.is_empty() {
            return Some(());
        }
        let place = self.params[param as usize].loc;
        self.refuse(
            Code::CopyOperands
                .at(loc, format!("{what} cannot go over the places of a filter"))
                .compare("", "a TMA copy: `copy_async(x.at([place, r, s, c]), tile)`", what)
                .place(place, "its map has a filter")
                .why("the tensor map knows the filter, and only TMA copies read the map"),
        )
    }
}

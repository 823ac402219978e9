//! The instances of a kernel as values, to be listed, looked up, and launched.

use crate::{
    Argument, Device, Error, Grid, GridFault, Image, Resources, Result, Target,
    image::{complete, list_of},
};
use std::{
    fmt::{Debug, Display},
    hash::Hash,
};

/// One compiled choice of a kernel's generic parameters, as a value.
///
/// Each kernel `name` has its own type for them, `name::Instance`, with a public field for each generic parameter;
/// `name::instances()` gives all of them, in the order of the lists in `instances(..)`. Instances are equal if they are
/// the same one, and ordered by position. They print their values, such as `BM = 128, T = f16`.
///
/// The trait is for code that works with any kernel, such as a benchmark of all instances:
///
/// ```
/// use kernel_runtime::Instance;
///
/// fn table<I: Instance>() -> String {
///     let all = I::all().iter();
///     all.map(|one| format!("{}: {one} for {:?}\n", I::KERNEL, one.targets())).collect()
/// }
/// ```
///
/// Only `#[kernel]` implements it.
pub trait Instance:
    Copy + Debug + Display + Eq + Hash + Ord + Send + Sync + Sized + 'static
{
    /// The kernel's name.
    const KERNEL: &'static str;

    /// Every instance of the kernel.
    fn all() -> &'static [Self];

    /// Where the instance stands in [`all`](Self::all).
    fn position(self) -> usize;

    /// The compiled code, one image for each target and each choice of arguments that are absent.
    #[doc(hidden)]
    fn images(self) -> &'static [Image];

    /// The targets that the instance was compiled for.
    fn targets(self) -> Vec<Target> {
        complete(self.images()).iter().map(|image| image.target).collect()
    }

    /// The compiled code that `device` runs if no argument is absent: the newest target that it can.
    ///
    /// # Errors
    /// [`Error::TargetNotRunnable`].
    #[doc(hidden)]
    fn image(self, device: &Device) -> Result<&'static Image> {
        device.image_for(complete(self.images())).ok_or_else(|| Error::TargetNotRunnable {
            kernel: Self::KERNEL,
            required: list_of(self.targets()),
            actual: device.label(),
        })
    }

    /// The resources of the code, before there are arguments: those of the variant with the most facts, which most
    /// arguments fit, and without an argument that is absent. [`Launch::resources`](crate::Launch::resources) gives those of the variant for given arguments.
    /// Loads the code.
    ///
    /// # Errors
    /// Those of [`Launch::launch`](crate::Launch::launch) that concern target and code.
    fn resources(self, device: &Device) -> Result<Resources> {
        let image = self.image(device)?;
        match image.variants.first() {
            Some(variant) => device.resources(image, variant),
            None => unreachable!("the last variant of an image requires nothing"),
        }
    }
}

/// The blocks that the kernel's own `grid` gives for one instance and these arguments. `None` if the kernel has no
/// grid, and if the arguments are not those of the kernel, which the launch reports.
#[doc(hidden)]
pub type __GridOf = fn(&[Argument<'_>]) -> Option<Result<Grid, GridFault>>;

/// The first instance that `accepts` takes.
#[doc(hidden)]
pub fn __find<I: Instance>(mut accepts: impl FnMut(&I) -> bool) -> Result<I> {
    let found = I::all().iter().copied().find(|one| accepts(one));
    found.ok_or_else(|| no_instance::<I>("that `find` accepts".to_owned()))
}

/// The instance with these values.
#[doc(hidden)]
pub fn __find_values<I: Instance>(
    values: &dyn Display,
    mut has_them: impl FnMut(&I) -> bool,
) -> Result<I> {
    let found = I::all().iter().copied().find(|one| has_them(one));
    found.ok_or_else(|| no_instance::<I>(format!("with {values}")))
}

fn no_instance<I: Instance>(required: String) -> Error {
    Error::NoInstance { kernel: I::KERNEL, required, actual: listed(I::all()) }
}

/// How many instances a message lists, and how many of them come behind the gap.
const LISTED: usize = 12;
const LAST: usize = 3;

/// `N = 64; N = 128`, shortened in the middle.
pub(crate) fn listed<I: Display>(instances: &[I]) -> String {
    let (first, last) = match instances.len() {
        count if count <= LISTED => (count, count),
        count => (LISTED - LAST, count - LAST),
    };
    let mut parts: Vec<String> = instances[..first].iter().map(I::to_string).collect();
    if first < last {
        parts.push(format!("({} more)", last - first));
        parts.extend(instances[last..].iter().map(I::to_string));
    }
    match parts.as_slice() {
        [] => "none".to_owned(),
        [only] if only.is_empty() => "one, without parameters".to_owned(),
        parts => parts.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_shortened_in_the_middle() {
        let all: Vec<i32> = (0..40).collect();
        assert_eq!(listed(&all[..12]), "0; 1; 2; 3; 4; 5; 6; 7; 8; 9; 10; 11");
        assert_eq!(listed(&all[..13]), "0; 1; 2; 3; 4; 5; 6; 7; 8; (1 more); 10; 11; 12");
        assert_eq!(listed(&all), "0; 1; 2; 3; 4; 5; 6; 7; 8; (28 more); 37; 38; 39");
        assert_eq!(listed(&all[..0]), "none");
        assert_eq!(listed(&[""]), "one, without parameters");
    }
}

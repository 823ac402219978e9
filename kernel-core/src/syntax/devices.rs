//! What a unit uses of other modules.

use std::collections::BTreeMap;

use super::Item;
use crate::loc::Loc;

/// An item that came in a bundle.
#[derive(Clone, Debug)]
pub struct DeviceItem {
    /// What distinguishes it from all others.
    pub id: String,
    /// The function, or the items of the module.
    pub items: Vec<Item>,
    /// What its free paths mean.
    pub uses: Vec<DeviceUse>,
}

/// What a free path means.
#[derive(Clone, Debug)]
pub struct DeviceUse {
    /// The path, as it is written where it is used.
    pub path: String,
    /// The item that holds it.
    pub id: String,
    /// Its name there.
    pub export: String,
}

/// The device items of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Devices {
    /// What came with the bundles.
    pub items: Vec<DeviceItem>,
    /// What the free paths of the kernel mean.
    pub uses: Vec<DeviceUse>,
    /// Free paths whose bundles have not come yet: nothing is reported about what they stand for.
    pub pending: Vec<String>,
    /// Names that stand in the place of an item and are no device item, each with what the file has under it for the host, such as
    /// `a function`.
    pub nowhere: Vec<(String, Option<&'static str>)>,
    /// Where functions of the file stand that only the host can call, by name: the place, and the line.
    pub functions: BTreeMap<String, (Loc, u32)>,
}

/// What a name in a pattern is if `use` brings it, in [`Devices::nowhere`].
pub(crate) const IMPORTED: &str = "an import";

//! What a time is the answer to.

use kernel_runtime::{Device, Image};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Which code, on which device, on which arguments.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Question {
    pub(crate) kernel: String,
    pub(crate) instance: String,
    pub(crate) ptx: String,
    pub(crate) device: String,
    pub(crate) driver: String,
    pub(crate) key: String,
}

impl Question {
    pub(crate) fn new(image: &Image, instance: String, device: &Device, key: &str) -> Self {
        Self {
            kernel: image.kernel.to_owned(),
            instance,
            ptx: hash(image),
            device: device.name(),
            driver: device.driver_version().map_or_else(String::new, |version| version.to_string()),
            key: key.to_owned(),
        }
    }
}

/// SHA-256 of everything in an image that its time may depend on, the first 128 bits as hexadecimal digits.
fn hash(image: &Image) -> String {
    let mut hasher = Sha256::new();
    let mut add = |bytes: &[u8]| {
        // Each part behind its length, so that no two lists of parts are the same bytes.
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    add(image.target.name().as_bytes());
    for number in [image.threads].into_iter().chain(image.cluster) {
        add(&number.to_le_bytes());
    }
    add(&[u8::from(image.programmatic)]);
    for variant in image.variants {
        add(variant.entry.as_bytes());
        add(variant.ptx.as_bytes());
        add(&variant.dynamic_shared_bytes.to_le_bytes());
    }
    let mut text = String::new();
    for byte in &hasher.finalize()[..16] {
        write!(text, "{byte:02x}").expect("a string takes any text");
    }
    text
}

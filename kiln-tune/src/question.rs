//! The question that a time answers.

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
    /// `images` are those of an instance for one target, the first one with all arguments.
    pub(crate) fn new(images: &[&Image], instance: String, device: &Device, key: &str) -> Self {
        Self {
            kernel: images.first().map_or("", |image| image.kernel).to_owned(),
            instance,
            ptx: hash(images, device.properties().compute_capability),
            device: device.name(),
            driver: device.driver_version().map_or_else(String::new, |version| version.to_string()),
            key: key.to_owned(),
        }
    }
}

/// SHA-256 of everything in images that their time may depend on, on a device of the compute capability: the first 128 bits as
/// hexadecimal digits.
fn hash(images: &[&Image], capability: (u32, u32)) -> String {
    let mut hasher = Sha256::new();
    for image in images {
        add_image(&mut hasher, image, capability);
    }
    let mut text = String::new();
    for byte in &hasher.finalize()[..16] {
        write!(text, "{byte:02x}").expect("a string takes any text");
    }
    text
}

fn add_image(hasher: &mut Sha256, image: &Image, capability: (u32, u32)) {
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
        add(&variant.tensor_columns.to_le_bytes());
        // Which arguments the variant is for, and how its copies reach them. As text, fields that come along are parts of it.
        add(format!("{:?}", variant.requires).as_bytes());
        add(format!("{:?}", variant.maps).as_bytes());
        // Machine code for other devices changes nothing.
        let cubins = || variant.cubins.iter().filter(|cubin| cubin.runs_on(capability));
        add(&(cubins().count() as u64).to_le_bytes());
        for cubin in cubins() {
            add(cubin.architecture.as_bytes());
            add(cubin.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel_runtime::{Cubin, Fact, Fill, MapInfo, Target, Variant};

    const VARIANT: Variant = Variant {
        name: "general",
        entry: "k",
        ptx: "",
        cubins: &[],
        dynamic_shared_bytes: 0,
        tensor_columns: 0,
        requires: &[],
        maps: &[],
        names: None,
    };

    const MAP: MapInfo = MapInfo {
        param: 0,
        dtype: "f16",
        dims: &[],
        places: None,
        swizzle_bytes: 64,
        l2_promotion_bytes: 0,
        fill: Fill::Zero,
        written: false,
    };

    const HOPPER: (u32, u32) = (9, 0);

    fn image(variant: Variant) -> Image {
        Image {
            kernel: "k",
            instance: "",
            target: Target::Sm90a,
            threads: 32,
            cluster: [1; 3],
            programmatic: false,
            params: &[],
            declared: &[],
            reports: None,
            stamps: None,
            variants: vec![variant].leak(),
        }
    }

    #[test]
    fn whatever_a_time_depends_on_is_another_question() {
        let own = Cubin { architecture: "sm_90a", bytes: b"one" };
        let fact = |of| Fact::DimMultiple { param: 0, axis: 0, of };
        let variants = [
            VARIANT,
            Variant { entry: "other", ..VARIANT },
            Variant { ptx: "other", ..VARIANT },
            Variant { dynamic_shared_bytes: 1, ..VARIANT },
            Variant { tensor_columns: 32, ..VARIANT },
            Variant { requires: vec![fact(2)].leak(), ..VARIANT },
            Variant { requires: vec![fact(4)].leak(), ..VARIANT },
            Variant { maps: &[MAP], ..VARIANT },
            Variant { maps: &[MapInfo { swizzle_bytes: 128, ..MAP }], ..VARIANT },
            Variant { cubins: vec![own].leak(), ..VARIANT },
            Variant { cubins: vec![Cubin { bytes: b"other", ..own }].leak(), ..VARIANT },
        ];
        let mut images: Vec<Image> = variants.into_iter().map(image).collect();
        let same = images[0];
        images.extend([
            Image { target: Target::Sm80, ..same },
            Image { threads: 64, ..same },
            Image { cluster: [2, 1, 1], ..same },
            Image { programmatic: true, ..same },
            Image { variants: &[VARIANT, VARIANT], ..same },
        ]);
        let hashes: Vec<String> = images.iter().map(|image| hash(&[image], HOPPER)).collect();
        for (at, one) in hashes.iter().enumerate() {
            assert_eq!(hashes.iter().position(|other| other == one), Some(at), "{:?}", images[at]);
        }
    }

    #[test]
    fn machine_code_for_another_device_leaves_the_question_as_it_is() {
        let other = Cubin { architecture: "sm_100a", bytes: b"code" };
        let with = image(Variant { cubins: vec![other].leak(), ..VARIANT });
        assert_eq!(hash(&[&with], HOPPER), hash(&[&image(VARIANT)], HOPPER));
        assert_ne!(hash(&[&with], (10, 0)), hash(&[&image(VARIANT)], (10, 0)));
    }
}

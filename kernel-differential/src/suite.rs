//! The cases: for every form of the list one that tests it.

mod atomic;
mod cluster;
mod control;
mod elementwise;
mod exchange;
mod factors;
mod im2col;
mod matrix;
mod memory;
mod mma;
mod tensor;
mod warp;
mod wgmma;

use std::fmt;

use kernel_runtime::Target;

use crate::{case::Case, list};

/// A case that is yet to be made: its operands take memory.
pub struct Entry {
    /// What it tests: a form, or a group of them.
    pub name: String,
    /// The forms that it is the test of.
    pub forms: Vec<String>,
    make: Box<dyn Fn() -> Case>,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("name", &self.name)
            .field("forms", &self.forms)
            .finish_non_exhaustive()
    }
}

impl Entry {
    /// The case with its kernel and operands.
    pub fn case(&self) -> Case {
        (self.make)()
    }
}

/// A family of cases, one for each form.
struct Family {
    claims: fn(&str) -> bool,
    make: fn(&str, Target) -> Option<Case>,
}

const FAMILIES: [Family; 6] = [
    Family { claims: atomic::claims, make: atomic::case },
    Family { claims: elementwise::claims, make: elementwise::case },
    Family { claims: matrix::claims, make: matrix::case },
    Family { claims: memory::claims, make: memory::case },
    Family { claims: mma::claims, make: mma::case },
    Family { claims: warp::claims, make: warp::case },
];

/// Every case, in the order of the list.
pub fn entries() -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for form in list::forms().chain(list::ahead()) {
        let Some(family) = FAMILIES.iter().find(|family| (family.claims)(form)) else { continue };
        let case = move || {
            let case = (family.make)(form, Target::Sm90a);
            case.unwrap_or_else(|| unreachable!("the family claims the form {form}"))
        };
        entries.push(Entry {
            name: form.to_owned(),
            forms: vec![form.to_owned()],
            make: Box::new(case),
        });
    }
    entries.extend(exchange::entries());
    entries.extend(cluster::entries());
    entries.extend(tensor::entries());
    entries.extend(im2col::entries());
    entries.extend(wgmma::entries());
    entries.extend(control::entries());
    entries
}

//! Runs a listing of the book by its name: `cargo run -p book -- start/first_kernel`. Without a name, lists all.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the programs show results")]
#![cfg_attr(test, allow(clippy::cast_precision_loss, reason = "hosts make small whole numbers"))]
#![expect(
    unused_qualifications,
    unreachable_pub,
    reason = "a listing is written as it stands in a user's `main.rs`"
)]

#[expect(
    clippy::cast_precision_loss,
    clippy::large_stack_arrays,
    clippy::many_single_char_names,
    clippy::float_cmp,
    reason = "hosts compare small arrays of exact numbers, and a matrix has the name that it has in a formula"
)]
mod coming;
mod correctness;
mod layouts;
#[expect(clippy::cast_precision_loss, reason = "hosts make small whole numbers")]
mod model;
mod order;
mod path;
mod start;
mod using;

use std::process::ExitCode;

/// A program that a page shows.
#[derive(Clone, Copy, Debug)]
struct Listing {
    /// The part of the book and the file: `start/first_kernel`.
    name: &'static str,
    main: fn() -> kiln::Result<()>,
}

/// Declares the modules of a part of the book, and lists them as `LISTINGS`.
macro_rules! listings {
    ($part:literal: $($name:ident),+ $(,)?) => {
        $(mod $name;)+

        /// The programs of this part.
        pub(crate) const LISTINGS: &[$crate::Listing] = &[
            $($crate::Listing { name: concat!($part, "/", stringify!($name)), main: $name::main },)+
        ];
    };
}
pub(crate) use listings;

/// The programs of each part of the book.
const PARTS: &[&[Listing]] = &[
    start::LISTINGS,
    model::LISTINGS,
    path::LISTINGS,
    layouts::LISTINGS,
    order::LISTINGS,
    correctness::LISTINGS,
    using::LISTINGS,
    coming::LISTINGS,
];

fn main() -> ExitCode {
    let Some(wanted) = std::env::args().nth(1) else {
        for listing in PARTS.iter().copied().flatten() {
            println!("{}", listing.name);
        }
        return ExitCode::SUCCESS;
    };
    let Some(listing) = PARTS.iter().copied().flatten().find(|listing| listing.name == wanted)
    else {
        eprintln!("no listing has the name {wanted}; without a name, all are listed");
        return ExitCode::FAILURE;
    };
    match (listing.main)() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{wanted}: {error}");
            ExitCode::FAILURE
        }
    }
}

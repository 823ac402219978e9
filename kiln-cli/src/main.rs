//! The `kiln` command.
#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use kiln_cli::command::{self, RunPtx, Statistics};

/// Runs PTX on the CPU, and shows layouts.
#[derive(Parser)]
#[command(name = "kiln", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run kernels of PTX files on the emulator and check what they compute.
    ///
    /// A launch description is a JSON file that names the PTX file and the kernel, its arguments, the buffers' contents
    /// and, case by case, what must come out. Without cases, the kernel just runs. The exit status is 1 if any failed.
    RunPtx {
        /// Launch descriptions.
        #[arg(required = true, value_name = "LAUNCH.json")]
        launches: Vec<PathBuf>,
        /// Save each buffer that the kernel writes as DIR/NAME.BUFFER.bin; of several cases, the last stays.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// Host threads that run blocks; all of the machine's without it.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
        threads: Option<u16>,
        /// Print how many instructions ran, and bank conflicts of shared memory.
        #[arg(long)]
        stats: bool,
    },
    /// Show a layout: its bases, and which register, lane and warp hold each element.
    Layout {
        /// The layout as in a kernel: `slice(0, blocked([1, 4], [32, 1], [1, 4], [1, 0]))`.
        form: String,
        /// The shape of the tensor: `128,64`.
        #[arg(long, value_name = "N,M", value_delimiter = ',', required = true)]
        shape: Vec<u32>,
        /// Bits of an element, which `swizzle(..)` depends on.
        #[arg(long, value_name = "BITS", default_value_t = 16)]
        bits: u32,
    },
}

fn main() -> ExitCode {
    let mut output = io::stdout().lock();
    let status = match Arguments::parse().command {
        Command::RunPtx { launches, out, threads, stats } => {
            let options = command::options(threads.map(usize::from));
            let statistics = if stats { Statistics::Shown } else { Statistics::Hidden };
            let command = RunPtx { files: launches, out, options, statistics };
            command::run_ptx(&command, &mut output).map(|tally| tally.failed == 0)
        }
        Command::Layout { form, shape, bits } => match command::layout(&form, &shape, bits) {
            Ok(page) => output.write_all(page.as_bytes()).map(|()| true),
            Err(problem) => writeln!(io::stderr(), "{problem}").map(|()| false),
        },
    };
    match status {
        Ok(true) => ExitCode::SUCCESS,
        // What cannot be written because nobody reads it has failed as well.
        Ok(false) | Err(_) => ExitCode::FAILURE,
    }
}

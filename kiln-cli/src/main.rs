//! The `kiln` command.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use kernel_emulator::Hazards;
use kiln_cli::command::{self, LayoutPage, RunPtx, ShowLayout, Statistics};
use kiln_cli::init::Package;
use kiln_cli::{inspect, trace, tune};

/// Begins packages with kernels, runs and traces PTX on the CPU, shows layouts, and explains the codes of messages.
#[derive(Parser)]
#[command(name = "kiln", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write a package with a kernel, a test of it that needs no GPU, and profiles. If one of its files exists, but for .gitignore, nothing is written.
    Init {
        /// The package's folder, which is made if it is not there.
        #[arg(value_name = "PATH", default_value = ".")]
        path: PathBuf,
        /// The package's name; the folder's without it.
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Depend on this checkout of Kiln; on the published version without it.
        #[arg(long, value_name = "PATH")]
        kiln: Option<PathBuf>,
    },
    /// Run kernels of PTX files on the emulator and check what they compute.
    ///
    /// A launch description is a JSON file that names the PTX file and the kernel, its arguments, the buffers' contents
    /// and, case by case, what must come out. Without cases, the kernel just runs. The exit status is 1 if any failed.
    #[command(override_usage = "kiln run-ptx [OPTIONS] <LAUNCH.json>...")]
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
        /// End a launch that runs more warp instructions, as one that never ends would; 2^36, about an hour, without it.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        max_instructions: Option<u64>,
        /// Print how many instructions ran, and bank conflicts of shared memory.
        #[arg(long)]
        stats: bool,
        /// What becomes of hazards, such as a data race or a missing proxy fence: the first one ends the launch (`error`); all are
        /// listed below its verdict and the results are compared all the same (`warn`); or nobody looks for them (`off`).
        #[arg(long, value_name = "WHAT", value_enum, default_value_t = OnHazard::Error)]
        hazards: OnHazard,
        /// Save the hazards that were found, and the fault that ended a launch, as JSON.
        #[arg(long, value_name = "FILE")]
        findings: Option<PathBuf>,
    },
    /// Show what warps, copies and tensor cores of a launch do when, in modelled cycles.
    ///
    /// FILE is a launch description as for `run-ptx`, which runs and writes NAME.CASE.trace.json for Perfetto (ui.perfetto.dev); or such a trace, as
    /// `KILN_TRACE=DIR cargo test` writes one for each launch on the emulator.
    Trace(trace::Command),
    /// Explain a code of the compiler's messages, such as K0202: what it means, why, an example and its fix.
    Explain {
        /// The code; all codes are listed without one.
        #[arg(value_name = "CODE")]
        code: Option<String>,
    },
    /// Show a layout: its bases, and which register, lane and warp hold each element; or compare two.
    ///
    /// Layouts of shared memory show the offset of each element, those of tensor memory its row and column. A picture shows
    /// warps in colours, banks of shared memory, and rows and columns of tensor memory.
    Layout {
        /// The layout as in a kernel: `slice(0, blocked([1, 4], [32, 1], [1, 4], [1, 0]))`,
        /// `layout!(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)])`, with the values of constants written out. `layout!( )` may be left out.
        ///
        /// Kernels write `blocked`, `slice`, `linear`, `mma`, `dot_operand`, `swizzle`, `swizzled`, `row_major`, `shared_linear` and
        /// `layout!`. Only this command reads the layouts that the hardware has and kernels do not name: `padded([[32, 4]], row_major())`,
        /// `wgmma([4, 1], 128)`, `cluster([[1, 0]], swizzle(128))`, `swizzle(128).transposed()`, `tmem_block([128, 64], 1)`,
        /// `tmem_scales()`, `tmem_load(32x32b, tmem_block([128, 64], 1), 4)`, `Compose(3, 3, 3, S[(64, 64) : (64, 1)])`, and offsets
        /// as in `S[8 : 1] + 5`.
        #[arg(value_name = "LAYOUT")]
        form: String,
        /// Another layout of the same tensor, with which the first is compared.
        #[arg(value_name = "OTHER")]
        other: Option<String>,
        /// The shape of the tensor: `128,64`. A layout by extents or bases has a shape of its own.
        #[arg(long, value_name = "N,M", value_delimiter = ',')]
        shape: Option<Vec<u32>>,
        /// Bits of an element, which `swizzle(..)` and banks depend on.
        #[arg(long, value_name = "BITS", default_value_t = 16, value_parser = element_bits)]
        bits: u32,
        /// Draw the layout, or both, as SVG.
        #[arg(long, value_name = "FILE")]
        svg: Option<PathBuf>,
    },
    /// Measure the instances of kernels again, in a program or its tests that tune, and report tables and plots.
    ///
    /// Runs cargo with `KILN_TUNE=all`: `kiln tune -- run --release --example matmul_async_copy`, `kiln tune -- test matmul`.
    Tune {
        /// Show what a cache of times holds, instead of measuring; without FILE, the user's own.
        #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["report", "cargo"])]
        #[expect(clippy::option_option, reason = "clap gives an option with an optional value so")]
        list: Option<Option<PathBuf>>,
        /// The folder for the reports.
        #[arg(long, value_name = "DIR", default_value = "target/kiln-tune")]
        report: PathBuf,
        /// What cargo is to do; its tests without this.
        #[arg(last = true, value_name = "CARGO ARGUMENTS")]
        cargo: Vec<OsString>,
    },
    /// Show what a dump says: with `--layouts` each tile's layout and what each conversion costs, by line of the source; with `--order`
    /// what is known of the order of threads, blocks and copies before the kernel runs: proven, or left to the emulator, and why.
    ///
    /// Layouts are chosen while cargo builds: `KILN_DUMP=DIR cargo build` writes what it chose to DIR, for all that it compiles.
    #[command(group(clap::ArgGroup::new("shown").required(true).args(["layouts", "order"])))]
    Inspect {
        /// Show layouts, from files that end in `.layouts`.
        #[arg(long)]
        layouts: bool,
        /// Show the verdict on the order of each kernel, from files that end in `.order`.
        #[arg(long)]
        order: bool,
        /// A folder that `KILN_DUMP` named, or one file of it.
        #[arg(value_name = "DIR|FILE")]
        path: PathBuf,
    },
}

/// The sizes that elements have.
fn element_bits(text: &str) -> Result<u32, String> {
    let bits = text.parse().map_err(|_| "required a number".to_owned())?;
    match bits {
        4 | 8 | 16 | 32 | 64 => Ok(bits),
        actual => Err(format!("required 4, 8, 16, 32 or 64, actual {actual}")),
    }
}

/// The text of a page whose picture, if required, is written to a file.
fn saved(page: LayoutPage, svg: Option<&Path>) -> Result<String, String> {
    if let Some(file) = svg {
        let picture = page.picture?;
        std::fs::write(file, picture).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(page.text)
}

/// What a dump says, file by file.
fn inspected(path: &Path, what: inspect::Shown) -> Result<String, String> {
    let files = inspect::files(path, what)?;
    let shown = files.iter().map(|file| {
        let place = file.display();
        let dump = std::fs::read_to_string(file).map_err(|error| format!("{place}: {error}"))?;
        let shown = what.tell(&dump).map_err(|error| format!("{place}: {error}"))?;
        Ok(match what {
            inspect::Shown::Layouts => format!("{place}: {shown}\n"),
            inspect::Shown::Order => format!("{place}: {shown}"),
        })
    });
    shown.collect()
}

/// What becomes of hazards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnHazard {
    /// The first one ends the launch.
    Error,
    /// They are listed, and results are compared.
    Warn,
    /// Nobody looks for them.
    Off,
}

impl From<OnHazard> for Hazards {
    fn from(hazards: OnHazard) -> Hazards {
        match hazards {
            OnHazard::Error => Hazards::Error,
            OnHazard::Warn => Hazards::Warn,
            OnHazard::Off => Hazards::Off,
        }
    }
}

fn main() -> ExitCode {
    let mut output = io::stdout().lock();
    let status = match Arguments::parse().command {
        Command::Init { path, name, kiln } => {
            let package = Package::new(&path, name.as_deref(), kiln.as_deref());
            match package.and_then(|package| package.write().map(|written| package.told(&written)))
            {
                Ok(text) => output.write_all(text.as_bytes()).map(|()| true),
                Err(problem) => writeln!(io::stderr(), "{problem}").map(|()| false),
            }
        }
        Command::RunPtx { launches, out, threads, max_instructions, stats, hazards, findings } => {
            let options = command::options(threads.map(usize::from), max_instructions);
            let options = options.with_hazards(hazards.into());
            let statistics = if stats { Statistics::Shown } else { Statistics::Hidden };
            let command = RunPtx { files: launches, out, options, statistics, findings };
            command::run_ptx(&command, &mut output).map(|tally| tally.failed == 0)
        }
        Command::Trace(command) => match command.run() {
            Ok(told) => output.write_all(told.text.as_bytes()).map(|()| told.passed),
            Err(problem) => writeln!(io::stderr(), "{problem}").map(|()| false),
        },
        Command::Explain { code } => match command::explain(code.as_deref()) {
            Ok(text) => output.write_all(text.as_bytes()).map(|()| true),
            Err(problem) => writeln!(io::stderr(), "{problem}").map(|()| false),
        },
        Command::Layout { form, other, shape, bits, svg } => {
            let forms = std::iter::once(form).chain(other).collect();
            let page = command::layout(&ShowLayout { forms, shape, element_bits: bits });
            match page.and_then(|page| saved(page, svg.as_deref())) {
                Ok(text) => output.write_all(text.as_bytes()).map(|()| true),
                Err(problem) => writeln!(io::stderr(), "{problem}").map(|()| false),
            }
        }
        Command::Tune { list, report, cargo } => {
            let told = match list {
                Some(file) => Ok(tune::list(file.as_deref())),
                None => tune::measure(&cargo, &report),
            };
            match told {
                Ok(told) => output
                    .write_all(told.text.as_bytes())
                    .and_then(|()| told.warn(&mut io::stderr())),
                Err(problem) => writeln!(io::stderr(), "{problem}").map(|()| false),
            }
        }
        Command::Inspect { layouts: _, order, path } => match inspected(
            &path,
            if order { inspect::Shown::Order } else { inspect::Shown::Layouts },
        ) {
            Ok(text) => output.write_all(text.as_bytes()).map(|()| true),
            Err(problem) => writeln!(io::stderr(), "{problem}").map(|()| false),
        },
    };
    match status {
        Ok(true) => ExitCode::SUCCESS,
        // Output that cannot be written because its reader is gone has failed as well.
        Ok(false) | Err(_) => ExitCode::FAILURE,
    }
}

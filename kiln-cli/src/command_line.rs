//! The command line: subcommands and their arguments.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use kernel_emulator::Hazards;

use crate::command::{self, LayoutPage, RunPtx, ShowLayout, Statistics};
use crate::init::Package;
use crate::inspect::tools::Tools;
use crate::inspect::{self, Inspect, Language, Shown, Told, View};
use crate::{profile, trace, tune};

/// Tools for GPU kernels in Rust: they need no GPU, and a CUDA toolkit only where they say so.
#[derive(Parser)]
#[command(name = "kiln", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write a package with a kernel and a test of it that needs no GPU.
    ///
    /// If one of its files exists, except .gitignore, nothing is written.
    Init {
        /// The package's folder, which is made if it does not exist.
        #[arg(value_name = "PATH", default_value = ".")]
        path: PathBuf,
        /// The package's name; without it, that of the folder.
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Depend on this checkout of Kiln; without it, on the published version.
        #[arg(long, value_name = "PATH")]
        kiln: Option<PathBuf>,
    },
    /// Run kernels of PTX files on the CPU and check what they compute.
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
    /// Show how long warps were in the phases that `stamp!` names, on a GPU or on the emulator.
    ///
    /// FILE is a profile, as `KILN_PROFILE=DIR` has each launch of a kernel with stamps write one. Or cargo writes them: `kiln profile -- run
    /// --release`.
    Profile(profile::Command),
    /// Explain a message of the compiler by its code, such as K0202.
    ///
    /// What it means, why the compiler refuses it, an example, and its fix.
    Explain {
        /// The code; all codes are listed without one.
        #[arg(value_name = "CODE")]
        code: Option<String>,
    },
    /// Show which register, lane and warp hold each element of a layout, or compare two layouts.
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
    /// Measure the instances of kernels that a program tunes, and report tables and plots.
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
    /// Show what the compiler made of kernels: registers, occupancy, loops, PTX, SASS, layouts, order.
    ///
    /// `KILN_DUMP=DIR cargo build` writes every stage of every kernel that it compiles to DIR. Without an option, a table has a row for each
    /// kernel, instance, target and variant. Registers and spills come from ptxas, which `KILN_PTXAS` names, or which is in `CUDA_HOME`,
    /// `CUDA_PATH` or PATH.
    #[command(group(clap::ArgGroup::new("shown").args(["layouts", "order", "loops", "times", "ptx", "sass"])))]
    Inspect {
        /// Show what the instructions of each loop do, in classes, and how many there are for each tensor-core instruction.
        #[arg(long)]
        loops: bool,
        /// Show how long the compiler took for each variant, phase by phase, and ptxas after it.
        #[arg(long)]
        times: bool,
        /// Show the PTX below the lines of the source that it comes from.
        #[arg(long)]
        ptx: bool,
        /// Show the machine code below the lines of the source that it comes from; it takes ptxas and nvdisasm.
        #[arg(long)]
        sass: bool,
        /// Show each tile's layout and what each conversion costs, by line of the source.
        #[arg(long)]
        layouts: bool,
        /// Show what is known of the order of threads, blocks and copies before the kernel runs: proven, or left to the emulator, and why.
        #[arg(long)]
        order: bool,
        /// Only what has this text in its file's name; of several texts, all of them: `--only sm_90a --only aligned`.
        #[arg(long, value_name = "TEXT", conflicts_with_all = ["layouts", "order"])]
        only: Vec<String>,
        /// The folder that paths of source files start from; the current folder, and those around it and the dump without it.
        #[arg(long, value_name = "DIR")]
        source: Option<PathBuf>,
        /// Save what is known of each kernel as JSON.
        #[arg(long, value_name = "FILE", conflicts_with_all = ["layouts", "order"])]
        json: Option<PathBuf>,
        /// Save a page to look at: source beside PTX, machine code and layouts, loops, and pictures of layouts. If it would be large, each kernel
        /// has a page of its own in a folder beside FILE.
        #[arg(long, value_name = "FILE", conflicts_with_all = ["layouts", "order"])]
        html: Option<PathBuf>,
        /// Folders that `KILN_DUMP` named, or files of them.
        #[arg(required = true, value_name = "DIR|FILE")]
        paths: Vec<PathBuf>,
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

/// Prints what was found, then what went wrong; whether nothing did.
fn told(found: Result<Told, String>, output: &mut dyn Write) -> io::Result<bool> {
    let Told { text, problems } =
        found.unwrap_or_else(|problem| Told { text: String::new(), problems: vec![problem] });
    output.write_all(text.as_bytes())?;
    for problem in &problems {
        writeln!(io::stderr(), "{problem}")?;
    }
    Ok(problems.is_empty())
}

/// Runs the command with these arguments; `name` is what the user called it by.
pub fn run(name: &'static str, arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let words = std::iter::once(name.into()).chain(arguments);
    let arguments = Arguments::parse_from(words);
    match done(arguments.command, &mut io::stdout().lock()) {
        Ok(true) => ExitCode::SUCCESS,
        // Output that cannot be written because its reader is gone has failed as well.
        Ok(false) | Err(_) => ExitCode::FAILURE,
    }
}

/// Runs a subcommand; whether nothing went wrong.
fn done(command: Command, output: &mut dyn Write) -> io::Result<bool> {
    match command {
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
            command::run_ptx(&command, output).map(|tally| tally.failed == 0)
        }
        Command::Profile(command) => match command.run() {
            Ok(told) => output.write_all(told.text.as_bytes()).map(|()| told.passed),
            Err(problem) => writeln!(io::stderr(), "{problem}").map(|()| false),
        },
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
        Command::Inspect {
            loops,
            times,
            ptx,
            sass,
            layouts,
            order,
            only,
            source,
            json,
            html,
            paths,
        } => {
            let views = [
                (loops, View::Loops),
                (times, View::Times),
                (ptx, View::Code(Language::Ptx)),
                (sass, View::Code(Language::Sass)),
                (layouts, View::Files(Shown::Layouts)),
                (order, View::Files(Shown::Order)),
            ];
            let view =
                views.into_iter().find(|(chosen, _)| *chosen).map_or(View::Table, |(_, view)| view);
            let tools = Tools::found();
            let command = Inspect { paths, view, only, source, json, html, tools };
            told(inspect::run(&command), output)
        }
    }
}

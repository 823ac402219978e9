//! `differential run --out DIR`: runs the differential tests on the GPU of this machine and on the emulator, and writes what
//! came of them.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that prints its findings"
)]

use std::{
    fs::{self, OpenOptions},
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    sync::mpsc,
    time::Duration,
};

use kernel_differential::{
    case::{Case, Ending},
    compare::compare,
    emulate, form,
    gpu::Gpu,
    outcome::Outcome,
    suite::{self, Entry},
};
use kernel_runtime::{Device, Target};
use lexopt::prelude::*;

const USAGE: &str = "\
differential COMMAND [OPTIONS]

  list                   print the name of every case and the forms that it tests
  ptx --out DIR          write the kernels, for an assembler to judge, and what the cases of --save are given
  again --out DIR        compare the emulator with what an earlier run saved in DIR of a device's results
  table --out DIR        print the table of the results in DIR; --about LINE for what is to be said of the run
  run --out DIR          run the cases on GPU 0 and on the emulator, and write DIR/results.jsonl

  --only TEXT            cases whose names contain TEXT; may be given more than once
  --without TEXT         not those whose names contain TEXT
  --save TEXT            also keep what cases wrote whose names contain TEXT: DIR/saved.bin, and where in DIR/saved.txt
  --on emulator          in place of the GPU the runtime's own emulator, to try the tests
";

/// A case that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the command line asks for.
#[derive(Clone, Debug, Default)]
struct Asked {
    command: String,
    out: Option<PathBuf>,
    only: Vec<String>,
    without: Vec<String>,
    save: Vec<String>,
    about: Vec<String>,
    emulator: bool,
    /// The first case of a worker.
    from: usize,
}

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<ExitCode, Failure> {
    let asked = asked()?;
    let mut cases = suite::entries();
    if !asked.only.is_empty() {
        cases.retain(|case| asked.only.iter().any(|text| case.name.contains(text)));
    }
    cases.retain(|case| !asked.without.iter().any(|text| case.name.contains(text)));
    match asked.command.as_str() {
        "list" => {
            for case in &cases {
                println!("{}: {}", case.name, case.forms.join("; "));
            }
            Ok(ExitCode::SUCCESS)
        }
        "ptx" => {
            let out = asked.out.as_deref().ok_or("`ptx` needs --out DIR")?;
            fs::create_dir_all(out)?;
            for (number, entry) in cases.iter().enumerate() {
                let case = entry.case();
                fs::write(
                    out.join(format!("{number}.ptx")),
                    format!("// {}\n{}", case.name, case.ptx),
                )?;
                if !asked.save.iter().any(|text| case.name.contains(text)) {
                    continue;
                }
                for (place, buffer) in case.buffers.iter().enumerate() {
                    fs::write(out.join(format!("{number}.{place}.bin")), &buffer.bytes)?;
                }
            }
            Ok(ExitCode::SUCCESS)
        }
        "table" => table(&asked),
        "again" => again(&asked, &cases),
        "run" => run(&asked, &cases),
        "worker" => worker(&asked, &cases),
        _ => {
            print!("{USAGE}");
            Ok(ExitCode::FAILURE)
        }
    }
}

fn asked() -> Result<Asked, lexopt::Error> {
    let mut asked = Asked::default();
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("out") => asked.out = Some(arguments.value()?.into()),
            Long("only") => asked.only.push(arguments.value()?.string()?),
            Long("without") => asked.without.push(arguments.value()?.string()?),
            Long("about") => asked.about.push(arguments.value()?.string()?),
            Long("save") => asked.save.push(arguments.value()?.string()?),
            Long("on") => asked.emulator = arguments.value()?.string()? == "emulator",
            Long("from") => asked.from = arguments.value()?.parse()?,
            Value(command) if asked.command.is_empty() => asked.command = command.string()?,
            other @ (Short(_) | Long(_) | Value(_)) => return Err(other.unexpected()),
        }
    }
    Ok(asked)
}

/// Runs the cases in processes of their own: a fault of a kernel ends one, and the next begins behind that case.
fn run(asked: &Asked, cases: &[Entry]) -> Result<ExitCode, Failure> {
    let out = asked.out.as_deref().ok_or("`run` needs --out DIR")?;
    fs::create_dir_all(out)?;
    for name in ["results.jsonl", "saved.bin", "saved.txt"] {
        if out.join(name).exists() {
            fs::remove_file(out.join(name))?;
        }
    }
    let mut from = 0;
    while from < cases.len() {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["worker", "--from", &from.to_string(), "--out"]).arg(out);
        for text in &asked.only {
            command.args(["--only", text]);
        }
        for text in &asked.without {
            command.args(["--without", text]);
        }
        for text in &asked.save {
            command.args(["--save", text]);
        }
        if asked.emulator {
            command.args(["--on", "emulator"]);
        }
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let lines = BufReader::new(child.stdout.take().ok_or("the worker has no output")?).lines();
        let (sender, receiver) = mpsc::channel();
        let reader = std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        // The case that the worker is at; it says so before it begins.
        let mut at = from;
        let why = loop {
            match receiver.recv_timeout(PATIENCE) {
                Ok(line) => at = line.parse()?,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    child.kill()?;
                    break format!("no end within {} s", PATIENCE.as_secs());
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => break "the process ended".to_owned(),
            }
        };
        let status = child.wait()?;
        if reader.join().is_err() {
            return Err("the reader of the worker's output panicked".into());
        }
        if status.success() {
            break;
        }
        // A worker that has written the case's failure itself ends with this code.
        if status.code() != Some(FAULT) {
            let outcome =
                Outcome { failed: Some(why), ..Outcome::named(&cases[at].name, &cases[at].forms) };
            append(out, &outcome)?;
        }
        eprintln!("{}: the process ends", cases[at].name);
        from = at + 1;
    }
    summarise(&outcomes(out)?);
    Ok(ExitCode::SUCCESS)
}

fn table(asked: &Asked) -> Result<ExitCode, Failure> {
    let out = asked.out.as_deref().ok_or("`table` needs --out DIR")?;
    let mut about = asked.about.clone();
    about.push(format!("Device: {}", fs::read_to_string(out.join("device.txt"))?.trim()));
    print!("{}", kernel_differential::table::page(&about, &outcomes(out)?));
    Ok(ExitCode::SUCCESS)
}

fn outcomes(out: &Path) -> Result<Vec<Outcome>, Failure> {
    let text = fs::read_to_string(out.join("results.jsonl"))?;
    let outcomes: Result<Vec<Outcome>, _> = text.lines().map(serde_json::from_str).collect();
    Ok(outcomes?)
}

fn summarise(outcomes: &[Outcome]) {
    let mut agreeing = 0;
    for outcome in outcomes {
        if outcome.failed.is_none() && outcome.different + outcome.payloads == 0 {
            agreeing += 1;
            continue;
        }
        println!(
            "{}: {} of {} differ, {} NaN payloads, {} ulps{}",
            outcome.case,
            outcome.different,
            outcome.results,
            outcome.payloads,
            outcome.largest_ulps,
            outcome.failed.as_ref().map_or(String::new(), |why| format!("; {why}")),
        );
    }
    println!("{agreeing} of {} cases agree in every bit", outcomes.len());
}

/// The exit code of a worker after a failure that it has written down.
const FAULT: i32 = 3;

fn append(out: &Path, outcome: &Outcome) -> Result<(), Failure> {
    let mut file = OpenOptions::new().create(true).append(true).open(out.join("results.jsonl"))?;
    writeln!(file, "{}", serde_json::to_string(outcome)?)?;
    Ok(())
}

fn worker(asked: &Asked, cases: &[Entry]) -> Result<ExitCode, Failure> {
    let out = asked.out.as_deref().ok_or("`worker` needs --out DIR")?;
    let device = if asked.emulator { Device::emulator(Target::Sm90a)? } else { Device::cuda(0)? };
    let gpu = Gpu::on(device)?;
    let driver = fs::read_to_string("/proc/driver/nvidia/version").unwrap_or_default();
    let driver = driver.lines().next().unwrap_or("no driver");
    fs::write(out.join("device.txt"), format!("{}; {driver}\n", gpu.device().name()))?;
    for (number, entry) in cases.iter().enumerate().skip(asked.from) {
        println!("{number}");
        std::io::stdout().flush()?;
        let case = &entry.case();
        if let Some(form) = missing(case) {
            let failed = Some(format!("its kernel has no {form}"));
            append(out, &Outcome { failed, ..Outcome::of(case) })?;
            continue;
        }
        if case.ending == Ending::Fault {
            let outcome = faults(case, &gpu);
            append(out, &outcome)?;
            std::process::exit(FAULT);
        }
        let emulated = emulate::run(case).map_err(|error| format!("emulator: {error}"));
        // What the emulator stops at may touch other memory on the device.
        let emulated = match emulated {
            Ok(emulated) => emulated,
            Err(error) => {
                append(out, &Outcome { failed: Some(error), ..Outcome::of(case) })?;
                continue;
            }
        };
        let actual = match gpu.run(case) {
            Ok(actual) => actual,
            Err(error) => {
                let failed = Some(format!("device: {error}"));
                append(out, &Outcome { failed, ..Outcome::of(case) })?;
                std::process::exit(FAULT);
            }
        };
        append(out, &compare(case, &emulated, &actual))?;
        if asked.save.iter().any(|text| case.name.contains(text)) {
            save(out, case, &actual)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A form that a case claims to test and that is not in its kernel.
fn missing(case: &Case) -> Option<&String> {
    let module = kernel_ptx::parse(&case.ptx).ok()?;
    let there: Vec<String> = module.instructions().map(|(_, one)| form::form(one)).collect();
    case.forms.iter().find(|form| !there.contains(form))
}

/// Whether both stop a kernel that is made to stop.
fn faults(case: &Case, gpu: &Gpu) -> Outcome {
    let mut outcome = Outcome::of(case);
    outcome.results = 1;
    let (emulated, device) = (emulate::run(case).is_err(), gpu.run(case).is_err());
    if (emulated, device) != (true, true) {
        outcome.failed =
            Some(format!("a fault: {emulated} on the emulator, {device} on the device"));
    }
    outcome
}

/// As much of a buffer as is saved: whole files have to be carried elsewhere.
const SAVED_BYTES: usize = 384 << 10;

/// Adds what the device wrote to one file, and where it is to another. What was given is made again from the case's name.
fn save(out: &Path, case: &Case, actual: &[Vec<u8>]) -> Result<(), Failure> {
    let mut data = OpenOptions::new().create(true).append(true).open(out.join("saved.bin"))?;
    let mut index = OpenOptions::new().create(true).append(true).open(out.join("saved.txt"))?;
    for (number, bytes) in actual.iter().enumerate().filter(|(_, bytes)| !bytes.is_empty()) {
        let bytes = &bytes[..bytes.len().min(SAVED_BYTES)];
        writeln!(index, "{} {} {number} {}", data.metadata()?.len(), bytes.len(), case.name)?;
        data.write_all(bytes)?;
    }
    Ok(())
}

/// Compares the emulator with results that were saved.
fn again(asked: &Asked, entries: &[Entry]) -> Result<ExitCode, Failure> {
    let out = asked.out.as_deref().ok_or("`again` needs --out DIR")?;
    let data = fs::read(out.join("saved.bin"))?;
    let mut outcomes = Vec::new();
    for line in fs::read_to_string(out.join("saved.txt"))?.lines() {
        let mut words = line.splitn(4, ' ');
        let mut number = || words.next().and_then(|word| word.parse::<usize>().ok());
        let (Some(start), Some(count), Some(buffer)) = (number(), number(), number()) else {
            return Err(format!("not a place of a case: {line}").into());
        };
        let name = words.next().unwrap_or_default();
        let Some(entry) = entries.iter().find(|entry| entry.name == name) else { continue };
        let case = entry.case();
        let mut device = vec![Vec::new(); case.buffers.len()];
        device[buffer] = data.get(start..start + count).ok_or("saved.bin is too short")?.to_vec();
        outcomes.push(compare(&case, &emulate::run(&case)?, &device));
    }
    summarise(&outcomes);
    Ok(ExitCode::SUCCESS)
}

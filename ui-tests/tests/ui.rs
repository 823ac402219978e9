//! Builds each program of `fail` and `pass` with the pinned rustc. One run of rustc takes many programs of `fail`, each as a module;
//! a program of which rustc itself refuses something is built alone, since such an error can keep rustc from looking at the others.
//!
//! `UPDATE_EXPECT=1 cargo test -p ui-tests --test ui [-- NAME]` writes the `.stderr` files anew; read them aloud before committing them.

#[path = "ui/names.rs"]
mod names;
#[path = "ui/programs.rs"]
mod programs;
#[path = "ui/rustc.rs"]
mod rustc;

use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::{env, fs, thread};

use libtest_mimic::{Arguments, Failed, Trial};

use programs::Program;
use rustc::Rustc;

/// Programs in one run of rustc.
const TOGETHER: usize = 32;

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let all = Program::all();
    let chosen: Vec<Program> =
        all.into_iter().filter(|program| is_chosen(&args, &program.name)).collect();
    let said = Arc::new(if args.list { HashMap::new() } else { say(&chosen) });
    let mut trials: Vec<Trial> = chosen
        .into_iter()
        .map(|program| {
            let said = Arc::clone(&said);
            let name = program.name.clone();
            Trial::test(name, move || {
                judge(&program, said.get(&program.name).map_or("", String::as_str))
            })
        })
        .collect();
    trials.push(Trial::test("names", names::judge));
    libtest_mimic::run(&args, trials).exit_code()
}

/// True if a trial of this name will run: rustc is to see nothing else.
fn is_chosen(args: &Arguments, name: &str) -> bool {
    let matches =
        |filter: &String| if args.exact { name == filter } else { name.contains(filter.as_str()) };
    args.filter.iter().all(matches) && !args.skip.iter().any(matches)
}

/// What rustc says of each program, by name.
fn say(programs: &[Program]) -> HashMap<String, String> {
    let rustc = Rustc::of_this_build();
    let (alone, together): (Vec<&Program>, Vec<&Program>) =
        programs.iter().partition(|program| program.is_alone());
    // Long runs first: the last of them would keep one core busy.
    let mut runs: Vec<&[&Program]> = together.chunks(TOGETHER).collect();
    runs.extend(alone.chunks(1));
    let next = AtomicUsize::new(0);
    let said = Mutex::new(HashMap::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(run) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let of_run = if let [program] = run {
                        rustc.alone(program)
                    } else {
                        rustc.together(run)
                    };
                    said.lock().expect("no thread panicked while it held this").extend(of_run);
                }
            });
        }
    });
    said.into_inner().expect("no thread panicked while it held this")
}

/// Compares what was said with what the program expects, or writes it down.
fn judge(program: &Program, said: &str) -> Result<(), Failed> {
    let expected = program.expected();
    if said == expected {
        return Ok(());
    }
    if env::var_os("UPDATE_EXPECT").is_some() && !program.passes() {
        return Ok(fs::write(program.stderr(), said)?);
    }
    Err(format!("expected:\n{expected}\nactual:\n{said}").into())
}

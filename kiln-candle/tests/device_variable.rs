//! Which device runs kernels for tensors on the CPU. The environment is a process's own, so each case is a process.

use candle_core::{Device, Result, Tensor};
use kiln::Target;
use kiln_candle::{Error, cause, run};
use std::process::Command;

const TARGETS: &[Target] = &[Target::Sm80, Target::Sm90a];

/// Says which device a call has; what the processes below run.
#[test]
fn a_call_says_where_it_is() -> Result<()> {
    let x = Tensor::new(1f32, &Device::Cpu)?;
    let mut device = String::new();
    let called = run("where", TARGETS, [&x], |call, _| {
        device = call.stream().device().name();
        Ok(())
    });
    let said = match called {
        Ok(()) => device,
        Err(error) => {
            let Some(Error::Kiln(error)) = cause(&error) else { panic!("{error}") };
            error.to_string()
        }
    };
    // Whatever the environment of the tests is, it was one or the other.
    assert!(!said.is_empty());
    if let Some(path) = std::env::var_os(ANSWER) {
        std::fs::write(path, said)?;
    }
    Ok(())
}

/// Names the file where a process writes what it says.
const ANSWER: &str = "DEVICE_OF_A_CALL";

/// What a process says whose variable has this value.
fn said(variable: Option<&str>) -> Result<String> {
    let name = format!("device-of-a-call-{}-{}", std::process::id(), variable.unwrap_or_default());
    let path = std::env::temp_dir().join(name.replace(':', "-"));
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--exact", "a_call_says_where_it_is"]);
    command.env_remove("KILN_DEVICE").env(ANSWER, &path);
    if let Some(value) = variable {
        command.env("KILN_DEVICE", value);
    }
    assert!(command.status()?.success(), "the test passes in the process");
    let said = std::fs::read_to_string(&path)?;
    std::fs::remove_file(&path)?;
    Ok(said)
}

#[test]
fn the_newest_target_has_an_emulator_of_its_own() -> Result<()> {
    assert_eq!(said(None)?, "emulator for sm_90a");
    assert_eq!(said(Some("emulator"))?, "emulator for sm_90a");
    Ok(())
}

#[test]
fn the_variable_names_another() -> Result<()> {
    assert_eq!(said(Some("emulator:sm_80"))?, "emulator for sm_80");
    let refused = said(Some("somewhere"))?;
    assert!(refused.starts_with("KILN_DEVICE is `somewhere`; it takes "), "{refused}");
    Ok(())
}

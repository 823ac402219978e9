//! Where the processes of a group meet, from the variables of launchers.

use super::DEFAULT_LIMIT;
use crate::{CommError, Result};
use std::{env, time::Duration};

/// One process's part in a group of many: its number, how many there are, and where they meet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rendezvous {
    /// The process's number, from 0.
    pub rank: usize,
    /// How many processes there are.
    pub world_size: usize,
    /// The process's number among those of its machine: usually that of its GPU.
    pub local_rank: usize,
    /// Host and port at which rank 0 waits for the others, such as `10.0.0.1:29500`.
    pub address: String,
    /// How long the processes wait for one another, then and later; five minutes by default.
    pub timeout: Duration,
    /// The launcher's name for the job, if it has one: processes of another job are refused.
    pub job: String,
}

/// The most processes of a group.
pub(crate) const MOST_RANKS: usize = 65_536;

/// Variables of rank, number of ranks and local rank of one launcher, and what names the job.
struct Launcher {
    rank: &'static str,
    world_size: &'static str,
    local_rank: &'static str,
    job: &'static str,
    /// The variable that distinguishes the launcher's starts within a job, if they share the job's name.
    step: Option<&'static str>,
}

/// Launchers, in the order in which they are looked for; the variables of a program's own script come first.
const LAUNCHERS: [Launcher; 3] = [
    Launcher {
        rank: "RANK",
        world_size: "WORLD_SIZE",
        local_rank: "LOCAL_RANK",
        job: "TORCHELASTIC_RUN_ID",
        step: None,
    },
    Launcher {
        rank: "SLURM_PROCID",
        // The tasks of `srun`: a batch script has those of its job without being one of them.
        world_size: "SLURM_STEP_NUM_TASKS",
        local_rank: "SLURM_LOCALID",
        job: "SLURM_JOB_ID",
        step: Some("SLURM_STEP_ID"),
    },
    Launcher {
        rank: "OMPI_COMM_WORLD_RANK",
        world_size: "OMPI_COMM_WORLD_SIZE",
        local_rank: "OMPI_COMM_WORLD_LOCAL_RANK",
        job: "OMPI_MCA_ess_base_jobid",
        step: None,
    },
];

impl Rendezvous {
    /// A part in a group that a program starts by itself, with one process on each machine: `local_rank` is 0.
    pub fn new(rank: usize, world_size: usize, address: impl Into<String>) -> Self {
        let (address, job) = (address.into(), String::new());
        Self { rank, world_size, local_rank: 0, address, timeout: DEFAULT_LIMIT, job }
    }

    /// The launcher's environment variables: `RANK`, `WORLD_SIZE`, `LOCAL_RANK`, `MASTER_ADDR` and `MASTER_PORT`, as
    /// torchrun and many scripts set them; `SLURM_PROCID`, `SLURM_STEP_NUM_TASKS` and `SLURM_LOCALID` under Slurm's
    /// `srun`; `OMPI_COMM_WORLD_RANK` and so on under Open MPI's `mpirun`.
    ///
    /// Slurm needs no `MASTER_ADDR`: Kiln takes the first host of the step, and a port computed from the numbers of job
    /// and step. If torchrun uses `MASTER_PORT` itself (`TORCHELASTIC_USE_AGENT_STORE`), Kiln takes the next port.
    /// `KILN_COMM_PORT` overrides the port in all cases.
    ///
    /// # Errors
    /// [`CommError::Variable`] when no launcher's variables are set, or one of them is not a number in its range.
    pub fn from_env() -> Result<Self> {
        Self::from_variables(|name| Some(env::var_os(name)?.to_string_lossy().into_owned()))
            .map_err(CommError::into_error)
    }

    /// Whether a launcher's variables are set, for programs that also run alone.
    pub fn is_in_env() -> bool {
        LAUNCHERS.iter().any(|launcher| env::var_os(launcher.world_size).is_some())
    }

    fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Self, CommError> {
        let get = |name: &str| get(name).map(|value| value.trim().to_owned());
        let found = LAUNCHERS.iter().find(|launcher| get(launcher.world_size).is_some());
        let launcher = found.ok_or_else(|| CommError::Variable {
            variable: LAUNCHERS.map(|launcher| launcher.world_size).join(" or "),
            required: "the number of processes, as torchrun, Slurm and mpirun set it",
            actual: "not set".to_owned(),
        })?;
        let number = |variable: &str, required, range: std::ops::Range<u64>| {
            let value = get(variable);
            let parsed = value.as_deref().and_then(|value| value.parse().ok());
            match parsed.filter(|value| range.contains(value)) {
                Some(value) => Ok(usize::try_from(value).unwrap_or(usize::MAX)),
                None => Err(wrong(variable, required, value)),
            }
        };
        let world_size = number(launcher.world_size, "a number from 1 to 65536", 1..65_537)?;
        let ranks = 0..world_size as u64;
        let rank = number(launcher.rank, "a number below that of the processes", ranks.clone())?;
        let local_rank = match get(launcher.local_rank) {
            None => 0,
            Some(_) => number(launcher.local_rank, "a number below that of the processes", ranks)?,
        };
        let of_slurm = || {
            let hosts = get("SLURM_STEP_NODELIST").or_else(|| get("SLURM_JOB_NODELIST"));
            hosts.as_deref().and_then(first_host)
        };
        let stated = get("MASTER_ADDR").filter(|host| !host.is_empty());
        let host = stated
            .or_else(of_slurm)
            .ok_or_else(|| wrong("MASTER_ADDR", "the host of rank 0", get("MASTER_ADDR")))?;
        let port = |variable| number(variable, "a port, from 1 to 65535", 1..65_536);
        let port = if get("KILN_COMM_PORT").is_some() {
            port("KILN_COMM_PORT")?
        } else if get("MASTER_PORT").is_some() || get("SLURM_JOB_ID").is_none() {
            let stated = port("MASTER_PORT")?;
            // The agent of torchrun listens there itself.
            let taken = get("TORCHELASTIC_USE_AGENT_STORE").as_deref() == Some("True");
            match stated {
                65_535 if taken => stated - 1,
                _ if taken => stated + 1,
                _ => stated,
            }
        } else {
            // Jobs on one machine have numbers that are close together, and steps of one job count from 0.
            let job = number("SLURM_JOB_ID", "a number", 0..u64::MAX)? % 20_000;
            let step = match get("SLURM_STEP_ID") {
                None => 0,
                Some(_) => number("SLURM_STEP_ID", "a number", 0..u64::MAX)? % 20_000,
            };
            10_000 + (job + 4_001 * step) % 20_000
        };
        // An address of IPv6 has colons of its own.
        let host = if host.contains(':') { format!("[{host}]") } else { host };
        let names = [Some(launcher.job), launcher.step];
        let names: Vec<_> = names.into_iter().flatten().filter_map(get).collect();
        let job = names.join(".");
        let address = format!("{host}:{port}");
        Ok(Self { rank, world_size, local_rank, address, timeout: DEFAULT_LIMIT, job })
    }
}

fn wrong(variable: &str, required: &'static str, value: Option<String>) -> CommError {
    let actual = value.map_or_else(|| "not set".to_owned(), |value| format!("`{value}`"));
    CommError::Variable { variable: variable.to_owned(), required, actual }
}

/// The first host of a list in Slurm's notation: `gpu[03-05,9],login` is `gpu03`.
fn first_host(list: &str) -> Option<String> {
    let end = list.find([',', '[']).unwrap_or(list.len());
    let (name, rest) = list.split_at(end);
    let Some(inside) = rest.strip_prefix('[') else {
        return (!name.is_empty()).then(|| name.to_owned());
    };
    let (numbers, after) = inside.split_once(']')?;
    let first = numbers.split([',', '-']).next()?;
    // A name may go on behind the brackets.
    let suffix = after.split(',').next().unwrap_or_default();
    Some(format!("{name}{first}{suffix}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<Rendezvous, CommError> {
        let find = |name: &str| variables.iter().find(|(variable, _)| *variable == name);
        Rendezvous::from_variables(|name| find(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn torchruns_variables_are_read() -> Result<(), CommError> {
        let plain = [
            ("RANK", "3"),
            ("WORLD_SIZE", "8"),
            ("LOCAL_RANK", "1"),
            ("MASTER_ADDR", "10.0.0.1"),
            ("MASTER_PORT", "29500"),
            // Those of the job around it do not count.
            ("SLURM_PROCID", "0"),
            ("SLURM_STEP_NUM_TASKS", "1"),
        ];
        let read = of(&plain)?;
        assert_eq!((read.rank, read.world_size, read.local_rank), (3, 8, 1));
        assert_eq!(read.address, "10.0.0.1:29500");
        let agent = [("TORCHELASTIC_USE_AGENT_STORE", "True"), ("TORCHELASTIC_RUN_ID", "run")];
        let read = of(&[&plain[..], &agent].concat())?;
        assert_eq!((read.address.as_str(), read.job.as_str()), ("10.0.0.1:29501", "run"));
        let read = of(&[&plain[..], &agent, &[("KILN_COMM_PORT", "4000")]].concat())?;
        assert_eq!(read.address, "10.0.0.1:4000");
        Ok(())
    }

    #[test]
    fn slurms_variables_are_enough() -> Result<(), CommError> {
        let read = of(&[
            ("SLURM_PROCID", "1"),
            ("SLURM_STEP_NUM_TASKS", "2"),
            ("SLURM_LOCALID", "0"),
            ("SLURM_JOB_ID", "1234567"),
            ("SLURM_STEP_NODELIST", "gpu[03-05,9],login"),
        ])?;
        // 1234567 % 20000 = 14567.
        assert_eq!(read.address, "gpu03:24567");
        assert_eq!((read.rank, read.world_size, read.job.as_str()), (1, 2, "1234567"));
        Ok(())
    }

    #[test]
    fn two_steps_of_slurms_do_not_meet() -> Result<(), CommError> {
        let step = |step| {
            of(&[
                ("SLURM_PROCID", "0"),
                ("SLURM_STEP_NUM_TASKS", "2"),
                ("SLURM_JOB_ID", "1234567"),
                ("SLURM_STEP_ID", step),
                ("SLURM_STEP_NODELIST", "gpu3"),
            ])
        };
        let (first, second) = (step("0")?, step("1")?);
        assert_eq!((first.job.as_str(), second.job.as_str()), ("1234567.0", "1234567.1"));
        // 14567 + 4001 = 18568.
        assert_eq!([first.address, second.address], ["gpu3:24567", "gpu3:28568"]);
        Ok(())
    }

    #[test]
    fn a_batch_script_alone_is_no_rank() {
        let batch = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4"), ("SLURM_JOB_ID", "9")];
        assert!(matches!(of(&batch), Err(CommError::Variable { .. })));
    }

    #[test]
    fn lists_of_hosts_begin_with_the_first() {
        for (list, first) in
            [("a", "a"), ("a,b[1-2]", "a"), ("node[7]", "node7"), ("n[001-010,12]-ib,m", "n001-ib")]
        {
            assert_eq!(first_host(list).as_deref(), Some(first), "{list}");
        }
        assert_eq!(first_host(""), None);
    }

    #[test]
    fn an_address_of_ipv6_is_put_in_brackets() -> Result<(), CommError> {
        let six =
            [("RANK", "0"), ("WORLD_SIZE", "1"), ("MASTER_ADDR", "::1"), ("MASTER_PORT", "5")];
        assert_eq!(of(&six)?.address, "[::1]:5");
        Ok(())
    }

    #[test]
    fn what_is_missing_or_no_number_is_named() {
        let text =
            |variables: &[(&str, &str)]| of(variables).expect_err("something is wrong").to_string();
        assert_eq!(
            text(&[]),
            "the environment variable WORLD_SIZE or SLURM_STEP_NUM_TASKS or OMPI_COMM_WORLD_SIZE has to be the number of processes, as torchrun, Slurm and mpirun set it; it is not set"
        );
        let world = ("WORLD_SIZE", "2");
        assert_eq!(
            text(&[world, ("RANK", "2")]),
            "the environment variable RANK has to be a number below that of the processes; it is `2`"
        );
        assert!(text(&[("WORLD_SIZE", "two")]).contains("it is `two`"));
        assert!(text(&[world, ("RANK", "0")]).contains("MASTER_ADDR"));
        let here = ("MASTER_ADDR", "localhost");
        assert!(text(&[world, ("RANK", "0"), here]).contains("MASTER_PORT"));
        assert!(text(&[world, ("RANK", "0"), here, ("MASTER_PORT", "70000")]).contains("`70000`"));
    }
}

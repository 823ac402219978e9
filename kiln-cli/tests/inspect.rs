//! `kiln inspect` on a small dump. What takes an assembler is left out where `KILN_PTXAS` names none, which is said.
#![expect(clippy::print_stderr, reason = "what is left out has to be said")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use kiln_cli::inspect::tools::Tools;
use kiln_cli::inspect::{Inspect, Language, Shown, Told, View, run};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = vec![
        trial("the_table_has_a_row_for_each_variant", table),
        trial("kernels_are_chosen_by_their_names", chosen),
        trial("loops_say_what_their_instructions_do", loops),
        trial("times_are_those_of_phases", times),
        trial("ptx_stands_below_its_source", ptx),
        trial("json_has_the_documented_fields", json),
        trial("a_page_holds_source_code_and_layouts", html),
        trial("what_is_no_dump_is_refused", refused),
        trial("a_proof_says_that_it_does_not_cover_global_memory", proof),
        trial("parts_of_files_are_refused", parts),
        trial("what_cannot_be_read_or_written_hides_nothing_else", others),
    ];
    if std::env::var_os("KILN_PTXAS").is_some() {
        trials.push(trial("ptxas_says_registers_and_spills", registers));
        if Tools::found().nvdisasm.is_some() {
            trials.push(trial("machine_code_stands_below_its_source", sass));
        } else if !arguments.list {
            eprintln!("nvdisasm: left out, there is none beside ptxas");
        }
    } else if !arguments.list {
        eprintln!("ptxas: left out, KILN_PTXAS names none");
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial(name: &str, test: fn() -> Result<(), Failed>) -> Trial {
    Trial::test(name, test)
}

/// Fails with the text in which something is missing.
fn required(text: &str, parts: &[&str]) -> Result<(), Failed> {
    match parts.iter().find(|part| !text.contains(**part)) {
        Some(part) => Err(format!("required `{part}` in\n{text}").into()),
        None => Ok(()),
    }
}

fn dump() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dump")
}

/// Looks at the dump without any program.
fn command(view: View) -> Inspect {
    Inspect {
        paths: vec![dump()],
        view,
        only: Vec::new(),
        source: Some(dump()),
        json: None,
        html: None,
        tools: Tools::default(),
    }
}

fn text(view: View) -> Result<String, Failed> {
    let Told { text, problems } = run(&command(view))?;
    if problems.is_empty() { Ok(text) } else { Err(problems.join("\n").into()) }
}

/// The fields of the only row with these words, which are separated by two spaces.
fn row(text: &str, words: &str) -> Result<Vec<String>, Failed> {
    let row = text.lines().find(|line| line.contains(words)).ok_or_else(|| text.to_owned())?;
    Ok(row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect())
}

fn table() -> Result<(), Failed> {
    let text = text(View::Table)?;
    required(
        &text,
        &["row_sums  (sums-src.sums, line 4)\n", "there is no ptxas. KILN_PTXAS names it"],
    )?;
    // 128 floats are 512 bytes; 164 KiB hold more blocks of 1536 bytes with what is reserved than the 16 of 4 warps that there is room for.
    let gpus = ["<=16 64/64", "<=16 64/64", "<=16 64/64", "<=12 48/48"];
    let before = ["N=128 STEP=-1", "sm_80", "aligned", "128", "?", "?", "?", "0", "512"];
    let after = ["warps", "30", "proven (4 iterations)", "1: 1 shared (512 B, 31 conflicts)"];
    let wanted = [&before[..], &gpus[..], &after[..]].concat();
    let actual = row(&text, "aligned")?;
    if actual != wanted {
        return Err(format!("required {wanted:?}, actual {actual:?}").into());
    }
    // The order is written once and holds for all variants; of layouts there is no file.
    let general = row(&text, "general")?;
    if general.ends_with(&["proven (4 iterations)".to_owned(), "?".to_owned()]) {
        return Ok(());
    }
    Err(format!("{general:?}").into())
}

fn chosen() -> Result<(), Failed> {
    let only = |texts: &[&str]| Inspect {
        only: texts.iter().map(|&text| text.to_owned()).collect(),
        ..command(View::Table)
    };
    let told = run(&only(&["sm_80", "general"]))?;
    if told.text.contains("aligned") || !told.text.contains("general") {
        return Err(told.text.into());
    }
    match run(&only(&["sm_90a"])) {
        Err(error) if error.contains("required a kernel whose names contain `sm_90a`") => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}

fn loops() -> Result<(), Failed> {
    let text = text(View::Loops)?;
    required(
        &text,
        &[
            "  LOOP, lines 6 to 7: 6 instructions: 1 load, 1 float, 3 integer, 1 control\n",
            "    least cycles of an iteration, A100: 38 of global memory without caches, 6 to issue instructions\n",
        ],
    )
}

fn times() -> Result<(), Failed> {
    let text = text(View::Times)?;
    let head = row(&text, "together")?;
    let of = |words: &str, phase: &str| -> Result<String, Failed> {
        let at = head.iter().position(|name| name == phase).ok_or("no such phase")?;
        let cells = row(&text, words)?;
        // Cells are separated by two spaces where they are as wide as the column.
        cells.get(at).cloned().ok_or_else(|| text.clone().into())
    };
    // 2.5 + 0.04 + 0.01 + 0.012 + 0.8 + 0.13 + 0.008 milliseconds.
    for (phase, required) in [("build", "2.500"), ("layouts", "0.800"), ("together", "3.500")] {
        let actual = of("aligned", phase)?;
        if actual != required {
            return Err(format!("{phase}: required {required}, actual {actual} in\n{text}").into());
        }
    }
    // Nothing was written of this variant.
    if of("general", "together")? != "?" {
        return Err(text.into());
    }
    Ok(())
}

fn ptx() -> Result<(), Failed> {
    let text = text(View::Code(Language::Ptx))?;
    required(
        &text,
        &[
            "src/sums.rs:7  sums = sums + load(x, at);\n    ld.global.f32 %f1, [%rd3];\n    add.f32 %f0, %f0, %f1;\n",
            "\n  LOOP:\nsrc/sums.rs:7",
        ],
    )
}

/// A folder for what a test writes.
fn scratch(name: &str) -> Result<PathBuf, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn json() -> Result<(), Failed> {
    let file = scratch("inspect-json")?.join("dump.json");
    run(&Inspect { json: Some(file.clone()), ..command(View::Table) })?;
    let document: Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let kernel = &document["kernels"][0];
    let pairs = [
        (&document["kiln_inspect"], Value::from(1)),
        (&kernel["kernel"], "row_sums".into()),
        (&kernel["instance"], "N=128 STEP=-1".into()),
        (&kernel["target"], "sm_80".into()),
        (&kernel["variant"], "aligned".into()),
        (&kernel["line"], 4.into()),
        (&kernel["threads"], 128.into()),
        (&kernel["registers"], Value::Null),
        (&kernel["shared_dynamic_bytes"], 512.into()),
        (&kernel["ptx_instructions"], 30.into()),
        (&kernel["occupancy"][0]["gpu"], "A100".into()),
        (&kernel["occupancy"][0]["warps"], 64.into()),
        (&kernel["layouts"]["conversions"]["bank_conflicts"], 31.into()),
        (&kernel["layouts"]["accesses"]["count"], 1.into()),
        (&kernel["layouts"]["conversion_list"][0]["from"], "L0".into()),
        (&kernel["layouts"]["conversion_list"][0]["to"], "L2".into()),
        (
            &kernel["layouts"]["legend"]["L1"],
            "offset [1] [2] [4] [8] [16] [32] [64] -> [128]".into(),
        ),
        // 128 threads read 4 bytes each, of 13.4 in a cycle; 4 warps issue 6 instructions, each on a scheduler of its own.
        // 4 bytes of each of 128 threads, of an A100: 512 / (2039 / 108 / 1.41) = 38.238.
        (&kernel["loops"][0]["ideal"]["memory_cycles"], 38.24.into()),
        (&kernel["loops"][0]["ideal"]["issue_cycles"], 6.0.into()),
        (&kernel["loops"][0]["ideal"]["others_room"], Value::Null),
        (&kernel["compile_ns"]["layouts"], 800_000.into()),
        (&document["kernels"][1]["compile_ns"], Value::Null),
        (&kernel["ptxas_us"], Value::Null),
        (&kernel["loops"][0]["instructions"]["integer"], 3.into()),
        (&kernel["loops"][0]["first_line"], 6.into()),
        (&kernel["lines"][0]["file"], "src/sums.rs".into()),
        (&kernel["lines"][0]["ptx"], 6.into()),
    ];
    match pairs.iter().position(|(actual, wanted)| *actual != wanted) {
        Some(at) => Err(format!("{at}: required {}, actual {}", pairs[at].1, pairs[at].0).into()),
        None => Ok(()),
    }
}

fn html() -> Result<(), Failed> {
    let file = scratch("inspect-html")?.join("dump.html");
    run(&Inspect { html: Some(file.clone()), ..command(View::Table) })?;
    let page = std::fs::read_to_string(file)?;
    // Nothing is loaded: no address begins with a protocol but names of XML.
    let loaded = page.replace("http://www.w3.org/2000/svg", "");
    if loaded.contains("http:") || loaded.contains("https:") || loaded.contains("src=\"//") {
        return Err("the page loads something".into());
    }
    let data = page.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next());
    let data: Value = serde_json::from_str(data.ok_or("no data")?)?;
    let kernel = &data["kernels"][0];
    let source = &data["sources"]["src/sums.rs"];
    let pictures = data["pictures"].as_object().map_or(0, serde_json::Map::len);
    let facts = [
        source["first"] == 1,
        source["lines"][2] == "/// Adds up rows; `<` and `&` are escaped in pages.",
        kernel["code"]["ptx"][0][1] == 4,
        kernel["heat"]["src/sums.rs"]["7"][0] == 2,
        kernel["tiles"][1][0] == 6,
        kernel["layout_list"][1][0] == "L1" && kernel["layout_list"][1][2].is_string(),
        // Three layouts, and both of the conversion beside each other.
        pictures == 4,
        kernel["conversion_list"][0][0] == 9 && kernel["conversion_list"][0][2] == "L0",
        kernel["conversion_list"][0][5]
            .as_str()
            .is_some_and(|key| data["pictures"].get(key).is_some()),
        kernel["order_covers"]
            .as_str()
            .is_some_and(|text| text.contains("Global memory is not covered")),
        kernel["loops"][0]["ideal"]["gpu"] == "A100",
        page.contains("<a href=\"#k1\">row_sums</a>"),
    ];
    match facts.iter().position(|holds| !holds) {
        Some(at) => Err(format!("fact {at} does not hold of {kernel:#}").into()),
        None => Ok(()),
    }
}

fn refused() -> Result<(), Failed> {
    let folder = scratch("inspect-refused")?;
    let error = run(&Inspect { paths: vec![folder.clone()], ..command(View::Table) });
    required(&format!("{error:?}"), &["no file ends in .ptx", "KILN_DUMP="])?;
    let broken = folder.join("broken.txt");
    std::fs::write(&broken, ".version 8.0\n.target sm_90a\n.entry k() { mov.u32 }\n")?;
    let told = run(&Inspect { paths: vec![broken], ..command(View::Table) })?;
    required(&told.problems.join("\n"), &["broken.txt: "])?;
    let empty = folder.join("empty.txt");
    std::fs::write(&empty, ".version 8.0\n.target sm_90a\n")?;
    let told = run(&Inspect { paths: vec![empty], ..command(View::Table) })?;
    required(&told.problems.join("\n"), &["required a kernel"])?;
    // The layouts alone: their PTX is missing.
    let alone = folder.join("alone.layouts");
    std::fs::write(&alone, "kernel k()\n")?;
    let error = run(&Inspect { paths: vec![alone], ..command(View::Table) });
    required(&format!("{error:?}"), &["required the PTX of this variant beside it"])
}

fn proof() -> Result<(), Failed> {
    const NOT_COVERED: &str =
        "Global memory is not covered: two blocks that access the same elements\nmay race";
    let text = text(View::Files(Shown::Order))?;
    required(
        &text,
        &[
            "aligned.order: proven for loops of up to 4 iterations\n\n`proven` is about shared memory",
            NOT_COVERED,
        ],
    )?;
    required(&self::text(View::Table)?, &[NOT_COVERED])?;
    // Without a proof there is nothing to explain.
    let folder = scratch("inspect-left")?;
    let left = "left to the emulator: line 9: it depends on the argument `n`";
    std::fs::write(folder.join("left.order"), left)?;
    let told = run(&Inspect { paths: vec![folder], ..command(View::Files(Shown::Order)) })?;
    if !told.problems.is_empty()
        || told.text.contains("proven")
        || !told.text.ends_with(&format!("{left}\n"))
    {
        return Err(format!("{told:?}").into());
    }
    Ok(())
}

/// A copy of the first variant of the dump in a folder of a test's own,
fn copied(name: &str) -> Result<(PathBuf, PathBuf), Failed> {
    const STEM: &str = "sums-src.sums-4-row_sums-N=128-STEP=-1-sm_80-aligned";
    let folder = scratch(name)?;
    for ending in ["ptx", "layouts", "order"] {
        let file = format!("{STEM}.{ending}");
        std::fs::copy(dump().join(&file), folder.join(file))?;
    }
    let stem = folder.join(STEM);
    Ok((folder, stem))
}

fn parts() -> Result<(), Failed> {
    let (folder, stem) = copied("inspect-parts")?;
    let with = |ending: &str| PathBuf::from(format!("{}.{ending}", stem.display()));
    for (ending, shown, part) in [
        ("layouts", Shown::Layouts, "required `}` as its last line"),
        ("order", Shown::Order, "required `proven`, `refused` or"),
    ] {
        let whole = std::fs::read_to_string(with(ending))?;
        std::fs::write(with(ending), &whole[..whole.len() / 2])?;
        let told = run(&Inspect { paths: vec![folder.clone()], ..command(View::Files(shown)) })?;
        required(&told.problems.join("\n"), &[&format!("aligned.{ending}: "), part])?;
        // What the PTX says is shown all the same.
        let told = run(&Inspect { paths: vec![folder.clone()], ..command(View::Table) })?;
        required(&told.problems.join("\n"), &[part])?;
        required(&told.text, &["N=128 STEP=-1"])?;
        std::fs::write(with(ending), whole)?;
    }
    let ptx = std::fs::read_to_string(with("ptx"))?;
    std::fs::write(with("ptx"), &ptx[..ptx.len() / 2])?;
    let told = run(&Inspect { paths: vec![folder], ..command(View::Table) })?;
    required(&told.problems.join("\n"), &["aligned.ptx: line "])?;
    if told.text.is_empty() { Ok(()) } else { Err(told.text.into()) }
}

fn others() -> Result<(), Failed> {
    let (folder, _) = copied("inspect-others")?;
    std::fs::write(folder.join("noise.ptx"), [0xff, 0xfe, 0x80])?;
    let file = folder.join("missing/dump.json");
    let told = run(&Inspect {
        paths: vec![folder.clone()],
        json: Some(file),
        html: Some(folder),
        ..command(View::Table)
    })?;
    required(&told.text, &["N=128 STEP=-1"])?;
    let problems = [
        "noise.ptx: ",
        "missing/dump.json cannot be written: ",
        "inspect-others cannot be written: ",
    ];
    required(&told.problems.join("\n"), &problems)
}

fn with_tools(view: View) -> Inspect {
    Inspect { tools: Tools::found(), ..command(view) }
}

fn registers() -> Result<(), Failed> {
    let told = run(&with_tools(View::Table))?;
    if !told.problems.is_empty() {
        return Err(told.problems.join("\n").into());
    }
    let row = row(&told.text, "aligned")?;
    let registers: u32 = row[4].parse()?;
    // A thread has a sum, an address, a counter and a bound at least, and nothing to spill.
    if !(6..=40).contains(&registers) || row[5] != "0/0" || row[6] != "0" {
        return Err(format!("{row:?}").into());
    }
    required(&row[9], &["16 64/64"])
}

fn sass() -> Result<(), Failed> {
    let told = run(&with_tools(View::Code(Language::Sass)))?;
    required(
        &told.text,
        &["src/sums.rs:7  sums = sums + load(x, at);\n    ", "LDG.E", "BAR.SYNC", "    EXIT\n"],
    )?;
    if told.text.contains("    NOP\n") {
        return Err("instructions after the end are shown".into());
    }
    Ok(())
}

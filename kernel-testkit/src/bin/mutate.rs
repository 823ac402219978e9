//! Quick.
use std::path::Path;
use kernel_testkit::mutate::{subject::{Kernel, Verdict}, work};
fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut kernels = Kernel::of_tests(&root.join("tests/kernels")).unwrap();
    if let Ok(folder) = std::env::var("KILN_FIXTURES") { kernels.extend(Kernel::described(Path::new(&folder)).unwrap()); }
    kernels.retain(|k| args.is_empty() || args.iter().any(|a| k.name().contains(a.as_str())));
    for judged in work::judge(&kernels, work::Choice::All) {
        for p in &judged.problems { println!("PROBLEM\t{}\t{p}", judged.kernel); }
        for (v, outcomes) in &judged.variants { for o in outcomes {
            let m = &o.mutant;
            let (verdict, words) = match &o.verdict { Verdict::Fault(k, w) => (format!("fault {k:?}"), w.lines().next().unwrap_or("").to_owned()), Verdict::Wrong(w) => ("wrong".to_owned(), w.lines().next().unwrap_or("").to_owned()), Verdict::Refused(w) => ("refused".into(), w.clone()), Verdict::Panicked(w) => ("panicked".into(), w.clone()), Verdict::Survived => ("survived".into(), String::new()) };
            println!("{:?}\t{}\t{v}\t{}\t{}\t{:?}\t{}\t{}\t{verdict}\t{words}", judged.origin, judged.kernel, m.class.name, m.mutation.name(), m.source.as_ref().map(|s| s.1), m.ptx_line, m.instruction.replace(['\n','\t'], " "));
        } }
    }
}

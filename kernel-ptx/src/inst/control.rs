//! Rows of control flow.
//!
//! (PTX ISA, "Control Flow Instructions", "Miscellaneous Instructions", "Stack Manipulation".)

#[rustfmt::skip]
pub(super) const ROWS: &[[&str; 3]] = &[
    ["bra{.uni}", "label", "80 7.0"],
    ["brx.idx{.uni}", "u32, table", "80 7.0"],
    ["call{.uni}", "call, ?call, ?call, ?call", "80 7.0"],
    ["ret{.uni}", "", "80 7.0"],
    ["exit", "", "80 7.0"],
    ["trap", "", "80 7.0"],
    ["brkpt", "", "80 7.0"],
    ["pmevent", "#0..15", "80 7.0"],
    ["nanosleep.u32", "u32", "80 7.0"],
    ["setmaxnreg.(inc|dec).sync.aligned.u32", "#24..256", "90a+ 8.0"],
    ["griddepcontrol.(launch_dependents|wait)", "", "90 7.8"],
    ["alloca.(u32|u64)", "=t0, t0, ?#1..4096", "80 7.3"],
    ["stacksave.(u32|u64)", "=t0", "80 7.3"],
    ["stackrestore.(u32|u64)", "t0", "80 7.3"],
];

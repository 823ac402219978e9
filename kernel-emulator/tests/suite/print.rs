//! `vprintf` and `__assertfail`.

use kernel_emulator::{FaultKind, LaunchConfig};

use crate::harness::{Bench, entry, one_block, outcome};

fn string(name: &str, text: &str) -> String {
    let bytes: Vec<String> = text.bytes().chain([0]).map(|b| b.to_string()).collect();
    format!(".global .align 1 .b8 {name}[{}] = {{{}}};\n", bytes.len(), bytes.join(", "))
}

#[test]
fn formats() {
    let text = format!(
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
         {}{}{}",
        string("format", "block %u: %d %5x|%-4d|%ld %s %c %.2f %g %e%%\n"),
        string("word", "ok"),
        entry(
            1,
            ".local .align 8 .b8 frame[72]; .reg .b64 %d<8>; .reg .b32 %r<8>;
             mov.u64 %d0, frame; cvta.local.u64 %d1, %d0; mov.u32 %r0, %ctaid.x;
             st.local.u32 [frame], %r0; st.local.u32 [frame+4], -7; st.local.u32 [frame+8], 0xabc; st.local.u32 [frame+12], 42;
             st.local.u64 [frame+16], -1; mov.u64 %d2, word; cvta.global.u64 %d2, %d2; st.local.u64 [frame+24], %d2;
             st.local.u32 [frame+32], 65; mov.f64 %d3, 0d3FF4000000000000; st.local.f64 [frame+40], %d3;
             st.local.f64 [frame+48], %d3; mov.f64 %d3, 0d40C81C8000000000; st.local.f64 [frame+56], %d3;
             mov.u64 %d4, format; cvta.global.u64 %d4, %d4;
             { .param .b64 f; .param .b64 a; .param .b32 r;
               st.param.b64 [f], %d4; st.param.b64 [a], %d1;
               call.uni (r), vprintf, (f, a); ld.param.b32 %r1, [r]; }"
        )
    );
    let bench = Bench::new(&text);
    let report = bench.launch(&LaunchConfig::new([2, 1, 1], [1, 1, 1]), &[0]);
    let line =
        |block: u32| format!("block {block}: -7   abc|42  |-1 ok A 1.25 1.25 1.234500e+04%\n");
    assert_eq!(report.output, line(0) + &line(1));
}

#[test]
fn failed_assertions_say_where() {
    let text = format!(
        ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);
         {}{}{}",
        string("message", "x < 4"),
        string("file", "kernel.py"),
        entry(
            1,
            ".reg .b64 %d<4>; .reg .b32 %r; .reg .pred %p; mov.u32 %r, %tid.x; setp.lt.u32 %p, %r, 4; @%p bra DONE;
             mov.u64 %d0, message; cvta.global.u64 %d0, %d0; mov.u64 %d1, file; cvta.global.u64 %d1, %d1;
             { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 s;
               st.param.b64 [m], %d0; st.param.b64 [f], %d1; st.param.b32 [l], 12; st.param.b64 [n], 0; st.param.b64 [s], 1;
               call.uni __assertfail, (m, f, l, n, s); }
             DONE:"
        )
    );
    assert!(outcome(&text, &one_block(4), 8).is_ok());
    let fault = outcome(&text, &one_block(8), 8).expect_err("lanes 4 to 7 fail");
    assert_eq!((fault.kind, fault.lane), (FaultKind::Trap, Some(4)));
    assert!(fault.detail.contains("`x < 4` failed, kernel.py:12"), "{fault}");
}

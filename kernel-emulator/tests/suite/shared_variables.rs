//! Accesses whose address is computed from the symbol of one `.shared` variable and that land in another one.

use kernel_emulator::{Fault, FaultKind, Options};

use crate::harness::{Bench, entry, one_block};

/// Four variables, one after the other as they are used; `%r0` is 64, as far as the emulator knows before it runs the kernel a number.
fn run(body: &str) -> Result<(), Box<Fault>> {
    let text = entry(
        1,
        &format!(
            ".reg .b32 %r<16>; .reg .b64 %d<16>; .reg .pred %p<8>; .reg .b16 %h<4>;
             .shared .align 16 .b8 before[64]; .shared .align 16 .b8 first[64]; .shared .align 16 .b8 second[64];
             .shared .align 16 .b8 after[64];
             ld.param.u64 %d0, [p0]; ld.global.u32 %r0, [%d0]; mov.b32 %r15, 7; setp.ne.u32 %p0, %r0, 64;
             st.shared.u32 [before], %r0; st.shared.u32 [first], %r0; st.shared.u32 [second], %r0; st.shared.u32 [after], %r0;
             {body}"
        ),
    );
    let bench = Bench::new(&text);
    let data = bench.upload_words(&[64]);
    bench.try_launch(&one_block(1), &[data], &Options::default()).map(drop).map_err(Box::new)
}

/// The kernel is right if `%r1` is what `right` says and leaves its variable if it is what `wrong` says.
#[track_caller]
fn twins(wrong: &str, right: &str, access: &str) {
    run(&[right, access].concat()).unwrap_or_else(|fault| panic!("{right} {access}: {fault}"));
    let text = [wrong, access].concat();
    let fault = run(&text).err().unwrap_or_else(|| panic!("it is not found: {text}"));
    assert_eq!(fault.kind, FaultKind::OutOfBounds, "{fault}");
    assert!(fault.detail.contains("outside the `.shared` variable `first` of 64 bytes"), "{fault}");
}

const STORE: &str = "st.shared.u32 [%r1], %r15;";

#[test]
fn an_address_stays_within_the_variable_from_whose_symbol_it_is_computed() {
    twins(
        "mov.u32 %r1, first; add.u32 %r1, %r1, %r0;",
        "mov.u32 %r1, second; add.u32 %r1, %r1, %r0; sub.u32 %r1, %r1, %r0;",
        STORE,
    );
    // The last word, and the one after it; by every operation that moves an address.
    for moved in [
        "add.u32 %r1, %r2, %r3;",
        "sub.u32 %r4, 0, %r3; sub.u32 %r1, %r2, %r4;",
        "mad.lo.u32 %r1, %r3, 1, %r2;",
        "shl.b32 %r3, %r3, 1; or.b32 %r1, %r2, %r3;",
        "add.u32 %r4, %r2, %r3; selp.b32 %r1, %r2, %r4, %p0;",
        "mov.u32 %r4, %r2; LOOP: add.u32 %r4, %r4, 4; sub.u32 %r3, %r3, 4; setp.gt.s32 %p1, %r3, 0; @%p1 bra LOOP; mov.b32 %r1, %r4;",
    ] {
        let at = |minus: u32| format!("mov.u32 %r2, first; sub.u32 %r3, %r0, {minus}; {moved}");
        twins(&at(0), &at(4), STORE);
    }
    // Before it, and at its end by a part of the access.
    twins(
        "mov.u32 %r1, first; sub.u32 %r1, %r1, 4;",
        "mov.u32 %r1, first; sub.u32 %r1, %r1, 4; add.u32 %r1, %r1, 4;",
        STORE,
    );
    let end = |at: u32| format!("mov.u32 %r1, first+{at};");
    twins(&end(64), &end(48), "st.shared.v4.u32 [%r1], {%r15, %r15, %r15, %r15};");
    // The offset of the access itself counts, and only the sum.
    twins("mov.u32 %r1, first;", "mov.u32 %r1, first-64;", "st.shared.u32 [%r1+64], %r15;");
    twins("mov.u32 %r1, first+128;", "mov.u32 %r1, first+124;", "st.shared.u32 [%r1-64], %r15;");
    let fault = run("st.shared.u8 [first+64], %r15;").expect_err("it is outside");
    assert!(fault.detail.starts_with("a store of 1 byte at shared address"), "{fault}");
}

#[test]
fn every_access_of_the_generic_proxy_stays_within_its_variable() {
    let (wrong, right) = ("mov.u32 %r1, first+64;", "mov.u32 %r1, first+16;");
    let init =
        "st.shared.v4.u32 [first+16], {%r15, %r15, %r15, %r15}; st.shared.u32 [second], %r15;";
    for access in [
        "ld.shared.u32 %r5, [%r1];",
        "atom.shared.add.u32 %r5, [%r1], 1;",
        "red.shared.add.u32 [%r1], 1;",
        "cp.async.ca.shared.global [%r1], [%d0], 4; cp.async.wait_all;",
    ] {
        twins(&[init, wrong].concat(), &[init, right].concat(), access);
    }
    let generic = "cvt.u64.u32 %d1, %r1; cvta.shared.u64 %d1, %d1; st.u32 [%d1], %r15;";
    twins(wrong, right, generic);
    let mapped = "mapa.shared::cluster.u32 %r2, %r1, 0; st.shared::cluster.u32 [%r2], %r15;";
    twins(wrong, right, mapped);
}

/// What may be meant for either variable is not judged.
#[test]
fn an_address_of_several_variables_or_of_none_may_be_anywhere() {
    for body in [
        // Either variable, or a number.
        "mov.u32 %r1, first; @%p0 mov.u32 %r1, second; add.u32 %r1, %r1, 64;",
        "mov.u32 %r1, 0; mov.u32 %r1, first; add.u32 %r1, %r1, 64;",
        "mov.u32 %r2, first; mov.u32 %r3, second; selp.b32 %r1, %r2, %r3, %p0; sub.u32 %r1, %r1, 64;",
        // A difference of two addresses.
        "mov.u32 %r2, first; mov.u32 %r3, second; sub.u32 %r3, %r3, %r2; add.u32 %r1, %r2, %r3;",
        // Bits of an address.
        "mov.u32 %r2, first; and.b32 %r2, %r2, -16; add.u32 %r1, %r2, 64;",
        "mov.u32 %r2, first; xor.b32 %r2, %r2, 0; add.u32 %r1, %r2, 64;",
        "mov.u32 %r2, first; mov.b64 %d1, {%r2, %r15}; mov.b64 {%r1, _}, %d1; add.u32 %r1, %r1, 64;",
        // A number that memory holds, where addresses are stored.
        "mov.u32 %r2, first; mov.u32 %r3, second; sub.u32 %r3, %r3, %r2; st.shared.u32 [after], %r3;
         ld.shared.u32 %r4, [after]; add.u32 %r1, %r2, %r4;",
    ] {
        let text = [body, STORE].concat();
        run(&text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
    }
}

/// One array that a kernel carves, and memory whose size the launch decides.
#[test]
fn carved_and_dynamic_memory_have_the_bounds_of_the_block() {
    let text = ".extern .shared .align 16 .b8 more[];
        .visible .entry k(.param .u64 p0) {
        .reg .b32 %r<8>; .shared .align 16 .b8 pool[128];
        mov.u32 %r1, pool; add.u32 %r1, %r1, 64; st.shared.u32 [%r1+60], %r1;
        mov.u32 %r2, more; add.u32 %r2, %r2, 60; st.shared.u32 [%r2], %r1; sub.u32 %r2, %r2, 64; st.shared.u32 [%r2], %r1;
        ret; }";
    let bench = Bench::new(text);
    let mut config = one_block(1);
    config.dynamic_shared_bytes = 64;
    bench.launch(&config, &[0]);
}

/// External memory is that of the launch, whatever size the text gives.
#[test]
fn external_memory_with_a_size_is_not_bounded_by_it() {
    let text = ".extern .shared .align 16 .b8 pool[4]; .shared .align 16 .b8 other[64];
        .visible .entry k(.param .u64 p0) {
        .reg .b32 %r<8>; mov.u32 %r1, pool; st.shared.u32 [other], %r1; add.u32 %r1, %r1, 32; st.shared.u32 [%r1], %r1; ret; }";
    Bench::new(text).launch(&one_block(1), &[0]);
}

/// The addresses that functions get and give back may be of any variable.
#[test]
fn addresses_of_other_functions_may_be_anywhere() {
    let text = ".shared .align 16 .b8 first[64]; .shared .align 16 .b8 second[64];
        .func (.param .b32 r) next(.param .b32 a) {
        .reg .b32 %r<4>; ld.param.b32 %r1, [a]; add.u32 %r1, %r1, 64; st.shared.u32 [%r1], %r1;
        st.param.b32 [r], %r1; ret; }
        .visible .entry k(.param .u64 p0) {
        .reg .b32 %r<8>; mov.u32 %r1, first; st.shared.u32 [second+60], %r1;
        { .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; call.uni (r), next, (a); ld.param.b32 %r2, [r]; }
        st.shared.u32 [%r2], %r1; sub.u32 %r3, %r2, %r1; add.u32 %r4, %r1, %r3; st.shared.u32 [%r4], %r1; ret; }";
    Bench::new(text).launch(&one_block(1), &[0]);
}

//! What is said of partitions that cannot be.

use crate::rendered::rendered;
use expect_test::{Expect, expect};

/// The messages of a kernel with this body, for a target that has budgets of registers.
#[track_caller]
fn says(body: &str, messages: &Expect) {
    said(quote::quote!(target = sm_90a, warps = 4), body, messages);
}

#[track_caller]
fn said(attr: proc_macro2::TokenStream, body: &str, messages: &Expect) {
    let source = format!(
        "fn k(x: Tensor<f32, 1>, y: TensorMut<f32, 1>, z: TensorMut<f32, 1>, n: i32) {{
            let v = x.tile([0], [128]).load();
            let (to, other) = (y.tile([0], [128]), z.tile([0], [128]));
            {body}
        }}"
    );
    let function: syn::ItemFn = syn::parse_str(&source).expect("the source is Rust");
    let mut found = rendered(attr, &function).join("\n");
    found.push('\n');
    // The text that was parsed has a number for a name.
    let mut parts = found.split("<parsed string ");
    let mut text = parts.next().unwrap_or("").to_owned();
    for part in parts {
        text.push_str("kernel.rs");
        text.push_str(part.split_once('>').map_or("", |(_, rest)| rest));
    }
    messages.assert_eq(&text);
}

#[test]
fn partitions_have_a_power_of_two_of_warps() {
    says(
        "warp_specialize(|| to.store(v), [partition(16).run(|| other.store(zeros([128])))]);",
        &expect![[r"
            [K0505] a partition cannot have 16 warps
               required  warps 1, 2, 4 or 8
               actual    warps 16
               why       layouts spread tiles over a power of two of warps, and a block has room for a few partitions
               help      8
        "]],
    );
}

#[test]
fn budgets_come_in_steps() {
    says(
        "warp_specialize(|| to.store(v), [partition(1).registers(41).run(|| sync())]);",
        &expect![[r"
            [K0505] the threads of a partition cannot have 41 registers
               required  registers a multiple of 8 from 24 to 256
               actual    registers 41
               why       `setmaxnreg` sets the registers of a thread in these steps
               help      48
        "]],
    );
    says(
        "warp_specialize(|| to.store(v), [partition(1).registers(16).run(|| sync())]);",
        &expect![[r"
            [K0505] the threads of a partition cannot have 16 registers
               required  registers a multiple of 8 from 24 to 256
               actual    registers 16
               why       `setmaxnreg` sets the registers of a thread in these steps
               help      24
        "]],
    );
}

#[test]
fn budgets_need_a_target_that_moves_registers() {
    said(
        quote::quote!(target = sm_80, warps = 4),
        "warp_specialize(|| to.store(v), [partition(1).registers(40).run(|| sync())]);",
        &expect![[r"
            [K0502] register budgets need a later target
               required  target sm_90a, sm_100f, sm_100a, sm_103a or sm_120a
               actual    target sm_80
               why       only these targets have `setmaxnreg`; a partition without a budget runs on every target
        "]],
    );
}

#[test]
fn budgets_leave_something_for_the_kernels_own_warps() {
    says(
        "warp_specialize(|| to.store(v), [partition(8).registers(256).run(|| sync())]);",
        &expect![[r#"
            [K0506] these partitions leave too few registers for the kernel's own warps
               required  registers at most 480, added up over groups of four warps
               actual    registers 512, added up over groups of four warps
               why       a block of 12 warps starts with 168 registers a thread, 504 over its 3 groups of four, and a group gets only registers that another releases (PTX ISA, "setmaxnreg"); partitions of one or two warps share a group with the largest of their budgets, and a group without a budget needs 24
        "#]],
    );
}

#[test]
fn a_block_has_32_warps() {
    says(
        "warp_specialize(|| to.store(v), [
            partition(8).run(|| sync()), partition(8).run(|| sync()),
            partition(8).run(|| sync()), partition(8).run(|| sync()),
        ]);",
        &expect![[r"
            [K0505] these partitions have more warps than a block
               required  warps at most 32
               actual    warps 36
               why       the kernel's own warps count as well, and so do unused warps: partitions of four warps and more begin at a multiple of four, and with register budgets the kernel's own warps fill whole groups of four
        "]],
    );
}

#[test]
fn a_block_has_16_barriers() {
    said(
        quote::quote!(target = sm_80, warps = 1),
        "let p = partition(2).run(|| sync());
         warp_specialize(|| sync(), [p, p, p, p, p, p, p, p, p, p, p, p, p, p, p]);",
        &expect![[r"
            [K0505] these partitions need more barriers than a block has
               required  partitions of more than one warp at most 14
               actual    partitions of more than one warp 15
               why       the warps of each partition use a barrier of their own; a block has 16, of which the kernel's own warps use one and all warps together another
        "]],
    );
}

#[test]
fn a_partition_runs_a_closure() {
    says(
        "warp_specialize(|| to.store(v), [partition(1)]);",
        &expect![[r"
        [K0206] this partition runs nothing
           required  a partition that runs a closure
           actual    `partition(..)` alone
           help      partition(1).run(|| load())
    "]],
    );
    says(
        "warp_specialize(|| to.store(v), [partition(1).run(v)]);",
        &expect![[r"
        [K0206] a partition runs a closure
           required  a closure without parameters
           actual    a `Tile<f32>` of extents [128]
           help      run(|| load())
    "]],
    );
    says(
        "warp_specialize(|| to.store(v), [n]);",
        &expect![[r"
        [K0206] this is not a partition
           required  a partition
           actual    a scalar (i32)
           help      partition(1).run(|| load())
    "]],
    );
    says(
        "warp_specialize(|| to.store(v), []);",
        &expect![[r"
        [K0206] there is no partition besides the default one
           required  an array of one partition or more
           actual    an array of 0
           help      [partition(1).run(|| load())]
    "]],
    );
    says(
        "warp_specialize(v, [partition(1).run(|| sync())]);",
        &expect![[r"
        [K0206] the default partition is a closure
           required  a closure without parameters
           actual    a `Tile<f32>` of extents [128]
           help      warp_specialize(|| multiply(), [partition(1).run(|| load())])
    "]],
    );
    says(
        "warp_specialize(|| to.store(v), partition(1).run(|| sync()));",
        &expect![[r"
        [K0206] the partitions are an array
           required  an array of partitions
           actual    a partition
           help      [partition(1).run(|| load())]
    "]],
    );
    says(
        "warp_specialize(|| to.store(v), [partition(1).warps(2)]);",
        &expect![[r"
            [K0108] a partition has no method `warps`
               why       it has `registers`, `run`
        "]],
    );
}

#[test]
fn warps_are_specialised_once_in_the_body() {
    says(
        "if n > 3 { warp_specialize(|| to.store(v), [partition(1).run(|| sync())]); }",
        &expect![[r"
            [K0407] warps are specialised inside a loop or branch
               required  a statement of the kernel's body
               actual    one that a loop or a branch runs
               why       the warps of partitions wait for this call from the start of the kernel, and reach it once; a function with an early `return` counts as a loop
               example   warp_specialize(
                             || for i in 0..n { multiply(i) },
                             [partition(1).run(|| for i in 0..n { load(i) })],
                         );
        "]],
    );
    says(
        "warp_specialize(|| to.store(v), [partition(1).run(|| {
            warp_specialize(|| sync(), [partition(1).run(|| sync())])
        })]);",
        &expect![[r"
            [K0407] the warps of a block are specialised twice
               required  one `warp_specialize` in each kernel, outside of partitions
               actual    another one
               ::: kernel.rs:4:13  specialised here before
               why       each warp of a block goes to one partition, and ends with it
        "]],
    );
    says(
        "unroll_me();
         fn unroll_me() { for _ in unroll(0..2) { warp_specialize(|| sync(), [partition(1).run(|| sync())]); } }",
        &expect![[r"
            [K0407] the warps of a block are specialised twice
               required  one `warp_specialize` in each kernel, outside of partitions
               actual    another one
               ::: kernel.rs:5:51  specialised here before
               ::: kernel.rs:4:13  called here as `unroll_me`
               why       each warp of a block goes to one partition, and ends with it
        "]],
    );
}

#[test]
fn partitions_take_no_tiles() {
    says(
        "warp_specialize(|| to.store(v), [partition(1).run(|| other.store(v * 2.0))]);",
        &expect![[r"
            [K0408] a partition takes the tile `v` from outside
               required  scalars, tensors, shared memory
               actual    a `Tile<f32>` of extents [128]
               ::: kernel.rs:2:21  computed here, by other warps
               why       the elements of a tile are in registers of the threads that computed it, and other threads run the partition; pass the tile through shared memory
               help      passed.load()
                         let passed = shared::<f32>([128]); passed.store(v); // before line 4
        "]],
    );
    says(
        "let both = (n, v + 1.0);
         warp_specialize(|| to.store(v), [partition(1).run(|| { let w = both.1; other.store(w); })]);",
        &expect![[r"
            [K0408] a partition takes a tile of `both` from outside
               required  scalars, tensors, shared memory
               actual    a `Tile<f32>` of extents [128]
               ::: kernel.rs:4:28  computed here, by other warps
               why       the elements of a tile are in registers of the threads that computed it, and other threads run the partition; pass the tile through shared memory
        "]],
    );
}

#[test]
fn partitions_change_nothing_outside() {
    says(
        "let mut count = n;
         warp_specialize(|| to.store(v), [partition(1).run(|| { for i in 0..4 { count += i; } })]);
         to.store(v * (count as f32));",
        &expect![[r"
            [K0408] a partition changes `count`, which is declared outside of it
               ::: kernel.rs:4:17  declared here
               why       other warps run the code around the partition, at the same time and with registers of their own; shared memory is what both see
               help      let passed = shared::<i32>([1]); // before line 5
                         let mut count = n; // before line 5
                         passed.store(full([1], count)); // after line 5
                         count = passed.load().item(); // after line 5
        "]],
    );
}

#[test]
fn what_each_thread_has_for_itself_is_not_handed_over() {
    says(
        "let lane = ptx!(\"mov.u32 {out}, %laneid;\" => i32);
         warp_specialize(|| to.store(v), [partition(1).run(|| other.store(full([128], lane as f32)))]);",
        &expect![[r#"
            [K0406] what a partition takes from outside may differ from thread to thread
               required  one value for the block
               actual    one for each thread
               ::: kernel.rs:4:24  `ptx!` may give each thread a different value
               why       other threads run the partition, and they do not have the values of these
               example   partition(1).run(|| { let lane = ptx!("mov.u32 {out}, %laneid;" => i32); .. })
        "#]],
    );
}

#[test]
fn blocks_of_a_cluster_meet_with_all_of_their_warps() {
    said(
        quote::quote!(target = sm_90a, warps = 4, cluster = [2, 1]),
        "for _ in 0..n { cluster::sync(); }
         warp_specialize(|| to.store(v), [partition(1).run(|| cluster::sync())]);",
        &expect![[r"
            [K0407] the blocks of a cluster meet at a place that not all of their warps reach
               required  a statement of the kernel's body
               actual    one in a partition, a loop or a branch, or after a `return`
               why       a block arrives when all of its threads do; before `warp_specialize` the warps of partitions arrive as well, but they do not run loops and branches
            [K0407] the blocks of a cluster meet at a place that not all of their warps reach
               required  a statement of the kernel's body
               actual    one in a partition, a loop or a branch, or after a `return`
               why       a block arrives when all of its threads do; before `warp_specialize` the warps of partitions arrive as well, but they do not run loops and branches
        "]],
    );
}

#[test]
fn what_a_partition_runs_is_looked_at_where_it_cannot_stand() {
    says(
        "for _ in 0..n { warp_specialize(|| to.store(v), [partition(1).run(|| other.store(w))]); }",
        &expect![[r"
            [K0407] warps are specialised inside a loop or branch
               required  a statement of the kernel's body
               actual    one that a loop or a branch runs
               why       the warps of partitions wait for this call from the start of the kernel, and reach it once; a function with an early `return` counts as a loop
               example   warp_specialize(
                             || for i in 0..n { multiply(i) },
                             [partition(1).run(|| for i in 0..n { load(i) })],
                         );
            [K0102] nothing is called `w` here
               why       a kernel sees its own names, the constants of its file, functions with `#[device]`, and the language
        "]],
    );
}

#[test]
fn helps_speak_of_the_partition_that_they_are_for() {
    says(
        "warp_specialize(|| to.store(v), [partition(1).run(|| other.store(zeros::<f32>([65536]).sum(0).reshape([1]).broadcast([128])))]);",
        &expect![[r"
            [K0504] a tile of 65536 elements does not fit the registers of one warp
               required  registers a thread at most 1024
               actual    registers a thread 2048
               why       a thread has 255 registers, and each element takes its own; up to four times as many compile, and the rest are spilled to slow local memory
               help      partition(2)
        "]],
    );
    says(
        "warp_specialize(|| to.store(v), [partition(1).run(|| {
            other.store(zeros::<f32>([128]).to_layout(blocked([1], [32], [4], [0])));
        })]);",
        &expect![[r"
            [K0301] `blocked([1], [32], [4], [0])` is for another number of warps
               required  warps 1
               actual    warps 4
               why       a layout spreads a tile over all warps that run its part of the kernel: those of the kernel's attribute, or of a partition
               help      blocked([1], [32], [1], [0])
        "]],
    );
}

#[test]
fn blocks_of_a_cluster_do_not_meet_behind_an_early_end() {
    said(
        quote::quote!(target = sm_90a, warps = 4, cluster = [2, 1]),
        "cluster::sync();
         if n == 0 { return; }
         cluster::sync();
         warp_specialize(|| to.store(v), [partition(1).run(|| sync())]);",
        &expect![[r"
            [K0407] the blocks of a cluster meet at a place that not all of their warps reach
               required  a statement of the kernel's body
               actual    one in a partition, a loop or a branch, or after a `return`
               why       a block arrives when all of its threads do; before `warp_specialize` the warps of partitions arrive as well, but they do not run loops and branches
        "]],
    );
}

#[test]
fn what_is_only_looked_at_specialises_nothing() {
    says(
        "if v { warp_specialize(|| to.store(v), [partition(1).run(|| sync())]); }
         warp_specialize(|| to.store(v), [partition(1).run(|| sync())]);",
        &expect![[r"
            [K0206] this condition is not one `bool` for the whole block
               required  a scalar (bool)
               actual    a `Tile<f32>` of extents [128]
               why       all threads of a block take the same branch; a mask chooses element by element
               example   select(v, a, b)
        "]],
    );
}

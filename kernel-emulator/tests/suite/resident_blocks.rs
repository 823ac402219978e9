//! Blocks that are on one multiprocessor together share the columns of its tensor memory.

use kernel_emulator::{DeviceMemory, Fault, FaultKind, LaunchConfig, Options, Program};

/// A kernel of a warp. `%r0` is the number of its block in the grid, `%d0` the words of global memory; what follows `first` block 0 (or the first
/// pair) executes, what follows `second` the other.
fn kernel(first: &str, second: &str) -> String {
    format!(
        ".version 8.8\n.target sm_100a\n.address_size 64
         .visible .entry k(.param .u64 p0) .reqntid 32, 1, 1
         {{
         .reg .b32 %r<16>; .reg .b64 %d<4>; .reg .pred %p<4>; .shared .align 16 .b8 at[16];
         ld.param.u64 %d0, [p0]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, at; mov.u32 %r2, 1;
         mov.u32 %r6, %clusterid.x; mov.u32 %r7, %ctaid.x; mul.wide.u32 %d1, %r7, 4; add.u64 %d1, %d0, %d1;
         mov.u32 %r8, %nclusterid.x; setp.eq.u32 %p0, %r8, 1; selp.b32 %r6, %r0, %r6, %p0;
         setp.ne.u32 %p1, %r6, 0; @%p1 bra SECOND;
         {first}
         ret;
         SECOND:
         {second}
         ret;
         }}"
    )
}

/// Allocates columns; the address is in `%r3`, or in the register that comes after it.
fn alloc(group: u32, columns: u32, register: u32) -> String {
    format!(
        "tcgen05.alloc.cta_group::{group}.sync.aligned.shared::cta.b32 [%r1], {columns}; ld.shared.b32 %r{register}, [%r1];\n"
    )
}

fn dealloc(group: u32, columns: u32, register: u32) -> String {
    format!("tcgen05.dealloc.cta_group::{group}.sync.aligned.b32 %r{register}, {columns};\n")
}

/// A word of global memory counts up.
fn tell(word: u32) -> String {
    format!("red.release.gpu.global.add.u32 [%d0+{}], %r2;\n", 4 * word)
}

/// A warp's lanes have counted a word up, each of so many warps.
fn wait(word: u32, warps: u32, label: &str) -> String {
    format!(
        "{label}: ld.acquire.gpu.global.u32 %r9, [%d0+{}]; setp.lt.u32 %p2, %r9, {}; @%p2 bra {label};\n",
        4 * word,
        32 * warps
    )
}

/// Writes the address to the word of the block.
const SHOW: &str = "st.global.u32 [%d1], %r3;\n";

/// Launches blocks of a warp in clusters, so many of them on a multiprocessor: eight words of global memory.
fn launch(
    text: &str,
    [blocks, cluster]: [u32; 2],
    resident: u32,
    threads: usize,
) -> Result<[u32; 8], Box<Fault>> {
    let program = Program::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let memory = DeviceMemory::new();
    let address = memory.allocate(32).expect("the test is small");
    memory.write(address, &[0; 32]).expect("it was just allocated");
    let mut config = LaunchConfig::new([blocks, 1, 1], [32, 1, 1]);
    config.cluster = [cluster, 1, 1];
    let options = Options::default()
        .with_resident_blocks(resident)
        .with_threads(threads)
        .with_max_instructions(1 << 24);
    program.launch(&memory, "k", &config, &address.to_le_bytes(), &options)?;
    let mut bytes = [0; 32];
    memory.read(address, &mut bytes).expect("it was written");
    let mut words = [0; 8];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
    }
    Ok(words)
}

/// On one thread of the host and on several.
const THREADS: [usize; 2] = [1, 2];

#[test]
fn two_blocks_hold_half_of_the_columns_each() {
    // Each goes on when both hold theirs.
    let block =
        |label: &str| alloc(1, 256, 3) + &tell(4) + &wait(4, 2, label) + SHOW + &dealloc(1, 256, 3);
    let text = kernel(&block("A"), &block("B"));
    for threads in THREADS {
        let mut starts = launch(&text, [2, 1], 2, threads).expect("both fit")[..2].to_vec();
        starts.sort_unstable();
        assert_eq!(starts, [0, 256], "side by side");
        assert_eq!(launch(&text, [2, 1], 1, threads).expect("both fit")[..2], [0, 0]);
    }
}

#[test]
fn a_block_waits_for_all_columns_until_the_other_gives_them_back() {
    // The first block holds all columns when the second asks for them; a third word is counted up before it gives them back.
    let first = alloc(1, 512, 3) + &tell(4) + &wait(5, 1, "A") + &tell(6) + &dealloc(1, 512, 3);
    let second = wait(4, 1, "B")
        + &tell(5)
        + &alloc(1, 512, 3)
        + "ld.acquire.gpu.global.u32 %r10, [%d0+24]; st.global.u32 [%d0+28], %r10;\n"
        + &dealloc(1, 512, 3);
    let text = kernel(&first, &second);
    for threads in THREADS {
        assert_eq!(launch(&text, [2, 1], 2, threads).expect("one after the other")[7], 32);
    }
    // On a multiprocessor of its own it does not wait: on one thread of the host, nobody has counted by then.
    assert_eq!(launch(&text, [2, 1], 1, 1).expect("beside one another")[7], 0);
}

#[test]
fn blocks_that_hold_what_the_other_waits_for_are_a_deadlock() {
    // Each holds half, and asks for the other half.
    let more = |label: &str| {
        alloc(1, 256, 3)
            + &tell(4)
            + &wait(4, 2, label)
            + &alloc(1, 256, 4)
            + &dealloc(1, 256, 4)
            + &dealloc(1, 256, 3)
    };
    let text = kernel(&more("A"), &more("B"));
    for threads in THREADS {
        let fault = launch(&text, [2, 1], 2, threads).expect_err("neither gets more");
        assert_eq!((fault.kind, fault.block), (FaultKind::Deadlock, [0, 0, 0]), "{fault}");
        let first = "waits for 256 columns of tensor memory, of which the block holds 256 of 512, block (1, 0, 0) columns ";
        let rest = " and waits for others itself: only a `tcgen05.dealloc` makes room";
        assert!(fault.detail.contains(first) && fault.detail.contains(rest), "{fault}");
    }
    launch(&text, [2, 1], 1, 1).expect("alone, each gets all");
    // The second half is there when one has given the first back.
    let less = |label: &str| {
        alloc(1, 256, 3)
            + &tell(4)
            + &wait(4, 2, label)
            + &dealloc(1, 256, 3)
            + &alloc(1, 256, 4)
            + &dealloc(1, 256, 4)
    };
    launch(&kernel(&less("A"), &less("B")), [2, 1], 2, 1).expect("one gives the other room");
}

#[test]
fn a_block_that_waits_for_one_of_its_cluster_with_its_columns_is_a_deadlock() {
    let meet = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
    let late = alloc(1, 512, 3) + meet + &dealloc(1, 512, 3);
    let fault = launch(&kernel(&late, &late), [2, 2], 2, 1).expect_err("the other gets none");
    assert_eq!((fault.kind, fault.block), (FaultKind::Deadlock, [1, 0, 0]), "{fault}");
    for part in [
        "of which the block holds 0 of 512, block (0, 0, 0) columns 0..512 of the same cluster, in which nothing can run",
        "of block (0, 0, 0) at PTX line",
        "waits at the cluster barrier, where 32 of 64 threads arrived",
    ] {
        assert!(fault.detail.contains(part), "{part}: {fault}");
    }
    let early = alloc(1, 512, 3) + &dealloc(1, 512, 3) + meet;
    launch(&kernel(&early, &early), [2, 2], 2, 1).expect("the first gives them back");
    launch(&kernel(&late, &late), [2, 2], 1, 1).expect("each has a multiprocessor");
}

/// Blocks of a pair are on two multiprocessors, and get the same columns of both.
#[test]
fn two_pairs_share_two_multiprocessors() {
    // All four blocks hold their columns at the same time.
    let block =
        |label: &str| alloc(2, 256, 3) + &tell(4) + &wait(4, 4, label) + SHOW + &dealloc(2, 256, 3);
    let text = kernel(&block("A"), &block("B"));
    for threads in THREADS {
        let starts = launch(&text, [4, 2], 2, threads).expect("both pairs fit");
        assert_eq!((starts[0], starts[2]), (starts[1], starts[3]), "{starts:?}");
        assert_eq!(starts[0] + starts[2], 256, "{starts:?}");
    }
    assert_eq!(launch(&text, [4, 2], 1, 1).expect("both pairs fit")[..4], [0; 4]);
}

//! The tensormap proxy: tensor maps that a kernel changes, and the copies that read them.

use kernel_emulator::{
    DeviceMemory, Fault, FaultKind, Hazards, LaunchConfig, Options, Program, TensorMap,
};

use crate::tma::plain;

const RELEASE: &str = "fence.proxy.tensormap::generic.release.gpu;";
const ACQUIRE: &str = "fence.proxy.tensormap::generic.acquire.gpu [%d0], 128;";
const SET: &str = "st.release.gpu.global.u32 [%d1], 1;";
const AWAIT: &str =
    "AGAIN: ld.acquire.gpu.global.u32 %r4, [%d1]; setp.eq.u32 %p1, %r4, 0; @%p1 bra AGAIN;";
/// Changes the map in global memory to what it is, which is a write all the same.
const CHANGE: &str = "tensormap.replace.tile.box_dim.global.b1024.b32 [%d0], 1, 8;";
/// Loads 512 bytes by the map at `%d0`, and waits for them.
const COPY: &str = "mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;
    cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [tile], [%d0, {0, 0}], [bar];
    WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra WAIT;";

/// How the threads are spread that execute the texts, lane 0 of a warp of its own each.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Together {
    Block,
    Cluster,
    Grid,
}

/// Runs texts, one thread each. `%d0` is the address of a map, and of another one with `%d2`; `%d1` that of a flag.
fn run(texts: &[&str], together: Together) -> Result<(), Box<Fault>> {
    let count = u32::try_from(texts.len()).expect("few");
    let (grid, warps, cluster, number) = match together {
        Together::Block => (1, count, 1, "%warpid"),
        Together::Cluster => (count, 1, count, "%ctaid.x"),
        Together::Grid => (count, 1, 1, "%ctaid.x"),
    };
    let bodies: Vec<String> = (0..)
        .zip(texts)
        .map(|(i, text)| {
            format!("setp.ne.u32 %p0, %r0, {i}; @%p0 bra NOT{i}; {{ {text} }} NOT{i}:\n")
        })
        .collect();
    let text = format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n
         .visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2) {{
         .reg .b64 %d<8>; .reg .b32 %r<16>; .reg .pred %p<8>;
         .shared .align 128 .b8 tile[1024]; .shared .align 128 .b8 map[128]; .shared .align 8 .b64 bar;
         ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; ld.param.u64 %d2, [p2]; mov.u32 %r1, %laneid;
         setp.ne.u32 %p7, %r1, 0; mov.u32 %r0, {number}; @%p7 bra END;
         {} END: ret; }}",
        bodies.concat()
    );
    let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let memory = DeviceMemory::new();
    let upload = |bytes: &[u8]| {
        let address = memory.allocate(bytes.len() as u64).expect("small");
        memory.write(address, bytes).expect("just allocated");
        address
    };
    let data = upload(&[7; 4096]);
    let map = plain(data, &[64, 32], &[128], &[32, 8]).encode().expect("it is right");
    let params = [upload(&map), upload(&[0; 4]), upload(&map)];
    let params: Vec<u8> = params.iter().flat_map(|p| p.to_le_bytes()).collect();
    let mut config = LaunchConfig::new([grid, 1, 1], [32 * warps, 1, 1]);
    config.cluster = [cluster, 1, 1];
    let options = Options::default().with_max_instructions(1 << 20);
    program.launch(&memory, "k", &config, &params, &options).map(drop).map_err(Box::new)
}

#[track_caller]
fn right(texts: &[&str], together: Together) {
    run(texts, together).unwrap_or_else(|fault| panic!("{together:?} {texts:?}: {fault}"));
}

/// The kernel is wrong: the half of the fence that is missing, `None` for a race.
#[track_caller]
fn wrong(texts: &[&str], together: Together, half: Option<&str>) -> Box<Fault> {
    let fault = run(texts, together).expect_err("something is missing");
    let Some(half) = half else {
        assert_eq!(fault.kind, FaultKind::Race, "{fault}");
        return fault;
    };
    assert_eq!(fault.kind, FaultKind::ProxyFence, "{fault}");
    let missing = format!("fence.proxy.tensormap::generic.{half}");
    assert_eq!(fault.missing, Some(missing.as_str()), "{fault}");
    fault
}

#[test]
fn a_thread_that_changes_a_map_releases_and_acquires_it_before_its_copy() {
    let text = |parts: &[&str]| [CHANGE, &parts.concat(), COPY].concat();
    right(&[&text(&[RELEASE, ACQUIRE])], Together::Grid);
    right(&[COPY], Together::Grid);
    // The acquisition alone needs no change.
    right(&[&[ACQUIRE, COPY].concat()], Together::Grid);
    wrong(&[&text(&[])], Together::Grid, Some("release"));
    wrong(&[&text(&[ACQUIRE])], Together::Grid, Some("release"));
    wrong(&[&text(&[RELEASE])], Together::Grid, Some("acquire"));
    // In the wrong order; of another map; by the fence for other proxies.
    wrong(&[&text(&[ACQUIRE, RELEASE])], Together::Grid, Some("acquire"));
    let other = ACQUIRE.replace("%d0", "%d2");
    wrong(&[&text(&[RELEASE, &other])], Together::Grid, Some("acquire"));
    wrong(&[&text(&["fence.proxy.async; fence.acq_rel.gpu;"])], Together::Grid, Some("release"));
    // Changed once more.
    let again = text(&[RELEASE, ACQUIRE, CHANGE]);
    wrong(&[&again], Together::Grid, Some("release"));
    wrong(&[&text(&[RELEASE, ACQUIRE, CHANGE, RELEASE])], Together::Grid, Some("acquire"));
    right(&[&text(&[RELEASE, ACQUIRE, CHANGE, RELEASE, ACQUIRE])], Together::Grid);
}

#[test]
fn a_map_is_handed_to_another_thread_by_release_flag_and_acquire() {
    for together in [Together::Block, Together::Cluster, Together::Grid] {
        let writer = |parts: &[&str]| [CHANGE, &parts.concat()].concat();
        let reader = |parts: &[&str]| [&parts.concat(), COPY].concat();
        right(&[&writer(&[RELEASE, SET]), &reader(&[AWAIT, ACQUIRE])], together);
        let fault =
            wrong(&[&writer(&[RELEASE, SET]), &reader(&[AWAIT])], together, Some("acquire"));
        let other = fault.other.as_ref().expect("the write is one instruction");
        assert!(other.ptx.contains("tensormap.replace"), "{fault}");
        assert!(other.agent.starts_with("lane 0 of warp 0"), "{}", other.agent);
        assert_eq!(fault.bytes, Some(128), "{fault}");
        wrong(&[&writer(&[SET]), &reader(&[AWAIT, ACQUIRE])], together, Some("release"));
        // The flag comes before the release, the acquisition before the flag.
        wrong(&[&writer(&[SET, RELEASE]), &reader(&[AWAIT, ACQUIRE])], together, Some("release"));
        wrong(&[&writer(&[RELEASE, SET]), &reader(&[ACQUIRE, AWAIT])], together, Some("acquire"));
    }
    // Nothing orders the two: whether the copy comes before the change or after it is a matter of time.
    let late = ["nanosleep.u32 1000;", ACQUIRE, COPY].concat();
    wrong(&[&[CHANGE, RELEASE].concat(), &late], Together::Block, None);
}

#[test]
fn a_map_may_be_acquired_by_another_thread_of_the_block_but_of_no_other() {
    let writer = [CHANGE, RELEASE, SET].concat();
    let second = SET.replace("[%d1], 1", "[%d1], 2");
    let relay = [AWAIT, ACQUIRE, &second].concat();
    let reader = |acquire: &str| {
        let until = AWAIT.replace("%r4, 0", "%r4, 2").replace("setp.eq", "setp.ne");
        [&until, acquire, COPY].concat()
    };
    right(&[&writer, &relay, &reader("")], Together::Block);
    right(&[&writer, &[AWAIT, &second].concat(), &reader(ACQUIRE)], Together::Block);
    wrong(&[&writer, &[AWAIT, &second].concat(), &reader("")], Together::Block, Some("acquire"));
    // The thread that acquires says so to nobody.
    let (alone, copy) = ([AWAIT, ACQUIRE].concat(), [AWAIT, COPY].concat());
    wrong(&[&writer, &alone, &copy], Together::Block, Some("acquire"));
    for together in [Together::Cluster, Together::Grid] {
        right(&[&writer, &relay, &reader(ACQUIRE)], together);
        wrong(&[&writer, &relay, &reader("")], together, Some("acquire"));
    }
}

#[test]
fn the_scopes_of_both_halves_include_the_other_thread() {
    let writer = |scope: &str| [CHANGE, &RELEASE.replace("gpu", scope), SET].concat();
    let reader = |scope: &str| [AWAIT, &ACQUIRE.replace("gpu", scope), COPY].concat();
    for scope in ["cta", "cluster", "gpu", "sys"] {
        right(&[&writer(scope), &reader(scope)], Together::Block);
        let wide = matches!(scope, "gpu" | "sys");
        if wide {
            right(&[&writer(scope), &reader(scope)], Together::Grid);
        } else {
            wrong(&[&writer(scope), &reader("gpu")], Together::Grid, Some("release"));
            wrong(&[&writer("gpu"), &reader(scope)], Together::Grid, Some("acquire"));
        }
    }
}

/// Maps that come to global memory by stores, and by bulk copies out of shared memory.
#[test]
fn every_way_of_writing_a_map_needs_the_fences() {
    let store = "ld.global.u64 %d3, [%d0]; st.global.u64 [%d0], %d3;";
    let word = |i: u32| format!("ld.global.u64 %d3, [%d2+{i}]; st.shared.u64 [map+{i}], %d3; ");
    let whole = (0..128).step_by(8).map(word).collect::<Vec<_>>().concat();
    let bulk = format!(
        "{whole} fence.proxy.async.shared::cta; cp.async.bulk.global.shared::cta.bulk_group [%d0], [map], 128;
         cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
    );
    for write in [store, &bulk] {
        let text = |parts: &[&str]| [write, &parts.concat(), COPY].concat();
        right(&[&text(&[RELEASE, ACQUIRE])], Together::Grid);
        wrong(&[&text(&[])], Together::Grid, Some("release"));
        wrong(&[&text(&[RELEASE])], Together::Grid, Some("acquire"));
    }
}

/// A map is made in shared memory and published by a warp; one elected lane copies.
#[test]
fn a_published_map_is_acquired_by_who_copies() {
    let head = "mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 0; mul.wide.u32 %d3, %r0, 4;
        add.s64 %d4, %d2, %d3; ld.global.b32 %r2, [%d4]; mov.u32 %r1, map; shl.b32 %r3, %r0, 2;
        add.u32 %r3, %r1, %r3; st.shared.b32 [%r3], %r2; bar.warp.sync 0xffffffff;
        @%p0 bra MADE; tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r1], 1, 8; MADE:
        bar.warp.sync 0xffffffff;";
    let publish = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d0], [%r1], 128;";
    let text = |acquire: &str, elected: u32| {
        format!(
            ".version 8.6\n.target sm_90a\n.address_size 64\n
             .visible .entry k(.param .u64 p0, .param .u64 p2) {{
             .reg .b64 %d<8>; .reg .b32 %r<16>; .reg .pred %p<8>;
             .shared .align 128 .b8 tile[1024]; .shared .align 128 .b8 map[128]; .shared .align 8 .b64 bar;
             ld.param.u64 %d0, [p0]; ld.param.u64 %d2, [p2]; {head} {publish} {acquire}
             setp.ne.u32 %p1, %r0, {elected}; @%p1 bra END; {COPY} END: ret; }}"
        )
    };
    let run = |acquire: &str, elected: u32, hazards: Hazards| {
        let text = text(acquire, elected);
        let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let memory = DeviceMemory::new();
        let [data, to, from] = [4096, 128, 128].map(|bytes| memory.allocate(bytes).expect("small"));
        memory.write(data, &[7; 4096]).expect("just allocated");
        let map = TensorMap { ..plain(data, &[64, 32], &[128], &[32, 4]) };
        memory.write(from, &map.encode().expect("it is right")).expect("just allocated");
        let params: Vec<u8> = [to, from].iter().flat_map(|p: &u64| p.to_le_bytes()).collect();
        let config = LaunchConfig::new([1, 1, 1], [32, 1, 1]);
        let options = Options::default().with_hazards(hazards);
        program.launch(&memory, "k", &config, &params, &options).map_err(Box::new)
    };
    for elected in [0, 5] {
        run(ACQUIRE, elected, Hazards::Error).unwrap_or_else(|fault| panic!("{fault}"));
        let fault = run("", elected, Hazards::Error).expect_err("the acquisition is missing");
        assert_eq!(fault.missing, Some("fence.proxy.tensormap::generic.acquire"), "{fault}");
        // It is a finding, and one.
        let report = run("", elected, Hazards::Warn).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(report.findings.len(), 1, "{:?}", report.findings);
    }
}

//! Tensor maps: the rules of their encoding, and maps that a kernel makes itself.

use kernel_emulator::{
    DeviceMemory, Fault, FaultKind, Options, Program, TensorMap, TensorMapError as E,
    TensorMapField,
};

use crate::harness::one_block;
use crate::tma::plain;

/// A map that keeps every rule: f16, 64 by 32, boxes of 32 by 8.
fn good() -> TensorMap {
    plain(0x1000, &[64, 32], &[128], &[32, 8])
}

fn refusal(change: impl Fn(&mut TensorMap)) -> E {
    let mut map = good();
    assert!(map.encode().is_ok());
    change(&mut map);
    map.encode().expect_err("the map breaks a rule")
}

#[test]
fn each_rule_of_the_encoding_has_its_error() {
    use TensorMapField as F;
    assert_eq!(refusal(|m| m.dtype = 16), E::Dtype { actual: 16 });
    assert_eq!(refusal(|m| m.dtype = 11), E::DtypeNotModelled { actual: 11 });
    assert_eq!(refusal(|m| m.dims = vec![]), E::Rank { actual: 0 });
    assert_eq!(refusal(|m| m.dims = vec![8; 6]), E::Rank { actual: 6 });
    let length = |field, required, actual| E::Length { field, rank: 2, required, actual };
    assert_eq!(refusal(|m| m.strides_bytes = vec![16; 2]), length(F::Strides, 1, 2));
    assert_eq!(refusal(|m| m.box_dims = vec![8]), length(F::BoxDims, 2, 1));
    assert_eq!(refusal(|m| m.element_strides = vec![1; 3]), length(F::ElementStrides, 2, 3));
    assert_eq!(refusal(|m| m.interleave = 3), E::Interleave { actual: 3 });
    assert_eq!(refusal(|m| m.swizzle = 4), E::Swizzle { actual: 4 });
    assert_eq!(refusal(|m| m.oob_fill = 2), E::Fill { actual: 2 });
    assert_eq!(refusal(|m| (m.dtype, m.oob_fill) = (1, 1)), E::FillType { dtype: 1 });
    assert_eq!(refusal(|m| m.address = 0x1008), E::Address { required: 16, actual: 0x1008 });
    assert_eq!(refusal(|m| m.dims[1] = 0), E::Dim { dim: 1, actual: 0 });
    let beyond = (1 << 32) + 1;
    assert_eq!(refusal(|m| m.dims[0] = beyond), E::Dim { dim: 0, actual: beyond });
    let stride = |actual| E::StrideAlignment { dim: 1, required: 16, actual };
    assert_eq!(refusal(|m| m.strides_bytes[0] = 136), stride(136));
    let large = 1 << 40;
    assert_eq!(refusal(|m| m.strides_bytes[0] = large), E::StrideSize { dim: 1, actual: large });
    assert_eq!(refusal(|m| m.box_dims[1] = 257), E::BoxDim { dim: 1, actual: 257 });
    assert_eq!(refusal(|m| m.box_dims[0] = 0), E::BoxDim { dim: 0, actual: 0 });
    let step = |actual| E::ElementStride { dim: 1, actual };
    assert_eq!(refusal(|m| m.element_strides[1] = 9), step(9));
    assert_eq!(refusal(|m| m.element_strides[1] = 0), step(0));
    assert_eq!(refusal(|m| m.box_dims[0] = 4), E::InnerBox { actual: 8 });
    assert_eq!(refusal(|m| m.box_dims[0] = 12), E::InnerBox { actual: 24 });
    for (swizzle, span) in [(1, 32), (2, 64), (3, 128)] {
        let error = refusal(|m| (m.swizzle, m.box_dims[0]) = (swizzle, span / 2 + 8));
        let actual = u64::from(span) + 16;
        assert_eq!(error, E::SwizzleSpan { required: span.into(), actual });
    }
    let padded = |m: &mut TensorMap| {
        (m.dtype, m.dims[0], m.box_dims[0]) = (14, 256, 128);
        m.strides_bytes = vec![128];
    };
    let packed = |dtype, required, actual| E::PackedBox { dtype, required, actual };
    assert_eq!(refusal(|m| (padded(m), m.box_dims[0] = 64).0), packed(14, "128", 64));
    let dim = |dtype, required, actual| E::PackedDim { dtype, required, actual };
    assert_eq!(refusal(|m| (padded(m), m.dims[0] = 192).0), dim(14, 128, 192));
    let swizzle = E::PackedSwizzle { dtype: 15, actual: 2 };
    assert_eq!(refusal(|m| (padded(m), (m.dtype, m.swizzle) = (15, 2)).0), swizzle);
    let stride = E::StrideAlignment { dim: 1, required: 32, actual: 144 };
    assert_eq!(refusal(|m| (padded(m), m.strides_bytes[0] = 144).0), stride);
    assert_eq!(
        refusal(|m| (m.dtype, m.box_dims[0]) = (13, 33)),
        packed(13, "an even number of", 33)
    );
    assert_eq!(refusal(|m| (m.dtype, m.dims[0]) = (13, 63)), dim(13, 2, 63));
    assert_eq!(refusal(|m| m.interleave = 1), E::InterleaveRank { actual: 2 });
    let volume = |m: &mut TensorMap| {
        (m.dims, m.strides_bytes) = (vec![64, 32, 4], vec![128, 4096]);
        (m.box_dims, m.element_strides) = (vec![8, 8, 2], vec![1; 3]);
    };
    let error = refusal(|m| {
        volume(m);
        m.interleave = 2;
    });
    assert_eq!(error, E::InterleaveSwizzle { actual: 0 });
    let error = refusal(|m| {
        volume(m);
        (m.interleave, m.swizzle, m.address) = (2, 1, 0x1010);
    });
    assert_eq!(error, E::Address { required: 32, actual: 0x1010 });
    let error = refusal(|m| {
        volume(m);
        m.interleave = 1;
    });
    assert_eq!(error, E::InterleaveNotModelled { actual: 1 });
}

#[test]
fn what_an_h200_accepts_is_accepted() {
    let accepted = |change: &dyn Fn(&mut TensorMap)| {
        let mut map = good();
        change(&mut map);
        assert!(map.encode().is_ok(), "{map:?}: {:?}", map.encode());
    };
    accepted(&|m| m.box_dims = vec![256, 256]);
    accepted(&|m| (m.dtype, m.box_dims) = (0, vec![256, 255]));
    accepted(&|m| m.strides_bytes[0] = 0);
    accepted(&|m| m.strides_bytes[0] = 16);
    accepted(&|m| m.element_strides = vec![8, 8]);
    accepted(&|m| m.dims = vec![1 << 32, 1]);
    accepted(&|m| (m.dtype, m.oob_fill) = (9, 1));
    accepted(&|m| *m = plain(0, &[64], &[], &[32]));
    // A box may be larger than the tensor.
    accepted(&|m| m.dims = vec![1, 1]);
}

/// Launches a kernel for `sm_90a` whose parameters are pointers.
fn launch(body: &str, memory: &DeviceMemory, pointers: &[u64]) -> Result<(), Box<Fault>> {
    let list: Vec<String> = (0..pointers.len()).map(|i| format!(".param .u64 p{i}")).collect();
    let text = format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k({}) {{
         .reg .b64 %d<8>; .reg .b32 %r<16>; .reg .pred %p<8>;
         .shared .align 128 .b8 tile[1024]; .shared .align 128 .b8 map[128]; .shared .align 8 .b64 bar;
         ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; ld.param.u64 %d2, [p2]; mov.u32 %r0, %tid.x;
         setp.eq.u32 %p0, %r0, 0; mov.u32 %r1, map; mul.wide.u32 %d3, %r0, 4;
         {body} ret; }}",
        list.join(", ")
    );
    let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let params: Vec<u8> = pointers.iter().flat_map(|p| p.to_le_bytes()).collect();
    let run = program.launch(memory, "k", &one_block(32), &params, &Options::default());
    run.map(drop).map_err(Box::new)
}

/// Loads a box at coordinates (8, 1) through the map at `%d0`, and stores its 512 bytes at `%d2`.
const LOAD: &str = "@%p0 mbarrier.init.shared.b64 [bar], 1; @%p0 fence.mbarrier_init.release.cluster;
    @!%p0 bra ISSUED; mov.u32 %r8, 8; mov.u32 %r9, 1;
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512; prefetch.tensormap [%d0];
    cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%d0, {%r8, %r9}];
    cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [tile], [%d0, {%r8, %r9}], [bar];
    ISSUED: bar.sync 0; WAIT: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra WAIT;
    mov.u32 %r2, tile; shl.b32 %r3, %r0, 4; add.u32 %r2, %r2, %r3;
    ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r2]; mul.wide.u32 %d4, %r0, 16; add.s64 %d4, %d2, %d4;
    st.global.v4.b32 [%d4], {%r4, %r5, %r6, %r7};";

/// A tensor of 4 KiB of f16 of one-by-one different values.
fn tensor(memory: &DeviceMemory) -> u64 {
    let data: Vec<u8> = (0..2048u16).flat_map(|i| (i * 5).to_le_bytes()).collect();
    let address = memory.allocate(4096).expect("small");
    memory.write(address, &data).expect("just allocated");
    address
}

fn read(memory: &DeviceMemory, address: u64) -> Vec<u8> {
    let mut out = vec![0; 512];
    memory.read(address, &mut out).expect("the kernel wrote it");
    out
}

/// What the box at (8, 1) of rows of 64 elements holds.
fn box_of_64() -> Vec<u8> {
    let element = |i: u16| (72 + i / 32 * 64 + i % 32) * 5;
    (0..256).flat_map(|i| element(i).to_le_bytes()).collect()
}

#[test]
fn a_map_may_lie_in_global_memory() {
    let memory = DeviceMemory::new();
    let map = TensorMap { address: tensor(&memory), ..good() };
    let at = memory.allocate(256).expect("small");
    memory.write(at + 64, &map.encode().expect("it is right")).expect("just allocated");
    let out = memory.allocate(512).expect("small");
    launch(LOAD, &memory, &[at + 64, 0, out]).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(read(&memory, out), box_of_64());
    // At a multiple of 64 bytes, and all of it written.
    let fault = launch(LOAD, &memory, &[at + 32, 0, out]).expect_err("misaligned");
    assert_eq!(fault.kind, FaultKind::Misaligned, "{fault}");
    let fault = launch(LOAD, &memory, &[at, 0, out]).expect_err("not a map");
    assert!(fault.detail.contains("are not a tensor map"), "{fault}");
}

#[test]
fn a_box_outside_of_its_tensor_touches_where_the_map_begins() {
    let memory = DeviceMemory::new();
    let first = tensor(&memory);
    let (at, out) = (memory.allocate(128).expect("small"), memory.allocate(512).expect("small"));
    let run = |address: u64, columns: u64| {
        let map = TensorMap { address, dims: vec![columns, 32], ..good() };
        memory.write(at, &map.encode().expect("it is right")).expect("just allocated");
        launch(LOAD, &memory, &[at, 0, out])
    };
    // Nothing is allocated before the tensor. Row 1 of such a map is row 0 of the tensor.
    run(first - 128, 64).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(read(&memory, out)[..2], 40_u16.to_le_bytes());
    let fault = run(first - 128, 8).expect_err("the box begins at column 8");
    assert_eq!(fault.kind, FaultKind::OutOfBounds, "{fault}");
    run(first, 8).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(read(&memory, out), [0; 512]);
}

/// Brings the map at `%d1` to shared memory, lets one thread execute `replace`, and the warp publish it at `%d0`.
fn made(replace: &str) -> String {
    format!(
        "add.s64 %d3, %d1, %d3; ld.global.b32 %r2, [%d3]; shl.b32 %r3, %r0, 2; add.u32 %r3, %r1, %r3;
         st.shared.b32 [%r3], %r2; bar.sync 0; @!%p0 bra MADE; {replace} MADE: bar.sync 0;
         tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d0], [%r1], 128;
         fence.proxy.tensormap::generic.acquire.gpu [%d0], 128; bar.sync 0;"
    )
}

#[test]
fn a_map_that_the_kernel_fills_in_is_as_good_as_an_encoded_one() {
    let memory = DeviceMemory::new();
    let data = tensor(&memory);
    // Everything is different from what is needed.
    let template = TensorMap {
        dtype: 0,
        swizzle: 2,
        oob_fill: 0,
        element_strides: vec![2, 2, 2],
        ..plain(0x40, &[7, 7, 7], &[16, 32], &[16, 2, 1])
    };
    let from = memory.allocate(128).expect("small");
    memory.write(from, &template.encode().expect("it is right")).expect("just allocated");
    let (to, out) = (memory.allocate(128).expect("small"), memory.allocate(512).expect("small"));
    let field = |name: &str, rest: &str| {
        let bits = if name.starts_with("global_address") || name.starts_with("global_stride") {
            64
        } else {
            32
        };
        format!("tensormap.replace.tile.{name}.shared::cta.b1024.b{bits} [%r1], {rest};")
    };
    let replace = [
        field("global_address", &data.to_string()),
        field("rank", "1"),
        field("global_dim", "0, 64"),
        field("global_dim", "1, 32"),
        field("global_stride", "0, 128"),
        field("box_dim", "0, 32"),
        field("box_dim", "1, 8"),
        field("element_stride", "0, 1"),
        field("element_stride", "1, 1"),
        field("elemtype", "6"),
        field("interleave_layout", "0"),
        field("swizzle_mode", "0"),
        field("fill_mode", "1"),
    ];
    let text = format!("{} {LOAD}", made(&replace.concat()));
    launch(&text, &memory, &[to, from, out]).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(read(&memory, out), box_of_64());
}

/// As compilers do it that make maps in a kernel: 128 zeroes in shared memory, then every field.
#[test]
fn a_map_may_be_made_from_zeroes() {
    let memory = DeviceMemory::new();
    let data = tensor(&memory);
    let from = memory.allocate(128).expect("small");
    memory.write(from, &[0; 128]).expect("just allocated");
    let (to, out) = (memory.allocate(128).expect("small"), memory.allocate(512).expect("small"));
    let fields = [
        ("global_address", 64, data.to_string()),
        ("rank", 32, "1".to_owned()),
        ("global_dim", 32, "0, 64".to_owned()),
        ("global_dim", 32, "1, 32".to_owned()),
        ("global_stride", 64, "0, 128".to_owned()),
        ("box_dim", 32, "0, 32".to_owned()),
        ("box_dim", 32, "1, 8".to_owned()),
        ("element_stride", 32, "0, 1".to_owned()),
        ("element_stride", 32, "1, 1".to_owned()),
        ("elemtype", 32, "6".to_owned()),
        ("interleave_layout", 32, "0".to_owned()),
        ("swizzle_mode", 32, "0".to_owned()),
        ("fill_mode", 32, "1".to_owned()),
    ];
    let text = |without: Option<usize>| {
        let kept = fields.iter().enumerate().filter(|(i, _)| Some(*i) != without);
        let replace = kept.map(|(_, (name, bits, rest))| {
            format!("tensormap.replace.tile.{name}.shared::cta.b1024.b{bits} [%r1], {rest};")
        });
        format!("{} {LOAD}", made(&replace.collect::<String>()))
    };
    let run = |text: &str| launch(text, &memory, &[to, from, out]);
    run(&text(None)).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(read(&memory, out), box_of_64());
    for (without, (name, _, rest)) in fields.iter().enumerate() {
        let fault = run(&text(Some(without))).expect_err("a field is missing");
        assert_eq!(fault.kind, FaultKind::IllegalOperand, "{fault}");
        let dim = rest.split_once(',').map(|(dim, _)| format!(" {dim}")).unwrap_or_default();
        let part = format!("its field `.{name}`{dim} was never set");
        assert!(fault.detail.contains(&part), "{part}: {fault}");
    }
}

#[test]
fn element_types_of_replaced_maps_have_numbers_of_their_own() {
    // bf16 is 10 there, and 9 in the encoding, whose 10 is a type that rounds.
    let memory = DeviceMemory::new();
    let data = tensor(&memory);
    let map = TensorMap { address: data, dtype: 6, oob_fill: 1, ..good() };
    let from = memory.allocate(128).expect("small");
    memory.write(from, &map.encode().expect("it is right")).expect("just allocated");
    let (to, out) = (memory.allocate(128).expect("small"), memory.allocate(512).expect("small"));
    let replace = |number: u32| {
        let text = made(&format!(
            "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r1], {number};"
        ));
        launch(&format!("{text} {LOAD}"), &memory, &[to, from, out])
    };
    replace(10).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(read(&memory, out), box_of_64());
    // 7 is f32 in both, whose box of 32 columns has 128 bytes: the barrier expects half of them.
    assert_eq!(replace(7).expect_err("twice the bytes").kind, FaultKind::Deadlock);
    // 1 is u16, which has no NaN; 12 rounds to tf32.
    for (number, part) in [(1, "can be filled with NaN"), (12, "element type 12"), (8, "type 10")] {
        let fault = replace(number).expect_err("the map breaks a rule");
        assert_eq!(fault.kind, FaultKind::IllegalOperand, "{fault}");
        assert!(fault.detail.contains(part), "{fault}");
    }
}

#[test]
fn a_replaced_field_is_checked() {
    let memory = DeviceMemory::new();
    let map = TensorMap { address: tensor(&memory), ..good() };
    let from = memory.allocate(128).expect("small");
    memory.write(from, &map.encode().expect("it is right")).expect("just allocated");
    let (to, out) = (memory.allocate(128).expect("small"), memory.allocate(512).expect("small"));
    let replace = |field: &str| {
        let text = made(&format!("tensormap.replace.tile.{field};"));
        launch(&format!("{text} {LOAD}"), &memory, &[to, from, out])
    };
    // Left as it is.
    assert!(replace("box_dim.shared::cta.b1024.b32 [%r1], 1, 8").is_ok());
    for (field, part) in [
        ("box_dim.shared::cta.b1024.b32 [%r1], 1, 300", "the extent of a box is 1 to 256, not 300"),
        ("global_dim.shared::cta.b1024.b32 [%r1], 0, 0", "is 1 to 4294967295, not 0"),
        ("element_stride.shared::cta.b1024.b32 [%r1], 1, 9", "is 1 to 8, not 9"),
        ("rank.shared::cta.b1024.b32 [%r1], 5", "the rank less one is 0 to 4, not 5"),
        // Only the copy can tell.
        ("global_stride.shared::cta.b1024.b64 [%r1], 0, 100", "a multiple of 16 bytes, not 100"),
        ("swizzle_mode.shared::cta.b1024.b32 [%r1], 1", "at most 32 bytes, not 64"),
    ] {
        let fault = replace(field).expect_err("the field is wrong");
        assert_eq!(fault.kind, FaultKind::IllegalOperand, "{fault}");
        assert!(fault.detail.contains(part), "{fault}");
    }
}

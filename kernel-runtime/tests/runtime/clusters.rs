//! Kernels in clusters, and kernels that may start early.

use crate::devices;
use kernel_runtime::{
    __launch, Device, DeviceTensor, Error, Image, IntoArgument, IntoGrid, Launch, ParamInfo,
    ParamKind, Result, Stream, Target, Variant, persistent,
};

/// Each block writes, by its number in the grid: blocks of its cluster, its number in the cluster, blocks of the grid along x.
const PLACES: &str = r"
.visible .entry places(.param .u64 out, .param .s32 out_dim, .param .s64 out_stride) DIRECTIVE
{
    .reg .b32 %r<6>;
    .reg .b64 %d<3>;
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ctaid.y;
    mov.u32 %r3, %nctaid.x;
    mad.lo.s32 %r1, %r2, %r3, %r1;
    mul.wide.u32 %d2, %r1, 12;
    add.s64 %d1, %d1, %d2;
    mov.u32 %r4, %cluster_nctarank;
    st.global.u32 [%d1], %r4;
    mov.u32 %r5, %cluster_ctarank;
    st.global.u32 [%d1+4], %r5;
    st.global.u32 [%d1+8], %r3;
    ret;
}
";

/// The kernel in clusters; with the directive in its text, where there is one.
fn places(cluster: [u32; 3], directive: &str) -> &'static [Image] {
    let text = PLACES.replace("DIRECTIVE", directive);
    let ptx = format!(".version 8.0\n.target sm_90a\n.address_size 64\n{text}");
    let variant = Variant {
        name: "general",
        entry: "places",
        ptx: ptx.leak(),
        dynamic_shared_bytes: 0,
        cubins: &[],
        tensor_columns: 0,
        requires: &[],
        maps: &[],
        names: None,
    };
    let out = ParamKind::Tensor { dtype: "u32", rank: 1, mutable: true };
    let image = Image {
        kernel: "places",
        instance: "",
        target: Target::Sm90a,
        threads: 1,
        cluster,
        programmatic: false,
        params: vec![ParamInfo { name: "out", kind: out }].leak(),
        declared: &[],
        reports: None,
        stamps: None,
        variants: vec![variant].leak(),
    };
    vec![image].leak()
}

fn launch<'a>(
    images: &'static [Image],
    out: &'a mut DeviceTensor<u32, 1>,
    grid: impl IntoGrid,
) -> Launch<'a> {
    __launch(images, vec![out.into_argument()], None).grid(grid)
}

/// What each block of a grid wrote.
fn written(
    stream: &Stream,
    images: &'static [Image],
    grid: impl IntoGrid,
) -> Result<Vec<[u32; 3]>> {
    let mut out = stream.zeros([3 * 1024])?;
    launch(images, &mut out, grid).launch(stream)?;
    let values = out.to_vec(stream)?;
    let (blocks, _) = values.as_chunks::<3>();
    Ok(blocks.iter().copied().take_while(|block| *block != [0; 3]).collect())
}

fn stream() -> Result<Stream> {
    Device::emulator(Target::Sm90a)?.stream()
}

fn refusal(stream: &Stream, images: &'static [Image], grid: impl IntoGrid) -> Error {
    let mut out = stream.zeros([3 * 1024]).expect("there is memory");
    let error = launch(images, &mut out, grid).launch(stream).expect_err("it cannot run");
    assert!(stream.device().emulator_report().is_none(), "nothing has run");
    error
}

#[test]
fn blocks_run_in_the_clusters_of_their_image() -> Result<()> {
    for device in devices::with(Target::Sm90a)? {
        let stream = device.stream()?;
        // The text may state the cluster too.
        for directive in ["", ".reqnctapercluster 2, 1, 1", ".reqnctapercluster 2"] {
            let blocks = written(&stream, places([2, 1, 1], directive), 4)?;
            assert_eq!(blocks, [[2, 0, 4], [2, 1, 4], [2, 0, 4], [2, 1, 4]], "{directive}");
        }
        let blocks = written(&stream, places([1, 2, 1], ""), [2, 2])?;
        assert_eq!(blocks, [[2, 0, 2], [2, 0, 2], [2, 1, 2], [2, 1, 2]]);
        let blocks = written(&stream, places([1; 3], ""), 2)?;
        assert_eq!(blocks, [[1, 0, 2], [1, 0, 2]]);
    }
    Ok(())
}

/// 16 blocks are more than every device with clusters takes, and less than an H200 does.
#[test]
fn a_cluster_may_have_more_than_eight_blocks() -> Result<()> {
    for device in devices::with(Target::Sm90a)? {
        let blocks = written(&device.stream()?, places([16, 1, 1], ""), 32)?;
        let required: Vec<[u32; 3]> = (0..32).map(|block| [16, block % 16, 32]).collect();
        assert_eq!(blocks, required);
    }
    Ok(())
}

#[test]
fn a_grid_has_whole_clusters() -> Result<()> {
    let stream = stream()?;
    let error = refusal(&stream, places([2, 1, 1], ""), 5);
    assert_eq!(
        error.to_string(),
        "`places`: axis 0 of the grid is 5; it has to be a multiple of 2, the blocks of a cluster along it"
    );
    for (cluster, grid, bad_axis) in
        [([2, 1, 1], [3, 4, 5], 0), ([1, 4, 1], [3, 6, 5], 1), ([2, 2, 3], [2, 2, 4], 2)]
    {
        let error = refusal(&stream, places(cluster, ""), grid);
        let Error::GridNotOfClusters { axis, required, actual, .. } = error else {
            panic!("{error:?}")
        };
        assert_eq!((axis, required, actual), (bad_axis, cluster[bad_axis], grid[bad_axis]));
    }
    // A persistent grid has one block along y.
    let error = refusal(&stream, places([2, 2, 1], ""), persistent(100));
    assert!(
        matches!(error, Error::GridNotOfClusters { axis: 1, required: 2, actual: 1, .. }),
        "{error:?}"
    );
    Ok(())
}

#[test]
fn a_persistent_grid_has_whole_clusters() -> Result<()> {
    for device in devices::with(Target::Sm90a)? {
        let stream = device.stream()?;
        let images = places([4, 1, 1], "");
        for (at_most, required) in [(1, 4), (4, 4), (7, 4), (8, 8), (11, 8)] {
            let blocks = written(&stream, images, persistent(at_most))?;
            assert_eq!(blocks.len(), required, "{at_most} tiles");
            assert!(blocks.iter().all(|[of_cluster, ..]| *of_cluster == 4));
        }
        let mut out = stream.zeros([3 * 100_000])?;
        launch(images, &mut out, persistent(100_000)).launch(&stream)?;
        let [of_cluster, rank, resident] = out.to_vec(&stream)?[..3] else {
            panic!("the tensor is long enough")
        };
        assert_eq!((of_cluster, rank, resident % 4), (4, 0, 0));
        // An emulator holds a block on each multiprocessor, 132 in all.
        assert!(!device.is_emulator() || resident == 132, "{resident}");
        assert!((4..100_000).contains(&resident), "{resident}");
    }
    let blocks = written(&stream()?, places([8, 1, 1], ""), persistent(1000))?;
    assert_eq!(blocks.len(), 128, "132 in clusters of 8");
    Ok(())
}

#[test]
fn a_cluster_that_the_device_does_not_hold() -> Result<()> {
    let stream = stream()?;
    let error = refusal(&stream, places([8, 4, 1], ""), [8, 4]);
    assert_eq!(
        error.to_string(),
        "`places`: a cluster has 32 blocks (8x4x1); emulator for sm_90a takes at most 16 of this kernel's in one"
    );
    // Ampere has none.
    let mut images = places([2, 1, 1], "").to_vec();
    images[0].target = Target::Sm80;
    let images: &'static [Image] = images.leak();
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let mut out = stream.zeros([3])?;
    let error = launch(images, &mut out, 2).launch(&stream).expect_err("Ampere has no clusters");
    assert_eq!(
        error.to_string(),
        "`places`: a cluster has 2 blocks (2x1x1); emulator for sm_80 takes at most 1 of this kernel's in one"
    );
    Ok(())
}

#[test]
fn a_text_that_states_other_clusters() -> Result<()> {
    for device in devices::with(Target::Sm90a)? {
        let stream = device.stream()?;
        for cluster in [[4, 1, 1], [1; 3]] {
            let error = refusal(&stream, places(cluster, ".reqnctapercluster 2, 1, 1"), 4);
            assert_eq!(
                error.to_string(),
                format!(
                    "`places` (general) cannot be loaded on {device}: the entry has clusters of [2, 1, 1], the image of {cluster:?}"
                )
            );
        }
    }
    Ok(())
}

/// On an emulator nothing is under way when a kernel starts.
#[test]
fn a_kernel_that_may_start_early_runs() -> Result<()> {
    let mut images = places([2, 1, 1], "").to_vec();
    images[0].programmatic = true;
    let images: &'static [Image] = images.leak();
    for device in devices::with(Target::Sm90a)? {
        assert_eq!(written(&device.stream()?, images, 2)?, [[2, 0, 2], [2, 1, 2]]);
    }
    Ok(())
}

//! Copies, barriers and products of matrices, as CUDA, CUTLASS, Gluon and Triton write them.

use super::Row;

const INITIALISED: &str =
    "a barrier is initialised where it is made, before anything else of the kernel";
const COMMITS: &str =
    "`wgmma::mma` orders what comes before it, and commits itself; leave this call out";
const TENSOR_MEMORY: &str =
    "`tmem` allocates for the whole kernel, and frees at its end; leave this call out";
const TENSOR_WAITS: &str = "a load of tensor memory waits for itself; leave this call out";
const WHOLE_TILES: &str = "threads have no parts of their own: an operation takes the whole tile, and its layout says which thread has what";
const LAYOUTS: &str = "a window has extents, and a tile has a layout, which `blocked`, `mma`, `swizzle` and their like make";
const WINDOWS: &str = "a window of a parameter of type `Tensor` knows its extents and strides, and leaves out what is outside of it";
const GROUPS: &str = "copies that are started are committed as one group";
const STORES: &str = "a store of TMA is committed where it starts; leave this call out";

pub(super) const FUNCTIONS: &[Row] = &[
    // Copies in groups.
    (
        "cp_async_commit_group|cp_async_commit|cp_async_fence|__pipeline_commit|async_commit_group|commit_group|pipeline_commit()",
        GROUPS,
        "copy_async_commit()",
    ),
    (
        "cp_async_wait_group|cp_async_wait|__pipeline_wait_prior|async_wait|async_wait_group|wait_group|pipeline_wait_prior(n)",
        "",
        "copy_async_wait(n)",
    ),
    ("cp_async_wait_all|cp_async_wait|__pipeline_wait_all()", "", "copy_async_wait_all()"),
    (
        "memcpy_async|cp_async|async_copy|__pipeline_memcpy_async|async_copy_global_to_shared|cp_async_cg|cp_async_ca(s, w)",
        "the source comes before the destination",
        "copy_async(w, s)",
    ),
    (
        "memcpy_async|__pipeline_memcpy_async|cp_async(..)",
        "a copy takes a window and shared memory of the same extents, which say how many bytes it has",
        "copy_async(x.tile([0, 0], [64, 64]), s)",
    ),
    // TMA.
    (
        "tma_load|tma_load_2d|tma_load_3d|cp_async_bulk_tensor|cp_async_bulk_tensor_2d_global_to_shared|async_copy_global_to_local(..)",
        "a parameter of type `TensorMap` says how the tensor lies",
        "tma::load(map, [i, j], bar, s)",
    ),
    (
        "tma_store|tma_store_2d|cp_async_bulk_tensor_2d_shared_to_global(..)",
        "a parameter of type `TensorMapMut` says how the tensor lies",
        "tma::store(map, [i, j], s)",
    ),
    (
        "tma_store_fence|fence_proxy_async|fence_view_async_shared|fence_async_shared|tma_store_arrive_fence()",
        "",
        "fence_async()",
    ),
    (
        "tma_store_wait|store_wait|cp_async_bulk_wait_group_read|cp_async_bulk_wait_group(n)",
        "",
        "tma::store_wait(n)",
    ),
    ("tma_store_arrive|tma_commit|cp_async_bulk_commit_group|tma_store_commit(..)", STORES, ""),
    (
        "make_tma_copy|make_tensor_descriptor|make_tensor_map|cuTensorMapEncodeTiled|TensorDescriptor(..)",
        "the launch makes the tensor map of a parameter: `#[block(64, 64)] a: TensorMap<f16, 2>`",
        "",
    ),
    // Windows.
    ("make_block_ptr(d, h, g, c, b, o)", WINDOWS, "d.tile(c, b)"),
    ("make_block_ptr(..)", WINDOWS, ""),
    (
        "local_tile|make_tensor|make_gmem_ptr|make_smem_ptr|domain_offset(..)",
        WINDOWS,
        "x.tile([i, j], [64, 64])",
    ),
    (
        "make_layout|make_shape|make_stride|make_coord|composition|make_identity_tensor|tile_to_shape|zipped_divide|logical_divide(..)",
        LAYOUTS,
        "",
    ),
    (
        "partition_A|partition_B|partition_C|partition_S|partition_D|get_slice|get_thread_slice|make_fragment_like|make_fragment_A|make_fragment_B|make_fragment_C|partition_fragment_A|partition_fragment_B|partition_fragment_C|local_partition|make_tiled_mma|make_tiled_copy|thr_mma|thr_copy(..)",
        WHOLE_TILES,
        "",
    ),
    ("copy(w, s)", "a copy to shared memory runs while the block goes on", "copy_async(w, s)"),
    // Barriers.
    (
        "mbarrier_init|barrier_init|init_barrier|mbarrier_inval|fence_barrier_init|fence_mbarrier_init|cluster_barrier_init|fence_view_async_barrier(..)",
        INITIALISED,
        "let bar = barrier(1);",
    ),
    ("mbarrier_arrive(bar)", "", "bar.arrive()"),
    (
        "mbarrier_expect_tx|mbarrier_arrive_expect_tx|mbarrier_arrive_and_expect_tx|set_barrier_transaction_bytes(bar, n)",
        "",
        "bar.expect(n)",
    ),
    (
        "mbarrier_wait|mbarrier_wait_parity|mbarrier_try_wait_parity|wait_barrier(bar, n)",
        "",
        "bar.wait(n)",
    ),
    (
        "mbarrier_try_wait|mbarrier_test_wait|mbarrier_test_wait_parity(bar, n)",
        "",
        "bar.try_wait(n)",
    ),
    (
        "bar_sync|named_barrier_sync|NamedBarrier|bar_arrive|arrive_barrier(..)",
        "a barrier of some warps is made once: it says how many of them meet",
        "let meeting = named_barrier(4); meeting.sync();",
    ),
    // Products.
    (
        "wgmma_fence|warpgroup_arrive|warpgroup_fence_operand|wgmma_fence_sync_aligned|wgmma_commit_group|warpgroup_commit_batch|warpgroup_commit(..)",
        COMMITS,
        "",
    ),
    (
        "wgmma_wait_group|warpgroup_wait|warpgroup_mma_wait|wgmma_wait(n)",
        "the accumulator goes through the wait, so that it is not read before",
        "acc = wgmma::wait(n, acc)",
    ),
    ("warpgroup_mma|wgmma_mma_async|wgmma(s, ss, t)", "", "wgmma::mma(s, ss, t)"),
    (
        "mma_m*|mma_sync_*|wmma_*|wgmma_m*|mma_v2|mma_v3(t, u, tt)",
        "`dot` chooses the instruction, loads the fragments and gives the sum",
        "dot(t, u, tt)",
    ),
    (
        "mma_m*|wmma_*|wgmma_m*|SM70_*|SM75_*|SM80_*|SM89_*|SM90_*|SM100_*|MMA_Atom|Copy_Atom|TiledMMA|TiledCopy(..)",
        "`dot` chooses the instruction, loads the fragments and gives the sum",
        "dot(a, b, acc)",
    ),
    (
        "ldmatrix_*|stmatrix_*|stmatrix(..)",
        "loads and stores of shared memory take whole tiles, and choose the instruction",
        "s.load()",
    ),
    ("tcgen05_alloc|allocate_tensor_memory|tmem_alloc(..)", "", "tmem::<f32>([128, 128])"),
    ("tcgen05_dealloc|tmem_dealloc|tcgen05_relinquish_alloc_permit(..)", TENSOR_MEMORY, ""),
    ("tcgen05_commit|umma_arrive|tcgen05_mma_commit(bar)", "", "tcgen05::commit(bar)"),
    (
        "tcgen05_wait_ld|tcgen05_wait_st|tmem_wait_ld|tcgen05_fence|fence_view_async_tmem_load(..)",
        TENSOR_WAITS,
        "",
    ),
    ("tcgen05_mma|umma(s, u, x)", "", "tcgen05::mma(s, u, x)"),
    ("fill_fragment(x, v)", "", "x = full(SHAPE, v)"),
];

/// What the modules of the language do not have.
pub(super) const MODULES: &[(&str, &[Row])] = &[
    (
        "wgmma",
        &[
            (
                "commit|commit_group|fence|arrive|commit_batch|fence_operand|warpgroup_arrive(..)",
                COMMITS,
                "",
            ),
            ("wait_group|wait_all|mma_wait(n, x)", "", "wgmma::wait(n, x)"),
            (
                "wait_group|wait_all|mma_wait(..)",
                "the accumulator goes through the wait, so that it is not read before",
                "acc = wgmma::wait(0, acc)",
            ),
            ("mma_async|gemm|dot(s, ss, t)", "", "wgmma::mma(s, ss, t)"),
        ],
    ),
    (
        "tcgen05",
        &[
            (
                "alloc|allocate(..)",
                "tensor memory is allocated for the whole kernel",
                "tmem::<f32>([128, 128])",
            ),
            ("dealloc|relinquish_alloc_permit|free(..)", TENSOR_MEMORY, ""),
            (
                "wait_ld|wait_st|wait_load|wait_store|fence|fence_before|fence_after(..)",
                TENSOR_WAITS,
                "",
            ),
            ("ld|load(a)", "", "a.load()"),
            ("st|store(a, x)", "", "a.store(x)"),
            ("cp(s, a)", "", "tcgen05::copy(s, a)"),
            (
                "wait(..)",
                "a barrier says when products are done",
                "let done = barrier(1); tcgen05::commit(done); done.wait(0);",
            ),
        ],
    ),
    (
        "tma",
        &[
            ("commit|commit_group|store_arrive|store_commit(..)", STORES, ""),
            ("wait|wait_group|store_wait_group(n)", "", "tma::store_wait(n)"),
            ("wait|wait_all()", "", "tma::store_wait(0)"),
            ("fence|fence_async|store_fence()", "", "fence_async()"),
            (
                "load_2d|load_3d|load_1d|async_copy_global_to_shared|async_load|copy(..)",
                "the rank is that of the tensor map",
                "tma::load(map, [i, j], bar, s)",
            ),
            (
                "store_2d|store_3d|store_1d|async_copy_shared_to_global|async_store(..)",
                "the rank is that of the tensor map",
                "tma::store(map, [i, j], s)",
            ),
            (
                "load_multicast|multicast_load(..)",
                "a copy to several blocks is a load of which more is said",
                "tma::load(map, [i, j], bar, s).multicast(3)",
            ),
            (
                "prefetch_descriptor|prefetch_tensormap(..)",
                "the launch passes tensor maps as constants, which need no prefetch",
                "",
            ),
        ],
    ),
    (
        "cluster",
        &[
            ("arrive_relaxed()", "", "cluster::arrive()"),
            (
                "cta_rank|block_rank|ctarank|cta_id|block_idx|rank_in_cluster()",
                "",
                "cluster::rank()",
            ),
            ("num_blocks|num_ctas|dim|nctarank(..)", "", "cluster::size()"),
            ("map_shared_rank|mapa|map(s, n)", "", "s.of_block(n)"),
            ("barrier|wait_all|arrive_and_wait()", "", "cluster::sync()"),
        ],
    ),
    (
        "atomic",
        &[
            ("sub(p, x)", "", "atomic::add(p, -x)"),
            ("cas|compare_and_swap|compare_swap(p, x, y)", "", "atomic::compare_exchange(p, x, y)"),
            ("xchg|swap|exch(p, x)", "", "atomic::exchange(p, x)"),
            ("fetch_add(p, x)", "", "atomic::add(p, x)"),
            ("fetch_max(p, x)", "", "atomic::max(p, x)"),
            ("fetch_min(p, x)", "", "atomic::min(p, x)"),
            ("inc(l)", "", "atomic::add(l, 1)"),
            ("load(l)", "an atomic operation that changes nothing reads", "atomic::add(l, ZERO)"),
            ("store(p, x)", "", "atomic::exchange(p, x)"),
        ],
    ),
];

/// What barriers do not have.
pub(super) const BARRIERS: &[Row] = &[
    (
        "arrive_and_expect_tx|arrive_expect_tx|expect_tx|arrive_and_expect|expect_bytes(bar, n)",
        "an `expect` is an arrival, and says how many bytes follow",
        "bar.expect(n)",
    ),
    ("arrive_and_wait|sync(bar, n)", "", "{ bar.arrive(); bar.wait(n) }"),
    (
        "arrive_and_wait|sync(..)",
        "a wait names the parity of its phase, which is 0 in the first one, and changes with each",
        "{ bar.arrive(); bar.wait(0) }",
    ),
    (
        "wait_parity|try_wait_parity|consumer_wait|producer_acquire|wait_phase(bar, n)",
        "",
        "bar.wait(n)",
    ),
    ("test_wait|test_wait_parity|poll(bar, n)", "", "bar.try_wait(n)"),
    (
        "consumer_release|release|signal|producer_commit|notify|arrive_no_complete(bar)",
        "",
        "bar.arrive()",
    ),
    ("init|inval|invalidate|destroy|initialize(..)", INITIALISED, ""),
    ("arrive_on|map|remote(bar, n)", "", "bar.of_block(n)"),
];

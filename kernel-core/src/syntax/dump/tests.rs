//! What a dump of the tree looks like.

use expect_test::expect;

use crate::diag::Problems;
use crate::loc::Locations;
use crate::syntax::parse_module;

#[test]
fn the_tree_reads_as_rust_with_places() {
    let item: syn::ItemMod = syn::parse_str(
        r#"mod k {
    const HALF: f32 = 0.5;
    struct Pair { a: i32, b: Tile<f32> }
    impl Pair {
        fn sum(&self, by: i32) -> i32 { self.a + by * 2 }
    }
    #[kernel(target = [sm_80, sm_90a], warps = 2 * W, grid = 1, instances((N, W) = [(64, 1), (128, 2)]))]
    pub fn twice<T: Float, const N: i32, const W: i32>(#[multiple_of(8)] n: i32, #[stride(_, 1)] x: Tensor<T, 2>) {
        let mut at = x.tile([0, -n], [1, N]).load().cast::<f32>();
        'all: for i in 0..n - 1 {
            at += if i % 2 == 0 && !(i > 4) { at } else { at * HALF };
            if i > 7 { break 'all; }
        }
        let [a, (b, _)] = [1u32, (2, 3)];
        assert!(a as i32 == 1, "one");
        let f = |v| v + 1.0;
        let lo = ptx!("mov.b64 {{{out0}, _}}, {x};", x = at + 1, => (i32,));
        ptx!("membar.gl;");
        out.store(f(at), Pair { a: 1, b: [0.0; 4][0] }.sum(1));
    }
}"#,
    )
    .expect("the text is Rust");
    let locations = Locations::new(item.ident.span());
    let mut problems = Problems::new();
    let unit = parse_module(&item, &locations, &mut problems);
    assert!(problems.is_empty());
    expect![[r#"
        2:11     const HALF: f32 = 0.5;
        3:12     struct Pair { a: i32, b: Tile<f32> }
        4:10     impl Pair {
        5:12         fn sum(&self, by: i32) -> i32 {
        5:41             self.a + (by * 2)
                     }
                 }
        7:14     #[kernel(target = [sm_80, sm_90a], warps = 2 * W, grid = 1)]
        7:84     #[instances((N, W) = [(64, 1), (128, 2)])]
        8:70     #[multiple_of(8)] n
        8:82     #[stride(_, 1)] x
        8:12     fn twice<T: Float, const N: i32, const W: i32>(n: i32, x: Tensor<T, 2>) {
        9:13         let mut at = x.tile([0, -n], [1, N]).load().cast::<f32>();
        10:9         'all: for i in 0..(n - 1) {
        11:13            at += if ((i % 2) == 0) && (!(i > 4)) {
        11:47                at
                         } else {
        11:59                at * HALF
                         };
        12:13            if i > 7 {
        12:24                break 'all;
                         }
                     };
        14:13        let [a, (b, _)] = [1u32, (2, 3)];
        15:9         assert!((a as i32) == 1, "one");
        16:13        let f = |v| v + 1.0;
        17:13        let lo = ptx!("mov.b64 {{{out0}, _}}, {x};", x = at + 1 => (i32));
        18:9         ptx!("membar.gl;");
        19:9         out.store(f(at), Pair { a: 1, b: [0.0; 4][0] }.sum(1));
                 }
    "#]]
    .assert_eq(&unit.dump(&unit.kernels[0], &locations));
}

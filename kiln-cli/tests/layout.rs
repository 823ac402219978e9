//! `kiln layout`: pages, pictures, comparisons, and what it says of bad input.

use std::process::{Command, Output};

use kiln_cli::command::{LayoutPage, ShowLayout, layout};

fn show(forms: &[&str], shape: Option<&[u32]>, element_bits: u32) -> Result<LayoutPage, String> {
    let forms = forms.iter().map(|&form| form.to_owned()).collect();
    layout(&ShowLayout { forms, shape: shape.map(<[u32]>::to_vec), element_bits })
}

/// The picture of layouts that have one.
fn picture(forms: &[&str], shape: &[u32], element_bits: u32) -> String {
    let page = show(forms, Some(shape), element_bits).unwrap_or_else(|problem| panic!("{problem}"));
    let picture = page.picture.expect("a picture");
    check_xml(&picture);
    picture
}

/// Every element is closed in order, and no text or attribute has a character that XML forbids.
fn check_xml(document: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = document;
    while let Some(start) = rest.find('<') {
        let text = &rest[..start];
        assert!(!text.contains('>'), "a stray > in {text:?}");
        for (at, _) in text.match_indices('&') {
            let entity = &text[at..];
            let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&apos;"];
            assert!(known.iter().any(|name| entity.starts_with(name)), "{entity:?}");
        }
        let end = start + rest[start..].find('>').expect("a tag that ends");
        let tag = &rest[start + 1..end];
        assert!(!tag.contains('<') && tag.matches('"').count().is_multiple_of(2), "{tag:?}");
        assert!(!tag.contains("NaN") && !tag.contains("inf"), "{tag:?}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().expect("a name"));
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?}");
    assert!(!document.contains("href"), "the picture stands for itself");
}

/// The texts of a picture, in the order in which they are drawn.
fn texts(document: &str) -> Vec<&str> {
    let parts = document.split("</text>").filter_map(|part| part.rsplit_once('>'));
    parts.map(|(_, text)| text).collect()
}

/// The bases that a published tutorial prints for three layouts of row offsets.
#[test]
fn layouts_of_row_offsets_have_the_bases_that_a_tutorial_prints() {
    for (form, required) in [
        (
            "slice(0, blocked([1,4],[32,1],[1,4],[1,0]))",
            "register [1] [2] [16] [32] [64] [128]\n\
             lane     [0] [0] [0] [0] [0]\n\
             warp     [4] [8]\n",
        ),
        (
            "blocked([256], [32], [4], [0])",
            "register [1] [2] [4] [8] [16] [32] [64] [128]\n\
             lane     [0] [0] [0] [0] [0]\n\
             warp     [0] [0]\n",
        ),
        (
            "blocked([4], [32], [4], [0])",
            "register [1] [2]\n\
             lane     [4] [8] [16] [32] [64]\n\
             warp     [128] [0]\n",
        ),
    ] {
        let page = show(&[form], Some(&[256]), 32).expect("a layout").text;
        let (_, page) = page.split_once('\n').expect("a title");
        assert!(page.starts_with(required), "{form}: {page}");
    }
}

#[test]
fn a_long_tensor_of_one_axis_is_broken_into_rows() {
    let page = show(&["blocked([1], [32], [2], [0])"], Some(&[64]), 32).expect("a layout").text;
    let table: Vec<&str> = page.lines().skip(6).collect();
    assert_eq!(table[0], "32 elements to a row, warp:lane");
    assert!(table[2].starts_with("0   0:0   0:1   0:2") && table[3].starts_with("1   1:0   1:1"));
}

#[test]
fn a_small_register_picture_names_lane_and_register_of_every_element() {
    let picture = picture(&["blocked([1, 2], [8, 4], [1, 1], [1, 0])"], &[8, 8], 32);
    let cells: Vec<&str> = texts(&picture)
        .into_iter()
        .filter(|text| text.len() <= 3 && text.starts_with(['T', 'r']))
        .collect();
    // Element (row, column) is held by lane 4·row + column / 2, in register column mod 2.
    let required: Vec<String> =
        (0..64).flat_map(|at| [format!("T{}", at / 2), format!("r{}", at % 2)]).collect();
    assert_eq!(cells, required);
}

#[test]
fn a_large_register_picture_is_a_map_with_a_corner_enlarged() {
    let picture = picture(&["mma([2, 2])"], &[128, 128], 16);
    let texts = texts(&picture);
    assert!(texts.contains(&"the first 16 × 16 elements"));
    // Each warp has a sixteenth of the tiles of 16×8, and its name in the legend.
    for warp in ["warp 0", "warp 1", "warp 2", "warp 3"] {
        assert_eq!(texts.iter().filter(|&&text| text == warp).count(), 32 + 1);
    }
    assert!(picture.len() < 1 << 20, "{} bytes", picture.len());
}

#[test]
fn colours_are_those_of_warps() {
    let picture = picture(&["blocked([1, 1], [1, 32], [4, 1], [1, 0])"], &[4, 32], 32);
    // Lane 0 of each warp, in the darkest shade of its colour.
    for shade in ["#91b8d9", "#f6bd84", "#9fc899", "#ee9e9f"] {
        let path = format!("<path fill=\"{shade}\"");
        assert!(picture.contains(&path), "{shade}");
    }
}

/// There are eight colours: lines tell further warps apart, in the cells and in the legend.
#[test]
fn thirty_two_warps_look_different() {
    let eight = picture(&["blocked([1, 1], [4, 8], [8, 1], [1, 0])"], &[32, 8], 16);
    assert!(!eight.contains("url(#"), "colours are enough for eight");
    let all = picture(&["blocked([1, 1], [4, 8], [8, 4], [1, 0])"], &[32, 32], 16);
    for hatch in ["rising", "falling", "level"] {
        assert_eq!(all.matches(&format!("<pattern id=\"{hatch}\"")).count(), 1);
        // One path for the cells of eight warps, 256 of them in runs, and eight squares of the legend.
        let fill = format!("fill=\"url(#{hatch})\"");
        assert_eq!(all.matches(&format!("<path {fill}")).count(), 1, "{hatch}");
        let squares = all.lines().filter(|line| line.starts_with("<rect") && line.contains(&fill));
        assert_eq!(squares.count(), 8, "{hatch}");
    }
}

#[test]
fn a_picture_of_shared_memory_shows_which_chunk_lies_in_which_banks() {
    let picture = picture(&["swizzle(128)"], &[8, 64], 16);
    let chunks: Vec<&str> = texts(&picture)
        .into_iter()
        .filter(|text| text.contains(", ") && text.contains('–'))
        .collect();
    assert_eq!(chunks.len(), 64);
    // Line r has chunk j where r ^ j would be.
    for (at, text) in chunks.iter().enumerate() {
        let (row, chunk) = (at / 8, (at % 8) ^ (at / 8));
        assert_eq!(*text, format!("{row}, {}–{}", 8 * chunk, 8 * chunk + 7));
    }
    let page = texts(&picture);
    assert!(
        page.contains(&"28–31")
            && page.iter().any(|text| text.ends_with("1 pass: no bank conflict"))
    );
}

#[test]
fn a_picture_says_what_bank_conflicts_cost() {
    let passes = |form, columns: u32| {
        let picture = picture(&[form], &[16, columns], 16);
        let texts = texts(&picture);
        let text = texts.iter().find(|text| text.contains("ldmatrix")).expect("a price");
        text.rsplit_once(": ").map(|(before, _)| before.rsplit(' ').nth(1).map(str::to_owned))
    };
    // Rows of 128 bytes all begin in bank 0; rows of 64 bytes in banks 0 and 16.
    assert_eq!(passes("row_major()", 64), Some(Some("8".to_owned())));
    assert_eq!(passes("row_major()", 32), Some(Some("4".to_owned())));
    assert_eq!(passes("padded([[64, 8]], row_major())", 64), Some(Some("1".to_owned())));
}

#[test]
fn a_picture_of_padded_memory_shows_the_gaps() {
    let picture = picture(&["padded([[32, 4]], row_major())"], &[4, 32], 32);
    assert_eq!(texts(&picture).iter().filter(|&&text| text == "empty").count(), 3);
}

#[test]
fn a_picture_of_tensor_memory_names_the_part_of_the_tensor_in_each_place() {
    let picture_of = |form, shape: &[u32], bits| picture(&[form], shape, bits);
    let narrow = picture_of("tmem_block([64, 64], 1)", &[64, 64], 32);
    for label in ["rows 0–15, columns 0–63", "rows 48–63, columns 0–63"] {
        assert!(texts(&narrow).contains(&label), "{label}");
    }
    assert!(texts(&narrow).contains(&"holds nothing of the tensor"));
    assert!(texts(&narrow).contains(&"64 × 64 elements of 32 bits, each held once"));
    // Four copies of the same 32 rows.
    let copies = "S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]";
    let copies = picture_of(copies, &[32, 16], 8);
    let label = "rows 0–31, columns 0–15";
    assert_eq!(texts(&copies).iter().filter(|&&text| text == label).count(), 4);
    let scales = picture_of("tmem_scales()", &[128, 8], 8);
    assert_eq!(texts(&scales).iter().filter(|&&text| text == "rows 96–127").count(), 8 + 1);
}

#[test]
fn every_class_of_layout_has_a_page_and_a_picture() {
    for (form, shape, bits) in [
        ("wgmma([4, 1], 128)", &[64, 128][..], 32),
        ("dot_operand(0, mma([2, 2]), 2)", &[64, 32], 16),
        ("linear(register [1] [2], lane [4] [8] [16] [32] [64], warp -> [128])", &[128], 16),
        ("swizzled(4, 1, 8, [0, 1])", &[32, 16], 16),
        ("swizzle(128).fp4_padded()", &[8, 64], 8),
        ("swizzle(64).transposed()", &[64, 64], 16),
        ("shared_linear(offset [0,1] [0,2] [1,0] -> [2, 4])", &[2, 4], 64),
        ("cluster([[1, 0]], tmem_block([128, 64], 1).two_ctas())", &[256, 64], 32),
        ("cluster([[1, 0]], swizzle(128))", &[128, 64], 16),
        ("tmem_block([128, 32], 2)", &[128, 32], 16),
        ("tmem_load(32x32b, tmem_block([128, 128], 1), 8).split()", &[128, 128], 32),
        ("Compose(3, 3, 3, S[(64, 4, 64) : (64, 4096, 1)])", &[64, 256], 16),
        (
            "S[(8, 2, 4, 2) : (4 @ laneid, 1 @ warpid, 1 @ laneid, 1)] + R[2 : 4 @ warpid] + 5 @ warpid",
            &[8, 16],
            32,
        ),
        ("S[(8, 6) : (9, 1)]", &[8, 6], 32),
        ("S[(2, 128, 112) : (112 @ TCol, 1 @ TLane, 1 @ TCol)]", &[256, 112], 32),
        ("row_major()", &[], 32),
    ] {
        let page = show(&[form], Some(shape), bits).unwrap_or_else(|problem| panic!("{problem}"));
        assert!(page.text.contains(" for shape "), "{form}");
        check_xml(&page.picture.unwrap_or_else(|problem| panic!("{form}: {problem}")));
    }
}

#[test]
fn a_layout_by_strides_alone_says_why_it_has_no_bases() {
    let page = show(&["S[(2, 3) : (4, 1)] + 1"], None, 32).expect("a layout").text;
    let required = "\
S[(2, 3) : (4, 1)] + 1 for shape [2, 3]
no bases: 3 along axis 1 is no power of two
span 8 along m
each element is held once

m
   0  1  2
0  1  2  3
1  5  6  7
";
    assert_eq!(page, required);
}

/// Every function that makes a layout is named by the help, those that kernels do not have apart.
#[test]
fn the_help_names_every_layout() {
    let output = Command::new(env!("CARGO_BIN_EXE_kiln")).args(["layout", "--help"]).output();
    let output = output.expect("the command runs");
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    let (kernels, only_here) = help.split_once("Only this command reads").expect("both kinds");
    for name in kiln_cli::layout_form::OF_KERNELS {
        assert!(kernels.contains(&format!("`{name}`")), "{name}: {help}");
    }
    for name in kiln_cli::layout_form::ONLY_HERE {
        assert!(only_here.contains(&format!("`{name}(")), "{name}: {help}");
        assert!(!kernels.contains(name), "{name}: {help}");
    }
}

/// What stands in the way is the size, not how the digits lie.
#[test]
fn sizes_that_are_no_powers_of_two_are_named() {
    let page = show(&["S[(96, 2) : (2, 1)]"], None, 16).expect("a layout").text;
    assert!(page.contains("\nno bases: 96 along axis 0 is no power of two\n"), "{page}");
}

#[test]
fn gaps_of_a_padded_layout_are_said_to_hold_nothing() {
    let page = show(&["swizzle(128).fp4_padded()"], Some(&[8, 64]), 8).expect("a layout").text;
    assert!(
        page.contains("\noffsets with bit 3 hold nothing\neach element is held once\n"),
        "{page}"
    );
}

#[test]
fn two_layouts_are_compared_and_the_first_difference_is_marked() {
    let forms =
        ["blocked([1, 2], [8, 4], [1, 1], [1, 0])", "blocked([1, 2], [4, 8], [1, 1], [1, 0])"];
    let page = show(&forms, Some(&[8, 16]), 32).expect("two layouts");
    let difference = "\
first difference: register basis 1
  first   [0,1] [0,8]
  second  [0,1] [4,0]
                ^
";
    assert!(page.text.ends_with(difference), "{}", page.text);
    let picture = page.picture.expect("a picture of both");
    check_xml(&picture);
    // One thick frame in each.
    assert_eq!(picture.matches("stroke=\"#d0021b\" stroke-width=\"3.5\"").count(), 2);
    // Two spellings of one layout.
    let forms = [
        "slice(0, blocked([1,4],[32,1],[1,4],[1,0]))",
        "slice(1, blocked([4,1],[1,32],[4,1],[0,1]))",
    ];
    let page = show(&forms, Some(&[256]), 32).expect("two layouts");
    assert!(page.text.ends_with("no difference: every place holds the same element\n"));
    assert!(!page.picture.expect("a picture of both").contains("#d0021b"));
    // Strides against bases.
    let forms = ["S[(8, 64) : (64, 1)]", "swizzle(128)"];
    let page = show(&forms, Some(&[8, 64]), 16).expect("two layouts");
    assert!(page.text.contains("first difference: offset basis 6"), "{}", page.text);
    let forms = ["padded([[64, 8]], row_major())", "row_major()"];
    let page = show(&forms, Some(&[8, 64]), 16).expect("two layouts");
    let difference =
        "\nfirst difference: element [1,0]\n  first   address 72\n  second  address 64\n";
    assert!(page.text.ends_with(difference), "{}", page.text);
    let forms = ["S[(32, 2) : (1 @ laneid, 1)] + 1 @ warpid", "S[(32, 2) : (1 @ laneid, 1)]"];
    let page = show(&forms, None, 16).expect("two layouts");
    let difference = "\nfirst difference: element [0,0]\n  first   warp 1, lane 0, register 0\n  second  \
                      warp 0, lane 0, register 0\n";
    assert!(page.text.ends_with(difference), "{}", page.text);
    // What has no place in common.
    let forms = ["row_major()", "blocked([1, 2], [8, 4], [1, 1], [1, 0])"];
    let page = show(&forms, Some(&[8, 16]), 32).expect("two layouts");
    let difference =
        "first difference: the first is a layout of shared memory, the second one of registers\n";
    assert!(page.text.ends_with(difference), "{}", page.text);
    // One of them says which tensor it is for.
    let forms = ["row_major()", "shared_linear([[0, 1], [1, 0]], [2, 2])"];
    let page = show(&forms, None, 32).expect("two layouts");
    assert!(page.text.ends_with("no difference: every place holds the same element\n"));
    assert_eq!(
        show(&["S[4 : 1]", "S[8 : 1]"], None, 16),
        Err("required layouts of one tensor, actual shapes [4] and [8]".to_owned())
    );
}

#[test]
fn bad_input_is_marked_where_it_is_bad() {
    for (form, shape, required) in [
        (
            "S[4 : 1 @ lane]",
            None,
            "S[4 : 1 @ lane]\n          ^ required an axis: one of m, TLane, TCol, P, F, Bank, laneid, \
             wid_in_wg, tid_in_wg, wgid, warpid, tx, cbx, cby, cbz, bx, by, bz",
        ),
        (
            "tmem_load(8x8b, tmem_scales(), 4)",
            Some(&[128, 8][..]),
            "tmem_load(8x8b, tmem_scales(), 4)\n          ^ required one of 32x32b, 16x64b, 16x128b, 16x256b, 16x32bx2",
        ),
        (
            "row_major()",
            None,
            "row_major()\n^ required --shape: the layout does not say which tensor it is for",
        ),
        (
            "slice(0, blocked([1, 3], [1, 32], [1, 4], [1, 0]))",
            Some(&[64]),
            "slice(0, blocked([1, 3], [1, 32], [1, 4], [1, 0]))\n                     ^ for shape [1, 64]: per_thread[1] must be a power of two, but is 3",
        ),
        (
            "swizzle(48)",
            Some(&[64, 64]),
            "swizzle(48)\n        ^ for shape [64, 64]: swizzle is 48, but must be one of [0, 32, 64, 128]",
        ),
        (
            "tmem_block([128, 64], 1)",
            Some(&[64, 64]),
            "tmem_block([128, 64], 1)\n           ^ for shape [64, 64]: the tensor has 64 rows of 64 columns, but one block has 128 rows of 64",
        ),
        (
            "padded([[32, 3]], row_major())",
            Some(&[8, 32]),
            "padded([[32, 3]], row_major())\n             ^ for shape [8, 32]: padding[0] must be a power of two, but is 3",
        ),
        (
            "padded([[32, 4096]], row_major())",
            Some(&[8, 32]),
            "padded([[32, 4096]], row_major())\n        ^ required an interval and padding of at most 1024",
        ),
        (
            "S[(4, 4) : (4, 1)]",
            Some(&[4, 8]),
            "S[(4, 4) : (4, 1)]\n^ for shape [4, 8]: layout S[(4, 4) : (4, 1)] has 16 elements, but shape [4, 8] has 32",
        ),
        (
            "shared_linear([[0, 1]], [2, 2])",
            None,
            "shared_linear([[0, 1]], [2, 2])\n^ for shape [2, 2]: element [1, 0] is held nowhere",
        ),
        (
            "swizzle(32)",
            Some(&[64]),
            "swizzle(32)\n^ for shape [64]: the tile has 1 row of 64 contiguous elements, but one swizzle atom has 8 rows of 16",
        ),
        (
            "blocked([1, 4], [8, 8], [1, 4], [1, 0])",
            Some(&[8, 32]),
            "blocked([1, 4], [8, 8], [1, 4], [1, 0])\n                ^ for shape [8, 32]: the lanes multiply to 64, but a warp has 32",
        ),
        (
            "swizzled(8, 3, 8, [1, 0])",
            Some(&[8, 64]),
            "swizzled(8, 3, 8, [1, 0])\n            ^ for shape [8, 64]: swizzle[1] must be a power of two, but is 3",
        ),
        (
            "slice(3, blocked([1, 4], [8, 4], [1, 4], [1, 0]))",
            Some(&[8]),
            "slice(3, blocked([1, 4], [8, 4], [1, 4], [1, 0]))\n      ^ for shape [8]: axis 3 does not exist: the tensor has rank 2",
        ),
        (
            "dot_operand(0, blocked([1, 4], [8, 4], [1, 4], [1, 1]), 0)",
            Some(&[64, 64]),
            "dot_operand(0, blocked([1, 4], [8, 4], [1, 4], [1, 1]), 0)\n                                               ^ for shape [64, 64]: order must name every axis exactly once, but is [1, 1]",
        ),
        (
            "slice(0, slice(0, blocked([1, 1, 1], [1, 4, 4], [1, 1, 1], [2, 1, 0])))",
            Some(&[64]),
            "slice(0, slice(0, blocked([1, 1, 1], [1, 4, 4], [1, 1, 1], [2, 1, 0])))\n                                     ^ for shape [1, 1, 64]: the lanes multiply to 16, but a warp has 32",
        ),
    ] {
        assert_eq!(show(&[form], shape, 16).expect_err(form), required);
    }
}

/// Texts that are nearly layouts: characters left out, doubled and exchanged, with seeded chance.
#[test]
fn no_text_makes_it_panic() {
    let forms = [
        "slice(0, blocked([1,4],[32,1],[1,4],[1,0]))",
        "linear(register [1] [2], lane [4] [8] [16] [32] [64], warp -> [128])",
        "linear([[1], [2]], [[4], [8], [16], [32], [64]], [], [128])",
        "layout!(S[(8, 4) : (4 @ laneid, 1 @ laneid)] + R[2 : 1 @ warpid])",
        "dot_operand(0, mma([2, 2]), 2)",
        "swizzled(8, 1, 8, [1, 0])",
        "swizzle(128).transposed().fp4_padded()",
        "cluster([[1, 0]], tmem_block([128, 64], 1).two_ctas())",
        "tmem_load(16x256b, tmem_block([64, 64], 2), 8).split()",
        "padded([[32, 4], [64, 8]], row_major())",
        "S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane] + 5 @ warpid",
        "Compose(3, 3, 3, S[(64, 4, 64) : (64, 4096, 1)])",
        "tmem_load(32x32b, S[(32, 16) : (1 @ TLane, 1 @ TCol)], 4)",
    ];
    let shapes: [&[u32]; 8] =
        [&[256], &[128, 64], &[8, 8], &[64, 3], &[], &[2, 128, 64], &[0, 4], &[1 << 30, 1 << 30]];
    let mut state = 0x4b69_6c6e_u64;
    let mut next = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("31 bits") % below
    };
    let mut accepted = 0;
    for round in 0..1000 {
        let mut text: Vec<char> = forms[round % forms.len()].chars().collect();
        for _ in 0..next(4) {
            let at = next(text.len());
            match next(4) {
                0 => drop(text.remove(at)),
                1 => text.insert(at, text[at]),
                2 => text[at] = b"0123456789([,])-@:+S R"[next(22)].into(),
                _ => {
                    let other = next(text.len());
                    text.swap(at, other);
                }
            }
        }
        let text: String = text.into_iter().collect();
        let bits = [4, 8, 16, 32, 64][next(5)];
        if let Ok(page) = show(&[&text], Some(shapes[next(shapes.len())]), bits) {
            accepted += 1;
            if let Ok(picture) = page.picture {
                check_xml(&picture);
            }
        }
    }
    assert!(accepted > 30, "{accepted} layouts were shown");
}

fn kiln(arguments: &[&str]) -> Output {
    let command = Command::new(env!("CARGO_BIN_EXE_kiln")).arg("layout").args(arguments).output();
    command.expect("the command runs")
}

#[test]
fn the_command_writes_the_picture_and_fails_with_status_1() {
    let file = std::env::temp_dir().join(format!("kiln-layout-{}.svg", std::process::id()));
    let name = file.to_str().expect("a name in Unicode");
    let output = kiln(&["swizzle(128)", "--shape", "8,64", "--svg", name]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(
        String::from_utf8_lossy(&output.stdout).starts_with("swizzle(128) for shape [8, 64]\n")
    );
    let picture = std::fs::read_to_string(&file).expect("the picture");
    check_xml(&picture);
    assert!(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    std::fs::remove_file(&file).expect("the picture is there");
    let output = kiln(&["S[4 : 1 @ tlane]"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let problem = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(problem.starts_with("S[4 : 1 @ tlane]\n          ^ required an axis"), "{problem}");
    // A picture that cannot be drawn is a failure as well.
    let output = kiln(&["row_major()", "--shape", "512,512", "--svg", name]);
    assert_eq!(output.status.code(), Some(1));
    let problem = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(problem, "a picture shows at most 65536 elements, actual 262144\n");
}

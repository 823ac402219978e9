//! How few instructions of the tensor cores and of TMA each program for Blackwell needs, counted from the shapes of its tiles.
//!
//! | instruction | does at most |
//! |---|---|
//! | `tcgen05.mma` | 128 rows (256 of a pair of blocks), 256 columns, 32 bytes of the depth |
//! | `tcgen05.cp` | 128 rows of 32 bytes; of scales, 128 rows of 4 bytes; of rows for all warps, 32 of 16 bytes |
//! | gather, scatter | 4 rows of 128 bytes, which is the widest swizzle; a warp starts its share |
//! | other copies by TMA | a tile, however wide, by a box of three dimensions |

/// The instructions of a step of the depth, or of a kernel without a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ideal {
    /// `tcgen05.mma`.
    pub products: usize,
    /// `tcgen05.cp` and copies by TMA.
    pub copies: usize,
    /// One for each barrier that has to be waited for.
    pub waits: usize,
}

/// What generic parameters stand for.
struct Generics<'g>(&'g [(String, String)]);

impl Generics<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn extent(&self, name: &str) -> Option<usize> {
        self.text(name)?.parse().ok()
    }

    fn bytes(&self, name: &str) -> Option<usize> {
        Some(match self.text(name)? {
            "u8" | "e4m3" => 1,
            "f16" | "bf16" => 2,
            "u32" | "f32" => 4,
            _ => return None,
        })
    }
}

/// The warps that all examples of gathers and scatters have.
const WARPS: usize = 4;

/// Instructions of a warp for rows of this many bytes.
fn by_rows(rows: usize, row_bytes: usize) -> usize {
    (rows / 4).div_ceil(WARPS) * row_bytes.div_ceil(128)
}

/// Those of an instance of an example's kernel; none of an example that is not listed.
pub fn of(example: &str, generics: &[(String, String)]) -> Option<Ideal> {
    let generics = Generics(generics);
    let extent = |name| generics.extent(name);
    // A step of 128 bytes is four products, of as many columns as there are.
    let depth = |bytes: usize| Some(extent("BK")? * bytes / 32);
    Some(match example {
        "matmul_tcgen05" | "matmul_two_cta" => {
            Ideal { products: depth(generics.bytes("T")?)?, copies: 0, waits: 1 }
        }
        "matmul_accumulate_tcgen05" => Ideal { products: depth(2)?, copies: 0, waits: 1 },
        // Scales of 128 rows, for either operand.
        "matmul_scaled" => Ideal { products: 4, copies: 2 * extent("SCALES")? / 4, waits: 1 },
        // The loop that multiplies also loads: it waits for what came, and for the product that reads what is overwritten.
        "matmul_gather_scatter_tcgen05" => Ideal {
            products: depth(2)?,
            copies: by_rows(extent("BM")?, extent("BK")? * 2) + 1,
            waits: 2,
        },
        "gather" | "scatter" => Ideal {
            products: 0,
            copies: by_rows(extent("X")?, extent("Y")? * generics.bytes("T")?),
            waits: 1,
        },
        "tcgen05_copy" => {
            // Of two blocks of rows, the columns of one are between those of the other.
            let blocks = extent("M")? / 128;
            let run = if blocks == 1 { 8 } else { extent("BN")?.min(8) };
            Ideal { products: 0, copies: blocks * extent("N")? / run, waits: 1 }
        }
        "tcgen05_copy_replica" => {
            Ideal { products: 0, copies: extent("N")? * generics.bytes("T")? / 16, waits: 1 }
        }
        // One copy each way, and a wait for each.
        "tma_copy" | "tma_reduce" => Ideal { products: 0, copies: 2, waits: 2 },
        _ => return None,
    })
}

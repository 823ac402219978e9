use kiln::prelude::*;

#[kernel]
mod tensor_memory {
    use kiln::prelude::*;

    /// Four copies of 32 rows.
    const COPIES: Layout = layout!(S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]);

    #[kernel(target = sm_80, warps = 2)]
    pub fn tile(x: TensorMut<f32, 2>) {
        let tile = x.tile([0, 0], [32, 16]);
        tile.store(tile.load().to_layout(COPIES));
    }

    #[kernel(target = sm_80, warps = 2)]
    pub fn allocation(x: TensorMut<f32, 2>) {
        let s = shared::<f32>([32, 16]).with_layout(COPIES);
        s.store(x.tile([0, 0], [32, 16]).load());
    }
}

fn main() {}

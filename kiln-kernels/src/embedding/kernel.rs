//! The kernels.

/// Rows that tokens name. A row outside of a tensor is read as zeros and not written.
#[kiln::kernel]
pub(super) mod rows {
    use kiln::prelude::*;

    /// A block copies `C` columns of `K` rows, all of which are in flight at once.
    #[kernel(target = sm_80, warps = W, grid = [cdiv(out.dim(0), K), cdiv(out.dim(1), C)],
             instances(T = [bf16, f16, f32], (K, C, W) = [(1, 2048, 4), (4, 256, 1)]))]
    pub fn take<T: Float, const K: i32, const C: i32, const W: i32>(
        tokens: Tensor<i32, 1>,
        table: Tensor<T, 2>,
        out: TensorMut<T, 2>,
    ) {
        let (first, column) = (block_id(0) * K, block_id(1) * C);
        let rows = tokens.tile([first], [K]).load();
        out.tile([first, column], [K, C]).store(table.tile_rows(rows, [0, column], [K, C]).load());
    }

    /// A block finds the sorted places of eight tokens: it counts the pairs of token and position that are less.
    #[kernel(target = sm_80, warps = 4, grid = cdiv(tokens.dim(0), 8))]
    pub fn sort(tokens: Tensor<i32, 1>, sorted: TensorMut<i32, 1>, order: TensorMut<i32, 1>) {
        let (first, count) = (block_id(0) * 8, tokens.dim(0));
        let mine = tokens.tile([first], [8]).load().expand(1);
        let at = (first + arange(0, 8)).expand(1);
        let mut less = zeros::<i32>([8, 256]);
        for start in range(0, count, 256) {
            let other = tokens.tile([start], [256]).load().expand(0);
            let of_other = (start + arange(0, 256)).expand(0);
            let before = other.lt(mine) | (other.eq(mine) & of_other.lt(at));
            less += (before & of_other.lt(count)).cast::<i32>();
        }
        let own = first + arange(0, 8);
        let places = select(own.lt(count), less.sum(1), -1);
        sorted.tile_rows(places, [0], [8]).store(tokens.tile([first], [8]).load());
        order.tile_rows(places, [0], [8]).store(own);
    }

    /// How many rows are in flight at once.
    const K: i32 = 8;

    /// The rows of the next `K` tokens, as far as they are `token`; the others are -1, which is no row.
    fn next(tokens: Tensor<i32, 1>, order: Tensor<i32, 1>, token: i32, at: i32) -> Array<i32> {
        array(K, |i| {
            let row = order.tile([at + i], [1]).load().item();
            let equal = tokens.tile([at + i], [1]).load().item() == token;
            if equal && at + i < tokens.dim(0) { row } else { -1 }
        })
    }

    /// The block of the first of equal tokens adds the rows of all of them. While rows are in flight, it finds out which are
    /// the next.
    #[kernel(target = sm_80, warps = 4, grid = [tokens.dim(0), cdiv(grad.dim(1), 1024)],
             instances(T = [bf16, f16, f32]))]
    pub fn add_runs<T: Float>(
        tokens: Tensor<i32, 1>,
        order: Tensor<i32, 1>,
        grad: Tensor<T, 2>,
        grad_table: TensorMut<f32, 2>,
    ) {
        let (first, column) = (block_id(0), block_id(1) * 1024);
        let token = tokens.tile([first], [1]).load().item();
        let before = tokens.tile([first - 1], [1]).load().item();
        let inside = token >= 0 && token < grad_table.dim(0);
        if inside && (first == 0 || before != token) {
            let window = grad_table.tile([token, column], [1, 1024]);
            let mut sum = window.load();
            let mut at = first;
            let mut numbers = next(tokens, order, token, at);
            while numbers[0] >= 0 {
                let rows = array(K, |i| grad.tile([numbers[i], column], [1, 1024]).load());
                at += K;
                numbers = next(tokens, order, token, at);
                for i in unroll(0..K) {
                    sum += rows[i].cast::<f32>();
                }
            }
            window.store(sum);
        }
    }

    /// A block adds 1024 columns of a row.
    #[kernel(target = [sm_80, sm_90a], warps = 4, grid = [tokens.dim(0), cdiv(grad.dim(1), 1024)],
             instances(T = [bf16, f16, f32]))]
    pub fn add_atomic<T: Float>(
        tokens: Tensor<i32, 1>,
        grad: Tensor<T, 2>,
        grad_table: TensorMut<f32, 2>,
    ) {
        let (at, column) = (block_id(0), block_id(1) * 1024);
        let token = tokens.tile([at], [1]).load().item();
        let row = grad.tile([at, column], [1, 1024]).load().cast::<f32>();
        grad_table.tile([token, column], [1, 1024]).atomic_add(row);
    }
}

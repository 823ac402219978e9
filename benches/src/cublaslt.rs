//! Products by cuBLASLt, loaded when the program runs.

#![expect(clippy::many_single_char_names, reason = "the letters of a product")]

use std::{ffi::c_void, marker::PhantomData, mem::MaybeUninit, ptr};

use anyhow::{Context, Result, ensure};
use cudarc::cublaslt::{result, sys};
use kiln::prelude::*;

/// Memory for algorithms that split `k`.
const WORKSPACE_BYTES: usize = 64 << 20;
/// How many algorithms are asked for.
const ALGORITHMS: usize = 8;

/// An element type of cuBLASLt.
pub trait Numbers: Element {
    /// Its name there.
    const TYPE: sys::cudaDataType;
}

impl Numbers for bf16 {
    const TYPE: sys::cudaDataType = sys::cudaDataType::CUDA_R_16BF;
}

impl Numbers for f16 {
    const TYPE: sys::cudaDataType = sys::cudaDataType::CUDA_R_16F;
}

/// cuBLASLt on a device, with memory to work in.
#[derive(Debug)]
pub struct CublasLt {
    handle: sys::cublasLtHandle_t,
    workspace: DeviceTensor<u8, 1>,
}

/// `c = a · bᵀ` of certain extents, by the algorithms that cuBLASLt proposes, the likeliest first.
#[derive(Debug)]
pub struct Product<'a, T> {
    library: &'a CublasLt,
    /// `[m, n, k]`.
    shape: [usize; 3],
    of: PhantomData<T>,
    description: sys::cublasLtMatmulDesc_t,
    layouts: [sys::cublasLtMatrixLayout_t; 3],
    algorithms: Vec<sys::cublasLtMatmulAlgo_t>,
}

impl CublasLt {
    /// Loads the library.
    ///
    /// # Errors
    /// Where it is not installed.
    pub fn new(stream: &Stream) -> Result<CublasLt> {
        // SAFETY: it only looks for the library.
        ensure!(unsafe { sys::is_culib_present() }, "cuBLASLt is not installed");
        let handle = result::create_handle().context("cublasLtCreate")?;
        Ok(CublasLt { handle, workspace: stream.empty([WORKSPACE_BYTES])? })
    }

    /// A product of `[m, k]` and `[n, k]`.
    ///
    /// # Errors
    /// Those of cuBLASLt.
    pub fn product<T: Numbers>(&self, [m, n, k]: [usize; 3]) -> Result<Product<'_, T>> {
        let compute = sys::cublasComputeType_t::CUBLAS_COMPUTE_32F;
        let description = result::create_matmul_desc(compute, sys::cudaDataType::CUDA_R_32F)?;
        let transposed: i32 = 1; // CUBLAS_OP_T
        // SAFETY: the description lives, and the attribute is of that size.
        unsafe {
            result::set_matmul_desc_attribute(
                description,
                sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_TRANSA,
                (&raw const transposed).cast(),
                size_of_val(&transposed),
            )?;
        }
        // cuBLASLt's matrices are contiguous along columns: it computes cᵀ = b · aᵀ.
        let layout = |rows: usize, columns: usize| {
            let pitch = i64::try_from(rows)?;
            let made = result::create_matrix_layout(T::TYPE, rows as u64, columns as u64, pitch);
            anyhow::Ok(made?)
        };
        let layouts = [layout(k, n)?, layout(k, m)?, layout(n, m)?];
        let preference = result::create_matmul_pref()?;
        let workspace = WORKSPACE_BYTES;
        let mut found = [const { MaybeUninit::uninit() }; ALGORITHMS];
        let mut count = 0;
        // SAFETY: the preference lives, and the attribute is of that size.
        unsafe {
            result::set_matmul_pref_attribute(
                preference,
                sys::cublasLtMatmulPreferenceAttributes_t::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                (&raw const workspace).cast(),
                size_of::<usize>(),
            )?;
        }
        // SAFETY: the descriptions live, and there is room for all algorithms.
        let status = unsafe {
            sys::cublasLtMatmulAlgoGetHeuristic(
                self.handle,
                description,
                layouts[0],
                layouts[1],
                layouts[2],
                layouts[2],
                preference,
                i32::try_from(ALGORITHMS)?,
                found[0].as_mut_ptr(),
                &raw mut count,
            )
        };
        // SAFETY: nothing else uses it.
        unsafe { result::destroy_matmul_pref(preference)? };
        status.result()?;
        let found = found.into_iter().take(usize::try_from(count)?);
        // SAFETY: the library has written so many.
        let found = found.map(|one: MaybeUninit<sys::cublasLtMatmulHeuristicResult_t>| unsafe {
            one.assume_init()
        });
        let works = |one: &sys::cublasLtMatmulHeuristicResult_t| {
            one.state == sys::cublasStatus_t::CUBLAS_STATUS_SUCCESS
        };
        let algorithms = found.filter(works).map(|one| one.algo).collect();
        Ok(Product {
            library: self,
            shape: [m, n, k],
            of: PhantomData,
            description,
            layouts,
            algorithms,
        })
    }
}

impl<T: Numbers> Product<'_, T> {
    /// How many algorithms there are.
    pub fn algorithms(&self) -> usize {
        self.algorithms.len()
    }

    /// Launches one of them.
    ///
    /// # Errors
    /// For tensors of other extents, or with gaps between their rows; those of cuBLASLt.
    pub fn launch(
        &self,
        algorithm: usize,
        stream: &Stream,
        a: &DeviceTensor<T, 2>,
        b: &DeviceTensor<T, 2>,
        c: &mut DeviceTensor<T, 2>,
    ) -> Result<()> {
        let [m, n, k] = self.shape;
        let fits = [a.shape(), b.shape(), c.shape()] == [[m, k], [n, k], [m, n]];
        let whole = a.is_contiguous() && b.is_contiguous() && c.is_contiguous();
        ensure!(fits && whole, "the operands are not those of a product {m}x{n}x{k}");
        let [alpha, beta] = [1.0f32, 0.0];
        let raw = stream.raw().context("cuBLASLt runs on a GPU")?;
        let address = |address: u64| address as *mut c_void;
        // SAFETY: the tensors have the type, the extents and the strides of the descriptions, and the stream lives.
        unsafe {
            sys::cublasLtMatmul(
                self.library.handle,
                self.description,
                (&raw const alpha).cast(),
                address(b.address()),
                self.layouts[0],
                address(a.address()),
                self.layouts[1],
                (&raw const beta).cast(),
                address(c.address()),
                self.layouts[2],
                address(c.address()),
                self.layouts[2],
                ptr::from_ref(&self.algorithms[algorithm]),
                address(self.library.workspace.address()),
                WORKSPACE_BYTES,
                raw.cast(),
            )
            .result()
            .context("cublasLtMatmul")
        }
    }
}

impl<T> Drop for Product<'_, T> {
    fn drop(&mut self) {
        // What the library says at the end helps nobody.
        // SAFETY: nothing else uses it.
        let _ = unsafe { result::destroy_matmul_desc(self.description) };
        for layout in self.layouts {
            // SAFETY: nothing else uses it.
            let _ = unsafe { result::destroy_matrix_layout(layout) };
        }
    }
}

impl Drop for CublasLt {
    fn drop(&mut self) {
        // SAFETY: products borrow the library, so that none is left.
        let _ = unsafe { result::destroy_handle(self.handle) };
    }
}

//! What is generated from the installed `cuda.h` has the layouts and values that `cudarc` has, as far as both know
//! them, and those that the manual states.

use std::mem::{align_of, offset_of, size_of};

use kiln::{__private::driver_sys as known, driver_bindgen as generated};

/// The constants of an enum, on both sides.
macro_rules! same_values {
    ($($name:ident: $($value:ident),+;)+) => {$($(
        assert_eq!(generated::$name::$value.0, known::$name::$value as u32, stringify!($value));
    )+)+};
}

#[test]
fn enums_have_the_values_of_cudarc() {
    same_values! {
        CUtensorMapDataType: CU_TENSOR_MAP_DATA_TYPE_UINT8, CU_TENSOR_MAP_DATA_TYPE_UINT16,
            CU_TENSOR_MAP_DATA_TYPE_UINT32, CU_TENSOR_MAP_DATA_TYPE_INT32, CU_TENSOR_MAP_DATA_TYPE_UINT64,
            CU_TENSOR_MAP_DATA_TYPE_INT64, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
            CU_TENSOR_MAP_DATA_TYPE_FLOAT64, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
            CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
            CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
        CUtensorMapFloatOOBfill: CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
        CUtensorMapInterleave: CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_INTERLEAVE_16B,
            CU_TENSOR_MAP_INTERLEAVE_32B;
        CUtensorMapL2promotion: CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
            CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
        CUtensorMapSwizzle: CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_32B, CU_TENSOR_MAP_SWIZZLE_64B,
            CU_TENSOR_MAP_SWIZZLE_128B;
        CUlaunchAttributeID: CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
            CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, CU_LAUNCH_ATTRIBUTE_PRIORITY;
        CUresult: CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_NOT_INITIALIZED,
            CUDA_ERROR_DEINITIALIZED, CUDA_ERROR_NO_DEVICE, CUDA_ERROR_INVALID_DEVICE,
            CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_INVALID_PTX,
            CUDA_ERROR_UNSUPPORTED_PTX_VERSION, CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_NOT_FOUND,
            CUDA_ERROR_NOT_READY, CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
            CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_ILLEGAL_INSTRUCTION,
            CUDA_ERROR_MISALIGNED_ADDRESS, CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_PC,
            CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_NOT_SUPPORTED, CUDA_ERROR_UNKNOWN;
    }
}

#[test]
fn types_have_the_layouts_of_cudarc() {
    macro_rules! same_layouts {
        ($($name:ident),+) => {$(
            let required = (size_of::<known::$name>(), align_of::<known::$name>());
            let actual = (size_of::<generated::$name>(), align_of::<generated::$name>());
            assert_eq!(required, actual, stringify!($name));
        )+};
    }
    same_layouts!(
        CUlaunchAttribute,
        CUlaunchAttributeID,
        CUlaunchAttributeValue,
        CUlaunchConfig,
        CUresult,
        CUtensorMapDataType,
        CUtensorMapSwizzle
    );
    macro_rules! same_offsets {
        ($($name:ident: $($field:ident),+;)+) => {$($(
            let required = offset_of!(known::$name, $field);
            assert_eq!(required, offset_of!(generated::$name, $field), stringify!($name.$field));
        )+)+};
    }
    same_offsets! {
        CUlaunchAttribute: id, value;
        CUlaunchConfig: gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream, attrs,
            numAttrs;
    }
}

/// (CUDA Driver API, "Tensor Map Object Management": the object is 128 bytes.) Its alignment grew with CUDA 13.
#[test]
fn a_tensor_map_is_what_its_toolkit_says() {
    let align = if generated::CUDA_VERSION >= 13_000 { 128 } else { 64 };
    assert_eq!(size_of::<generated::CUtensorMap>(), 128);
    assert_eq!(align_of::<generated::CUtensorMap>(), align);
    assert_eq!(size_of::<known::CUtensorMap>(), 128);
}

/// That it compiles is the test: each parameter has the type that the manual gives it.
#[test]
fn encoding_a_tensor_map_takes_what_the_manual_lists() {
    unsafe extern "C" fn encode(
        map: *mut generated::CUtensorMap,
        data_type: generated::CUtensorMapDataType,
        rank: u32,
        address: *mut std::ffi::c_void,
        extents: *const u64,
        strides: *const u64,
        window: *const u32,
        element_strides: *const u32,
        interleave: generated::CUtensorMapInterleave,
        swizzle: generated::CUtensorMapSwizzle,
        promotion: generated::CUtensorMapL2promotion,
        fill: generated::CUtensorMapFloatOOBfill,
    ) -> generated::CUresult {
        let _ = (map, data_type, address, extents, strides, window, element_strides);
        let _ = (interleave, swizzle, promotion, fill);
        if rank == 0 {
            generated::CUresult::CUDA_ERROR_INVALID_VALUE
        } else {
            generated::CUresult::CUDA_SUCCESS
        }
    }
    let function: generated::PFN_cuTensorMapEncodeTiled_v12000 = Some(encode);
    assert!(function.is_some());
}

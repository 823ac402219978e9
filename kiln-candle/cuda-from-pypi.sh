#!/usr/bin/env bash
# What candle's feature `cuda` needs to build, without a CUDA toolkit: nvcc, headers and libraries from PyPI packages.
#
#     eval "$(./cuda-from-pypi.sh [FOLDER])"
#     cargo test --features cuda
#
# The folder, target/cuda unless named, becomes a CUDA_HOME of symbolic links; the lines for the shell are what is written
# to standard output. It takes python3 with venv, a C compiler called `cc`, and a gigabyte and a half of room. CUDA_VERSION
# chooses another release than 13.0 that PyPI has; CUDA_COMPUTE_CAP the GPU that candle's own kernels are for, 90 unless it
# is set. Programs find the driver's library as always; cuBLAS, cuRAND, NVRTC and the runtime where the system has them, or in
# the folder's `lib`, which LD_LIBRARY_PATH gets.
set -euo pipefail

version=${CUDA_VERSION:-13.0}
folder=${1:-target/cuda}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

if [ ! -x "$folder/venv/bin/python" ]; then
    python3 -m venv "$folder/venv"
fi
# Of cuRAND, whose versions are not CUDA's, 10.4.0 is the one of CUDA 13.0.
case $version in
    13.0) curand='nvidia-curand==10.4.0.*' ;;
    *) curand=nvidia-curand ;;
esac
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "nvidia-cuda-nvcc==$version.*" "nvidia-cuda-crt==$version.*" "nvidia-nvvm==$version.*" \
    "nvidia-cuda-runtime==$version.*" "nvidia-cuda-cccl==$version.*" "nvidia-cuda-nvrtc==$version.*" \
    "nvidia-cublas==$version.*" "$curand" >&2

packages=$(find "$folder/venv" -type d -path '*/site-packages/nvidia/cu*' -prune | head -n 1)
[ -x "$packages/bin/nvcc" ] || { echo "nvcc is missing from nvidia-cuda-nvcc $version" >&2; exit 1; }

for part in bin include nvvm; do
    ln -sfn "$packages/$part" "$folder/$part"
done
mkdir -p "$folder/lib"
ln -sfn lib "$folder/lib64"
# Wheels have `libcublas.so.13`; linkers look for `libcublas.so`.
for library in "$packages"/lib/*.so.*; do
    name=$(basename "$library")
    ln -sfn "$library" "$folder/lib/$name"
    ln -sfn "$library" "$folder/lib/${name%%.so.*}.so"
done

# The driver's library comes with a driver. To link, one with the same names is enough: every name of cuda.h that could be a
# function. It is apart from the others, so that no program finds it in place of the driver's.
mkdir -p "$folder/lib/stubs"
grep -o '\<cu[A-Z][A-Za-z0-9_]*' "$folder/include/cuda.h" | sort -u | sed 's/.*/void &(void) {}/' > "$folder/lib/stubs/cuda.c"
cc -shared -fPIC -w -Wl,-soname,libcuda.so.1 -o "$folder/lib/stubs/libcuda.so" "$folder/lib/stubs/cuda.c"

printf 'export %s\n' \
    "CUDA_HOME='$folder'" \
    "CUDA_COMPUTE_CAP='${CUDA_COMPUTE_CAP:-90}'" \
    "PATH='$folder/bin':\"\$PATH\"" \
    "LD_LIBRARY_PATH='$folder/lib'\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"

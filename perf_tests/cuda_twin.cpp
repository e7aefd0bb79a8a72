// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include "cuda_twin.hpp"

#include "timer.hpp"

#include "forward_walk.hpp"
#include "launch.hpp"

#include <type_traits>

namespace pssa::perf {
namespace {

using Tile = impl::CudaTile<2, 1, 8, 128, 16, 16, 3>;
template <class... Tiles>
constexpr bool is_compiled(impl::TileList<Tiles...>) {
  return (std::is_same_v<Tiles, Tile> || ...);
}
static_assert(is_compiled(impl::Tuning<Kokkos::Cuda, float>::Forward{}));

/// The threads of a block, as a walk's team.
struct Block {
  float* memory;

  __device__ int rank() const { return static_cast<int>(threadIdx.x); }
  __device__ float* scratch() const { return memory; }
  __device__ float* waiting() const { return nullptr; }
  __device__ void barrier() const { __syncthreads(); }
};

using Walk = impl::ForwardWalk<float, Tile, false, Block>;

__global__ void __launch_bounds__(Tile::threads, Tile::teams)
    walk(__grid_constant__ impl::ForwardArguments<float> const arguments) {
  extern __shared__ float4 scratch[];
  Block const block{impl::in_scratch<float>(scratch)};
  Walk(arguments, block, arguments.segments(blockIdx.x)).run();
}

}  // namespace

void cuda_twin(Kokkos::Cuda const& exec, ScanInputs<float, Kokkos::CudaSpace> const& in,
               ScanOutputs<float, Kokkos::CudaSpace> const& out) {
  auto const inputs = impl::tensors(in);
  auto const outputs = impl::tensors(out);
  auto const sizes = impl::check::forward("pssa::perf::cuda_twin", inputs, outputs);
  impl::ForwardArguments<float> const arguments{sizes,      {sizes.batch, sizes.length, impl::tiles_of<Tile>(sizes)},
                                                inputs.x,   inputs.delta,
                                                inputs.b,   inputs.c,
                                                inputs.A,   impl::or_absent(inputs.h0),
                                                outputs.y,  impl::or_absent(outputs.hT),
                                                {},         1,
                                                {outputs.y}};
  walk<<<static_cast<unsigned>(arguments.segments.count()), Tile::threads, Walk::scratch_elements * sizeof(float),
         exec.cuda_stream()>>>(arguments);
  cuda::require(cudaGetLastError());
}

}  // namespace pssa::perf

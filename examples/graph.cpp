// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
//
// A whole training step as one CUDA graph: captured once, replayed on new data. On other backends the calls run as
// they are, and the program says so.
#include <pssa/scan.hpp>

#include <cstdio>
#include <functional>

using Space = Kokkos::DefaultExecutionSpace;
using Sequence = Kokkos::View<float***>;
using Matrix = Kokkos::View<float**>;

constexpr int batch = 1, length = 64, channels = 32, state = 16;

struct Layer {
  Sequence x{"x", batch, length, channels}, delta{"delta", batch, length, channels};
  Sequence b{"b", batch, length, state}, c{"c", batch, length, state};
  Sequence y{"y", batch, length, channels}, dx{"dx", batch, length, channels};
  Matrix A{"A", channels, state};
  pssa::Tape<float> tape{};

  void step(Space const& exec) {
    pssa::ScanInputs<float> const in{.x = x, .delta = delta, .b = b, .c = c, .A = A};
    pssa::scan(exec, in, pssa::ScanOutputs<float>{.y = y}, tape);
    pssa::scan_backward(exec, in, pssa::ScanCotangents<float>{.dy = y}, tape,
                        pssa::ScanGradients<float>{.dx = dx});
  }
};

/// Calls replay(exec, again) with an instance and a function that repeats the step on it.
using Replay = std::function<void(Space const& exec, std::function<void()> const& again)>;

#ifdef KOKKOS_ENABLE_CUDA

void require(cudaError_t status) {
  if (status != cudaSuccess) Kokkos::abort(cudaGetErrorString(status));
}

//! [cuda]
char const* with_a_graph(Layer& layer, Replay const& replay) {
  cudaStream_t stream = nullptr;
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  {
    Kokkos::Cuda const exec(stream);  // the default stream cannot be captured
    layer.step(exec);                 // the first call lets the tape grow; a graph must not allocate
    exec.fence();

    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    layer.step(exec);  // recorded, not run
    require(cudaStreamEndCapture(stream, &graph));
    require(cudaGraphInstantiateWithFlags(&executable, graph, 0));

    replay(exec, [&] { require(cudaGraphLaunch(executable, stream)); });

    exec.fence();
    require(cudaGraphExecDestroy(executable));
    require(cudaGraphDestroy(graph));
  }
  require(cudaStreamDestroy(stream));
  return "one CUDA graph";
}
//! [cuda]

#else

char const* with_a_graph(Layer& layer, Replay const& replay) {
  Space const exec;
  replay(exec, [&] { layer.step(exec); });
  return "this backend has no CUDA graph: the calls run as they are";
}

#endif

int run() {
  Layer layer;
  Kokkos::deep_copy(layer.delta, 1.f);
  Kokkos::deep_copy(layer.b, 1.f);
  Kokkos::deep_copy(layer.c, 1.f / state);
  Kokkos::deep_copy(layer.A, -100.f);  // forgets at once: y = delta b c x, summed over the state, is x
  Kokkos::fence();

  bool right = true;
  //! [replay]
  auto const* how = with_a_graph(layer, [&](Space const& exec, std::function<void()> const& again) {
    for (float const value : {1.f, -2.f, 3.5f}) {
      Kokkos::deep_copy(exec, layer.x, value);  // new data in the Views that the step was recorded with
      again();
      exec.fence();
      auto const dx = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, layer.dx);
      std::printf("x = %4.1f  dx = %4.1f\n", value, dx(0, length / 2, channels - 1));  // dy = y = x, and so is dx
      right = right && dx(0, length / 2, channels - 1) == value;
    }
  });
  //! [replay]
  std::printf("%s\n", how);
  return right ? 0 : 1;
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  return run();
}

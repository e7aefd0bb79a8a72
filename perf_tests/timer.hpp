// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <Kokkos_Core.hpp>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

/// Timing, each piece in a portable form; the forms for CUDA stand at the end.
namespace pssa::perf {

/// The name of the device behind an execution space; empty on a host.
template <class ExecutionSpace>
std::string device_name() {
  return "";
}

/// Times one call on an instance by fences and a clock.
template <class ExecutionSpace>
class Timer {
 public:
  /// Seconds that call takes; prepare runs before it, untimed.
  template <class Prepare, class Call>
  double seconds(ExecutionSpace const& exec, Prepare const& prepare, Call const& call) {
    prepare();
    exec.fence();
    auto const begin = std::chrono::steady_clock::now();
    call();
    exec.fence();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
};

/// An instance whose calls a Recording can record.
template <class ExecutionSpace>
class RecordableInstance {
 public:
  static constexpr bool removes_gaps = false;  ///< a replay is free of the host's launch costs
  ExecutionSpace const& exec() const { return m_exec; }

 private:
  ExecutionSpace m_exec;
};

/// A call, made several times at every replay.
template <class ExecutionSpace, class Call>
class Recording {
 public:
  Recording(ExecutionSpace const&, int copies, Call const& call) : m_copies(copies), m_call(call) {}
  void replay() const {
    for (int i = 0; i < m_copies; ++i) m_call();
  }

 private:
  int m_copies;
  Call m_call;
};

/// Empties a device's cache by writing a buffer larger than it; leaves a host's caches as they are.
template <class ExecutionSpace>
class ColdCache {
 public:
  explicit ColdCache(ExecutionSpace const& exec) {
    if constexpr (!on_host)
      m_buffer = Buffer(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "pssa::perf::cold_cache"), 64u << 20);
  }
  void operator()(ExecutionSpace const& exec) const {
    if constexpr (!on_host) Kokkos::deep_copy(exec, m_buffer, 0.0f);
  }

 private:
  static constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename ExecutionSpace::memory_space>::accessible;
  using Buffer = Kokkos::View<float*, typename ExecutionSpace::memory_space>;
  Buffer m_buffer;  // 256 MiB, five times an H200's L2
};

#ifdef KOKKOS_ENABLE_CUDA

namespace cuda {

inline void require(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

struct Destroy {
  void operator()(cudaStream_t stream) const { static_cast<void>(cudaStreamDestroy(stream)); }
  void operator()(cudaEvent_t event) const { static_cast<void>(cudaEventDestroy(event)); }
  void operator()(cudaGraph_t graph) const { static_cast<void>(cudaGraphDestroy(graph)); }
  void operator()(cudaGraphExec_t graph) const { static_cast<void>(cudaGraphExecDestroy(graph)); }
};

template <class Handle>
using Owner = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy>;

inline Owner<cudaStream_t> make_stream() {
  cudaStream_t stream = nullptr;
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Owner<cudaStream_t>(stream);
}

inline Owner<cudaEvent_t> make_event() {
  cudaEvent_t event = nullptr;
  require(cudaEventCreate(&event));
  return Owner<cudaEvent_t>(event);
}

}  // namespace cuda

template <>
inline std::string device_name<Kokkos::Cuda>() {
  return Kokkos::Cuda().cuda_device_prop().name;
}

/// Events: the time from the end of what was queued before to the end of the call. prepare is not waited for, so that
/// the call is queued while the device is still busy and the host's launch costs do not count.
template <>
class Timer<Kokkos::Cuda> {
 public:
  template <class Prepare, class Call>
  double seconds(Kokkos::Cuda const& exec, Prepare const& prepare, Call const& call) {
    exec.fence();
    prepare();
    cuda::require(cudaEventRecord(m_begin.get(), exec.cuda_stream()));
    call();
    cuda::require(cudaEventRecord(m_end.get(), exec.cuda_stream()));
    exec.fence();
    float milliseconds = 0;
    cuda::require(cudaEventElapsedTime(&milliseconds, m_begin.get(), m_end.get()));
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  cuda::Owner<cudaEvent_t> m_begin = cuda::make_event();
  cuda::Owner<cudaEvent_t> m_end = cuda::make_event();
};

/// The default instance may live on the default stream, which cannot be captured: this one has its own.
template <>
class RecordableInstance<Kokkos::Cuda> {
 public:
  static constexpr bool removes_gaps = true;
  Kokkos::Cuda const& exec() const { return m_exec; }

 private:
  cuda::Owner<cudaStream_t> m_stream = cuda::make_stream();
  Kokkos::Cuda m_exec{m_stream.get()};
};

/// A CUDA graph. The call must have run before, so that it allocates nothing while it is captured.
template <class Call>
class Recording<Kokkos::Cuda, Call> {
 public:
  Recording(Kokkos::Cuda const& exec, int copies, Call const& call) : m_exec(exec) {
    cudaGraph_t graph = nullptr;
    cuda::require(cudaStreamBeginCapture(exec.cuda_stream(), cudaStreamCaptureModeRelaxed));
    for (int i = 0; i < copies; ++i) call();
    cuda::require(cudaStreamEndCapture(exec.cuda_stream(), &graph));
    cuda::Owner<cudaGraph_t> const captured(graph);
    cudaGraphExec_t executable = nullptr;
    cuda::require(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    m_graph.reset(executable);
  }
  void replay() const { cuda::require(cudaGraphLaunch(m_graph.get(), m_exec.cuda_stream())); }

 private:
  Kokkos::Cuda m_exec;
  cuda::Owner<cudaGraphExec_t> m_graph;
};

#endif

}  // namespace pssa::perf

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <pssa/impl/export.hpp>

#include <Kokkos_Core.hpp>

#include <optional>
#include <stdexcept>
#include <type_traits>

/// The selective diagonal state-space scan, forward and backward.
namespace pssa {

/// Thrown by every function of pssa for a bad argument, before anything is launched or written. The text is one
/// sentence: the call, the argument, what it is and what was expected.
class PSSA_EXPORT Error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Element types of x, delta, b, c, y and their gradients. half_t and bhalf_t count where Kokkos has them as two-byte
/// types; elsewhere they are float.
template <class T>
inline constexpr bool is_element_type_v =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, Kokkos::Experimental::half_t> ||
    std::is_same_v<T, Kokkos::Experimental::bhalf_t>;

/// The type of A, of the states and of their gradients, and the type every sum is formed in: double for double, float
/// for all others.
template <class T>
using state_type = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// Views of the arguments. Every Kokkos::View of the same rank and memory space converts to them, whatever its layout.
template <class T, class MemorySpace>
using View2 = Kokkos::View<T**, Kokkos::LayoutStride, MemorySpace>;
/// The same with three axes.
template <class T, class MemorySpace>
using View3 = Kokkos::View<T***, Kokkos::LayoutStride, MemorySpace>;
/// The same with four axes.
template <class T, class MemorySpace>
using View4 = Kokkos::View<T****, Kokkos::LayoutStride, MemorySpace>;

/// What the scan reads. Views of any layout and any subview convert to these fields; nothing is copied.
/// Sizes: batch, length and channels may be 0, state is at least 1.
template <class T, class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space>
struct ScanInputs {
  View3<T const, MemorySpace> x{};                                     ///< (batch, length, channels)
  View3<T const, MemorySpace> delta{};                                 ///< (batch, length, channels), step sizes, >= 0
  View3<T const, MemorySpace> b{};                                     ///< (batch, length, state)
  View3<T const, MemorySpace> c{};                                     ///< (batch, length, state)
  View2<state_type<T> const, MemorySpace> A{};                         ///< (channels, state), finite, negative
  std::optional<View3<state_type<T> const, MemorySpace>> h0{};         ///< (batch, channels, state); absent = zero
};

/// What the forward pass writes.
template <class T, class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space>
struct ScanOutputs {
  View3<T, MemorySpace> y{};                                           ///< (batch, length, channels)
  std::optional<View3<state_type<T>, MemorySpace>> hT{};               ///< (batch, channels, state); may be h0's View
};

/// What the backward pass is given: the derivatives of the loss with respect to the forward pass's outputs.
template <class T, class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space>
struct ScanCotangents {
  View3<T const, MemorySpace> dy{};                                    ///< (batch, length, channels)
  std::optional<View3<state_type<T> const, MemorySpace>> dhT{};        ///< (batch, channels, state); absent = zero
};

/// What the backward pass writes: the derivatives with respect to the inputs. What is absent is not computed.
template <class T, class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space>
struct ScanGradients {
  std::optional<View3<T, MemorySpace>> dx{};                           ///< (batch, length, channels)
  std::optional<View3<T, MemorySpace>> ddelta{};                       ///< (batch, length, channels)
  std::optional<View3<T, MemorySpace>> db{};                           ///< (batch, length, state)
  std::optional<View3<T, MemorySpace>> dc{};                           ///< (batch, length, state)
  std::optional<View2<state_type<T>, MemorySpace>> dA{};               ///< (channels, state)
  std::optional<View3<state_type<T>, MemorySpace>> dh0{};              ///< (batch, channels, state); may be dhT's View
};

/// Choices that change cost, not results beyond rounding.
struct ScanOptions {
  /// Tokens between two states that the tape keeps. 0 = chosen from state and element type; 1 = every state.
  /// Only the forward pass with a tape reads it.
  int checkpoint_interval = 0;
  /// The compiled kernel to run, for tuning and tests. 0 = chosen from the sizes and the device; else one of those that
  /// can run the call, which the error text of a wrong one lists with the channels that one team of each owns. A relay
  /// gives way to a tile where strides do not fit 32 bits or the tape keeps states that it does not pass.
  int kernel = 0;
  /// Chunks that the length is cut into, which then run side by side at the cost of a second exponential a state.
  /// 0 = chosen from the sizes and the device; 1 = one; else at most so many, each having at least about as many tokens
  /// as there are states, and one where the state exceeds the largest compiled tile.
  int time_chunks = 0;
};

}  // namespace pssa

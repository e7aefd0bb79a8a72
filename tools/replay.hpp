// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <pssa/scan.hpp>

#include "buffers.hpp"

#include <algorithm>
#include <utility>

namespace pssa::tools {

/// sum += part, element by element.
template <class ViewType>
struct AddInto {
  ViewType sum, part;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { sum.data()[i] += part.data()[i]; }
};

/// One case on one backend, whole or in pieces along the length that carry the state. A pass may be run again at will:
/// it starts from the case's own inputs every time.
template <class T, class ExecutionSpace>
class Replay {
 public:
  using MemorySpace = typename ExecutionSpace::memory_space;

  /// piece: tokens at a time; 0 = all. options: of every call.
  Replay(Tensors const& tensors, Sizes const& sizes, std::int64_t piece, ScanOptions const& options = {})
      : m_options(options),
        m_length(sizes.length),
        m_piece(piece == 0 ? std::max<std::int64_t>(sizes.length, 1) : piece),
        m_pieces(std::max<std::int64_t>((sizes.length - 1) / m_piece + 1, 1)),
        m_forward(tensors, sizes) {
    if (tensors.count("dy") == 0) return;
    m_backward.emplace(tensors, sizes);
    m_tapes.resize(static_cast<std::size_t>(m_pieces));
    if (m_pieces > 1) m_dA_part = allocate_output<Decays>("dA", sizes);
  }

  /// The forward pass for inference.
  void forward() {
    for (std::int64_t p = 0; p < m_pieces; ++p) scan(m_exec, inputs(p), outputs(p), m_options);
  }

  /// The forward pass for training: one tape per piece.
  void forward_with_tape() {
    for (std::int64_t p = 0; p < m_pieces; ++p) scan(m_exec, inputs(p), outputs(p), tape(p), m_options);
  }

  /// The backward pass, from the last piece to the first. Needs forward_with_tape before.
  void backward() {
    auto& buffers = *m_backward;
    for (auto p = m_pieces - 1; p >= 0; --p) {
      bool const is_last = p == m_pieces - 1;
      ScanCotangents<T, MemorySpace> cotangents{.dy = part(buffers.dy, p), .dhT = {}};
      // What a piece hands to the one before it, in place: its dh0 is that one's dhT.
      if (!is_last)
        cotangents.dhT = buffers.dh0;
      else if (buffers.dhT)
        cotangents.dhT = *buffers.dhT;
      auto const& dA = is_last ? buffers.dA : m_dA_part;
      scan_backward(m_exec, inputs(p), cotangents, tape(p),
                    ScanGradients<T, MemorySpace>{.dx = part(buffers.dx, p),
                                                  .ddelta = part(buffers.ddelta, p),
                                                  .db = part(buffers.db, p),
                                                  .dc = part(buffers.dc, p),
                                                  .dA = dA,
                                                  .dh0 = buffers.dh0},
                    m_options);
      if (!is_last) add(dA, buffers.dA);
    }
  }

  /// Waits until all passes are done.
  void fence() const { m_exec.fence("pssa::tools::Replay"); }

  Tensors outputs() const { return m_forward.download_outputs(); }
  Tensors gradients() const { return m_backward->download_gradients(); }

 private:
  using Decays = Packed2<state_type<T>, MemorySpace>;

  /// Piece p of a tensor with an axis of tokens.
  View3<T, MemorySpace> part(Packed3<T, MemorySpace> const& whole, std::int64_t p) const {
    auto const tokens = std::pair(p * m_piece, std::min((p + 1) * m_piece, m_length));
    return Kokkos::subview(whole, Kokkos::ALL, tokens, Kokkos::ALL);
  }

  Tape<T, MemorySpace>& tape(std::int64_t p) { return m_tapes[static_cast<std::size_t>(p)]; }

  ScanInputs<T, MemorySpace> inputs(std::int64_t p) const {
    ScanInputs<T, MemorySpace> in{.x = part(m_forward.x, p),
                                  .delta = part(m_forward.delta, p),
                                  .b = part(m_forward.b, p),
                                  .c = part(m_forward.c, p),
                                  .A = m_forward.A,
                                  .h0 = {}};
    // The state is carried in place: a piece reads hT and replaces it.
    if (p > 0)
      in.h0 = m_forward.hT;
    else if (m_forward.h0)
      in.h0 = *m_forward.h0;
    return in;
  }

  ScanOutputs<T, MemorySpace> outputs(std::int64_t p) const {
    return {.y = part(m_forward.y, p), .hT = m_forward.hT};
  }

  void add(Decays const& dA_part, Decays const& sum) const {
    Kokkos::parallel_for("pssa::tools::add", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
                                                 m_exec, 0, static_cast<std::int64_t>(sum.size())),
                         AddInto<Decays>{sum, dA_part});
  }

  ExecutionSpace m_exec;
  ScanOptions m_options;
  std::int64_t m_length, m_piece, m_pieces;
  ForwardBuffers<T, MemorySpace> m_forward;
  std::optional<BackwardBuffers<T, MemorySpace>> m_backward;
  std::vector<Tape<T, MemorySpace>> m_tapes;
  Decays m_dA_part;
};

}  // namespace pssa::tools

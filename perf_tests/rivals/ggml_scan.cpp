// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
//
// Times ggml's SSM_SCAN in its Mamba-1 form, one head a channel and a decay a state: the forward scan in float, with
// the softplus of delta that ggml's includes.
//
//     ggml_scan THREADS BATCH,LENGTH,CHANNELS,STATE...
//
// A line a shape: shape, threads, microseconds (the fastest run; the median), states per second of the fastest.
#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <ggml.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

namespace {

struct Free {
  void operator()(ggml_context* context) const { ggml_free(context); }
};

void fill(ggml_tensor* tensor, float low, float high) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> number(low, high);
  auto* const data = static_cast<float*>(tensor->data);
  for (std::int64_t i = 0; i < ggml_nelements(tensor); ++i) data[i] = number(random);
}

void run(int threads, long long batch, long long length, long long channels, long long state) {
  auto const floats = static_cast<std::size_t>(2 * batch * channels * state + channels * state +
                                               batch * length * (3 * channels + 2 * state));
  std::unique_ptr<ggml_context, Free> const context(ggml_init({4 * floats + (std::size_t{64} << 20), nullptr, false}));
  auto* const c = context.get();
  auto* const s = ggml_new_tensor_4d(c, GGML_TYPE_F32, state, 1, channels, batch);
  auto* const x = ggml_new_tensor_4d(c, GGML_TYPE_F32, 1, channels, length, batch);
  auto* const dt = ggml_new_tensor_3d(c, GGML_TYPE_F32, channels, length, batch);
  auto* const A = ggml_new_tensor_2d(c, GGML_TYPE_F32, state, channels);
  auto* const B = ggml_new_tensor_4d(c, GGML_TYPE_F32, state, 1, length, batch);
  auto* const C = ggml_new_tensor_4d(c, GGML_TYPE_F32, state, 1, length, batch);
  auto* const ids = ggml_new_tensor_1d(c, GGML_TYPE_I32, batch);
  for (auto* tensor : {s, x, B, C}) fill(tensor, -1, 1);
  fill(dt, -6, -2);  // steps of .002 to .13
  fill(A, -16, -1);
  for (int i = 0; i < batch; ++i) static_cast<std::int32_t*>(ids->data)[i] = i;
  auto* const graph = ggml_new_graph(c);
  ggml_build_forward_expand(graph, ggml_ssm_scan(c, s, x, dt, A, B, C, ids, 1));

  std::vector<double> seconds;
  for (double total = 0; seconds.size() < 5 || (seconds.size() < 60 && total < 1);) {
    auto const begin = std::chrono::steady_clock::now();
    if (ggml_graph_compute_with_ctx(c, graph, threads) != GGML_STATUS_SUCCESS) std::exit(1);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    total += seconds.back();
  }
  std::sort(seconds.begin(), seconds.end());
  auto const states = static_cast<double>(batch * length * channels * state);
  std::printf("%lld,%lld,%lld,%lld %d %.3f %.3f %.4e\n", batch, length, channels, state, threads, 1e6 * seconds.front(),
              1e6 * seconds[seconds.size() / 2], states / seconds.front());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: ggml_scan THREADS BATCH,LENGTH,CHANNELS,STATE...\n");
    return 2;
  }
  for (int i = 2; i < argc; ++i) {
    long long batch, length, channels, state;
    if (std::sscanf(argv[i], "%lld,%lld,%lld,%lld", &batch, &length, &channels, &state) != 4) {
      std::fprintf(stderr, "ggml_scan: shape is '%s', expected BATCH,LENGTH,CHANNELS,STATE\n", argv[i]);
      return 2;
    }
    run(std::atoi(argv[1]), batch, length, channels, state);
  }
}

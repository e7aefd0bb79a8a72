// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include "session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <pssa/pssa.hpp>
#include <sstream>
#include <type_traits>

#include "backends.hpp"

namespace pssa::tests {

namespace {

constexpr std::int64_t guard = 128;  ///< elements before and after each argument
constexpr int all_bits = 0xFF;       ///< a NaN in every floating-point type

std::int64_t count(std::vector<std::int64_t> const& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// Where the elements of a shape lie, in C order.
std::vector<std::size_t> positions(std::vector<std::int64_t> const& shape, std::vector<std::int64_t> const& strides,
                                   std::int64_t offset) {
  std::vector<std::size_t> result(static_cast<std::size_t>(count(shape)));
  for (std::size_t i = 0; i < result.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    auto position = offset;
    for (auto axis = shape.size(); axis-- > 0; rest /= shape[axis]) position += rest % shape[axis] * strides[axis];
    result[i] = static_cast<std::size_t>(position);
  }
  return result;
}

std::vector<std::int64_t> strides_of(std::vector<std::int64_t> const& shape, Placement const& placement) {
  std::vector<int> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  if (!placement.order.empty()) order = placement.order;
  std::vector<std::int64_t> strides(shape.size());
  auto stride = placement.step;
  for (auto i = order.size(); i-- > 0;) {
    auto const axis = static_cast<std::size_t>(order[i]);
    strides[axis] = stride;
    stride *= std::max<std::int64_t>(shape[axis], 1);
    if (i + 1 == order.size()) stride += placement.gap;
  }
  return strides;
}

/// One argument. Its memory is of bytes, so that Kokkos' copies are compiled once for all types.
template <class MemorySpace>
struct Slot {
  Kokkos::View<unsigned char*, MemorySpace> memory;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< in elements, as offset
  std::int64_t offset = 0;

  template <class ViewType>
  ViewType view() const {
    using T = typename ViewType::value_type;
    auto const extent = [&](std::size_t axis) { return static_cast<std::size_t>(shape[axis]); };
    auto const stride = [&](std::size_t axis) { return static_cast<std::size_t>(strides[axis]); };
    auto* const data = memory.data() == nullptr ? nullptr : reinterpret_cast<T*>(memory.data()) + offset;
    if constexpr (ViewType::rank() == 2)
      return ViewType(data, Kokkos::LayoutStride(extent(0), stride(0), extent(1), stride(1)));
    else
      return ViewType(data, Kokkos::LayoutStride(extent(0), stride(0), extent(1), stride(1), extent(2), stride(2)));
  }
};

/// The arguments of one type.
template <class T, class MemorySpace>
class Slots {
 public:
  void place(std::string const& name, std::vector<std::int64_t> const& shape, Placement const& placement,
             std::vector<double> const* values) {
    Slot<MemorySpace> slot{{}, shape, strides_of(shape, placement), guard + placement.offset};
    auto const at = positions(shape, slot.strides, slot.offset);
    auto const last = at.empty() ? slot.offset : static_cast<std::int64_t>(*std::max_element(at.begin(), at.end()));
    slot.memory =
        Kokkos::View<unsigned char*, MemorySpace>(Kokkos::view_alloc("test::" + name, Kokkos::WithoutInitializing),
                                                  static_cast<std::size_t>(last + 1 + guard) * sizeof(T));
    auto const host = Kokkos::create_mirror_view(slot.memory);
    std::memset(host.data(), all_bits, host.size());
    for (std::size_t i = 0; values != nullptr && i < at.size(); ++i) {
      auto const value = tools::to_element<T>((*values)[i]);
      std::memcpy(host.data() + at[i] * sizeof(T), &value, sizeof(T));
    }
    Kokkos::deep_copy(slot.memory, host);
    m_slots[name] = slot;
  }

  std::map<std::string, Slot<MemorySpace>>& all() { return m_slots; }
  bool has(std::string const& name) const { return m_slots.count(name) != 0; }

  template <class ViewType>
  ViewType view(std::string const& name) const {
    return has(name) ? m_slots.at(name).template view<ViewType>() : ViewType{};
  }
  template <class ViewType>
  std::optional<ViewType> optional(std::string const& name) const {
    return has(name) ? std::optional<ViewType>(view<ViewType>(name)) : std::nullopt;
  }

  /// The bytes of the elements in C order; fails the test when the memory beside them, and beside those of other
  /// arguments in the same memory, has been written.
  std::vector<unsigned char> read(std::string const& name) const {
    auto const& slot = m_slots.at(name);
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, slot.memory);
    std::vector<bool> owned(host.size() / sizeof(T));
    for (auto const& [other_name, other] : m_slots)
      if (other.memory.data() == slot.memory.data())
        for (auto const at : positions(other.shape, other.strides, other.offset)) owned[at] = true;
    for (std::size_t i = 0; i < host.size(); ++i)
      if (!owned[i / sizeof(T)] && host(i) != all_bits) {
        ADD_FAILURE() << name << " has been written outside of its elements, "
                      << static_cast<std::int64_t>(i / sizeof(T)) - slot.offset << " elements from its first";
        break;
      }
    std::vector<unsigned char> result;
    for (auto const at : positions(slot.shape, slot.strides, slot.offset)) {
      auto const* const first = host.data() + at * sizeof(T);
      result.insert(result.end(), first, first + sizeof(T));
    }
    return result;
  }

  /// The elements in C order.
  std::vector<double> values(std::string const& name) const {
    auto const bytes = read(name);
    std::vector<double> result;
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(T)) {
      T value;
      std::memcpy(static_cast<void*>(&value), &bytes[i], sizeof(T));
      result.push_back(tools::to_double(value));
    }
    return result;
  }

 private:
  std::map<std::string, Slot<MemorySpace>> m_slots;
};

template <class T, class Space>
class TypedSession final : public Session {
  using S = state_type<T>;
  using MemorySpace = typename Space::memory_space;
  static constexpr bool host_accessible = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

 public:
  void input(std::string const& name, Tensor const& tensor, Placement const& placement) override {
    slots(name, [&](auto& mine) { mine.place(name, tensor.shape, placement, &tensor.data); });
  }
  void output(std::string const& name, std::vector<std::int64_t> const& shape, Placement const& placement) override {
    slots(name, [&](auto& mine) { mine.place(name, shape, placement, nullptr); });
  }
  void inside(std::string const& name, std::string const& other, std::vector<std::int64_t> const& shape,
              std::vector<std::int64_t> const& strides, std::int64_t offset) override {
    slots(name, [&](auto& mine) {
      auto const& from = mine.all().at(other);
      mine.all()[name] = {from.memory, shape, strides, from.offset + offset};
    });
  }
  void same(std::string const& name, std::string const& other) override {
    slots(name, [&](auto& mine) { mine.all()[name] = mine.all().at(other); });
  }
  void null(std::string const& name, std::vector<std::int64_t> const& shape) override {
    auto const rank = tools::shape_of(tools::axes_of(name), {}).size();
    auto const extents = shape.empty() ? std::vector<std::int64_t>(rank, 0) : shape;
    slots(name, [&](auto& mine) { mine.all()[name] = {{}, extents, strides_of(extents, {}), 0}; });
  }
  void remove(std::string const& name) override {
    if (name.empty()) {
      m_elements.all().clear();
      m_states.all().clear();
    } else {
      slots(name, [&](auto& mine) { mine.all().erase(name); });
    }
  }

  Tensor get(std::string const& name) override {
    m_exec.fence();
    Tensor result;
    slots(name, [&](auto& mine) { result = {mine.all().at(name).shape, mine.values(name)}; });
    return result;
  }
  std::vector<unsigned char> bits(std::string const& name) override {
    m_exec.fence();
    std::vector<unsigned char> result;
    slots(name, [&](auto& mine) { result = mine.read(name); });
    return result;
  }
  bool untouched(std::string const& name) override {
    auto const all = bits(name);
    return std::all_of(all.begin(), all.end(), [](unsigned char byte) { return byte == all_bits; });
  }

  void use_own_instance() override { m_exec = Kokkos::Experimental::partition_space(Space{}, 1)[0]; }
  std::uint32_t device_id() const override { return Kokkos::Tools::Experimental::device_id(m_exec); }
  void fence() override { m_exec.fence(); }

  void forward(Options const& options) override { scan(m_exec, inputs(), outputs(), scan_options(options)); }
  void forward_with_tape(Options const& options) override {
    scan(m_exec, inputs(), outputs(), m_tape, scan_options(options));
  }
  void backward(Options const& options) override {
    scan_backward(m_exec, inputs(), cotangents(), m_tape, gradients(), scan_options(options));
  }
  bool on_host() const override { return host_accessible; }
  void reference() override {
    if constexpr (host_accessible) scan_reference(inputs(), outputs());
  }
  void reference_backward() override {
    if constexpr (host_accessible) scan_reference_backward(inputs(), cotangents(), gradients());
  }

  int tape_interval() const override { return m_tape.checkpoint_interval(); }
  std::size_t tape_bytes() const override { return m_tape.bytes(); }
  Tensor tape_states() override {
    m_exec.fence();
    auto const states = m_tape.states();
    std::vector<std::int64_t> shape, strides;
    std::size_t reach = states.size() == 0 ? 0 : 1;  // span() of a strided View may count beyond the last element
    for (std::size_t axis = 0; axis < 4; ++axis) {
      shape.push_back(static_cast<std::int64_t>(states.extent(axis)));
      strides.push_back(static_cast<std::int64_t>(states.stride(axis)));
      if (states.size() != 0) reach += (states.extent(axis) - 1) * states.stride(axis);
    }
    Kokkos::View<unsigned char const*, MemorySpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const flat(
        reinterpret_cast<unsigned char const*>(states.data()), reach * sizeof(S));
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, flat);
    Tensor result{shape, {}};
    for (auto const at : positions(shape, strides, 0)) {
      S value;
      std::memcpy(&value, host.data() + at * sizeof(S), sizeof(S));
      result.data.push_back(static_cast<double>(value));
    }
    return result;
  }
  void new_tape() override { m_tape = {}; }

 private:
  template <class F>
  void slots(std::string const& name, F const& f) {
    if (tools::is_of_element_type(tools::axes_of(name)))
      f(m_elements);
    else
      f(m_states);
  }

  ScanInputs<T, MemorySpace> inputs() const {
    return {.x = m_elements.template view<View3<T const, MemorySpace>>("x"),
            .delta = m_elements.template view<View3<T const, MemorySpace>>("delta"),
            .b = m_elements.template view<View3<T const, MemorySpace>>("b"),
            .c = m_elements.template view<View3<T const, MemorySpace>>("c"),
            .A = m_states.template view<View2<S const, MemorySpace>>("A"),
            .h0 = m_states.template optional<View3<S const, MemorySpace>>("h0")};
  }
  ScanOutputs<T, MemorySpace> outputs() const {
    return {.y = m_elements.template view<View3<T, MemorySpace>>("y"),
            .hT = m_states.template optional<View3<S, MemorySpace>>("hT")};
  }
  ScanCotangents<T, MemorySpace> cotangents() const {
    return {.dy = m_elements.template view<View3<T const, MemorySpace>>("dy"),
            .dhT = m_states.template optional<View3<S const, MemorySpace>>("dhT")};
  }
  ScanGradients<T, MemorySpace> gradients() const {
    return {.dx = m_elements.template optional<View3<T, MemorySpace>>("dx"),
            .ddelta = m_elements.template optional<View3<T, MemorySpace>>("ddelta"),
            .db = m_elements.template optional<View3<T, MemorySpace>>("db"),
            .dc = m_elements.template optional<View3<T, MemorySpace>>("dc"),
            .dA = m_states.template optional<View2<S, MemorySpace>>("dA"),
            .dh0 = m_states.template optional<View3<S, MemorySpace>>("dh0")};
  }
  static ScanOptions scan_options(Options const& options) {
    return {.checkpoint_interval = options.checkpoint_interval,
            .kernel = options.kernel,
            .time_chunks = options.time_chunks};
  }

  Space m_exec{};
  Tape<T, MemorySpace> m_tape;
  Slots<T, MemorySpace> m_elements;
  Slots<S, MemorySpace> m_states;
};

template <class T, class Space>
std::unique_ptr<Session> make() {
  return std::make_unique<TypedSession<T, Space>>();
}

}  // namespace

std::vector<Setup> const& setups() {
  static std::vector<Setup> const all = [] {
    std::vector<Setup> result;
    tools::for_each_backend([&]<class Space>(std::type_identity<Space>) {
      tools::for_each_element_type([&]<class T>(std::type_identity<T>, char const* name, auto const& precision) {
        bool const on_device = !Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;
        bool const in_float = std::is_same_v<state_type<T>, float>;
        result.push_back({std::string(name) + "_" + Space::name(), precision, tools::precision_of_sums<T>(),
                          sizeof(state_type<T>), on_device && in_float ? 2. : 0., make<T, Space>, tools::rounded<T>});
      });
    });
    return result;
  }();
  return all;
}

Tensors reference(Tensors const& given, Sizes const& sizes) {
  TypedSession<double, Kokkos::DefaultHostExecutionSpace> session;
  Tensors result;
  for (auto const& [name, tensor] : given) session.input(name, tensor, {});
  for (auto const& name : tools::output_names) session.output(name, shape_of(tools::axes_of(name), sizes), {});
  session.reference();
  for (auto const& name : tools::output_names) result[name] = session.get(name);
  if (given.count("dy") == 0) return result;
  for (auto const& name : tools::gradient_names) session.output(name, shape_of(tools::axes_of(name), sizes), {});
  session.reference_backward();
  for (auto const& name : tools::gradient_names) result[name] = session.get(name);
  return result;
}

std::vector<Kernel> compiled_kernels(Setup const& setup, Sizes const& sizes, bool backward) {
  auto const session = setup.make();
  for (auto const& name : tools::input_names) session->output(name, shape_of(tools::axes_of(name), sizes), {});
  for (auto const* name : {"dy", "y"}) session->output(name, shape_of(tools::axes_of(name), sizes), {});
  std::string text;
  try {
    if (backward) session->forward_with_tape({});
    if (backward) session->backward({.kernel = -1});
    session->forward({.kernel = -1});
  } catch (Error const& error) {
    text = error.what();
  }
  // 5 (tile of 64 channels), 12 (relay of 16 channels)
  std::istringstream list(text.substr(text.find("one of ") + 7));
  std::vector<Kernel> result;
  std::string kind, of, channels;
  for (Kernel each{}; list >> each.number >> kind >> of >> each.channels >> channels;) {
    each.relay = kind == "(relay";
    result.push_back(each);
  }
  EXPECT_FALSE(result.empty()) << text;
  return result;
}

}  // namespace pssa::tests

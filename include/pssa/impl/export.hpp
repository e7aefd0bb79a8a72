// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

/// Marks what programs call in the library; a shared pssa hides all else. Explicit instantiations need it once more,
/// because they are never more visible than their template arguments, here Kokkos' types, unless they say so.
#ifdef __GNUC__
#define PSSA_EXPORT __attribute__((visibility("default")))
#else
#define PSSA_EXPORT
#endif

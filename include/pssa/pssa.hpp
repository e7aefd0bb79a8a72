// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <pssa/reference.hpp>
#include <pssa/scan.hpp>
#include <pssa/tape.hpp>
#include <pssa/types.hpp>
#include <pssa/version.hpp>

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
"""Runs the Spack recipe without Spack: against a stub that records its directives and can tell which of them hold.

    test_spack.py PROJECT_DIR

The stub has the names that the recipe uses where Spack has them, and no others. What Spack's solver makes of the recipe
is for `spack audit` and `spack install` to show: test_spack.sh.
"""
import importlib.util
import os
import re
import sys
import types

sys.dont_write_bytecode = True
faults = []


def expect(what, actual, expected):
    if actual != expected:
        faults.append(f"{what} is {actual!r}, expected {expected!r}")


def read(path):
    with open(os.path.join(project, path), encoding="utf-8") as file:
        return file.read()


class Record:
    """What the directives said."""

    def __init__(self):
        self.variants = {"cuda": False, "cuda_arch": "none", "rocm": False, "amdgpu_target": "none"}
        self.versions, self.licenses, self.dependencies, self.refused, self.generators = {}, [], [], [], []

    def version(self, name, **where):
        self.versions[name] = where

    def license(self, name):
        self.licenses.append(name)

    def variant(self, name, default, description):
        self.variants[name] = default

    def depends_on(self, spec, when="", type=("build", "link")):  # Spack's own name for the kind
        self.dependencies.append((spec, when, type))

    def conflicts(self, spec, when="", msg=None):
        self.refused.append((spec, when))

    def generator(self, *names):
        self.generators += names


class Spec(dict):
    """The variants of a request such as '+cuda cuda_arch=90'; the solver is not played."""

    def __init__(self, text):
        super().__init__(record.variants)
        self.update(self.parse(text))

    @staticmethod
    def parse(text):
        for sign, flag, name, value in re.findall(r"([+~])(\w+)|(\w+)=(\w+)", text):
            yield (flag, sign == "+") if flag else (name, value)

    def satisfies(self, text):
        return all(self.get(name) == value for name, value in self.parse(text))

    def __getitem__(self, name):
        return {"hip": types.SimpleNamespace(hipcc="/hip/bin/hipcc")}[name]


class CMakePackage:
    def __init__(self, request, run_tests=False):
        self.spec = Spec(request)
        self.run_tests = run_tests

    def __getitem__(self, name):
        return {"kokkos": types.SimpleNamespace(kokkos_cxx="/kokkos/bin/nvcc_wrapper")}[name]

    def define(self, name, value):
        return f"-D{name}={({True: 'ON', False: 'OFF'}).get(value, value)}"

    def define_from_variant(self, name, variant):
        return self.define(name, self.spec.get(variant))

    def needs(self):
        """The dependencies that hold, as they are written."""
        return {spec for spec, when, _ in record.dependencies if self.spec.satisfies(when)}

    def refusals(self):
        return [spec for spec, when in record.refused if self.spec.satisfies(f"{spec} {when}")]


def install_stub():
    def module(name, **names):
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(names)

    for package in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        module(package)
    systems = "spack_repo.builtin.build_systems."
    module(systems + "cmake", CMakePackage=CMakePackage, generator=record.generator)
    module(systems + "cuda", CudaPackage=type("CudaPackage", (), {"cuda_arch_values": ("80", "90")}))
    module(systems + "rocm", ROCmPackage=type("ROCmPackage", (), {"amdgpu_targets": ("gfx90a", "gfx942")}))
    module("spack.package", version=record.version, license=record.license, variant=record.variant,
           depends_on=record.depends_on, conflicts=record.conflicts)


def load(path):
    spec = importlib.util.spec_from_file_location("package", os.path.join(project, path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Pssa


def check_repository():
    """The folder that spack-repo-index.yaml names is the repository whose namespace and package are pssa."""
    folder = re.search(r"^  - (\S+)$", read("spack-repo-index.yaml"), re.MULTILINE).group(1)
    expect("namespace and api in repo.yaml", re.findall(r"^  (\w+): (\S+)$", read(folder + "/repo.yaml"), re.MULTILINE),
           [("namespace", "pssa"), ("api", "v2.0")])
    return folder + "/packages/pssa/package.py"


def check_requests():
    always = {"cxx", "cmake@3.25:", "googletest", "kokkos@4.5:5"}
    cuda, rocm = "+cuda cuda_arch=90", "+rocm amdgpu_target=gfx90a"
    for request, needed in {
        "": {"kokkos+shared", "kokkos+serial"},  # no backend named
        "~shared": {"kokkos+serial"},
        "~serial+openmp": {"kokkos+shared", "kokkos+openmp"},
        "+openmp": {"kokkos+shared", "kokkos+serial", "kokkos+openmp"},
        "+threads": {"kokkos+shared", "kokkos+serial", "kokkos+threads"},
        "+sycl": {"kokkos+shared", "kokkos+serial", "kokkos+sycl"},
        cuda: {"kokkos+shared", "kokkos+serial", "kokkos+wrapper", "kokkos" + cuda},
        rocm: {"kokkos+shared", "kokkos+serial", "kokkos" + rocm},
    }.items():
        package = Pssa(request)
        expect(f"what pssa {request} depends on", sorted(package.needs()), sorted(always | needed))
        expect(f"what refuses pssa {request}", package.refusals(), [])
    for request in ("+cuda", "+rocm", f"{cuda} {rocm}", "+openmp+threads"):
        expect(f"pssa {request} refused", bool(Pssa(request).refusals()), True)
    kinds = [(kind, when) for spec, when, kind in record.dependencies if spec == "googletest"]
    expect("the kinds of googletest", kinds, [("test", ""), (("build", "link"), "+tests")])

    def tests(value):
        return [f"-DPSSA_ENABLE_TESTS={value}", f"-DPSSA_ENABLE_EXAMPLES={value}", "-DPSSA_ENABLE_PERF_TESTS=OFF"]

    for request, run_tests, arguments in (
        ("+openmp", False, ["-DBUILD_SHARED_LIBS=ON"] + tests("OFF")),
        ("~shared", True, ["-DBUILD_SHARED_LIBS=OFF"] + tests("ON")),
        ("~shared+tests", False, ["-DBUILD_SHARED_LIBS=OFF"] + tests("ON")),
        (cuda, False, ["-DBUILD_SHARED_LIBS=ON"] + tests("OFF") + ["-DCMAKE_CXX_COMPILER=/kokkos/bin/nvcc_wrapper"]),
        (rocm, False, ["-DBUILD_SHARED_LIBS=ON"] + tests("OFF") + ["-DCMAKE_CXX_COMPILER=/hip/bin/hipcc"]),
    ):
        expect(f"cmake_args of pssa {request}", Pssa(request, run_tests).cmake_args(), arguments)


def check_against_project():
    """What the recipe repeats from the project has to agree with it."""
    cmake = read("CMakeLists.txt")
    backends = set(re.findall(r"KOKKOS_ENABLE_(\w+)", read("include/pssa/impl/dispatch.hpp")))
    renamed = {"hip": "rocm"}
    expect("the backends without a variant",
           {name for name in map(str.lower, backends) if renamed.get(name, name) not in record.variants}, set())
    expect("the CMake that is needed", re.search(r"cmake_minimum_required\(VERSION (\S+)\)", cmake).group(1), "3.25")
    expect("the Kokkos that is needed",
           re.search(r"Kokkos_VERSION VERSION_LESS (\S+) OR Kokkos_VERSION VERSION_GREATER_EQUAL (\S+)\)",
                     cmake).groups(), ("4.5", "6"))
    given = re.findall(r"-D(PSSA_\w+)=", " ".join(Pssa("").cmake_args()))
    expect("options that the project does not have", set(given) - set(re.findall(r"option\((\w+)", cmake)), set())
    expect("licence", [f"SPDX-License-Identifier: {name}\n" in cmake for name in record.licenses], [True])
    expect("versions", record.versions, {"main": {"branch": "main"}})
    expect("generators", record.generators, ["ninja"])
    expect("where the source is", Pssa.git, "file://" + os.path.realpath(project))


project = os.path.abspath(sys.argv[1])
record = Record()
install_stub()
recipe = check_repository()
Pssa = load(recipe)
check_requests()
check_against_project()
for fault in faults:
    print(f"{recipe}: {fault}")
print(f"{len(record.dependencies)} dependencies, {len(record.variants)} variants, {len(faults)} faults")
sys.exit(1 if faults else 0)

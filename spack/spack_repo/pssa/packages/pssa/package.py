# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
import pathlib

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.rocm import ROCmPackage

from spack.package import *


class Pssa(CMakePackage, CudaPackage, ROCmPackage):
    """Selective state-space scan on Kokkos, forward and backward."""

    # The repository that this recipe is a part of, wherever it was cloned from.
    git = f"file://{pathlib.Path(__file__).resolve().parents[5]}"

    license("Apache-2.0 WITH LLVM-exception")

    version("main", branch="main")

    variant("serial", default=True, description="Run on one host thread")
    variant("openmp", default=False, description="Run on host threads with OpenMP")
    variant("threads", default=False, description="Run on host threads with C++ threads")
    variant("sycl", default=False, description="Run on Intel GPUs")
    variant("shared", default=True, description="Build a shared library")
    variant("tests", default=False, description="Build the unit tests even where --test does not ask for them")

    generator("ninja")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("googletest", type="test")
    depends_on("googletest", type=("build", "link"), when="+tests")

    depends_on("kokkos@4.5:5")
    # A shared pssa on a static Kokkos would bring a second copy of Kokkos into every program.
    depends_on("kokkos+shared", when="+shared")
    for backend in ("serial", "openmp", "threads", "sycl"):
        depends_on(f"kokkos+{backend}", when=f"+{backend}")

    # A CUDA Kokkos without its compiler wrapper refuses most compilers, unknown to the solver.
    depends_on("kokkos+wrapper", when="+cuda")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos+cuda cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
    for arch in ROCmPackage.amdgpu_targets:
        depends_on(f"kokkos+rocm amdgpu_target={arch}", when=f"+rocm amdgpu_target={arch}")

    conflicts("+cuda", when="cuda_arch=none", msg="name the GPU: cuda_arch=90, say")
    conflicts("+rocm", when="amdgpu_target=none", msg="name the GPU: amdgpu_target=gfx90a, say")
    conflicts("+cuda", when="+rocm", msg="a Kokkos has one kind of GPU")
    conflicts("+openmp", when="+threads", msg="a Kokkos has one of OpenMP and C++ threads")

    def cmake_args(self):
        tests = self.run_tests or self.spec.satisfies("+tests")
        args = [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define("PSSA_ENABLE_TESTS", tests),
            self.define("PSSA_ENABLE_EXAMPLES", tests),
            self.define("PSSA_ENABLE_PERF_TESTS", False),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CXX_COMPILER", self["kokkos"].kokkos_cxx))
        if self.spec.satisfies("+rocm"):
            args.append(self.define("CMAKE_CXX_COMPILER", self.spec["hip"].hipcc))
        return args

    def check(self):
        """The unit tests, less those that build pssa once more."""
        with working_dir(self.build_directory):
            ctest("--output-on-failure", "-L", "unit", "-LE", "rebuild")

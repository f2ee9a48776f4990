// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of CUDA C++ that kernels use, for the host compiler. Included before every simulated kernel.
#pragma once
#include "Abi.h"

namespace gpucsim {
/// A copy in each library, so that the race checker knows its address; filled by gpucSimBind.
inline Api table;
inline constexpr const Api *api = &table;
} // namespace gpucsim

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define __grid_constant__
#define __constant__ static const
#define __align__(n) alignas(n)
#define __CUDA_ARCH__ GPUC_SIM_ARCH
#define GPUC_SIM 1
#define threadIdx (::gpucsim::self()->threadIdx)
#define blockIdx (::gpucsim::selfBlock()->blockIdx)
#define blockDim (::gpucsim::selfBlock()->blockDim)
#define gridDim (::gpucsim::selfBlock()->gridDim)
#define __syncthreads() ::gpucsim::api->barrier(0, 0, __LINE__)
#define __syncwarp() ::gpucsim::api->syncWarp(__LINE__)
#define __trap() ::gpucsim::api->trap("__trap")
#define __threadfence() __sync_synchronize()
#define __threadfence_block() __sync_synchronize()

struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(8) int2 {
  int x, y;
};

extern "C" {
void *memcpy(void *, const void *, unsigned long);
void *memset(void *, int, unsigned long);
#define GPUC_SIM_MATH1(fn)                                                                                   \
  float fn##f(float) noexcept;                                                                               \
  double fn(double) noexcept
GPUC_SIM_MATH1(exp);
GPUC_SIM_MATH1(exp2);
GPUC_SIM_MATH1(expm1);
GPUC_SIM_MATH1(log);
GPUC_SIM_MATH1(log2);
GPUC_SIM_MATH1(log10);
GPUC_SIM_MATH1(log1p);
GPUC_SIM_MATH1(sqrt);
GPUC_SIM_MATH1(cbrt);
GPUC_SIM_MATH1(sin);
GPUC_SIM_MATH1(cos);
GPUC_SIM_MATH1(tan);
GPUC_SIM_MATH1(asin);
GPUC_SIM_MATH1(acos);
GPUC_SIM_MATH1(atan);
GPUC_SIM_MATH1(sinh);
GPUC_SIM_MATH1(cosh);
GPUC_SIM_MATH1(tanh);
GPUC_SIM_MATH1(asinh);
GPUC_SIM_MATH1(acosh);
GPUC_SIM_MATH1(atanh);
GPUC_SIM_MATH1(erf);
GPUC_SIM_MATH1(erfc);
GPUC_SIM_MATH1(fabs);
GPUC_SIM_MATH1(floor);
GPUC_SIM_MATH1(ceil);
GPUC_SIM_MATH1(rint);
GPUC_SIM_MATH1(trunc);
GPUC_SIM_MATH1(round);
#undef GPUC_SIM_MATH1
#define GPUC_SIM_MATH2(fn)                                                                                   \
  float fn##f(float, float) noexcept;                                                                        \
  double fn(double, double) noexcept
GPUC_SIM_MATH2(pow);
GPUC_SIM_MATH2(fmod);
GPUC_SIM_MATH2(fmin);
GPUC_SIM_MATH2(fmax);
GPUC_SIM_MATH2(atan2);
GPUC_SIM_MATH2(copysign);
#undef GPUC_SIM_MATH2
float fmaf(float, float, float) noexcept;
double fma(double, double, double) noexcept;
}

#define GPUC_SIM_BUILTIN inline __attribute__((always_inline))
GPUC_SIM_BUILTIN float __expf(float x) { return expf(x); }
GPUC_SIM_BUILTIN float __logf(float x) { return logf(x); }
GPUC_SIM_BUILTIN float __fdividef(float a, float b) { return a / b; }
GPUC_SIM_BUILTIN float rsqrtf(float x) { return 1.0f / sqrtf(x); }
GPUC_SIM_BUILTIN double rsqrt(double x) { return 1.0 / sqrt(x); }
GPUC_SIM_BUILTIN unsigned __float_as_uint(float f) { return __builtin_bit_cast(unsigned, f); }
GPUC_SIM_BUILTIN int __float_as_int(float f) { return __builtin_bit_cast(int, f); }
GPUC_SIM_BUILTIN float __uint_as_float(unsigned u) { return __builtin_bit_cast(float, u); }
GPUC_SIM_BUILTIN float __int_as_float(int u) { return __builtin_bit_cast(float, u); }
GPUC_SIM_BUILTIN int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
GPUC_SIM_BUILTIN int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
GPUC_SIM_BUILTIN int __popc(unsigned x) { return __builtin_popcount(x); }
GPUC_SIM_BUILTIN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
GPUC_SIM_BUILTIN int __ffs(int x) { return __builtin_ffs(x); }
GPUC_SIM_BUILTIN unsigned __umulhi(unsigned a, unsigned b) {
  return unsigned((unsigned long long)a * b >> 32);
}
GPUC_SIM_BUILTIN unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
template <typename T> GPUC_SIM_BUILTIN T __ldg(const T *p) { return *p; }
template <typename T> GPUC_SIM_BUILTIN T min(T a, T b) { return b < a ? b : a; }
template <typename T> GPUC_SIM_BUILTIN T max(T a, T b) { return a < b ? b : a; }
#undef GPUC_SIM_BUILTIN

namespace gpucsim {
template <unsigned... I> struct Indices {};
template <unsigned N, unsigned... I> struct MakeIndices : MakeIndices<N - 1, N - 1, I...> {};
template <unsigned... I> struct MakeIndices<0, I...> {
  using type = Indices<I...>;
};
#ifdef GPUC_SIM_FULL
/// The value of parameter `index`, fetched where the race checker does not look.
template <typename A> struct Parameter {
  alignas(A) unsigned char bytes[sizeof(A)];
  Parameter(void **args, unsigned index) { api->copyParameter(bytes, args, index, sizeof(A)); }
  operator A &() { return *reinterpret_cast<A *>(bytes); }
};
#else
template <typename A> struct Parameter {
  using Raw [[gnu::aligned(1)]] = A;
  using RawPointer [[gnu::aligned(1)]] = void *;
  A value;
  inline __attribute__((always_inline)) Parameter(void **args, unsigned index)
      : value(*static_cast<Raw *>(reinterpret_cast<RawPointer *>(args)[index])) {}
  inline __attribute__((always_inline)) operator A &() { return value; }
};
#endif
/// Calls an entry with the parameters that `args` points to.
template <typename F> struct Entry;
template <typename... A> struct Entry<void(A...)> {
  template <void (*Kernel)(A...), unsigned... I>
  static inline __attribute__((always_inline)) void call(void **args, Indices<I...>) {
    Kernel(Parameter<A>(args, I)...);
  }
  template <void (*Kernel)(A...)> static inline __attribute__((always_inline)) void run(void **args) {
    call<Kernel>(args, typename MakeIndices<sizeof...(A)>::type{});
  }
};
} // namespace gpucsim

#define GPUC_SIM_VISIBLE extern "C" __attribute__((visibility("default")))

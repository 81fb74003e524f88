/* What the C of a kernel needs of a GPU: threads of a block as coroutines, and the functions of CUDA that it
   calls. Threads take turns; at a barrier or a shuffle, a thread waits until all that take part have come. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define shared
#define local
#define constant
typedef uint16_t half;
typedef uint16_t bfloat16;
#define VECTOR(T, name) \
  typedef struct { T x, y; } name##2; \
  typedef struct { T x, y, z, w; } name##4; \
  typedef struct { T s0, s1, s2, s3, s4, s5, s6, s7; } name##8; \
  static inline name##2 make_##name##2(T x, T y) { return (name##2){x, y}; } \
  static inline name##4 make_##name##4(T x, T y, T z, T w) { return (name##4){x, y, z, w}; } \
  static inline name##8 make_##name##8(T a, T b, T c, T d, T e, T f, T g, T h) { return (name##8){a, b, c, d, e, f, g, h}; }
VECTOR(float, float)
VECTOR(double, double)
VECTOR(int8_t, char)
VECTOR(uint8_t, uchar)
VECTOR(int16_t, short)
VECTOR(uint16_t, ushort)
VECTOR(int32_t, int)
VECTOR(uint32_t, uint)
VECTOR(int64_t, longlong)
VECTOR(uint64_t, ulonglong)
typedef struct { uint32_t x, y, z; } index3;

enum { MOST_THREADS = 1024, STACK_BYTES = 1 << 16 };
static struct { ucontext_t context; char stack[STACK_BYTES]; bool has_ended; uint64_t value; } threads[MOST_THREADS];
static ucontext_t scheduler;
static int thread_count, current;
static index3 blockIdx, gridDim;
static uint32_t arrived, arrived_in_warp[MOST_THREADS / 32];
char global_smem[1 << 18] __attribute__((aligned(1024)));
#define threadIdx ((index3){(uint32_t)current, 0, 0})

static void yield(void) { int own = current; swapcontext(&threads[own].context, &scheduler); current = own; }

static void meet(uint32_t *counter, uint32_t expected) {
  uint32_t goal = (*counter / expected + 1) * expected;
  *counter += 1;
  while (*counter < goal) yield();
}
static void __syncthreads(void) { meet(&arrived, (uint32_t)thread_count); }

static uint64_t exchange_values(uint64_t value, int lane) {
  int own = current, first = own & ~31;
  threads[own].value = value;
  meet(&arrived_in_warp[own / 32], 32);
  uint64_t result = threads[lane < 0 || lane > 31 ? own : first + lane].value;
  meet(&arrived_in_warp[own / 32], 32);
  return result;
}
static inline uint32_t bits_of(float x) { uint32_t y; memcpy(&y, &x, 4); return y; }
static inline float __uint_as_float(uint32_t x) { float y; memcpy(&y, &x, 4); return y; }
static inline uint32_t __float_as_uint(float x) { return bits_of(x); }
static inline double __longlong_as_double(int64_t x) { double y; memcpy(&y, &x, 8); return y; }
static inline int64_t __double_as_longlong(double x) { int64_t y; memcpy(&y, &x, 8); return y; }
static inline float shuffle_float(float x, int lane) { return __uint_as_float((uint32_t)exchange_values(bits_of(x), lane)); }
static inline uint32_t shuffle_bits(uint32_t x, int lane) { return (uint32_t)exchange_values(x, lane); }
#define SHUFFLE(value, lane) _Generic((value), float: shuffle_float, default: shuffle_bits)((value), (lane))
#define __shfl_xor_sync(mask, value, distance) SHUFFLE(value, (current & 31) ^ (int)(distance))
#define __shfl_up_sync(mask, value, distance) SHUFFLE(value, (current & 31) - (int)(distance))
#define __shfl_down_sync(mask, value, distance) SHUFFLE(value, (current & 31) + (int)(distance))
#define __shfl_sync(mask, value, lane) SHUFFLE(value, (int)(lane) & 31)

static inline int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline uint32_t __umulhi(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }
static inline int32_t __mulhi(int32_t a, int32_t b) { return (int32_t)((int64_t)a * b >> 32); }
static inline uint32_t bfe_u32(uint32_t a, uint32_t start, uint32_t length) { return a >> start & ((1u << length) - 1); }
static inline int32_t bfe_s32(int32_t a, uint32_t start, uint32_t length) { return a << (32 - start - length) >> (32 - length); }
static inline uint32_t shl_b32(uint32_t a, uint32_t n) { return n < 32 ? a << n : 0; }
static inline uint64_t shl_b64(uint64_t a, uint32_t n) { return n < 64 ? a << n : 0; }
static inline uint32_t shr_u32(uint32_t a, uint32_t n) { return n < 32 ? a >> n : 0; }
static inline int32_t shr_s32(int32_t a, uint32_t n) { return a >> (n < 32 ? n : 31); }
static inline uint32_t prmt_b32(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t all = (uint64_t)b << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; i++) {
    uint32_t nibble = selector >> 4 * i & 15, byte = all >> 8 * (nibble & 7) & 255;
    result |= (nibble & 8 ? (byte & 128 ? 255u : 0) : byte) << 8 * i;
  }
  return result;
}
static inline uint32_t __byte_perm(uint32_t a, uint32_t b, uint32_t selector) { return prmt_b32(a, b, selector & 0x7777); }
static inline float ex2_approx_f32(float x) { return (float)exp2((double)x); }
static inline float ex2_approx_ftz_f32(float x) { return (float)exp2((double)x); }
static inline float sqrt_approx_ftz_f32(float x) { return (float)sqrt((double)x); }
static inline float cvt_rmi_ftz_f32_f32(float x) { return floorf(x); }
static inline float div_full_f32(float a, float b) { return a / b; }
static inline float div_approx_f32(float a, float b) { return a / b; }
static inline float __half2float(uint16_t x) { _Float16 y; memcpy(&y, &x, 2); return (float)y; }
static inline uint16_t __float2half_rn(float x) { _Float16 y = (_Float16)x; uint16_t z; memcpy(&z, &y, 2); return z; }
static inline uint32_t cvt_rn_f16x2_f32(float a, float b) { return (uint32_t)__float2half_rn(a) << 16 | __float2half_rn(b); }
static inline float __bfloat162float(uint16_t x) { return __uint_as_float((uint32_t)x << 16); }
static inline uint16_t __float2bfloat16_rn(float x) {
  uint64_t bits = bits_of(x);
  return x != x ? 0x7fff : (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
static inline int32_t __float2int_rz(float x) {
  return x != x ? 0 : x <= -2147483648.0f ? INT32_MIN : x >= 2147483648.0f ? INT32_MAX : (int32_t)x;
}
static inline uint32_t atom_global_gpu_acq_rel_add_u32(void *where, uint32_t value) {
  uint32_t *place = where, old = *place;
  *place += value;
  return old;
}
static void ldmatrix_sync_aligned_m8n8_x4_shared_b16(void *a, void *b, void *c, void *d, uint32_t address) {
  void *results[] = {a, b, c, d};
  for (int matrix = 0; matrix < 4; matrix++) {
    int lane = current & 31;
    uint64_t row = exchange_values(address, 8 * matrix + lane / 4);
    memcpy(results[matrix], (char *)row + 4 * (lane % 4), 4);
  }
}

static char *memory;
static void launch(void);
static void begin(void) { launch(); threads[current].has_ended = true; }

static void run_block(void) {
  memset(global_smem, 0, sizeof global_smem);
  arrived = 0;
  memset(arrived_in_warp, 0, sizeof arrived_in_warp);
  for (int i = 0; i < thread_count; i++) {
    getcontext(&threads[i].context);
    threads[i].context.uc_stack.ss_sp = threads[i].stack;
    threads[i].context.uc_stack.ss_size = STACK_BYTES;
    threads[i].context.uc_link = &scheduler;
    threads[i].has_ended = false;
    makecontext(&threads[i].context, begin, 0);
  }
  for (int running = thread_count; running > 0;)
    for (current = 0, running = 0; current < thread_count; current++) {
      int own = current;
      if (threads[own].has_ended) continue;
      running++;
      swapcontext(&scheduler, &threads[own].context);
      current = own;
    }
}

/* FILE BYTES THREADS X Y Z: run the blocks of a grid on the memory in a file, and write it back. */
int main(int count, char **words) {
  if (count != 7) return 2;
  size_t bytes = strtoull(words[2], NULL, 10);
  memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  FILE *file = fopen(words[1], "r+b");
  if (!memory || !file || fread(memory, 1, bytes, file) != bytes) return 3;
  thread_count = atoi(words[3]);
  gridDim = (index3){(uint32_t)atoi(words[4]), (uint32_t)atoi(words[5]), (uint32_t)atoi(words[6])};
  for (blockIdx.z = 0; blockIdx.z < gridDim.z; blockIdx.z++)
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; blockIdx.y++)
      for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++) run_block();
  rewind(file);
  return fwrite(memory, 1, bytes, file) == bytes && fclose(file) == 0 ? 0 : 4;
}

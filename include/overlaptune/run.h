/* Prepares an answer of ovt_query on an NCCL communicator, and runs it.
 *
 *     ovt_world* world = NULL;                       // on every rank, in the same order
 *     ovt_world_create(comm, NULL, &world);
 *     ovt_platform platform = {.size = sizeof platform};
 *     ovt_platform_detect(world, &platform);         // the platform to open the database with
 *     ovt_query(database, &problem, OVT_GRAPH, &answer);
 *     ovt_sizes sizes = {.size = sizeof sizes};
 *     ovt_plan_sizes(&problem, answer.config, &sizes);
 *     ovt_world_reserve(world, sizes.shared_bytes);  // the largest of all plans
 *     ovt_plan* plan = NULL;
 *     ovt_plan_create(world, &problem, answer.config, &plan);
 *     ovt_plan_run(plan, a, b, c, stream);           // again and again, or captured once
 *
 * There is one process for each GPU. Calls work on the GPU of the communicator, whichever GPU is
 * current. ovt_world_create, ovt_world_reserve, ovt_world_destroy, ovt_platform_detect,
 * ovt_plan_create and ovt_family_create are collective: every rank calls them, in the same order.
 * All ranks of a plan give the same problem and the same config (else ovt_plan_create fails on
 * all), and run their plans in the same order. ovt_world_reserve, ovt_platform_detect,
 * ovt_plan_create and ovt_family_create wait for the world's plans that run already. They do not
 * see runs in graphs, which must have ended before; other work may run beside them. CUDA allows
 * these calls only while no stream of the GPU is captured.
 *
 * Time: a wait for another rank ends after ovt_world_options.time_limit_ms. In ovt_plan_create it
 * takes five minutes at least, because ranks compile kernels there; in NCCL's own calls, which make
 * communicators, as long as NCCL waits. When a wait has taken too long, the world has ended: every
 * later call fails with the same text (OVT_ERROR_UNAVAILABLE), except those that destroy.
 *
 * Threads: one thread at a time may use a world and its plans, except for ovt_world_abort and
 * ovt_world_check. Plans of one world share its memory, so no two of them may run on the GPU at
 * once. Runs that are not captured come one after another, whatever their streams: one that is
 * enqueued on another stream waits for the one before it. Graphs with plans, and plans in branches
 * of a graph, are ordered by the caller.
 *
 * Structs, statuses and the rule about errors are those of overlaptune.h; ovt_run_last_error gives
 * the message of an error. docs/run.md has an example for each language. */
#ifndef OVERLAPTUNE_RUN_H
#define OVERLAPTUNE_RUN_H

#include <cuda_runtime_api.h>
#include <nccl.h>
#include <overlaptune/overlaptune.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ovt_world ovt_world; /* the ranks of a communicator, and memory that they share */
typedef struct ovt_plan ovt_plan;   /* one problem with its config, ready to run */
/* one weight with its recipe, ready to run with any number of rows */
typedef struct ovt_family ovt_family;

/* All ranks give the same options. A field that is 0 has its default. */
typedef struct ovt_world_options {
  size_t size;
  int32_t allow_multicast; /* 1: NCCL may use NVLink multicast (NVLS), if it is on */
  int32_t exclusive;     /* 1: nothing else on these GPUs waits for other ranks while plans run, be
                          * it a collective of NCCL or another world. Plans then begin without
                          * making sure that all ranks have reached them, which is faster */
  int32_t free_sms;      /* SMs that plans leave alone, for other kernels that run beside them */
  int32_t time_limit_ms; /* limit of every wait for other ranks; 0: the environment variable
                          * OVERLAPTUNE_TIME_LIMIT (in seconds), else 300 seconds */
  /* Memory of the caller for the world, instead of memory that it allocates: PyTorch's symmetric
   * memory, or any that is mapped on the peers' GPUs. peers[r] is the address on this GPU of rank
   * r's part, also of this rank's own; each is a multiple of 4096 and has peer_bytes bytes, the
   * same on all ranks. The array is read in the call. The memory is the world's until
   * ovt_world_destroy has returned OVT_OK. If that fails, or the world has ended before by
   * ovt_world_abort or a rank that did not come, kernels may still use it: keep it until the GPUs
   * of all ranks are idle and the graphs that plans were captured into are destroyed on all ranks,
   * or until the process ends. ovt_world_reserve takes its memory from there: 128 KiB less than
   * peer_bytes are the most. NULL and 0: none. */
  void* const* peers;
  int64_t peer_bytes;
  /* Bytes of memory for results (ovt_result_allocate), which ovt_world_reserve allocates, too,
   * where at least eight times as many are free on all ranks. Not with `peers`. 0: none. */
  int64_t result_bytes;
} ovt_world_options;

/* Sizes in bytes. a, b and c are the operands that one rank passes to ovt_plan_run, as ovt_problem
 * says; A has m / ranks rows for all_gather_gemm, and C for gemm_reduce_scatter. */
typedef struct ovt_sizes {
  size_t size;
  int64_t a_bytes, b_bytes, c_bytes;
  int64_t shared_bytes;    /* the world's memory, which all its plans use in turn */
  int64_t temporary_bytes; /* GPU memory, while the plan is made */
} ovt_sizes;

/* Parts of the world's memory through which the ranks exchange an operand; NULL where the caller's
 * memory is as good. Passing such an address for the operand saves a copy. Its contents are lost
 * once another plan of the world runs. */
typedef struct ovt_buffers {
  size_t size;
  void* a; /* for all_gather_gemm and all_to_all_gemm */
  void* c; /* for the other ops */
  int32_t
      takes_results; /* 1: a C in memory for results (ovt_result_allocate) saves the copy, too */
  int32_t unused;    /* 0 */
} ovt_buffers;

/* Version of the library that is linked: "0.1.0". */
OVT_API const char* ovt_run_version(void);

/* The NCCL that the library calls: its release, its file, and each function of a newer release that
 * it lacks, with the way that is taken instead, in one line. It needs no GPU. */
OVT_API const char* ovt_run_nccl(void);

/* Message of this thread's last call that failed, as ovt_last_error, for functions of this header.
 */
OVT_API const char* ovt_run_last_error(void);

/* Splits a communicator for the world from `comm`. `comm` stays the caller's;
 * nothing may run on it during this call. `options` may be NULL: all are 0.
 * OVT_ERROR_ARGUMENT: also where another rank refused its arguments or gives other options. */
OVT_API ovt_status ovt_world_create(ncclComm_t comm, const ovt_world_options* options,
                                    ovt_world** world);

/* Reserves memory for plans on every rank: the most that any rank asks for, for NCCL to register.
 * The memory never shrinks. It may grow while there are plans, at a safe point: on every rank no
 * plan is running, and the graphs that plans were captured into are destroyed. Plans stay valid,
 * and may be captured again. Addresses of ovt_plan_buffers are not valid any more: ask for them
 * again. Growing makes the communicators of all plans again, which takes seconds.
 * OVT_ERROR_ARGUMENT: also where the memory would have to grow and a graph still holds a plan, on
 * any rank; nothing was changed. OVT_ERROR_MEMORY, on every rank: the message says what is needed
 * and what the rank with the least has free; then nothing was changed. Or it says that a rank does
 * not have as much in one piece; then the world has lost what was reserved before, and plans that
 * need memory are refused until a later call has reserved it again. */
OVT_API ovt_status ovt_world_reserve(ovt_world* world, int64_t bytes);

/* Destroys the communicators and frees the memory. Plans that are left can only be destroyed. No
 * plan may still be running, and the graphs that plans were captured into must be destroyed,
 * because NCCL waits for their end. NULL is allowed. `comm` may have been destroyed before.
 * OVT_ERROR_ARGUMENT, on every rank: graphs hold plans, and the message says how many on which
 * rank; nothing was changed: destroy the graphs, then the world again. After any other status,
 * `world` is gone. OVT_ERROR_UNAVAILABLE: a rank did not come within the limit; this rank's
 * communicators are aborted, and its memory is given back when their work has ended, except where
 * CUDA IPC maps it on peers: they may still use it, so it stays until the process ends. A world
 * that has ended before is given up so at once, without the other ranks, and the status is OVT_OK.
 * A process may also exit without this call. */
OVT_API ovt_status ovt_world_destroy(ovt_world* world);

/* Ends all waits of the world for other ranks, on this rank's GPU and on its host, so that the
 * program can end or go on without a rank that is lost. Not collective. Any thread may call it at
 * any time between ovt_world_create and ovt_world_destroy, also while another one is in a call; a
 * call that is inside NCCL goes on until NCCL lets it go. What the plans have left in their results
 * is not complete. The world cannot be used any more; destroy it. */
OVT_API ovt_status ovt_world_abort(ovt_world* world);

/* OVT_OK, or OVT_ERROR_UNAVAILABLE where the world has ended; the message says what ended it. It
 * does not wait. Not collective. Any thread may call it, as ovt_world_abort. */
OVT_API ovt_status ovt_world_check(ovt_world* world);

/* The platform of these ranks as tuning describes it, for ovt_open. The caller sets
 * `platform->size`. OVT_ERROR_UNAVAILABLE: GPUs of several models, or two ranks on one GPU. */
OVT_API ovt_status ovt_platform_detect(ovt_world* world, ovt_platform* platform);

/* Every strategy with each of its transports, separated by commas: "sequential/ring,...". A
 * strategy that has no choice of transport stands by itself. Constant; nobody frees it. */
OVT_API const char* ovt_run_ways(void);

/* A config that nobody tuned, to try a strategy on any problem: one tile, few wave groups.
 *   way               one of ovt_run_ways, or a strategy alone: by its usual transport
 *   config, capacity  receives the line with its NUL; OVT_CONFIG_SIZE is always enough
 * OVT_ERROR_ARGUMENT: also where the strategy cannot run the problem. */
OVT_API ovt_status ovt_plan_config(const ovt_problem* problem, const char* way, char* config,
                                   size_t capacity);

/* The memory that a plan takes. A config is a line: that of an answer, or one written by hand, in
 * which the fields may stand in any order and those that have a default may be left out.
 * OVT_ERROR_ARGUMENT: the line is no valid config, or does not fit the problem. */
OVT_API ovt_status ovt_plan_sizes(const ovt_problem* problem, const char* config, ovt_sizes* sizes);

/* Makes communicators with the plan's number of CTAs, compiles or loads kernels (some 10 s where
 * they are not in the cache), times cuBLASLt's algorithms and keeps the fastest, as tuning did, and
 * runs the plan once. OVT_ERROR_ARGUMENT: as ovt_plan_sizes; the number of ranks is not
 * the world's, the config cannot run here, or too little memory was reserved. Also where the plan
 * runs a collective of NCCL, NVLink multicast is on in this process (NCCL's default where the GPUs
 * have it) and it was not allowed, because times measured without it do not hold: set
 * NCCL_NVLS_ENABLE=0 before the first communicator is made, or allow it. All-to-all, and plans by
 * copy_engine or peer_access, never use it.
 * OVT_ERROR_MEMORY, on every rank: a rank has too little free GPU memory for the operands on which
 * the plan is tried. OVT_ERROR_UNAVAILABLE: a GPU or NCCL fails, or a rank does not come. */
OVT_API ovt_status ovt_plan_create(ovt_world* world, const ovt_problem* problem, const char* config,
                                   ovt_plan** plan);

/* The buffers of a plan. They are valid until the world's memory grows. Not collective. */
OVT_API ovt_status ovt_plan_buffers(const ovt_plan* plan, ovt_buffers* buffers);

/* Enqueues C = A * B^T and its collective on `stream`. It does not allocate and does not wait for
 * the GPU; it may be captured into the caller's CUDA graph. All three operands are in the GPU's
 * memory, aligned to 16 bytes, and registered with NCCL or not. A and B are only read; C is
 * written to from the start. Operands of a captured graph must not be freed as long as the world
 * lives, because NCCL remembers them by their addresses.
 * OVT_ERROR_ARGUMENT: also where C overlaps A or B, and where an operand lies in the part of the
 * world's memory that the plan overwrites, except where ovt_plan_buffers has put this operand.
 * OVT_ERROR_UNAVAILABLE: a launch failed; the capture, if there is one, is lost. */
OVT_API ovt_status ovt_plan_run(ovt_plan* plan, const void* a, const void* b, void* c,
                                cudaStream_t stream);

/* Runs a plan whose dtype has scales (ovt_dtype), and only such a plan: as many scales as A and B
 * have rows, or one for each, in fp32 in the GPU's memory, aligned to 16 bytes. A rank's rows of A
 * have its own scales, also where they are sent to others; one scale of A is the same on all ranks.
 * A product is multiplied by the scales of its row of A and of its row of B, before C is rounded.
 */
OVT_API ovt_status ovt_plan_run_scaled(ovt_plan* plan, const void* a, const float* a_scales,
                                       const void* b, const float* b_scales, void* c,
                                       cudaStream_t stream);

/* Destroys a plan. It must not be running any more, and graphs that it was captured into must be
 * destroyed first; where its world has ended while graphs hold plans of it, the plan stays until
 * the process ends. NULL is allowed. */
OVT_API void ovt_plan_destroy(ovt_plan* plan);

/* Memory for results, which the peers of a rank reach. A plan of gemm_all_reduce or gemm_all_to_all
 * by peer_store, and one of gemm_all_reduce by signaled or sequential with peer_access, that is
 * given a C in there stores into it at once, where other memory costs a copy behind the plan
 * (ovt_buffers.takes_results). Each rank may do as it likes, in each run. The world has the memory
 * once ovt_world_reserve has reserved some, if there was room. It never moves, and what a program
 * holds of it outlives the world. */

/* Takes memory for a result. It does not allocate, and waits for nothing. Not collective.
 * OVT_ERROR_MEMORY: no such piece is free. */
OVT_API ovt_status ovt_result_allocate(ovt_world* world, int64_t bytes, void** result);

/* Gives it back. Work that is enqueued may still use it, if all later uses of it come behind that
 * work. Graphs that hold plans with a C in there keep it from being taken again until they are
 * destroyed. NULL is allowed. */
OVT_API void ovt_result_free(void* result);

/* Memory for results for allocators that ask for whole segments, such as torch.cuda.MemPool, whose
 * functions have this form. From ovt_pool_begin on, ovt_pool_allocate of the same thread takes from
 * the world's results, and returns NULL where there is no room. ovt_pool_free waits until the GPU
 * is idle, as cudaFree does. `capture` receives the number of the capture that `stream` takes part
 * in, or 0: memory that was used in a capture may serve no other work than its graph, so each has a
 * pool of its own. OVT_ERROR_MEMORY: the world has no memory for results. */
OVT_API ovt_status ovt_pool_begin(ovt_world* world, cudaStream_t stream, uint64_t* capture);
OVT_API void* ovt_pool_allocate(ptrdiff_t bytes, int device, cudaStream_t stream);
OVT_API void ovt_pool_free(void* memory, size_t bytes, int device, cudaStream_t stream);

/* Families. A plan is made for one number of rows (m of its problem), by all ranks together. A
 * family is made once for a weight, by its recipe (ovt_query_recipe), and then runs with any number
 * of rows: no ranks meet, no GPU memory is allocated and nothing is waited for when a new number
 * comes. `rows` is m of ovt_problem: a multiple of ranks where that has to be.
 *
 * All ranks give a family the same rows in the same order, as they run the same plans. Ranks
 * that differ end with an error that says so; where they do not come to the same gate, when the
 * time limit is over. Plans by NCCL's collectives alone do not find it out: their results are
 * wrong. */

/* The recipe of one config, scaled to any number of rows from 1 on: that of a person, or of
 * ovt_plan_config. `problem` is the one that the config is for, and most_rows the most rows.
 *   text, capacity, length  as of ovt_query_recipe */
OVT_API ovt_status ovt_recipe_of(const ovt_problem* problem, const char* config, int64_t most_rows,
                                 char* text, size_t capacity, size_t* length);

/* The config that a recipe has for a number of rows, as a line. OVT_CONFIG_SIZE is enough.
 * OVT_ERROR_ARGUMENT: also for rows that the recipe does not serve. It takes longer than
 * ovt_family_run does, because it reads the text. */
OVT_API ovt_status ovt_recipe_config(const char* recipe, int64_t rows, char* config,
                                     size_t capacity);

/* The memory that a family for up to `most_rows` rows takes. a, b and c are those of the most rows;
 * temporary_bytes are taken while the family is made. */
OVT_API ovt_status ovt_recipe_sizes(const char* recipe, int64_t most_rows, ovt_sizes* sizes);

/* Makes a family for up to `most_rows` rows: all that ovt_plan_create does, for rows of each range
 * of the recipe. This takes as long as making some ten to fifty plans. Collective: all ranks
 * give the same recipe and the same number. ovt_world_reserve comes before, for the shared_bytes of
 * ovt_recipe_sizes. Errors: as ovt_plan_create. */
OVT_API ovt_status ovt_family_create(ovt_world* world, const char* recipe, int64_t most_rows,
                                     ovt_family** family);

/* Runs with a number of rows, by the rules of ovt_plan_run. Not collective. The first run with a
 * number of rows makes its plan on the host, which takes some ten microseconds, also while a stream
 * is captured; the latest 64 are kept. While a run is captured, no other run of the family may be
 * enqueued outside of that capture. OVT_ERROR_ARGUMENT: also for rows that the family does not
 * serve. */
OVT_API ovt_status ovt_family_run(ovt_family* family, int64_t rows, const void* a, const void* b,
                                  void* c, cudaStream_t stream);

/* Runs with scales, by the rules of ovt_plan_run_scaled. */
OVT_API ovt_status ovt_family_run_scaled(ovt_family* family, int64_t rows, const void* a,
                                         const float* a_scales, const void* b,
                                         const float* b_scales, void* c, cudaStream_t stream);

/* The buffers of a number of rows, by the rules of ovt_plan_buffers. Not collective. */
OVT_API ovt_status ovt_family_buffers(ovt_family* family, int64_t rows, ovt_buffers* buffers);

/* Destroys a family, by the rules of ovt_plan_destroy. */
OVT_API void ovt_family_destroy(ovt_family* family);

#ifdef __cplusplus
}
#endif

#endif

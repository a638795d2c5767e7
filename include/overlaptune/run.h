/* Makes what ovt_query answers ready on a communicator of NCCL's, and runs it.
 *
 *     ovt_world* world = NULL;                       // every rank, in the same order, all of it:
 *     ovt_world_create(comm, NULL, &world);
 *     ovt_platform platform = {.size = sizeof platform};
 *     ovt_platform_detect(world, &platform);         // to open the database with
 *     ovt_query(database, &problem, OVT_GRAPH, &answer);
 *     ovt_sizes sizes = {.size = sizeof sizes};
 *     ovt_plan_sizes(&problem, &answer, &sizes);
 *     ovt_world_reserve(world, sizes.shared_bytes);  // the largest of all plans to come
 *     ovt_plan* plan = NULL;
 *     ovt_plan_create(world, &problem, &answer, &plan);
 *     ovt_plan_run(plan, a, b, c, stream);           // again and again, or captured once
 *
 * One process a GPU; calls work on the GPU of the communicator, whichever is the current one. Every
 * function but the getters, ovt_plan_sizes, ovt_plan_run, ovt_plan_destroy and the errors is
 * collective: every rank calls it, in the same order. A rank that does not come is waited for five
 * minutes, but within NCCL's own calls (making communicators) as long as NCCL does. All ranks of a
 * plan ask for the same problem with the same answer (else ovt_plan_create fails on all), and run
 * their plans in the same order.
 *
 * Threads: one world and its plans are used by one thread at a time. Plans of one world share its
 * memory: on the GPU no two of them may run at once. On one stream they don't; on several, or in
 * branches of a graph, the caller orders them.
 *
 * Structs, statuses and the rule about errors are those of overlaptune.h; the text of an error is
 * that of ovt_run_last_error. docs/run.md has an example for each language. */
#ifndef OVERLAPTUNE_RUN_H
#define OVERLAPTUNE_RUN_H

#include <cuda_runtime_api.h>
#include <nccl.h>
#include <overlaptune/overlaptune.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ovt_world ovt_world; /* the ranks of a communicator, and memory that they share */
typedef struct ovt_plan ovt_plan;   /* one problem with its answer, made ready */

typedef struct ovt_world_options {
  size_t size;
  int32_t allow_multicast; /* 1: NCCL may use NVLink multicast (NVLS), if that is on */
  int32_t reserved;        /* 0 */
} ovt_world_options;

/* Bytes. a, b and c are what one rank passes to ovt_plan_run: see ovt_problem, with m / ranks rows
 * of A for all_gather_gemm and of C for gemm_reduce_scatter. */
typedef struct ovt_sizes {
  size_t size;
  int64_t a_bytes, b_bytes, c_bytes;
  int64_t shared_bytes;    /* of the world's memory, which all its plans use in turn */
  int64_t temporary_bytes; /* of GPU memory, while the plan is made */
} ovt_sizes;

/* Parts of the world's memory through which the ranks exchange; NULL where the caller's own memory
 * is as good. Who passes such an address for that operand saves a copy. The contents are gone once
 * another plan of the world runs. */
typedef struct ovt_buffers {
  size_t size;
  void* a; /* all_gather_gemm */
  void* c; /* the others */
} ovt_buffers;

/* "0.1.0", of the library that is linked. */
OVT_API const char* ovt_run_version(void);

/* As ovt_last_error, for the functions of this header. */
OVT_API const char* ovt_run_last_error(void);

/* Splits a communicator of its own from `comm`, which stays the caller's, must live as long, and on
 * which nothing may run meanwhile. `options` may be NULL. OVT_ERROR_ARGUMENT: also where NVLink
 * multicast is on in this process (NCCL's default where the GPUs have it) and was not allowed:
 * times measured without it do not hold. Set NCCL_NVLS_ENABLE=0 before the first communicator is
 * made, or allow it. And where another rank refused its arguments. */
OVT_API ovt_status ovt_world_create(ncclComm_t comm, const ovt_world_options* options,
                                    ovt_world** world);

/* Memory for plans: what the rank that asks for most asks for is there when this returns, for NCCL
 * to register. While there are plans it may not grow. OVT_ERROR_MEMORY, on every rank: names what
 * is needed and what is free on the rank that has least, or says that one has not as much in one
 * piece; after that the world has no memory, not what was reserved before either. */
OVT_API ovt_status ovt_world_reserve(ovt_world* world, int64_t bytes);

/* Destroys the communicators and frees the memory, or leaves that to the last plan that is still
 * there. Nothing of them may still run. NULL is allowed. */
OVT_API void ovt_world_destroy(ovt_world* world);

/* The platform of these ranks, as tuning describes it: for ovt_open. `platform->size` is set.
 * OVT_ERROR_UNAVAILABLE: GPUs of several models, or two ranks on one GPU. */
OVT_API ovt_status ovt_platform_detect(ovt_world* world, ovt_platform* platform);

/* What a plan takes. OVT_ERROR_ARGUMENT: fields that are no valid config, or that do not fit the
 * problem. */
OVT_API ovt_status ovt_plan_sizes(const ovt_problem* problem, const ovt_answer* answer,
                                  ovt_sizes* sizes);

/* Makes communicators with their own CTAs, compiles or loads kernels (some 10 s where they are not
 * in the cache yet), lets the library's GEMM algorithms compete, as tuning did, and runs the plan
 * once. Of `answer` only the config counts. OVT_ERROR_ARGUMENT: ranks that are not the world's, a
 * config that cannot run here, memory that was not reserved. OVT_ERROR_UNAVAILABLE: a GPU or NCCL
 * fails, or a rank does not come. */
OVT_API ovt_status ovt_plan_create(ovt_world* world, const ovt_problem* problem,
                                   const ovt_answer* answer, ovt_plan** plan);

/* Not collective. */
OVT_API ovt_status ovt_plan_buffers(const ovt_plan* plan, ovt_buffers* buffers);

/* Enqueues C = A * B^T and its collective: after what `stream` holds already, before what comes on
 * it later. No allocation, no wait for the GPU; it may be captured into the caller's CUDA graph.
 * All three aligned to 256 bytes, in the GPU's memory, registered with NCCL or not; B and A are
 * only read, C is written to from the start, and shares no memory with them. What a graph was
 * captured with must not be freed as long as the world lives: NCCL remembers it by its address.
 * OVT_ERROR_UNAVAILABLE: a launch failed; the capture, if there is one, is lost. */
OVT_API ovt_status ovt_plan_run(ovt_plan* plan, const void* a, const void* b, void* c,
                                cudaStream_t stream);

/* Nothing of it may still run, and graphs that it was captured into must be gone. NULL is allowed.
 */
OVT_API void ovt_plan_destroy(ovt_plan* plan);

#ifdef __cplusplus
}
#endif

#endif

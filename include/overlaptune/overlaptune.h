/* Asks a tuning database how a matrix product and its collective should run on these GPUs.
 *
 *     ovt_database* database = NULL;
 *     const char* paths[] = {"cluster.db"};
 *     if (ovt_open(paths, 1, NULL, &database) != OVT_OK) puts(ovt_last_error());
 *     ovt_problem problem = {.size = sizeof problem, .op = OVT_GEMM_ALL_REDUCE, .m = 4096,
 *                            .n = 8192, .k = 3584, .dtype = OVT_BF16, .ranks = 8};
 *     ovt_answer answer = {.size = sizeof answer};
 *     if (ovt_query(database, &problem, OVT_GRAPH, &answer) == OVT_OK) puts(answer.reason);
 *     ovt_close(database);
 *
 * Structs: set `size` to sizeof the struct. A struct from a newer header may have fields that this
 * library does not know: in an input they must be zero, in an output the library zeroes them. Later
 * libraries will accept the sizes of this version. Any other size is OVT_ERROR_ARGUMENT.
 *
 * Threads: any number may use one handle, also while another one reloads it; none may use it during
 * or after ovt_close. After fork() the child may use handles that its parent opened, if no other
 * thread was inside a call of this library at that moment.
 *
 * Errors: every function except those for names and texts and ovt_close returns a status. No
 * function throws or prints. Where the status is not OVT_OK, the outputs are unchanged.
 * docs/query.md has the rules of the answers. */
#ifndef OVERLAPTUNE_OVERLAPTUNE_H
#define OVERLAPTUNE_OVERLAPTUNE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define OVT_API __attribute__((visibility("default")))
#else
#define OVT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Enumerations are 32-bit integers with fixed values; new values are only ever added. */

typedef int32_t ovt_status;
enum {
  OVT_OK = 0,
  OVT_ERROR_ARGUMENT = 1,    /* null, unaligned, struct size, unknown value, invalid problem */
  OVT_ERROR_NOT_FOUND = 2,   /* no such database or platform, a file that may not be read, or no
                                answer of the allowed strategies */
  OVT_ERROR_DATABASE = 3,    /* damaged, of a newer schema, or not of overlaptune */
  OVT_ERROR_UNAVAILABLE = 4, /* another process keeps the file locked, or the disk fails */
  OVT_ERROR_MEMORY = 5,
  OVT_ERROR_INTERNAL = 6
};

typedef int32_t ovt_op;
enum {
  OVT_GEMM_ALL_REDUCE = 0,
  OVT_GEMM_REDUCE_SCATTER = 1,
  OVT_ALL_GATHER_GEMM = 2,
  OVT_GEMM_ALL_TO_ALL = 3,
  OVT_ALL_TO_ALL_GEMM = 4
};

/* Element type of A, B and C; accumulation is fp32. E4M3: A and B have 8 bits, and scales in fp32
 * that their elements are to be multiplied with: one for each row of A and of B (ROWS), or one for
 * each matrix, the same on all ranks (TENSOR); C is bf16 or fp16. They need a Hopper GPU, whose
 * tensor cores keep fewer bits of their sums; EXACT: only of each 128 products, which are added up
 * in fp32. */
typedef int32_t ovt_dtype;
enum {
  OVT_BF16 = 0,
  OVT_FP16 = 1,
  OVT_E4M3_ROWS_BF16 = 2,
  OVT_E4M3_ROWS_FP16 = 3,
  OVT_E4M3_TENSOR_BF16 = 4,
  OVT_E4M3_TENSOR_FP16 = 5,
  OVT_E4M3_ROWS_BF16_EXACT = 6,
  OVT_E4M3_ROWS_FP16_EXACT = 7,
  OVT_E4M3_TENSOR_BF16_EXACT = 8,
  OVT_E4M3_TENSOR_FP16_EXACT = 9
};

/* How the plan is submitted: replay of a captured CUDA graph, or call by call. */
typedef int32_t ovt_launch;
enum { OVT_GRAPH = 0, OVT_EAGER = 1 };

typedef int32_t ovt_source;
enum {
  OVT_EXACT = 0,     /* a winner that was validated on this platform; where the question does not
                        allow it, the fastest measured config of the allowed strategies */
  OVT_PREDICTED = 1, /* the model's choice, or a winner of the system database */
  OVT_BASELINE = 2   /* `sequential`: nothing better is known */
};

#define OVT_TEXT_SIZE 256
#define OVT_REASON_SIZE 512
#define OVT_NAME_SIZE 32
#define OVT_CONFIG_SIZE 4096 /* longer than the line of any config */

/* The GPUs, links and software that results hold for. Texts end with NUL. A caller fills either
 *  - all fields, as tuning stored them: answers come from a platform that is equal in all of them;
 *  - or only `name`, all else zero or empty: answers come from the stored platform with this name
 *    ("sim:h200-nvlink-x8") or fingerprint. Use this form to ask for results of a simulated
 *    machine: no other platform ever gets them. */
typedef struct ovt_platform {
  size_t size;
  char machine[OVT_TEXT_SIZE];   /* "cuda"; "sim" for a simulated machine */
  char name[OVT_TEXT_SIZE];      /* made of GPU and fabric */
  char gpu_model[OVT_TEXT_SIZE]; /* "NVIDIA H200" */
  int32_t gpu_count;
  int32_t sms;                /* streaming multiprocessors of one GPU */
  int32_t compute_capability; /* 10 * major + minor */
  int32_t multicast_allowed;  /* 0 or 1 */
  int64_t memory_bytes;       /* device memory of one GPU */
  char driver_version[OVT_TEXT_SIZE];
  char cuda_version[OVT_TEXT_SIZE];
  char nccl_version[OVT_TEXT_SIZE];
  char topology[OVT_TEXT_SIZE];  /* "NVSwitch", "PCIe" */
  char transport[OVT_TEXT_SIZE]; /* what carries peer traffic: "nvlink", "host_memory", "socket" */
  char details[OVT_TEXT_SIZE];
} ovt_platform;

/* One matrix product and its collective. Row-major: A is m x k, B is n x k, C = A * B^T is m x n;
 * m, n and k are what one rank computes, at most 2^31 - 1, n and k multiples of 8 (with 8-bit
 * operands of 16). For gemm_all_reduce and gemm_reduce_scatter k is already divided among the
 * ranks, for all_gather_gemm n is (each rank brings m / ranks rows of A); gemm_all_to_all sends row
 * block j of C to rank j. all_to_all_gemm sends row block j of A to rank j before the product: row
 * block i of the C of rank r is row block r of rank i's A, times r's own B. In all but
 * gemm_all_reduce m is a multiple of ranks; of 4 * ranks where rows with scales of their own
 * (ovt_dtype) are exchanged first. */
typedef struct ovt_problem {
  size_t size;
  int64_t m, n, k;
  ovt_op op;
  ovt_dtype dtype;
  int32_t ranks;    /* 2 to 1024 */
  int32_t reserved; /* 0 */
} ovt_problem;

/* The part of a question beside the problem. All zero but `size`: what ovt_query asks, with
 * OVT_GRAPH. */
typedef struct ovt_question {
  size_t size;
  const char* strategies; /* names of those that may answer, as in "signaled,sequential"; NULL or
                           * "": all. Read in the call */
  ovt_launch launch;
  int32_t exclusive; /* 1: the plans are those of an exclusive world (ovt_world_options.exclusive).
                      * Where nothing was measured in such a world, the answer for others is
                      * OVT_PREDICTED */
  int32_t free_sms;  /* SMs that plans leave alone: fewer than the GPU has */
  int32_t reserved;  /* 0 */
} ovt_question;

/* How to run a problem, how long it takes, and why this is the answer. Times are microseconds of
 * the slowest rank, from the start until the result is in place; NaN where not known. Texts end
 * with NUL. */
typedef struct ovt_answer {
  size_t size;
  ovt_source source;
  int32_t reserved; /* 0 */
  double predicted_us;
  double measured_us; /* exact answers only */
  double baseline_us; /* `sequential`: measured for exact answers, else predicted */
  /* The config as one line, from which run.h makes a plan: its strategy, and what this strategy can
   * choose, as in "chunked ctas=16 transport=ring chunks=4". docs/query.md explains the fields. */
  char config[OVT_CONFIG_SIZE];
  char strategy[OVT_NAME_SIZE];  /* of the config: "sequential", "chunked", "signaled", ... */
  char transport[OVT_NAME_SIZE]; /* of the config: "ring", "peer_access", ...; empty where the
                                  * strategy has no choice */
  char reason[OVT_REASON_SIZE];  /* one line, cut short where it does not fit (ovt_explain) */
} ovt_answer;

typedef struct ovt_database ovt_database;

/* Version of the library that is linked: "0.1.0". */
OVT_API const char* ovt_version(void);

/* Message of this thread's last call that did not return OVT_OK: the thing at fault, what was
 * expected, what to do. Valid until the thread's next call. */
OVT_API const char* ovt_last_error(void);

/* Reads the winners of one platform; the files are not kept open and never written.
 *   paths, count  databases; results of an earlier one hide those of later ones for the same
 *                 question. With count 0, the environment variable OVERLAPTUNE_DB names the only
 *                 one; without it there may be none where a platform is given and results were
 *                 installed. Under all of them lies the system database: the installed results, or
 *                 the file that OVERLAPTUNE_SYSTEM_DB names (empty: none). It answers for a real
 *                 platform with the same GPUs, number of GPUs and links; the answer is
 *                 OVT_PREDICTED, and its reason says where it was tuned and what differs.
 *   platform      the platform to answer for. With NULL it is the real (not simulated) platform
 *                 that was added last to the first database that has one. A described platform that
 *                 is not stored is no error: every answer is then the baseline, and its reason says
 *                 what differs from the nearest stored platform.
 * Errors: OVT_ERROR_ARGUMENT, _NOT_FOUND (also where only simulated platforms are stored and none
 * is named), _DATABASE, _UNAVAILABLE. */
OVT_API ovt_status ovt_open(const char* const* paths, size_t count, const ovt_platform* platform,
                            ovt_database** database);

/* The best config that is known for a problem. Where nothing better is known, the answer is the
 * baseline and says why; this is never an error. An exact answer takes about a microsecond. The
 * first answer for a problem that was not tuned takes up to a millisecond; the very first of these
 * takes longer, because the files are read again and the model is fitted to their measurements:
 * about 0.1 s, and up to 1 s beside processes that write. Ask once at the start to have it behind
 * you. Error: OVT_ERROR_ARGUMENT, also for a problem that breaks a rule. */
OVT_API ovt_status ovt_query(const ovt_database* database, const ovt_problem* problem,
                             ovt_launch launch, ovt_answer* answer);

/* Answers like ovt_query, to a question of its own.
 *
 * Strategies: a winner that is not allowed is passed over. The answer is then the fastest measured
 * config of the allowed strategies for this problem and launch (OVT_EXACT), else what the model
 * predicts for them, else `sequential`, if it is allowed.
 *
 * Free SMs: nothing was measured with SMs left free, so no answer is OVT_EXACT. It is what the
 * model predicts on the other SMs; where it cannot, the answer for all SMs, and the reason says
 * that its times are those of all SMs.
 *
 * Errors: OVT_ERROR_ARGUMENT; OVT_ERROR_NOT_FOUND where nothing is known of the allowed strategies,
 * and `sequential` is not one of them. */
OVT_API ovt_status ovt_query_for(const ovt_database* database, const ovt_problem* problem,
                                 const ovt_question* question, ovt_answer* answer);

/* Describes the answer of ovt_query in some lines: platform, databases, config, times, reason, and,
 * where no stored platform is equal, what differs from the nearest one.
 *   text, capacity  receives as much as fits, ended with NUL; NULL with 0 asks for the length only
 *   length          receives the length of the whole text without its NUL; may be NULL */
OVT_API ovt_status ovt_explain(const ovt_database* database, const ovt_problem* problem,
                               ovt_launch launch, char* text, size_t capacity, size_t* length);

/* Describes the answer of ovt_query_for, as ovt_explain does. */
OVT_API ovt_status ovt_explain_for(const ovt_database* database, const ovt_problem* problem,
                                   const ovt_question* question, char* text, size_t capacity,
                                   size_t* length);

/* The recipe of a weight: how to run it with any number of rows from 1 to problem->m, so that a new
 * number of rows needs no question. A recipe is a text of lines: one about the weight, then one for
 * each range of rows, with a config whose wave groups are shares (docs/query.md, "Recipes"). run.h
 * makes a family of plans from it. Rows for which a winner is stored have its config; for all
 * others the model chooses, with few kernels. Making a recipe takes a second or a few. Where
 * nothing better is known it is `sequential` for all rows; this is never an error.
 *   question        as for ovt_query_for; NULL: all of it is 0
 *   text, capacity  receives the recipe with its NUL; NULL with 0 asks for the length only.
 *                   OVT_ERROR_ARGUMENT: it does not fit
 *   length          receives the length of the text without its NUL; may be NULL
 * Errors: as ovt_query_for. */
OVT_API ovt_status ovt_query_recipe(const ovt_database* database, const ovt_problem* problem,
                                    const ovt_question* question, char* text, size_t capacity,
                                    size_t* length);

/* Reads the files again, as ovt_open did. Queries go on meanwhile; each is answered from the old or
 * from the new content. Where this fails, the handle answers as before. */
OVT_API ovt_status ovt_reload(ovt_database* database);

/* Closes a handle. NULL is allowed. */
OVT_API void ovt_close(ovt_database* database);

#ifdef __cplusplus
}
#endif

#endif

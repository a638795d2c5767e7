/* Asks a tuning database how to run one matrix product followed by an all-reduce:
 *
 *     overlaptune tune --machine sim:h200-nvlink-x8 --db f.db \
 *         --problem gemm_all_reduce:4096,8192,3584:bf16:8
 *     query f.db 4096 8192 3584 8 h200-nvlink-x8
 *
 * PLATFORM is needed for simulated machines only. */
#include <overlaptune/overlaptune.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* const source_names[] = {"exact", "predicted", "baseline"};

static int ask(const ovt_database* database, char** sizes) {
  const ovt_problem problem = {.size = sizeof problem,
                               .m = atol(sizes[0]),
                               .n = atol(sizes[1]),
                               .k = atol(sizes[2]),
                               .op = OVT_GEMM_ALL_REDUCE,
                               .dtype = OVT_BF16,
                               .ranks = atoi(sizes[3])};
  ovt_answer answer = {.size = sizeof answer};
  char text[2048];
  if (ovt_query(database, &problem, OVT_GRAPH, &answer) != OVT_OK ||
      ovt_explain(database, &problem, OVT_GRAPH, text, sizeof text, NULL) != OVT_OK) {
    fprintf(stderr, "%s\n", ovt_last_error());
    return EXIT_FAILURE;
  }
  /* A program that runs the problem makes its plan from answer.config. */
  printf("%s: %s\n\n%s\n", source_names[answer.source], answer.config, text);
  return EXIT_SUCCESS;
}

int main(int count, char** arguments) {
  if (count < 6 || count > 7) {
    fprintf(stderr, "usage: %s DATABASE M N K RANKS [PLATFORM]\n", arguments[0]);
    return EXIT_FAILURE;
  }
  ovt_platform platform = {.size = sizeof platform};
  if (count == 7) strncpy(platform.name, arguments[6], sizeof platform.name - 1);
  const char* const paths[] = {arguments[1]};
  ovt_database* database = NULL;
  if (ovt_open(paths, 1, count == 7 ? &platform : NULL, &database) != OVT_OK) {
    fprintf(stderr, "%s\n", ovt_last_error());
    return EXIT_FAILURE;
  }
  const int code = ask(database, arguments + 2);
  ovt_close(database);
  return code;
}

/* The header as C99, through the static library: query_from_c DATABASE PLATFORM M. Prints source,
 * strategy, times and wave groups; exits with the status of what failed. */
#include <overlaptune/overlaptune.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(ovt_status status) {
  printf("%s\n", ovt_last_error());
  return status;
}

int main(int count, char** arguments) {
  if (count != 4 || strlen(arguments[2]) >= OVT_TEXT_SIZE) return 100;
  ovt_platform platform = {.size = sizeof platform};
  strcpy(platform.name, arguments[2]);
  const char* paths[] = {arguments[1]};
  ovt_database* database = NULL;
  ovt_status status = ovt_open(paths, 1, &platform, &database);
  if (status != OVT_OK) return failed(status);

  ovt_problem problem = {.size = sizeof problem,
                         .m = atoi(arguments[3]),
                         .n = 131072,
                         .k = 3584,
                         .op = OVT_GEMM_ALL_REDUCE,
                         .dtype = OVT_BF16,
                         .ranks = 8};
  ovt_answer answer = {.size = sizeof answer};
  status = ovt_query(database, &problem, OVT_GRAPH, &answer);
  if (status != OVT_OK) return failed(status);
  printf("%d %.2f %.2f %.2f %s\n", (int)answer.source, answer.predicted_us, answer.measured_us,
         answer.baseline_us, answer.config);
  ovt_close(database);
  return OVT_OK;
}

// The document that the program puts into the page (reports/page/page_data.hpp). Times are in microseconds.

export interface Pass {
  model: string;
  ranks: number;
  parallelism: string;
  tokens: number;
  launch: string;
  products: number;
  sequential_us: number;
  overlapped_us: number;
}

/** Links row after row, a row for each GPU that copies: GB/s, and the latency. */
export interface Peers {
  gpus: number;
  links: [number | null, number | null][];
}

export interface Platform {
  name: string;
  simulated: boolean;
  fingerprint: string;
  gpu_model: string;
  gpu_count: number;
  topology: string;
  link: string;
  driver: string;
  cuda: string;
  nccl: string;
  multicast: boolean;
  copy_gb_per_s: number | null;
  peers: Peers | null; // null: no pair was probed
  run: { host: string; at: string; version: string; finished: boolean } | null;
  summary: {
    winners: number;
    overlapped: number;
    speedup_geomean: number | null;
    hidden_count: number;
    hidden_mean: number | null;
  };
  evaluation: {
    count: number;
    error_mean: number | null;
    error_p90: number | null;
    problems: number;
    shortlist: number;
    regret_top1_mean: number | null;
    regret_shortlist_mean: number | null;
  };
  passes: Pass[];
  conditions: [string, string | null][];
}

/** A predicted run: parts of the GEMM as [begin, end], groups as [ready, start, end, exposed]. */
export interface Run {
  time: number;
  gemm: [number, number][];
  groups: [number, number, number, number][];
}

export interface Winner {
  id: number; // position in the list
  platform: number;
  op: string;
  m: number;
  n: number;
  k: number;
  dtype: string;
  ranks: number;
  launch: string;
  model: string | null;
  product: string | null;
  parallelism: string | null;
  tokens: number | null;
  times: number | null; // a forward pass runs it so often
  strategy: string;
  partition: string;
  config: string;
  predicted_us: number;
  measured_us: number | null;
  p10_us: number | null;
  p90_us: number | null;
  sequential_us: number;
  gemm_us: number; // alone; 0: not known
  collective_us: number; // alone; 0: not known
  speedup: number | null;
  speedup_p10: number | null; // of the repetitions in which both ran in turn
  speedup_p90: number | null;
  hidden: number | null;
  overlap: number | null;
  cold: number | null; // speedup in this phase of the second run
  beside: number | null;
  regret: number | null; // of the model's first choice
  validated_at: string;
  timeline: { winner: Run; sequential: Run } | null;
}

export interface Candidate {
  platform: number;
  problem: string;
  strategy: string;
  config: string;
  rank: number | null;
  predicted_us: number;
  measured_us: number;
}

export interface CollectivePoint {
  platform: number;
  collective: string;
  ranks: number;
  transport: string;
  comm_ctas: number; // 0: NCCL chooses
  bytes: number;
  time_us: number;
  bus_factor: number;
}

export interface FailedCandidate {
  platform: number;
  problem: string;
  config: string;
  verdict: string;
  reason: string;
}

export interface ComparedWinner {
  platform_here: string | null;
  platform_there: string | null;
  problem: { op: string; m: number; n: number; k: number; dtype: string; ranks: number };
  launch: string;
  change: "faster" | "slower" | "within_noise" | "only_here" | "only_there";
  here_us: number | null;
  there_us: number | null;
  difference_us: number | null;
  noise_us: number | null;
  relative_change: number | null;
}

export interface Comparison {
  here: string;
  there: string;
  newest_here: string | null; // when the newest of the winners in both was validated
  newest_there: string | null;
  differing: { field: string; here: string; there: string }[];
  faster: number;
  slower: number;
  within_noise: number;
  only_here: number;
  only_there: number;
  time_ratio_geomean: number | null;
  platform_differences: string[];
  winners: ComparedWinner[];
}

export interface Report {
  made: { version: string; at: string; database: string };
  platforms: Platform[];
  winners: Winner[];
  candidates: Candidate[];
  candidatesInAll: number;
  collectives: CollectivePoint[];
  failures: FailedCandidate[];
  failuresInAll: number;
  comparison: Comparison | null;
}

/** A part of the page that shows one platform, by its position in the report. */
export type Show = (platform: number) => void;

interface Table {
  columns: string[];
  rows: unknown[][];
  total?: number;
}

/** The rows of a table as objects with the names of its columns. */
function objects<T>(table: Table): T[] {
  return table.rows.map((row) => Object.fromEntries(table.columns.map((name, i) => [name, row[i]])) as T);
}

export function readReport(text: string): Report {
  const document = JSON.parse(text);
  if (document.format !== 1) throw new Error(`data of format ${document.format}; this page reads format 1`);
  return {
    made: document.made,
    platforms: document.platforms,
    winners: objects<Winner>(document.winners).map((winner, id) => ({ ...winner, id })),
    candidates: objects(document.candidates),
    candidatesInAll: document.candidates.total,
    collectives: objects(document.collectives),
    failures: objects(document.failures),
    failuresInAll: document.failures.total,
    comparison: document.comparison,
  };
}

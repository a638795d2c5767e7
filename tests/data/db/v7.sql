-- A database of schema version 7, tuned on a simulated machine by the program of version 7; most measurements are left out.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE platforms (
  id INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL UNIQUE,
  machine TEXT NOT NULL,
  name TEXT NOT NULL,
  gpu_model TEXT NOT NULL,
  gpu_count INTEGER NOT NULL CHECK (gpu_count >= 0),
  sms INTEGER NOT NULL CHECK (sms >= 0),
  compute_capability INTEGER NOT NULL CHECK (compute_capability >= 0),
  memory_bytes INTEGER NOT NULL CHECK (memory_bytes >= 0),
  driver_version TEXT NOT NULL,
  cuda_version TEXT NOT NULL,
  nccl_version TEXT NOT NULL,
  topology TEXT NOT NULL,
  transport TEXT NOT NULL,
  multicast_allowed INTEGER NOT NULL CHECK (multicast_allowed IN (0, 1)),
  details TEXT NOT NULL
) STRICT;
INSERT INTO platforms VALUES(1,'9456b568c73816ed','sim','h200-nvlink-x4','NVIDIA H200',4,132,90,140660178944,'580.159.04','13.0','2.28.9','NVSwitch','nvlink',0,'profile e60bdac4b529c55c');
CREATE TABLE provenance (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,  -- 32 random hexadecimal digits: the same run in every database
  program_version TEXT NOT NULL,
  host TEXT NOT NULL,
  command_line TEXT NOT NULL,
  seed INTEGER NOT NULL,     -- 64 bits; from 2^63 on shown as a negative number
  started_at TEXT NOT NULL   -- UTC, ISO 8601, as all times of day
) STRICT;
INSERT INTO provenance VALUES(1,'c085188d81bf5b56acb16e5190b4dea0','0.1.0','host','overlaptune tune --machine sim:h200-nvlink-x4 --db a.db --quick-probe --top-k 3 --problem gemm_reduce_scatter:4096,8192,1024:bf16:4 --problem gemm_all_reduce:1024,8192,1024:bf16:4',0,'2026-11-24T08:45:47.625Z');
INSERT INTO provenance VALUES(2,'9ac417717047c29438d5cb95026c4f45','0.1.0','host','overlaptune tune --machine sim:h200-nvlink-x4 --db a.db --quick-probe --top-k 3 --problem gemm_reduce_scatter:4096,8192,1024:bf16:4 --problem gemm_all_reduce:1024,8192,1024:bf16:4',0,'2026-11-24T08:45:47.626Z');
INSERT INTO provenance VALUES(3,'245356a3fd82c35a97e71b4f4970f2a8','0.1.0','host','overlaptune tune --machine sim:h200-nvlink-x4 --db a.db --quick-probe --top-k 3 --problem gemm_reduce_scatter:4096,8192,1024:bf16:4 --problem gemm_all_reduce:1024,8192,1024:bf16:4',0,'2026-11-24T08:45:48.330Z');
INSERT INTO provenance VALUES(4,'b143c0e0ea31f34ef73e7614769c40be','0.1.0','host','overlaptune tune --machine sim:h200-nvlink-x4 --db a.db --quick-probe --top-k 3 --problem gemm_reduce_scatter:4096,8192,1024:bf16:4 --problem gemm_all_reduce:1024,8192,1024:bf16:4',0,'2026-11-24T08:45:48.540Z');
CREATE TABLE probe_runs (
  id INTEGER PRIMARY KEY,
  platform_id INTEGER NOT NULL REFERENCES platforms (id),
  provenance_id INTEGER NOT NULL UNIQUE REFERENCES provenance (id),
  finished_at TEXT           -- NULL: still running, or killed
) STRICT;
INSERT INTO probe_runs VALUES(1,1,2,'2026-11-24T08:45:48.238Z');
INSERT INTO probe_runs VALUES(2,1,3,'2026-11-24T08:45:48.426Z');
INSERT INTO probe_runs VALUES(3,1,4,'2026-11-24T08:45:48.619Z');
CREATE TABLE measurements (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES probe_runs (id),
  probe TEXT NOT NULL,       -- one line that names every field below that applies
  kind TEXT NOT NULL,        -- gemm, collective, concurrent, copy, launch
  m INTEGER,
  n INTEGER,
  k INTEGER,
  dtype TEXT,
  block_m INTEGER,           -- 0: the library's choice
  block_n INTEGER,
  block_k INTEGER,
  stages INTEGER,
  cluster INTEGER,
  raster INTEGER,
  sms INTEGER,               -- 0: all
  collective TEXT,
  collective_bytes INTEGER,
  ranks INTEGER,
  comm_ctas INTEGER,         -- 0: the library's default
  transport TEXT,
  copy_bytes INTEGER,
  copy_ctas INTEGER,         -- 0: a copy engine
  launch_cost TEXT,
  time_median_us REAL NOT NULL CHECK (time_median_us >= 0 AND time_median_us < 9e999),
  time_p10_us REAL NOT NULL CHECK (time_p10_us >= 0 AND time_p10_us < 9e999),
  time_p90_us REAL NOT NULL CHECK (time_p90_us >= 0 AND time_p90_us < 9e999),
  time_count INTEGER NOT NULL CHECK (time_count >= 0),
  collective_median_us REAL CHECK (collective_median_us >= 0 AND collective_median_us < 9e999),
  collective_p10_us REAL CHECK (collective_p10_us >= 0 AND collective_p10_us < 9e999),
  collective_p90_us REAL CHECK (collective_p90_us >= 0 AND collective_p90_us < 9e999),
  collective_count INTEGER CHECK (collective_count >= 0),
  sm_clock_mhz REAL CHECK (sm_clock_mhz >= 0 AND sm_clock_mhz < 9e999),
  power_w REAL CHECK (power_w >= 0 AND power_w < 9e999), library_block_m INTEGER CHECK (library_block_m > 0), library_block_n INTEGER CHECK (library_block_n > 0), library_block_k INTEGER CHECK (library_block_k > 0), library_stages INTEGER CHECK (library_stages > 0), library_cluster INTEGER CHECK (library_cluster > 0),
  UNIQUE (run_id, probe)
) STRICT;
INSERT INTO measurements VALUES(1,1,'launch graph_replay','launch',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'graph_replay',4.4137190108712545111,4.3708184885249750095,4.4689703003870180353,15,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(10,1,'copy 65536 bytes ctas=0','copy',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,65536,0,NULL,6.776924533774154824,6.7306593096282982813,6.8455624920437436742,15,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(22,1,'all_reduce 4096 bytes ranks=4 ctas=0 transport=ring','collective',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'all_reduce',4096,4,0,'ring',NULL,NULL,NULL,15.315843521984591646,15.195676028392925971,15.47240054190393188,15,NULL,NULL,NULL,NULL,1980.0,245.03191688311687812,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(40,1,'reduce_scatter 16777216 bytes ranks=4 ctas=16 transport=ring','collective',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'reduce_scatter',16777216,4,16,'ring',NULL,NULL,NULL,67.914514811749185697,67.265618133770061605,68.561852780612071002,15,NULL,NULL,NULL,NULL,1980.0,259.86902451994092189,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(80,1,'reduce_scatter 16777216 bytes ranks=4 ctas=16 transport=symmetric','collective',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'reduce_scatter',16777216,4,16,'symmetric',NULL,NULL,NULL,58.498924252341438999,57.621078952937395457,59.182270743037364013,15,NULL,NULL,NULL,NULL,1980.0,262.325868502581784,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(112,1,'gemm 26x632x1696 bf16 tile=library stages=0 cluster=0 raster=0 sms=0','gemm',26,632,1696,'bf16',0,0,0,0,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,12.2530635890954116,12.207473197613744275,12.300271278700678934,15,NULL,NULL,NULL,NULL,1979.999994110377429,268.06049316886361565,64,32,64,7,1);
INSERT INTO measurements VALUES(120,1,'gemm 17x1752x27744 bf16 tile=library stages=0 cluster=0 raster=0 sms=0','gemm',17,1752,27744,'bf16',0,0,0,0,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,69.152368606052775136,68.742664107231462367,69.487045541732172181,15,NULL,NULL,NULL,NULL,1979.9990455683685012,408.38242983615873527,64,32,64,7,1);
INSERT INTO measurements VALUES(160,1,'gemm 22080x6400x896 bf16 tile=256x80x64 stages=3 cluster=1 raster=16 sms=0','gemm',22080,6400,896,'bf16',256,80,64,3,1,16,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,528.83856231082211254,526.66680559395217644,531.67472251277422402,15,NULL,NULL,NULL,NULL,1588.8268986951377429,700.0,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(183,1,'gemm 8192x8192x8192 bf16 tile=library stages=0 cluster=0 raster=0 sms=0 in turn with all_reduce 134217728 bytes ranks=4 ctas=0 transport=ring','sustained',8192,8192,8192,'bf16',0,0,0,0,0,0,0,'all_reduce',134217728,4,0,'ring',NULL,NULL,NULL,2096.2048521966580665,2083.8697642849720067,2109.349397568036693,15,NULL,NULL,NULL,NULL,1540.4252534287570597,698.83140670263799165,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(186,1,'gemm 4096x8192x8192 bf16 tile=library stages=0 cluster=0 raster=0 sms=116 beside all_reduce 67108864 bytes ranks=4 ctas=16 transport=ring','concurrent',4096,8192,8192,'bf16',0,0,0,0,0,0,116,'all_reduce',67108864,4,16,'ring',NULL,NULL,NULL,927.0111100599300471,923.62756258613012503,930.90537458812354998,15,457.20667388715287415,450.98671478590199512,463.16647293416144748,15,1428.5908649487091679,700.0,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(200,1,'gemm 4096x8192x8192 bf16 tile=128x256x64 stages=4 cluster=1 raster=4 sms=116 beside reduce_scatter 16777216 bytes ranks=4 ctas=16 transport=peer_access','concurrent',4096,8192,8192,'bf16',128,256,64,4,1,4,116,'reduce_scatter',16777216,4,16,'peer_access',NULL,NULL,NULL,962.92292809388334261,958.83866832899821023,969.87369751025914862,15,60.886621585675996469,60.21680170904550522,62.037007963078622196,15,1393.670376149906815,700.0,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE problems (
  id INTEGER PRIMARY KEY,
  op TEXT NOT NULL,
  m INTEGER NOT NULL CHECK (m > 0),
  n INTEGER NOT NULL CHECK (n > 0),
  k INTEGER NOT NULL CHECK (k > 0),
  dtype TEXT NOT NULL,
  ranks INTEGER NOT NULL CHECK (ranks > 1),
  UNIQUE (op, m, n, k, dtype, ranks)
) STRICT;
INSERT INTO problems VALUES(1,'gemm_reduce_scatter',4096,8192,1024,'bf16',4);
INSERT INTO problems VALUES(2,'gemm_all_reduce',1024,8192,1024,'bf16',4);
CREATE TABLE tuning_runs (
  id INTEGER PRIMARY KEY,
  platform_id INTEGER NOT NULL REFERENCES platforms (id),
  provenance_id INTEGER NOT NULL UNIQUE REFERENCES provenance (id),
  request TEXT NOT NULL,
  finished_at TEXT           -- NULL: still running, or stopped
) STRICT;
INSERT INTO tuning_runs VALUES(1,1,1,'problems=2 digest=93cfcfe54d816dee top_k=3 explore=0 launch=graph seed=0','2026-11-24T08:45:48.856Z');
CREATE TABLE candidates (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES tuning_runs (id),
  problem_id INTEGER NOT NULL REFERENCES problems (id),
  launch TEXT NOT NULL,
  config TEXT NOT NULL,      -- as `overlaptune run --config` reads it, written in one way only
  origin TEXT NOT NULL,
  rank_by_model INTEGER CHECK (rank_by_model >= 0),
  predicted_us REAL NOT NULL CHECK (predicted_us >= 0 AND predicted_us < 9e999),
  verdict TEXT NOT NULL,
  reason TEXT NOT NULL,
  measured_median_us REAL CHECK (measured_median_us >= 0 AND measured_median_us < 9e999),
  measured_p10_us REAL CHECK (measured_p10_us >= 0 AND measured_p10_us < 9e999),
  measured_p90_us REAL CHECK (measured_p90_us >= 0 AND measured_p90_us < 9e999),
  measured_count INTEGER CHECK (measured_count >= 0),
  speedup_median REAL CHECK (speedup_median >= 0 AND speedup_median < 9e999),
  speedup_p10 REAL CHECK (speedup_p10 >= 0 AND speedup_p10 < 9e999),
  speedup_p90 REAL CHECK (speedup_p90 >= 0 AND speedup_p90 < 9e999),
  sm_clock_mhz REAL CHECK (sm_clock_mhz >= 0 AND sm_clock_mhz < 9e999),
  power_w REAL CHECK (power_w >= 0 AND power_w < 9e999),
  strategy TEXT AS (substr(config, 1, instr(config, ' ') - 1)) VIRTUAL, seal INTEGER,
  UNIQUE (run_id, problem_id, launch, config)
) STRICT;
INSERT INTO candidates VALUES(1,1,1,'graph','sequential ctas=16 transport=peer_access','baseline',NULL,267.18059203958858915,'valid','',260.96767620658755503,258.14150436309176938,261.83340430830793366,9,1.0,1.0,1.0,1875.78453441321858,560.02424035535193526,-2328790313210531452);
INSERT INTO candidates VALUES(2,1,1,'graph','signaled tile=128x128x64 stages=6 cluster=2 raster=1 ctas=16 transport=peer_access wait=kernel groups=116,348,580,1004','shortlist',0,211.18504829516800214,'valid','',245.73375324035714583,243.21187061353825241,247.26332244593908172,9,1.0607009734643400022,1.046072594085464491,1.0736295492169909415,1893.1856426426161305,623.39000000079215625,-3089203907026034376);
INSERT INTO candidates VALUES(3,1,1,'graph','signaled tile=64x224x64 stages=6 cluster=1 raster=8 ctas=16 transport=peer_access wait=kernel groups=96,224,352,704,992','shortlist',1,213.66203475130495803,'valid','',248.8868858338645964,247.37456230696864168,249.7801858030498181,9,1.0507669129618784076,1.0346942923939306258,1.052217796226346369,1891.5549070641031903,635.33375881093127192,-6542790474904070360);
INSERT INTO candidates VALUES(4,1,1,'graph','signaled tile=256x96x64 stages=4 cluster=2 raster=1 ctas=16 transport=peer_access wait=kernel groups=116,232,348,680','shortlist',2,213.83722733702879281,'valid','',241.37633398368069492,238.40484195828526025,241.77935940803254766,9,1.0824484923341100017,1.0704468107527034259,1.0873684474983400516,1893.3024162155802513,620.69077810341093479,1020769439412471304);
INSERT INTO candidates VALUES(5,1,2,'graph','sequential ctas=16 transport=peer_access','baseline',NULL,117.70763823820253434,'valid','',119.45168015643410797,118.28978370756532001,120.45525549658120212,9,1.0,1.0,1.0,1927.9353045261309489,447.48885298176122658,3679088230421865565);
INSERT INTO candidates VALUES(6,1,2,'graph','signaled tile=128x64x64 stages=7 cluster=2 raster=8 ctas=16 transport=peer_access wait=kernel groups=112,232,680','shortlist',0,115.36559159649989681,'valid','',118.8035168336568148,118.17737898524892158,119.52070389576589093,9,1.0047085621803770738,0.99159679120887433967,1.0186400471376377829,1954.7231428952613896,499.09781796327456503,-7872008623068830420);
INSERT INTO candidates VALUES(7,1,2,'graph','signaled tile=64x128x64 stages=7 cluster=1 raster=16 ctas=16 transport=peer_access wait=kernel groups=112,224,688','shortlist',1,118.88844174091315153,'valid','',119.88401080090271477,118.8667735559315588,120.44879481685217115,9,0.998542917826520382,0.98925928241124894135,1.0061839911907068945,1950.8838871413611286,501.51917607565519572,-9145827327592169006);
INSERT INTO candidates VALUES(8,1,2,'graph','signaled tile=128x64x64 stages=7 cluster=1 raster=2 ctas=16 transport=peer_access wait=kernel groups=116,232,676','shortlist',2,119.06884859817461119,'valid','',119.30144006281933854,118.64978898917649985,120.61584107223305295,9,0.9941462921704139477,0.98994520144921971382,1.0126324089814053852,1951.3601766266629056,502.75775254574500651,-496413671854513692);
CREATE TABLE layer_gemms (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES tuning_runs (id),
  problem_id INTEGER NOT NULL REFERENCES problems (id),
  model TEXT NOT NULL CHECK (model <> ''),
  product TEXT NOT NULL,     -- qkv, o, gate_up, up, down, experts
  parallelism TEXT NOT NULL, -- tp, sp
  tokens INTEGER NOT NULL CHECK (tokens > 0),
  times_per_pass INTEGER NOT NULL CHECK (times_per_pass > 0),
  UNIQUE (run_id, problem_id, model, product, parallelism, tokens)
) STRICT;
CREATE TABLE winners (
  platform_id INTEGER NOT NULL REFERENCES platforms (id),
  op TEXT NOT NULL,
  m INTEGER NOT NULL CHECK (m > 0),
  n INTEGER NOT NULL CHECK (n > 0),
  k INTEGER NOT NULL CHECK (k > 0),
  dtype TEXT NOT NULL,
  ranks INTEGER NOT NULL CHECK (ranks > 1),
  launch TEXT NOT NULL,
  config TEXT NOT NULL,
  measured_median_us REAL NOT NULL CHECK (measured_median_us >= 0 AND measured_median_us < 9e999),
  predicted_us REAL NOT NULL CHECK (predicted_us >= 0 AND predicted_us < 9e999),
  sequential_us REAL NOT NULL CHECK (sequential_us >= 0 AND sequential_us < 9e999),
  validated_at TEXT NOT NULL,
  answer_seal INTEGER,       -- over what an answer is made of; see docs/database.md
  run_id INTEGER NOT NULL REFERENCES tuning_runs (id),
  origin TEXT NOT NULL,
  rank_by_model INTEGER CHECK (rank_by_model >= 0),
  reason TEXT NOT NULL,
  measured_p10_us REAL NOT NULL CHECK (measured_p10_us >= 0 AND measured_p10_us < 9e999),
  measured_p90_us REAL NOT NULL CHECK (measured_p90_us >= 0 AND measured_p90_us < 9e999),
  measured_count INTEGER NOT NULL CHECK (measured_count >= 0),
  speedup_median REAL CHECK (speedup_median >= 0 AND speedup_median < 9e999),
  speedup_p10 REAL CHECK (speedup_p10 >= 0 AND speedup_p10 < 9e999),
  speedup_p90 REAL CHECK (speedup_p90 >= 0 AND speedup_p90 < 9e999),
  sm_clock_mhz REAL CHECK (sm_clock_mhz >= 0 AND sm_clock_mhz < 9e999),
  power_w REAL CHECK (power_w >= 0 AND power_w < 9e999),
  gemm_alone_us REAL NOT NULL CHECK (gemm_alone_us >= 0 AND gemm_alone_us < 9e999),
  collective_alone_us REAL NOT NULL CHECK (collective_alone_us >= 0 AND collective_alone_us < 9e999),
  overlap_fraction REAL CHECK (overlap_fraction BETWEEN 0 AND 1),
  seal INTEGER,              -- over all; NULL: broke a rule when seals came in
  strategy TEXT AS (substr(config, 1, instr(config, ' ') - 1)) VIRTUAL,
  PRIMARY KEY (platform_id, op, m, n, k, dtype, ranks, launch)
) STRICT, WITHOUT ROWID;
INSERT INTO winners VALUES(1,'gemm_all_reduce',1024,8192,1024,'bf16',4,'graph','signaled tile=128x64x64 stages=7 cluster=2 raster=8 ctas=16 transport=peer_access wait=kernel groups=112,232,680',119.02026843099346819,115.36559159649989681,119.47268997074192497,'2026-11-24T08:45:48.856Z',1301652661534187391,1,'shortlist',0,'',118.17258934706596562,119.83001646507703696,24,1.0038012142445364993,0.99186427798235887731,1.0177685549758763716,1954.7231428952613896,499.09781796327456503,28.234784286835196809,94.687945801164801196,0.64288926192796036485,4187096525190414930);
INSERT INTO winners VALUES(1,'gemm_reduce_scatter',4096,8192,1024,'bf16',4,'graph','signaled tile=256x96x64 stages=4 cluster=2 raster=1 ctas=16 transport=peer_access wait=kernel groups=116,232,348,680',240.6220090206993234,213.83722733702879281,259.93494643975850522,'2026-11-24T08:45:48.792Z',6181814082458810966,1,'shortlist',2,'',238.31191893458097297,242.78953307052074704,24,1.0802625557722684845,1.0672495109515376388,1.0893980097073669988,1893.3024162155802513,620.69077810341093479,92.322064576465521666,172.62312979767804677,0.71275973382941537614,3283582634973652757);
CREATE INDEX probe_runs_of_platform ON probe_runs (platform_id);
CREATE INDEX tuning_runs_of_platform ON tuning_runs (platform_id);
COMMIT;
PRAGMA application_id = 1870031988;
PRAGMA user_version = 7;

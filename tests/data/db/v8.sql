-- A database of schema version 8, tuned on a simulated machine by the program of version 8; most measurements are left out.
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
INSERT INTO platforms VALUES(1,'8b20d972102d8388','sim','h200-nvlink-x4','NVIDIA H200',4,132,90,140660178944,'580.159.04','13.0','2.28.9','NVSwitch','nvlink',0,'profile 2beef91b0a88fc86');
CREATE TABLE provenance (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,  -- 32 random hexadecimal digits: the same run in every database
  program_version TEXT NOT NULL,
  host TEXT NOT NULL,
  command_line TEXT NOT NULL,
  seed INTEGER NOT NULL,     -- 64 bits; from 2^63 on shown as a negative number
  started_at TEXT NOT NULL   -- UTC, ISO 8601, as all times of day
) STRICT;
INSERT INTO provenance VALUES(1,'4a3714055896edf25c4135308641d69e','0.1.0','host','overlaptune tune',3,'2026-11-26T11:42:41.537Z');
INSERT INTO provenance VALUES(2,'ee0d88966fc22a897059653a849ab510','0.1.0','host','overlaptune tune',3,'2026-11-26T11:42:41.538Z');
INSERT INTO provenance VALUES(3,'8c487a82b44d1929af8aff1c633796d0','0.1.0','host','overlaptune tune',3,'2026-11-26T11:42:41.952Z');
INSERT INTO provenance VALUES(4,'caa89d3b8ae3fb200478af0fd1163865','0.1.0','host','overlaptune tune',3,'2026-11-26T11:42:42.034Z');
CREATE TABLE probe_runs (
  id INTEGER PRIMARY KEY,
  platform_id INTEGER NOT NULL REFERENCES platforms (id),
  provenance_id INTEGER NOT NULL UNIQUE REFERENCES provenance (id),
  finished_at TEXT           -- NULL: still running, or killed
) STRICT;
INSERT INTO probe_runs VALUES(1,1,2,'2026-11-26T11:42:41.904Z');
INSERT INTO probe_runs VALUES(2,1,3,'2026-11-26T11:42:41.984Z');
INSERT INTO probe_runs VALUES(3,1,4,'2026-11-26T11:42:42.049Z');
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
  power_w REAL CHECK (power_w >= 0 AND power_w < 9e999), library_block_m INTEGER CHECK (library_block_m > 0), library_block_n INTEGER CHECK (library_block_n > 0), library_block_k INTEGER CHECK (library_block_k > 0), library_stages INTEGER CHECK (library_stages > 0), library_cluster INTEGER CHECK (library_cluster > 0), peer_bytes INTEGER, peer_from INTEGER, peer_to INTEGER,
  UNIQUE (run_id, probe)
) STRICT;
INSERT INTO measurements VALUES(1,1,'launch graph_replay','launch',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'graph_replay',4.4151354089507908184,4.3734281342944569814,4.4502581598520114525,15,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(24,1,'all_reduce 1048576 bytes ranks=4 ctas=0 transport=ring','collective',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'all_reduce',1048576,4,0,'ring',NULL,NULL,NULL,23.857885102504102548,23.540457831767078288,24.007252008879635951,15,NULL,NULL,NULL,NULL,1980.0,250.28693781512603778,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(47,1,'all_gather 4096 bytes ranks=4 ctas=16 transport=ring','collective',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'all_gather',4096,4,16,'ring',NULL,NULL,NULL,12.740461581757667631,12.660537900956422063,12.82581178534930899,15,NULL,NULL,NULL,NULL,1980.0,245.01935118110236544,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(70,1,'all_reduce 16777216 bytes ranks=4 ctas=16 transport=symmetric','collective',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'all_reduce',16777216,4,16,'symmetric',NULL,NULL,NULL,100.71069265716901952,99.671364919897769141,102.29933007084652273,15,NULL,NULL,NULL,NULL,1980.0,265.07244187437686378,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(93,1,'all_reduce 65536 bytes ranks=4 ctas=16 transport=peer_access','collective',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'all_reduce',65536,4,16,'peer_access',NULL,NULL,NULL,12.570059473044150166,12.421099794338354982,12.708547690743142056,15,NULL,NULL,NULL,NULL,1980.0,245.62415238095238122,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(116,1,'gemm 384x896x640 bf16 tile=library stages=0 cluster=0 raster=0 sms=0','gemm',384,896,640,'bf16',0,0,0,0,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,9.9475026856775627948,9.917221555443633818,9.9705053862837296207,15,NULL,NULL,NULL,NULL,1979.9987514967488095,346.06853596492220504,64,64,64,7,1,NULL,NULL,NULL);
INSERT INTO measurements VALUES(139,1,'gemm 768x4608x28672 bf16 tile=library stages=0 cluster=0 raster=0 sms=0','gemm',768,4608,28672,'bf16',0,0,0,0,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,309.12229432944519657,307.2614065833904533,310.55361279766560756,15,NULL,NULL,NULL,NULL,1507.7468255038907045,700.0,128,256,64,4,2,NULL,NULL,NULL);
INSERT INTO measurements VALUES(162,1,'gemm 3136x768x4608 bf16 tile=128x224x64 stages=3 cluster=2 raster=1 sms=0','gemm',3136,768,4608,'bf16',128,224,64,3,2,1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,50.949505384073276561,50.622908924002722129,51.224686124782806474,15,NULL,NULL,NULL,NULL,1871.9157498687002317,700.0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(185,1,'gemm 215x3512x8192 bf16 tile=80x256x64 stages=3 cluster=2 raster=2 sms=128','gemm',215,3512,8192,'bf16',80,256,64,3,2,2,128,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,69.611302693679562025,69.149860918603593519,70.295717670557692712,15,NULL,NULL,NULL,NULL,1979.9141564685080539,578.69547577372645718,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(208,2,'gemm 4096x4096x1024 bf16 tile=256x64x64 stages=4 cluster=2 raster=8 sms=0','gemm',4096,4096,1024,'bf16',256,64,64,4,2,8,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,59.284131428573701326,59.1188895222103028,59.511023091850972833,15,NULL,NULL,NULL,NULL,1766.3087953725371334,700.0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
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
INSERT INTO problems VALUES(1,'gemm_all_reduce',4096,4096,1024,'bf16',4);
INSERT INTO problems VALUES(2,'gemm_reduce_scatter',2048,4096,512,'bf16',4);
CREATE TABLE tuning_runs (
  id INTEGER PRIMARY KEY,
  platform_id INTEGER NOT NULL REFERENCES platforms (id),
  provenance_id INTEGER NOT NULL UNIQUE REFERENCES provenance (id),
  request TEXT NOT NULL,
  finished_at TEXT           -- NULL: still running, or stopped
) STRICT;
INSERT INTO tuning_runs VALUES(1,1,1,'problems=2 digest=c12bd92314a58a0a top_k=2 explore=0 launch=graph seed=3','2026-11-26T11:42:42.148Z');
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
INSERT INTO candidates VALUES(1,1,1,'graph','sequential ctas=16 transport=peer_access','baseline',NULL,219.32220671958543788,'valid','',220.30872555715015437,217.52051414020382935,222.68354777003906974,9,1.0,1.0,1.0,1916.6153039885580255,456.55729434254226362,4790521205592429694);
INSERT INTO candidates VALUES(2,1,1,'graph','peer_store tile=128x128x64 stages=6 cluster=2 raster=8 groups=656,136,128,104','shortlist',0,172.11901800714693422,'valid','',171.1718253195722923,170.82288614396458114,172.80133950524694341,9,1.2835153284088456349,1.260204630685416216,1.3047393496244810151,1958.518398231099809,561.87260146482276468,1506338095273706784);
INSERT INTO candidates VALUES(3,1,1,'graph','peer_store tile=64x256x64 stages=4 cluster=1 raster=8 groups=128,400,392,104','shortlist',1,172.78759490607038173,'valid','',174.12222292702711001,172.95145863034449007,175.77319208593087296,9,1.2587439245747713556,1.2470552253388897945,1.2892361576823461177,1924.2157234446351595,518.22132744640225609,4731050997587388188);
INSERT INTO candidates VALUES(4,1,2,'graph','sequential ctas=16 transport=peer_access','baseline',NULL,71.540300000547972559,'valid','',70.727279679836072999,70.198047673434885497,71.681964191868971169,9,1.0,1.0,1.0,1950.1460278537056183,429.10338578402132726,-8102991567050039326);
INSERT INTO candidates VALUES(5,1,2,'graph','peer_store tile=128x128x64 stages=5 cluster=2 raster=4 groups=128,128,128,128','shortlist',0,63.093109781886681729,'valid','',63.668078999778401792,63.537335469934831167,64.065641095473011999,9,1.1091375844201434297,1.098959932256081462,1.1233850733863290916,1974.0759656085313054,474.77333950495147975,-3915761083851289984);
INSERT INTO candidates VALUES(6,1,2,'graph','signaled tile=128x112x64 stages=7 cluster=2 raster=1 ctas=16 transport=peer_access wait=kernel groups=116,476','shortlist',1,68.960674085087262596,'valid','',75.191754372057701518,74.447148501870159973,75.591839451968198203,9,0.94416383854336261016,0.93198352059830291693,0.96210272237404981243,1969.5365857371962192,456.23544091568606971,2474754818678770357);
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
INSERT INTO winners VALUES(1,'gemm_all_reduce',4096,4096,1024,'bf16',4,'graph','peer_store tile=128x128x64 stages=6 cluster=2 raster=8 groups=656,136,128,104',171.96402814940967118,172.11901800714693422,220.25587758215692702,'2026-11-26T11:42:42.122Z',-9100769791761786,1,'shortlist',0,'',170.88342929378640633,173.12422869201188291,24,1.2808252978977048286,1.2637865369191245701,1.300885272756322486,1958.518398231099809,561.87260146482276468,48.524600862996905446,175.81937251397656041,0.8161648435313443306,-5567870930556921922);
INSERT INTO winners VALUES(1,'gemm_reduce_scatter',2048,4096,512,'bf16',4,'graph','peer_store tile=128x128x64 stages=5 cluster=2 raster=4 groups=128,128,128,128',63.917698984451185141,63.093109781886681729,70.921586480414433141,'2026-11-26T11:42:42.148Z',-6828371964606890690,1,'shortlist',0,'',63.599853662399205233,64.314403968838959714,24,1.1095766525898724808,1.0998572918679960785,1.1230546212231837799,1974.0759656085313054,474.77333950495147975,18.238488746652002703,56.580560015626289783,0.53954642092415217025,-9198177158513877332);
CREATE INDEX probe_runs_of_platform ON probe_runs (platform_id);
CREATE INDEX tuning_runs_of_platform ON tuning_runs (platform_id);
COMMIT;
PRAGMA application_id = 1870031988;
PRAGMA user_version = 8;

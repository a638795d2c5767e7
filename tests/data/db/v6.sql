-- A database of schema version 6: that of v5.sql, migrated by the program of version 6, with three products of a
-- model's layers.
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
INSERT INTO platforms VALUES(1,'79510a13080f8fdc','cuda','name-336435','%sNCCLµs'';--',7,112,106,489494203890,replace('\n'' 2.28%sNCCL','\n',char(10)),replace('\\\n''','\n',char(10)),';--\;--',replace('\n\µs','\n',char(10)),'%s''',1,'NCCL');
INSERT INTO platforms VALUES(2,'d340c6c4ea55dfe7','cuda','name-748713','µs"',1,61,120,212226115724,replace('\nµs''%sµs','\n',char(10)),'"µs;--NCCL','\ 2.28;--',replace('%s\n"\\\n','\n',char(10)),replace(';--\\''\n"','\n',char(10)),1,'" 2.28;--µs\"');
CREATE TABLE provenance (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,  -- 32 random hexadecimal digits: the same run in every database
  program_version TEXT NOT NULL,
  host TEXT NOT NULL,
  command_line TEXT NOT NULL,
  seed INTEGER NOT NULL,     -- 64 bits; from 2^63 on shown as a negative number
  started_at TEXT NOT NULL   -- UTC, ISO 8601, as all times of day
) STRICT;
INSERT INTO provenance VALUES(1,'22e4db16950e222234f24b5c10c1e41a',replace('''NCCL%sµs\n','\n',char(10)),'\""NCCL''µs',replace('NCCL\"\n''','\n',char(10)),537933997127126407,'2026-01-07T00:00:00.000Z');
INSERT INTO provenance VALUES(2,'5b04ecc4e32784afae125d42d70ce1f4','NCCLNCCL''','','',-6712826161583036693,'2026-01-01T00:00:00.000Z');
INSERT INTO provenance VALUES(3,'022ddfbbb8b711b3354a082bad28d2c1','µs"µs','%s',replace('\n','\n',char(10)),5978100581514864769,'2026-01-07T00:00:00.000Z');
INSERT INTO provenance VALUES(4,'1dab1095db68c7c03416ed0ff5582750',replace('\\n','\n',char(10)),replace('''\\n%sµs','\n',char(10)),'NCCL 2.28;--',-7280904664090398055,'2026-01-23T00:00:00.000Z');
INSERT INTO provenance VALUES(5,'dab45da98295184384374bd8a00d7933',replace('''\n','\n',char(10)),'%s',replace('NCCL"µs\µs\n','\n',char(10)),-4408222884378474923,'2026-01-18T00:00:00.000Z');
INSERT INTO provenance VALUES(6,'ae0869e3e9aaf09383c014da22387e19','0.1.0','host','overlaptune tune',7,'2026-11-22T10:00:00.000Z');
INSERT INTO provenance VALUES(7,'55555555555555555555555555555555','0.1.0','host','overlaptune tune --launch eager',7,'2026-11-23T09:00:00.000Z');
CREATE TABLE probe_runs (
  id INTEGER PRIMARY KEY,
  platform_id INTEGER NOT NULL REFERENCES platforms (id),
  provenance_id INTEGER NOT NULL UNIQUE REFERENCES provenance (id),
  finished_at TEXT           -- NULL: still running, or killed
) STRICT;
INSERT INTO probe_runs VALUES(1,1,1,'2026-11-21T09:19:02.951Z');
INSERT INTO probe_runs VALUES(2,2,3,'2026-11-21T09:19:02.952Z');
INSERT INTO probe_runs VALUES(3,1,5,'2026-11-21T16:07:50.593Z');
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
INSERT INTO measurements VALUES(1,1,'copy 3448293920 bytes ctas=31','copy',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,3448293920,31,NULL,0.17359569425727486291,0.1562361248315473905,0.2169946178215935717,18,NULL,NULL,NULL,NULL,0.093194578126735483358,5.4193393084422441718e-06,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(2,1,'gemm 7905x4734x2169 fp16 tile=library stages=0 cluster=0 raster=3 sms=96 beside all_gather 7419667204 bytes ranks=12 ctas=10 transport=copy_engine','concurrent',7905,4734,2169,'fp16',0,0,0,0,0,3,96,'all_gather',7419667204,12,10,'copy_engine',NULL,NULL,NULL,90760324.995749652385,81684292.496174693105,113450406.24468706548,55,76911226.299845919011,69220103.669861331582,96139032.874807402494,6,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(3,1,'all_reduce 2122573452 bytes ranks=9 ctas=6 transport=ring','collective',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'all_reduce',2122573452,9,6,'ring',NULL,NULL,NULL,0.38318908776426902074,0.34487017898784211311,0.47898635970533626204,8,NULL,NULL,NULL,NULL,NULL,1.3545952633536488571e-08,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(4,1,'copy 6702957760 bytes ctas=32','copy',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,6702957760,32,NULL,5.3735467511957231965e-10,4.8361920760761512908e-10,6.7169334389946545134e-10,68,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(5,1,'gemm 6444x7454x4092 fp16 tile=192x192x64 stages=4 cluster=2 raster=2 sms=4','gemm',6444,7454,4092,'fp16',192,192,64,4,2,2,4,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,104407952171.67088318,93967156954.503799435,130509940214.58860778,64,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(6,1,'copy 6490552001 bytes ctas=22','copy',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,6490552001,22,NULL,103496.46144055442709,93146.815296498985843,129370.57680069303023,6,NULL,NULL,NULL,NULL,NULL,9.6133306916279820273e-11,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(7,1,'copy 5109376274 bytes ctas=32','copy',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,5109376274,32,NULL,2.9528046791829026334e-07,2.6575242112646122643e-07,3.6910058489786285566e-07,5,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(8,1,'launch signal_trigger','launch',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'signal_trigger',6314292.8887255555018,5682863.5998529996721,7892866.1109069446102,90,NULL,NULL,NULL,NULL,5.460326565641569374,189753.70897433173377,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(9,1,'launch eager_first','launch',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'eager_first',0.017521216427599711762,0.015769094784839742667,0.021901520534499639702,8,NULL,NULL,NULL,NULL,4172.0027382047119319,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(10,1,'gemm 8316x3114x2081 bf16 tile=128x120x64 stages=5 cluster=2 raster=0 sms=123 beside all_reduce 6633570276 bytes ranks=4 ctas=18 transport=ring','concurrent',8316,3114,2081,'bf16',128,120,64,5,2,0,123,'all_reduce',6633570276,4,18,'ring',NULL,NULL,NULL,52.779486238903864149,47.501537615013475603,65.974357798629824855,80,1.8216100631261137352e-10,1.6394490568135023359e-10,2.2770125789076422339e-10,61,61283.695255688478936,196236977.14712920785,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(11,1,'copy 6363648181 bytes ctas=7','copy',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,6363648181,7,NULL,1.7744678289206521348,1.5970210460285869658,2.2180847861508152796,90,NULL,NULL,NULL,NULL,NULL,7.071009247638079212e-12,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(12,2,'launch eager_submit','launch',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'eager_submit',31377499328.229351044,28239749395.406417846,39221874160.286689758,5,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(13,2,'all_gather 7691307646 bytes ranks=15 ctas=4 transport=copy_engine','collective',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'all_gather',7691307646,15,4,'copy_engine',NULL,NULL,NULL,36061.27288816968212,32455.145599352716089,45076.59111021210265,30,NULL,NULL,NULL,NULL,1.3814884019455832498e-09,17117064483.439172745,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(14,2,'all_reduce 3346858027 bytes ranks=10 ctas=1 transport=ring','collective',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'all_reduce',3346858027,10,1,'ring',NULL,NULL,NULL,481560578.44864505529,433404520.60378056764,601950723.06080627442,31,NULL,NULL,NULL,NULL,NULL,3.2823064630330127551e-05,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(15,2,'gemm 615x3793x8563 fp16 tile=library stages=0 cluster=0 raster=6 sms=105 beside all_to_all 6570160724 bytes ranks=9 ctas=28 transport=copy_engine','concurrent',615,3793,8563,'fp16',0,0,0,0,0,6,105,'all_to_all',6570160724,9,28,'copy_engine',NULL,NULL,NULL,6507909806.2201843261,5857118825.5981664655,8134887257.7752304076,38,0.0016499261565045266961,0.0014849335408540741132,0.0020624076956306585869,56,1.159888030991100519e-08,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(16,2,'launch graph_kernel','launch',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'graph_kernel',56380.060869720873598,50742.054782748789876,70475.076087151086539,99,NULL,NULL,NULL,NULL,75351156832.743865967,0.0004112695334620112956,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(17,2,'gemm 5059x4483x8213 bf16 tile=256x32x64 stages=3 cluster=1 raster=1 sms=75','gemm',5059,4483,8213,'bf16',256,32,64,3,1,1,75,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0.50337501084004077078,0.4530375097560366826,0.62921876355005101899,4,NULL,NULL,NULL,NULL,1.2354654809468728213e-09,2.9377048208217694708e-10,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(18,2,'all_gather 5578544449 bytes ranks=16 ctas=15 transport=ring','collective',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'all_gather',5578544449,16,15,'ring',NULL,NULL,NULL,1287.2201576277450385,1158.4981418649706484,1609.0251970346812413,65,NULL,NULL,NULL,NULL,4.9180131611129153769e-06,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(19,2,'gemm 1091x1874x2764 fp16 tile=256x176x64 stages=8 cluster=2 raster=0 sms=47 beside all_gather 2025743867 bytes ranks=13 ctas=2 transport=symmetric','concurrent',1091,1874,2764,'fp16',256,176,64,8,2,0,47,'all_gather',2025743867,13,2,'symmetric',NULL,NULL,NULL,1.5792540474286573146e-09,1.421328642685791583e-09,1.9740675592858216432e-09,30,1.5672694924675272996e-12,1.4105425432207746706e-12,1.9590868655844091748e-12,91,NULL,96250.067990944851775,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(20,2,'launch reorder_per_mb','launch',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'reorder_per_mb',5956.7341033732182039,5361.0606930358962927,7445.9176292165229825,70,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(21,2,'launch graph_replay','launch',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'graph_replay',3.1088238034676304605e-05,2.7979414231208674821e-05,3.8860297543345380757e-05,38,NULL,NULL,NULL,NULL,28683025499.416286469,7403080.4169795457274,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(22,2,'gemm 4330x5874x5014 fp16 tile=library stages=0 cluster=0 raster=5 sms=86','gemm',4330,5874,5014,'fp16',0,0,0,0,0,5,86,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1.9085744545762107923e-05,1.7177170091185898825e-05,2.3857180682202634059e-05,78,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO measurements VALUES(23,3,'gemm 5175x2293x5434 fp16 tile=library stages=0 cluster=0 raster=1 sms=79','gemm',5175,2293,5434,'fp16',0,0,0,0,0,1,79,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,14406101.40066501312,12965491.260598512366,18007626.750831265001,13,NULL,NULL,NULL,NULL,NULL,NULL,168,114,64,2,2);
INSERT INTO measurements VALUES(24,3,'gemm 9483x1580x4972 bf16 tile=library stages=0 cluster=0 raster=4 sms=41','gemm',9483,1580,4972,'bf16',0,0,0,0,0,4,41,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,2.0030163003568736317e-11,1.8027146703211863654e-11,2.5037703754460919588e-11,90,NULL,NULL,NULL,NULL,NULL,1.1091415518177588237e-10,198,103,64,7,2);
INSERT INTO measurements VALUES(25,3,'gemm 5270x610x7922 bf16 tile=library stages=0 cluster=0 raster=7 sms=115','gemm',5270,610,7922,'bf16',0,0,0,0,0,7,115,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0.44477864047269832781,0.40030077642542849503,0.55597330059087290976,93,NULL,NULL,NULL,NULL,13754716064.775640488,2.7017610538773827485e-06,206,245,64,1,2);
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
INSERT INTO problems VALUES(1,'gemm_all_reduce',4291,5848,39000,'fp16',7);
INSERT INTO problems VALUES(2,'all_gather_gemm',35532,30216,34104,'bf16',9);
INSERT INTO problems VALUES(3,'all_gather_gemm',1419,46928,50552,'bf16',3);
INSERT INTO problems VALUES(4,'gemm_all_reduce',22880,7856,11416,'fp16',8);
INSERT INTO problems VALUES(5,'all_gather_gemm',37366,17112,888,'bf16',14);
INSERT INTO problems VALUES(6,'all_gather_gemm',31850,32016,55280,'fp16',13);
INSERT INTO problems VALUES(7,'gemm_reduce_scatter',7506,53520,49824,'fp16',6);
INSERT INTO problems VALUES(8,'all_gather_gemm',20104,38104,25432,'fp16',14);
INSERT INTO problems VALUES(9,'gemm_reduce_scatter',22968,20512,51768,'bf16',8);
INSERT INTO problems VALUES(10,'gemm_reduce_scatter',32540,54328,11336,'bf16',10);
INSERT INTO problems VALUES(11,'gemm_all_to_all',3172,11624,56600,'bf16',2);
INSERT INTO problems VALUES(12,'all_gather_gemm',7344,24544,11032,'bf16',8);
INSERT INTO problems VALUES(13,'gemm_all_to_all',2793,34920,52336,'fp16',7);
INSERT INTO problems VALUES(14,'all_gather_gemm',43464,46520,30808,'fp16',12);
INSERT INTO problems VALUES(15,'gemm_reduce_scatter',30852,18496,12360,'bf16',9);
INSERT INTO problems VALUES(16,'gemm_reduce_scatter',46860,19056,59112,'bf16',15);
INSERT INTO problems VALUES(17,'gemm_reduce_scatter',11427,1216,5672,'fp16',13);
INSERT INTO problems VALUES(18,'gemm_reduce_scatter',16096,55896,50304,'bf16',4);
INSERT INTO problems VALUES(19,'gemm_reduce_scatter',128,34728,2192,'fp16',2);
INSERT INTO problems VALUES(20,'gemm_all_to_all',45720,57256,54624,'bf16',15);
INSERT INTO problems VALUES(21,'gemm_all_reduce',20568,3880,12112,'bf16',8);
INSERT INTO problems VALUES(22,'gemm_all_reduce',19520,8048,5240,'bf16',10);
INSERT INTO problems VALUES(23,'gemm_reduce_scatter',5342,43296,48680,'bf16',2);
INSERT INTO problems VALUES(24,'gemm_all_reduce',27911,3760,55728,'fp16',13);
INSERT INTO problems VALUES(25,'all_gather_gemm',18090,37904,37592,'bf16',15);
INSERT INTO problems VALUES(26,'gemm_reduce_scatter',29790,41552,39144,'fp16',9);
INSERT INTO problems VALUES(27,'gemm_all_to_all',35503,54752,39592,'bf16',13);
INSERT INTO problems VALUES(28,'gemm_all_to_all',9805,20520,21768,'bf16',5);
INSERT INTO problems VALUES(29,'gemm_reduce_scatter',964,62368,48544,'fp16',4);
INSERT INTO problems VALUES(30,'gemm_reduce_scatter',24401,62272,28624,'fp16',13);
INSERT INTO problems VALUES(31,'gemm_reduce_scatter',512,8192,1024,'bf16',4);
INSERT INTO problems VALUES(32,'gemm_reduce_scatter',1024,8192,1024,'bf16',4);
INSERT INTO problems VALUES(33,'gemm_all_reduce',1536,8192,1024,'bf16',4);
INSERT INTO problems VALUES(34,'gemm_reduce_scatter',2048,8192,1024,'bf16',4);
INSERT INTO problems VALUES(35,'gemm_reduce_scatter',2560,8192,1024,'bf16',4);
INSERT INTO problems VALUES(36,'gemm_all_reduce',3072,8192,1024,'bf16',4);
INSERT INTO problems VALUES(37,'gemm_reduce_scatter',3584,8192,1024,'bf16',4);
INSERT INTO problems VALUES(38,'gemm_reduce_scatter',4096,8192,1024,'bf16',4);
INSERT INTO problems VALUES(39,'gemm_all_reduce',4608,8192,1024,'bf16',4);
INSERT INTO problems VALUES(40,'gemm_reduce_scatter',5120,8192,1024,'bf16',4);
INSERT INTO problems VALUES(41,'gemm_reduce_scatter',5632,8192,1024,'bf16',4);
INSERT INTO problems VALUES(42,'gemm_all_reduce',6144,8192,1024,'bf16',4);
INSERT INTO problems VALUES(43,'gemm_reduce_scatter',6656,8192,1024,'bf16',4);
INSERT INTO problems VALUES(44,'gemm_reduce_scatter',7168,8192,1024,'bf16',4);
INSERT INTO problems VALUES(45,'gemm_all_reduce',7680,8192,1024,'bf16',4);
INSERT INTO problems VALUES(46,'gemm_reduce_scatter',8192,8192,1024,'bf16',4);
INSERT INTO problems VALUES(47,'gemm_reduce_scatter',8704,8192,1024,'bf16',4);
INSERT INTO problems VALUES(48,'gemm_all_reduce',9216,8192,1024,'bf16',4);
INSERT INTO problems VALUES(49,'gemm_reduce_scatter',9728,8192,1024,'bf16',4);
INSERT INTO problems VALUES(50,'gemm_reduce_scatter',10240,8192,1024,'bf16',4);
INSERT INTO problems VALUES(51,'gemm_all_reduce',10752,8192,1024,'bf16',4);
INSERT INTO problems VALUES(52,'gemm_reduce_scatter',11264,8192,1024,'bf16',4);
INSERT INTO problems VALUES(53,'gemm_reduce_scatter',11776,8192,1024,'bf16',4);
INSERT INTO problems VALUES(54,'gemm_all_reduce',12288,8192,1024,'bf16',4);
INSERT INTO problems VALUES(55,'gemm_reduce_scatter',12800,8192,1024,'bf16',4);
INSERT INTO problems VALUES(56,'gemm_reduce_scatter',5632,8192,2048,'bf16',4);
INSERT INTO problems VALUES(57,'gemm_all_reduce',6144,8192,2048,'bf16',4);
CREATE TABLE tuning_runs (
  id INTEGER PRIMARY KEY,
  platform_id INTEGER NOT NULL REFERENCES platforms (id),
  provenance_id INTEGER NOT NULL UNIQUE REFERENCES provenance (id),
  request TEXT NOT NULL,
  finished_at TEXT           -- NULL: still running, or stopped
) STRICT;
INSERT INTO tuning_runs VALUES(1,1,2,replace(';--%s\n%s"','\n',char(10)),'2026-11-21T09:19:02.951Z');
INSERT INTO tuning_runs VALUES(2,2,4,replace('NCCLNCCLNCCL 2.28%s\n','\n',char(10)),NULL);
INSERT INTO tuning_runs VALUES(3,1,6,'every strategy by every transport','2026-11-22T13:51:29.624Z');
INSERT INTO tuning_runs VALUES(4,1,7,'every strategy by every transport','2026-11-23T09:05:00.000Z');
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
  strategy TEXT AS (substr(config, 1, instr(config, ' ') - 1)) VIRTUAL,
  UNIQUE (run_id, problem_id, launch, config)
) STRICT;
INSERT INTO candidates VALUES(1,1,1,'graph','sequential ctas=14 transport=symmetric chunks=15 groups=538,4296,728','explore',284,3.4213916253949885337,'rank_died',replace('\n 2.28NCCL','\n',char(10)),6432773.9618178503585,5789496.5656360657885,8040967.4522723127154,22,3.5378458397982650467e-05,1.1089094345562739688e-09,13359755.522318627685,NULL,NULL);
INSERT INTO candidates VALUES(2,1,2,'eager','sequential tile=192x248x64 stages=8 cluster=2 raster=2 ctas=6 transport=copy_engine chunks=6','shortlist',101,1.2858591455511597387e-11,'timeout','µsµsµs" 2.28;--',8613.7390299264825445,7752.3651269338342897,10767.173787408102725,56,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(3,1,3,'graph','peer_store ctas=23 transport=ring chunks=16 groups=1464,992','explore',NULL,19743.507005422608926,'crashed',';--',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,7.3454736194833691129e-10);
INSERT INTO candidates VALUES(4,1,4,'eager','copy_engine ctas=28 transport=symmetric chunks=14 groups=2395,2581,5000','explore',148,0.00031990852725507666273,'unsupported','',142891524616.34899902,128602372154.71409606,178614405770.43624877,26,NULL,NULL,NULL,NULL,1752352153.3491604328);
INSERT INTO candidates VALUES(5,1,5,'graph','sequential tile=64x32x64 stages=6 cluster=2 raster=7 ctas=3 transport=copy_engine chunks=2 groups=1626,4702,3493','baseline',247,6.8523529362194776182e-12,'crashed','\";--%s%s''',3.2496491458323861138e-06,2.9246842312491477568e-06,4.0620614322904826424e-06,3,71025.090050145532586,18369.512902359081636,3.0914088154595260604,NULL,NULL);
INSERT INTO candidates VALUES(6,1,6,'graph','sequential tile=64x176x64 stages=3 cluster=1 raster=16 ctas=24 transport=ring chunks=3 groups=4738','shortlist',31,232916619601.94476317,'unsupported','%s',1.0162714427642789899e-07,9.1464429848785113071e-08,1.2703393034553487043e-07,92,NULL,NULL,NULL,0.001313942471052651547,1.4394583738566650185e-12);
INSERT INTO candidates VALUES(7,1,7,'graph','copy_engine ctas=14 transport=copy_engine chunks=12 groups=1020,4375','explore',NULL,0.0027400916268596766343,'timeout','%s" 2.28"%s 2.28',157942312596.04043579,142148081336.43640136,197427890745.05053711,55,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(8,1,8,'graph','peer_store tile=192x64x64 stages=3 cluster=1 raster=4 ctas=29 transport=ring chunks=5 groups=889,267,3641,1872','explore',51,719293276378.12170408,'valid',replace('\\µs\n%s','\n',char(10)),4701264.3595733074469,4231137.923615977168,5876580.4494666345416,61,5774.01516803258437,6.9629941059044175143e-09,2.5625778982727601595e-08,1.8392696161023978277e-06,6.4916395654055562289e-08);
INSERT INTO candidates VALUES(9,1,9,'eager','chunked tile=256x216x64 stages=5 cluster=1 raster=7 ctas=25 transport=copy_engine chunks=7 groups=3435,803','explore',190,39233339237.889923096,'timeout','',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0.00015014231502620669972,425210.18168818851701);
INSERT INTO candidates VALUES(10,1,10,'graph','chunked ctas=4 transport=ring chunks=12 groups=574','baseline',239,8.6445133218816424258e-07,'unsupported',replace('\n 2.28NCCL\ 2.28NCCL','\n',char(10)),0.00032539219407369356215,0.00029285297466632423304,0.00040674024259211696624,50,3.1493955349224902122e-07,3.880183536734251486e-06,5.0369987731058638276e-09,NULL,NULL);
INSERT INTO candidates VALUES(11,1,11,'eager','signaled tile=256x120x64 stages=8 cluster=1 raster=2 ctas=32 transport=copy_engine chunks=4 groups=2971','baseline',NULL,121291695.09411150217,'unsupported',replace('\n\n','\n',char(10)),NULL,NULL,NULL,NULL,NULL,NULL,NULL,1.1579324355488630215e-09,NULL);
INSERT INTO candidates VALUES(12,1,12,'eager','sequential tile=64x80x64 stages=5 cluster=2 raster=15 ctas=29 transport=copy_engine groups=1409,1999','explore',258,1.489268452562482132e-08,'valid',replace('%s 2.28NCCL\n','\n',char(10)),2.0664811328297968187e-09,1.8598330195468170955e-09,2.5831014160372461269e-09,7,53.503288992508608147,18594296903.233150482,2.2059186882776476601e-07,1.6738548268197769289e-08,200.07745055465690597);
INSERT INTO candidates VALUES(13,1,13,'eager','copy_engine tile=192x248x64 stages=7 cluster=1 raster=16 ctas=10 transport=symmetric chunks=10 groups=419,3315,298,2521','explore',NULL,2091999.3207281436771,'valid','NCCL',2.5726078339213693281e-12,2.3153470505292325569e-12,3.2157597924017114585e-12,65,NULL,NULL,NULL,NULL,8.4364822138870246099e-10);
INSERT INTO candidates VALUES(14,1,14,'graph','peer_store ctas=28 transport=symmetric chunks=4 groups=1260,2832,3113,4543','shortlist',286,811482646622.63342285,'valid','%sµs',0.00046112316406235026285,0.0004150108476561152203,0.00057640395507793781501,38,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(15,1,15,'graph','sequential tile=128x152x64 stages=5 cluster=2 raster=11 ctas=24 transport=ring chunks=14 groups=1188,4515,2313','shortlist',NULL,1.8175259623022625987,'valid',replace(' 2.28\n','\n',char(10)),7.320928088921728233e-07,6.5888352800295553034e-07,9.1511601111521605556e-07,33,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(16,2,16,'graph','chunked tile=256x136x64 stages=7 cluster=2 raster=13 ctas=22 transport=symmetric chunks=4 groups=1329,3344,4390','baseline',NULL,5162724500.7924938203,'unsupported','\NCCL%s""',1738908093.518083334,1565017284.1662750244,2173635116.8976039886,89,NULL,NULL,NULL,30991338.446401335299,129352523.69026647508);
INSERT INTO candidates VALUES(17,2,17,'graph','signaled tile=128x136x64 stages=3 cluster=1 raster=11 ctas=26 transport=ring chunks=15 groups=571','baseline',168,39.654142878465222566,'valid','NCCL"',NULL,NULL,NULL,NULL,0.0017635661466431651073,1.006463286497068827e-06,4.6445210142686210639e-12,0.00074104594535186738869,NULL);
INSERT INTO candidates VALUES(18,2,18,'graph','chunked ctas=29 transport=copy_engine chunks=16 groups=4979','baseline',NULL,0.0022246366924804656522,'timeout',replace('\nµs''','\n',char(10)),749.56444892011711545,674.60800402810536979,936.95556115014642269,25,3682.7408716605759763,8.13374067700646774e-08,101756.27555923975887,NULL,17965412.444199282675);
INSERT INTO candidates VALUES(19,2,19,'graph','copy_engine tile=192x72x64 stages=4 cluster=1 raster=15 ctas=7 transport=symmetric chunks=14 groups=2938,3117,887','shortlist',NULL,5.0715707327287551688e-12,'timeout',replace('\n 2.28 2.28','\n',char(10)),NULL,NULL,NULL,NULL,0.88098403186808049714,185815219.09143087267,408807.37943240144523,NULL,159597265145.63424682);
INSERT INTO candidates VALUES(20,2,20,'graph','sequential ctas=10 transport=symmetric chunks=2 groups=4139','explore',111,145580.637232697336,'valid','";--',NULL,NULL,NULL,NULL,21173681.840124972165,0.000829867277465695251,96687531942.451873778,6.6202622400630668862e-06,5.5548838375501151665e-07);
INSERT INTO candidates VALUES(21,2,21,'eager','sequential ctas=32 transport=ring chunks=4','explore',NULL,1.3856247510417645338e-12,'rank_died','%s',7.1443345370644344427,6.4299010833579908208,8.9304181713305439416,15,57487585.022418931125,12792518.480123175307,0.0030182174344252771236,2.5988390965310425939e-06,0.0009182677490798090954);
INSERT INTO candidates VALUES(22,2,22,'eager','chunked ctas=3 transport=ring chunks=16 groups=4430,4068,3999','shortlist',267,2599575.9483696431852,'valid',replace(';--µs\n','\n',char(10)),NULL,NULL,NULL,NULL,NULL,NULL,NULL,11439.757309581023946,0.28047783972647766237);
INSERT INTO candidates VALUES(23,2,23,'eager','copy_engine ctas=7 transport=symmetric chunks=5','shortlist',177,934320537.94843792915,'crashed','%s',NULL,NULL,NULL,NULL,1.9111864900736554931e-10,194603.65918978961416,358.1422572887504998,NULL,NULL);
INSERT INTO candidates VALUES(24,2,24,'eager','peer_store tile=256x96x64 stages=2 cluster=1 raster=6 ctas=1 transport=ring chunks=6 groups=3230,2740,3408','shortlist',NULL,299.7626724683672137,'valid','NCCL',67820016.482806026935,61038014.834525428711,84775020.603507533671,12,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(25,2,25,'eager','peer_store ctas=22 transport=symmetric chunks=5 groups=2742,3760,683,4885','explore',NULL,393.79030477601850179,'rank_died','',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,8.1190664137719126755e-10);
INSERT INTO candidates VALUES(26,2,26,'eager','chunked ctas=31 transport=symmetric chunks=5 groups=1815,3529','shortlist',269,6.9981437871963634604e-10,'rank_died','',1.7909050333692022019e-05,1.6118145300322819817e-05,2.2386312917115029218e-05,57,1.4687159172976287934e-06,6883.9146713170148361,3.4914698340945444377e-07,NULL,NULL);
INSERT INTO candidates VALUES(27,2,27,'graph','copy_engine ctas=1 transport=symmetric chunks=12 groups=1614,3897,1101','shortlist',NULL,9.1847021251722793522,'valid','NCCL',1026766183.1938005686,924089564.8744205236,1283457728.9922506808,24,NULL,NULL,NULL,0.00051148193881140442077,24008656604.274475098);
INSERT INTO candidates VALUES(28,2,28,'graph','copy_engine tile=64x96x64 stages=7 cluster=1 raster=9 ctas=6 transport=ring chunks=11 groups=1810','shortlist',189,513154362.63175177576,'valid',replace('NCCLµsNCCL\;--\n','\n',char(10)),2.0822937802110854429e-05,1.8740644021899771019e-05,2.6028672252638568036e-05,3,0.00016942534321311202233,951336334.16276478763,135.81223725534786694,NULL,6.7377668622315569531e-12);
INSERT INTO candidates VALUES(29,2,29,'eager','copy_engine ctas=2 transport=symmetric chunks=4 groups=4058,3362,1973,3781','explore',NULL,9.232003511684675626e-10,'valid',replace('\n''''\n%s','\n',char(10)),3.8324666006042607917e-11,3.4492199405438349064e-11,4.7905832507553258278e-11,35,10385387.735846133902,4.0179498743762946987e-12,2235357770.8260478973,6534.6058235838681868,2239.4567673508572625);
INSERT INTO candidates VALUES(30,2,30,'graph','sequential tile=128x96x64 stages=3 cluster=1 raster=2 ctas=24 transport=symmetric chunks=5 groups=3981,1486','explore',NULL,0.00055801512727896831946,'valid',replace(' 2.28\nµsNCCL\n','\n',char(10)),55798.92151147482218,50219.029360327338508,69748.651889343527728,37,NULL,NULL,NULL,182384545.96216067672,NULL);
INSERT INTO candidates VALUES(31,3,31,'graph','sequential ctas=0 transport=ring','shortlist',NULL,101.49999999999999999,'valid','',100.25,99.0,104.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(32,3,32,'eager','sequential ctas=0 transport=symmetric','shortlist',NULL,102.49999999999999999,'valid','',101.25,100.0,105.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(33,3,33,'graph','sequential ctas=0 transport=copy_engine','shortlist',NULL,103.49999999999999999,'valid','',102.25,101.0,106.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(34,3,34,'eager','sequential ctas=0 transport=symmetric_then_ring','shortlist',NULL,104.49999999999999999,'valid','',103.25,102.0,107.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(35,3,35,'graph','sequential ctas=0 transport=peer_access','shortlist',NULL,105.49999999999999999,'valid','',104.25,103.0,108.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(36,3,36,'eager','chunked ctas=6 transport=ring chunks=6','shortlist',NULL,106.5,'valid','',105.25,104.0,109.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(37,3,37,'graph','chunked ctas=7 transport=symmetric chunks=7','shortlist',NULL,107.5,'valid','',106.25,105.0,110.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(38,3,38,'eager','chunked ctas=8 transport=copy_engine chunks=8','shortlist',NULL,108.5,'valid','',107.24999999999999999,106.0,111.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(39,3,39,'graph','chunked ctas=9 transport=symmetric_then_ring chunks=9','shortlist',NULL,109.5,'valid','',108.24999999999999999,107.0,112.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(40,3,40,'eager','chunked ctas=10 transport=peer_access chunks=10','shortlist',NULL,110.5,'valid','',109.24999999999999999,108.0,113.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(41,3,41,'graph','signaled tile=128x256x64 stages=4 cluster=2 raster=11 ctas=11 transport=ring groups=96','shortlist',NULL,111.5,'valid','',110.24999999999999999,109.0,114.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(42,3,42,'eager','signaled tile=128x256x64 stages=4 cluster=1 raster=12 ctas=12 transport=symmetric groups=96,97','shortlist',NULL,112.5,'valid','',111.24999999999999999,110.0,115.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(43,3,43,'graph','signaled tile=128x256x64 stages=4 cluster=2 raster=13 ctas=13 transport=copy_engine groups=96,97,98','shortlist',NULL,113.49999999999999999,'valid','',112.24999999999999999,111.0,116.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(44,3,44,'eager','signaled tile=128x256x64 stages=4 cluster=1 raster=14 ctas=14 transport=symmetric_then_ring groups=96,97,98,99','shortlist',NULL,114.49999999999999999,'valid','',113.25,112.0,117.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(45,3,45,'graph','signaled tile=128x256x64 stages=4 cluster=2 raster=15 ctas=15 transport=peer_access groups=96,97,98,99,100','shortlist',NULL,115.49999999999999999,'valid','',114.25,113.0,118.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(46,3,46,'eager','peer_store tile=128x256x64 stages=4 cluster=1 raster=16 ctas=16 transport=ring','shortlist',NULL,116.49999999999999999,'valid','',115.25,114.0,119.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(47,3,47,'graph','peer_store tile=128x256x64 stages=4 cluster=2 raster=17 ctas=17 transport=symmetric','shortlist',NULL,117.49999999999999999,'valid','',116.25,115.0,120.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(48,3,48,'eager','peer_store tile=128x256x64 stages=4 cluster=1 raster=18 ctas=18 transport=copy_engine','shortlist',NULL,118.49999999999999999,'valid','',117.25,116.0,121.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(49,3,49,'graph','peer_store tile=128x256x64 stages=4 cluster=2 raster=19 ctas=19 transport=symmetric_then_ring','shortlist',NULL,119.5,'valid','',118.25,117.0,122.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(50,3,50,'eager','peer_store tile=128x256x64 stages=4 cluster=1 raster=20 ctas=20 transport=peer_access','shortlist',NULL,120.5,'valid','',119.25,118.0,123.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(51,3,51,'graph','copy_engine ctas=21 transport=ring chunks=21 groups=1099511627797,1','shortlist',NULL,121.5,'valid','',120.24999999999999999,119.0,124.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(52,3,52,'eager','copy_engine ctas=22 transport=symmetric chunks=22','shortlist',NULL,122.5,'valid','',121.24999999999999999,120.0,125.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(53,3,53,'graph','copy_engine ctas=23 transport=copy_engine chunks=23 groups=1099511627799,1','shortlist',NULL,123.5,'valid','',122.24999999999999999,121.0,126.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(54,3,54,'eager','copy_engine ctas=24 transport=symmetric_then_ring chunks=24','shortlist',NULL,124.5,'valid','',123.24999999999999999,122.0,127.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(55,3,55,'graph','copy_engine ctas=25 transport=peer_access chunks=25 groups=1099511627801,1','shortlist',NULL,125.49999999999999999,'valid','',124.24999999999999999,123.0,128.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(56,4,56,'graph','signaled tile=128x256x64 stages=4 cluster=2 raster=11 ctas=11 transport=ring wait=kernel groups=96','shortlist',NULL,111.5,'valid','',110.24999999999999999,109.0,114.0,9,NULL,NULL,NULL,NULL,NULL);
INSERT INTO candidates VALUES(57,4,57,'eager','signaled tile=128x256x64 stages=4 cluster=1 raster=12 ctas=12 transport=symmetric wait=kernel groups=96,97','shortlist',NULL,112.5,'valid','',111.24999999999999999,110.0,115.0,9,NULL,NULL,NULL,NULL,NULL);
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
  strategy TEXT AS (substr(config, 1, instr(config, ' ') - 1)) VIRTUAL,
  PRIMARY KEY (platform_id, op, m, n, k, dtype, ranks, launch)
) STRICT, WITHOUT ROWID;
INSERT INTO winners VALUES(1,'all_gather_gemm',43464,46520,30808,'fp16',12,'graph','peer_store ctas=28 transport=symmetric chunks=4 groups=1260,2832,3113,4543',0.00046112316406235026285,811482646622.63342285,29142097752.65793991,'2026-11-21T09:19:02.951Z',1,'shortlist',286,'%sµs',0.0004150108476561152203,0.00057640395507793781501,38,NULL,NULL,NULL,NULL,NULL,1.8837771712940223053e-12,6529091.4002508306877,NULL);
INSERT INTO winners VALUES(1,'gemm_all_reduce',1536,8192,1024,'bf16',4,'graph','sequential ctas=0 transport=copy_engine',102.25,103.49999999999999999,153.0,'2026-11-22T13:51:29.623Z',3,'shortlist',NULL,'',101.0,106.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,0.09375);
INSERT INTO winners VALUES(1,'gemm_all_reduce',3072,8192,1024,'bf16',4,'eager','chunked ctas=6 transport=ring chunks=6',105.25,106.5,156.0,'2026-11-22T13:51:29.623Z',3,'shortlist',NULL,'',104.0,109.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,0.1875);
INSERT INTO winners VALUES(1,'gemm_all_reduce',4608,8192,1024,'bf16',4,'graph','chunked ctas=9 transport=symmetric_then_ring chunks=9',108.24999999999999999,109.5,159.0,'2026-11-22T13:51:29.623Z',3,'shortlist',NULL,'',107.0,112.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,0.28125);
INSERT INTO winners VALUES(1,'gemm_all_reduce',6144,8192,1024,'bf16',4,'eager','signaled tile=128x256x64 stages=4 cluster=1 raster=12 ctas=12 transport=symmetric groups=96,97',111.24999999999999999,112.5,162.0,'2026-11-22T13:51:29.623Z',3,'shortlist',NULL,'',110.0,115.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,NULL);
INSERT INTO winners VALUES(1,'gemm_all_reduce',6144,8192,2048,'bf16',4,'eager','signaled tile=128x256x64 stages=4 cluster=1 raster=12 ctas=12 transport=symmetric wait=kernel groups=96,97',111.24999999999999999,112.5,153.0,'2026-11-23T09:04:00.001Z',4,'shortlist',NULL,'',110.0,115.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,0.625);
INSERT INTO winners VALUES(1,'gemm_all_reduce',7680,8192,1024,'bf16',4,'graph','signaled tile=128x256x64 stages=4 cluster=2 raster=15 ctas=15 transport=peer_access groups=96,97,98,99,100',114.25,115.49999999999999999,165.0,'2026-11-22T13:51:29.623Z',3,'shortlist',NULL,'',113.0,118.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,0.46875);
INSERT INTO winners VALUES(1,'gemm_all_reduce',9216,8192,1024,'bf16',4,'eager','peer_store tile=128x256x64 stages=4 cluster=1 raster=18 ctas=18 transport=copy_engine',117.25,118.49999999999999999,168.0,'2026-11-22T13:51:29.624Z',3,'shortlist',NULL,'',116.0,121.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,0.5625);
INSERT INTO winners VALUES(1,'gemm_all_reduce',10752,8192,1024,'bf16',4,'graph','copy_engine ctas=21 transport=ring chunks=21 groups=1099511627797,1',120.24999999999999999,121.5,171.0,'2026-11-22T13:51:29.624Z',3,'shortlist',NULL,'',119.0,124.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,0.65625);
INSERT INTO winners VALUES(1,'gemm_all_reduce',12288,8192,1024,'bf16',4,'eager','copy_engine ctas=24 transport=symmetric_then_ring chunks=24',123.24999999999999999,124.5,174.0,'2026-11-22T13:51:29.624Z',3,'shortlist',NULL,'',122.0,127.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,NULL);
INSERT INTO winners VALUES(1,'gemm_all_to_all',2793,34920,52336,'fp16',7,'eager','copy_engine tile=192x248x64 stages=7 cluster=1 raster=16 ctas=10 transport=symmetric chunks=10 groups=419,3315,298,2521',2.5726078339213693281e-12,2091999.3207281436771,9.1831556799294490073e-08,'2026-11-21T09:19:02.951Z',1,'explore',NULL,'NCCL',2.3153470505292325569e-12,3.2157597924017114585e-12,65,NULL,NULL,NULL,NULL,8.4364822138870246099e-10,22626.017376036870701,2.0711611910441505169e-05,NULL);
INSERT INTO winners VALUES(1,'gemm_reduce_scatter',512,8192,1024,'bf16',4,'graph','sequential ctas=0 transport=ring',100.25,101.49999999999999999,151.0,'2026-11-22T13:51:29.622Z',3,'shortlist',NULL,'',99.0,104.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,0.03125);
INSERT INTO winners VALUES(1,'gemm_reduce_scatter',1024,8192,1024,'bf16',4,'eager','sequential ctas=0 transport=symmetric',101.25,102.49999999999999999,152.0,'2026-11-22T13:51:29.623Z',3,'shortlist',NULL,'',100.0,105.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,0.0625);
INSERT INTO winners VALUES(1,'gemm_reduce_scatter',2048,8192,1024,'bf16',4,'eager','sequential ctas=0 transport=symmetric_then_ring',103.25,104.49999999999999999,154.0,'2026-11-22T13:51:29.623Z',3,'shortlist',NULL,'',102.0,107.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,NULL);
INSERT INTO winners VALUES(1,'gemm_reduce_scatter',2560,8192,1024,'bf16',4,'graph','sequential ctas=0 transport=peer_access',104.25,105.49999999999999999,155.0,'2026-11-22T13:51:29.623Z',3,'shortlist',NULL,'',103.0,108.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,0.15625);
INSERT INTO winners VALUES(1,'gemm_reduce_scatter',3584,8192,1024,'bf16',4,'graph','chunked ctas=7 transport=symmetric chunks=7',106.25,107.5,157.0,'2026-11-22T13:51:29.623Z',3,'shortlist',NULL,'',105.0,110.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,0.21875);
INSERT INTO winners VALUES(1,'gemm_reduce_scatter',4096,8192,1024,'bf16',4,'eager','chunked ctas=8 transport=copy_engine chunks=8',107.24999999999999999,108.5,158.0,'2026-11-22T13:51:29.623Z',3,'shortlist',NULL,'',106.0,111.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,NULL);
INSERT INTO winners VALUES(1,'gemm_reduce_scatter',5120,8192,1024,'bf16',4,'eager','chunked ctas=10 transport=peer_access chunks=10',109.24999999999999999,110.5,160.0,'2026-11-22T13:51:29.623Z',3,'shortlist',NULL,'',108.0,113.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,0.3125);
INSERT INTO winners VALUES(1,'gemm_reduce_scatter',5632,8192,1024,'bf16',4,'graph','signaled tile=128x256x64 stages=4 cluster=2 raster=11 ctas=11 transport=ring groups=96',110.24999999999999999,111.5,161.0,'2026-11-22T13:51:29.623Z',3,'shortlist',NULL,'',109.0,114.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,0.34375);
INSERT INTO winners VALUES(1,'gemm_reduce_scatter',5632,8192,2048,'bf16',4,'graph','signaled tile=128x256x64 stages=4 cluster=2 raster=11 ctas=11 transport=ring wait=kernel groups=96',110.24999999999999999,111.5,153.0,'2026-11-23T09:04:00.000Z',4,'shortlist',NULL,'',109.0,114.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,0.5);
INSERT INTO winners VALUES(1,'gemm_reduce_scatter',6656,8192,1024,'bf16',4,'graph','signaled tile=128x256x64 stages=4 cluster=2 raster=13 ctas=13 transport=copy_engine groups=96,97,98',112.24999999999999999,113.49999999999999999,163.0,'2026-11-22T13:51:29.623Z',3,'shortlist',NULL,'',111.0,116.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,0.40625);
INSERT INTO winners VALUES(1,'gemm_reduce_scatter',7168,8192,1024,'bf16',4,'eager','signaled tile=128x256x64 stages=4 cluster=1 raster=14 ctas=14 transport=symmetric_then_ring groups=96,97,98,99',113.25,114.49999999999999999,164.0,'2026-11-22T13:51:29.623Z',3,'shortlist',NULL,'',112.0,117.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,0.4375);
INSERT INTO winners VALUES(1,'gemm_reduce_scatter',8192,8192,1024,'bf16',4,'eager','peer_store tile=128x256x64 stages=4 cluster=1 raster=16 ctas=16 transport=ring',115.25,116.49999999999999999,166.0,'2026-11-22T13:51:29.623Z',3,'shortlist',NULL,'',114.0,119.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,NULL);
INSERT INTO winners VALUES(1,'gemm_reduce_scatter',8704,8192,1024,'bf16',4,'graph','peer_store tile=128x256x64 stages=4 cluster=2 raster=17 ctas=17 transport=symmetric',116.25,117.49999999999999999,167.0,'2026-11-22T13:51:29.624Z',3,'shortlist',NULL,'',115.0,120.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,0.53125);
INSERT INTO winners VALUES(1,'gemm_reduce_scatter',9728,8192,1024,'bf16',4,'graph','peer_store tile=128x256x64 stages=4 cluster=2 raster=19 ctas=19 transport=symmetric_then_ring',118.25,119.5,169.0,'2026-11-22T13:51:29.624Z',3,'shortlist',NULL,'',117.0,122.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,0.59375);
INSERT INTO winners VALUES(1,'gemm_reduce_scatter',10240,8192,1024,'bf16',4,'eager','peer_store tile=128x256x64 stages=4 cluster=1 raster=20 ctas=20 transport=peer_access',119.25,120.5,170.0,'2026-11-22T13:51:29.624Z',3,'shortlist',NULL,'',118.0,123.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,NULL);
INSERT INTO winners VALUES(1,'gemm_reduce_scatter',11264,8192,1024,'bf16',4,'eager','copy_engine ctas=22 transport=symmetric chunks=22',121.24999999999999999,122.5,172.0,'2026-11-22T13:51:29.624Z',3,'shortlist',NULL,'',120.0,125.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,0.6875);
INSERT INTO winners VALUES(1,'gemm_reduce_scatter',11776,8192,1024,'bf16',4,'graph','copy_engine ctas=23 transport=copy_engine chunks=23 groups=1099511627799,1',122.24999999999999999,123.5,173.0,'2026-11-22T13:51:29.624Z',3,'shortlist',NULL,'',121.0,126.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,0.71875);
INSERT INTO winners VALUES(1,'gemm_reduce_scatter',12800,8192,1024,'bf16',4,'graph','copy_engine ctas=25 transport=peer_access chunks=25 groups=1099511627801,1',124.24999999999999999,125.49999999999999999,175.0,'2026-11-22T13:51:29.624Z',3,'shortlist',NULL,'',123.0,128.0,9,NULL,NULL,NULL,NULL,NULL,80.0,60.0,0.78125);
INSERT INTO winners VALUES(1,'gemm_reduce_scatter',30852,18496,12360,'bf16',9,'graph','sequential tile=128x152x64 stages=5 cluster=2 raster=11 ctas=24 transport=ring chunks=14 groups=1188,4515,2313',7.320928088921728233e-07,1.8175259623022625987,1019.3397721455249893,'2026-11-21T09:19:02.951Z',1,'shortlist',NULL,replace(' 2.28\n','\n',char(10)),6.5888352800295553034e-07,9.1511601111521605556e-07,33,NULL,NULL,NULL,NULL,NULL,12488280580.173933029,0.026910046159629566475,NULL);
INSERT INTO winners VALUES(2,'gemm_all_to_all',9805,20520,21768,'bf16',5,'graph','copy_engine tile=64x96x64 stages=7 cluster=1 raster=9 ctas=6 transport=ring chunks=11 groups=1810',2.0822937802110854429e-05,513154362.63175177576,4.0758641959444400887e-06,'2026-11-21T09:19:02.952Z',2,'shortlist',189,replace('NCCLµsNCCL\;--\n','\n',char(10)),1.8740644021899771019e-05,2.6028672252638568036e-05,3,0.00016942534321311202233,951336334.16276478763,135.81223725534786694,NULL,6.7377668622315569531e-12,8.6130491686791099681,1784393338.6952903269,NULL);
INSERT INTO winners VALUES(2,'gemm_reduce_scatter',964,62368,48544,'fp16',4,'eager','copy_engine ctas=2 transport=symmetric chunks=4 groups=4058,3362,1973,3781',3.8324666006042607917e-11,9.232003511684675626e-10,0.14685942820424990884,'2026-11-21T09:19:02.952Z',2,'explore',NULL,replace('\n''''\n%s','\n',char(10)),3.4492199405438349064e-11,4.7905832507553258278e-11,35,10385387.735846133902,4.0179498743762946987e-12,2235357770.8260478973,6534.6058235838681868,2239.4567673508572625,48.32314646354710419,6144.5875453891030701,NULL);
INSERT INTO winners VALUES(2,'gemm_reduce_scatter',24401,62272,28624,'fp16',13,'graph','sequential tile=128x96x64 stages=3 cluster=1 raster=2 ctas=24 transport=symmetric chunks=5 groups=3981,1486',55798.92151147482218,0.00055801512727896831946,900303.88913202355613,'2026-11-21T09:19:02.952Z',2,'explore',NULL,replace(' 2.28\nµsNCCL\n','\n',char(10)),50219.029360327338508,69748.651889343527728,37,NULL,NULL,NULL,182384545.96216067672,NULL,115723853699.10923767,448067109222.78259277,NULL);
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
INSERT INTO layer_gemms VALUES(1,3,31,'llama-3-70b','down','tp',4096,80);
INSERT INTO layer_gemms VALUES(2,3,32,'llama-3-70b','o','tp',4096,80);
INSERT INTO layer_gemms VALUES(3,3,33,'llama-3-70b','qkv','tp',4096,80);
CREATE INDEX probe_runs_of_platform ON probe_runs (platform_id);
CREATE INDEX tuning_runs_of_platform ON tuning_runs (platform_id);
COMMIT;
PRAGMA application_id = 1870031988;
PRAGMA user_version = 6;

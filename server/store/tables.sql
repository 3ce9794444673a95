-- All tables of this version. A new database is made of this file, and an older one by the files in migrations,
-- with the same result. A new column comes last in its table, and is added by a new migration, too.
--
-- Tables and columns have BOINC's names and numbers where BOINC has them. Times are seconds since 1970. A time of 0
-- is not yet, and the end of the year 9999 (253402300799) is never.

-- The project.

-- Which project's database this is: one row, which the project's keys/project_id repeats.
CREATE TABLE project (
    identity TEXT NOT NULL CHECK (identity <> '')
) STRICT;

-- The triggers of this version, as they were made last.
CREATE TABLE legal_moves (
    sql TEXT NOT NULL
) STRICT;

-- What servers keep in memory of platforms, applications and versions is read anew when this number has
-- changed. Triggers advance it.
CREATE TABLE catalog (
    stamp INTEGER NOT NULL
) STRICT;

-- When each daemon last ran, and which deadlines it extends: those from extended_from on are extended to
-- extended_until.
CREATE TABLE clock (
    daemon         TEXT    PRIMARY KEY,
    seen_time      INTEGER NOT NULL,
    extended_from  INTEGER NOT NULL,
    extended_until INTEGER NOT NULL
);

-- The processes that answer scheduler requests, and when they last said so.
CREATE TABLE front (
    name      TEXT    NOT NULL PRIMARY KEY CHECK (name <> ''),
    seen_time INTEGER NOT NULL
) STRICT;

-- Until when files and rows are not deleted, since the project is being copied: one row for each copy, which
-- renews it.
CREATE TABLE deletion_hold (
    holder TEXT    NOT NULL PRIMARY KEY CHECK (holder <> ''),
    until  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The workunits or messages of an application that a daemon could not handle and tries again, with the last
-- error. Of several equal daemons each has its row.
CREATE TABLE trouble (
    daemon     TEXT    NOT NULL,
    appid      INTEGER NOT NULL,
    waiting    INTEGER NOT NULL,
    error      TEXT    NOT NULL,
    retry_time INTEGER NOT NULL,
    PRIMARY KEY (daemon, appid)
) STRICT;

-- What operators did to the project. Rows are only added: triggers refuse other changes.
CREATE TABLE audit (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    create_time INTEGER NOT NULL,
    actor       TEXT    NOT NULL CHECK (actor <> ''), -- user of the operating system, or account
    via         TEXT    NOT NULL CHECK (via <> ''), -- command, or what else it went by
    action      TEXT    NOT NULL CHECK (action <> ''), -- such as work cancel
    detail      TEXT    NOT NULL, -- to what, and how
    error       TEXT    NOT NULL -- '': it was done
) STRICT;

-- Operators who are signed in to their pages, and the links that were used for it, as hashes.
CREATE TABLE operator_session (
    hash    TEXT    NOT NULL PRIMARY KEY,
    actor   TEXT    NOT NULL,
    expires INTEGER NOT NULL
) STRICT;

CREATE TABLE operator_link (
    hash    TEXT    NOT NULL PRIMARY KEY,
    expires INTEGER NOT NULL
) STRICT;

-- Programs.

CREATE TABLE platform (
    id                 INTEGER PRIMARY KEY,
    create_time        INTEGER NOT NULL,
    name               TEXT    NOT NULL UNIQUE CHECK (name <> ''),
    user_friendly_name TEXT    NOT NULL,
    deprecated         INTEGER NOT NULL DEFAULT 0 CHECK (deprecated IN (0, 1))
) STRICT;

CREATE TABLE app (
    id                      INTEGER PRIMARY KEY,
    create_time             INTEGER NOT NULL,
    name                    TEXT    NOT NULL UNIQUE CHECK (name <> ''),
    user_friendly_name      TEXT    NOT NULL,
    deprecated              INTEGER NOT NULL DEFAULT 0 CHECK (deprecated IN (0, 1)),
    weight                  REAL    NOT NULL DEFAULT 1,
    beta                    INTEGER NOT NULL DEFAULT 0,
    target_nresults         INTEGER NOT NULL DEFAULT 0,
    homogeneous_redundancy  INTEGER NOT NULL DEFAULT 0,
    homogeneous_app_version INTEGER NOT NULL DEFAULT 0,
    non_cpu_intensive       INTEGER NOT NULL DEFAULT 0,
    fraction_done_exact     INTEGER NOT NULL DEFAULT 0,
    validator               TEXT    NOT NULL,
    assimilator             TEXT    NOT NULL,
    trickle                 TEXT    NOT NULL DEFAULT '', -- what handles trickle-up messages: '' nothing, they are kept
    -- how valid results are rewarded: '' or flops, fixed:N or runtime
    credit                  TEXT    NOT NULL DEFAULT '',
    -- seconds that a task should take on its host; 0: any
    task_time               INTEGER NOT NULL DEFAULT 0 CHECK (task_time >= 0)
) STRICT;

CREATE TABLE app_version (
    id               INTEGER PRIMARY KEY,
    create_time      INTEGER NOT NULL,
    appid            INTEGER NOT NULL REFERENCES app (id),
    version_num      INTEGER NOT NULL CHECK (version_num > 0), -- 100 · major + minor
    platformid       INTEGER NOT NULL REFERENCES platform (id),
    plan_class       TEXT    NOT NULL DEFAULT '',
    xml_doc          TEXT    NOT NULL,
    min_core_version INTEGER NOT NULL DEFAULT 0,
    max_core_version INTEGER NOT NULL DEFAULT 0,
    deprecated       INTEGER NOT NULL DEFAULT 0 CHECK (deprecated IN (0, 1)),
    beta             INTEGER NOT NULL DEFAULT 0,
    plain            INTEGER NOT NULL DEFAULT 0 CHECK (plain IN (0, 1)), -- 1: the program does not use BOINC's API
    UNIQUE (appid, version_num, platformid, plan_class)
) STRICT;

-- Volunteers and their hosts.

CREATE TABLE "user" (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    create_time      INTEGER NOT NULL,
    email_addr       TEXT    NOT NULL UNIQUE CHECK (email_addr <> ''), -- in lower case
    name             TEXT    NOT NULL,
    authenticator    TEXT    NOT NULL UNIQUE CHECK (length(authenticator) = 32),
    passwd_hash      TEXT    NOT NULL DEFAULT '',
    cross_project_id TEXT    NOT NULL,
    teamid           INTEGER NOT NULL DEFAULT 0,
    venue            TEXT    NOT NULL DEFAULT '',
    global_prefs     TEXT    NOT NULL DEFAULT '',
    project_prefs    TEXT    NOT NULL DEFAULT '',
    total_credit     REAL    NOT NULL DEFAULT 0,
    expavg_credit    REAL    NOT NULL DEFAULT 0,
    expavg_time      INTEGER NOT NULL DEFAULT 0, -- of expavg_credit
    -- of results that were purged: total_credit is the sum of this and of theirs
    purged_credit    REAL    NOT NULL DEFAULT 0,
    banned_time      INTEGER NOT NULL DEFAULT 0 CHECK (banned_time >= 0), -- 0: not banned
    ban_reason       TEXT    NOT NULL DEFAULT '',
    deleted_time     INTEGER NOT NULL DEFAULT 0 CHECK (deleted_time >= 0), -- 0: not deleted
    -- 1: others do not see the account's hosts
    hide_hosts       INTEGER NOT NULL DEFAULT 0 CHECK (hide_hosts IN (0, 1)),
    -- 1: left out of statistics for other sites
    no_export        INTEGER NOT NULL DEFAULT 0 CHECK (no_export IN (0, 1)),
    -- when the owner of the e-mail address confirmed it
    confirmed_time   INTEGER NOT NULL DEFAULT 0 CHECK (confirmed_time >= 0),
    trusted          INTEGER NOT NULL DEFAULT 0 CHECK (trusted IN (0, 1)) -- 1: its results decide about suspicious ones
) STRICT;
CREATE INDEX user_teamid ON "user" (teamid) WHERE teamid <> 0;
CREATE INDEX user_trusted ON "user" (id) WHERE trusted = 1;

CREATE TABLE team (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    create_time  INTEGER NOT NULL,
    userid       INTEGER NOT NULL, -- who founded it, or leads it now
    name         TEXT    NOT NULL CHECK (name <> ''),
    name_key     TEXT    NOT NULL UNIQUE, -- the name in lower case
    url          TEXT    NOT NULL DEFAULT '',
    description  TEXT    NOT NULL DEFAULT '',
    total_credit REAL    NOT NULL DEFAULT 0
) STRICT;

-- Volunteers who are signed in, as hashes.
CREATE TABLE web_session (
    hash    TEXT    NOT NULL PRIMARY KEY,
    userid  INTEGER NOT NULL,
    expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX web_session_userid ON web_session (userid);
CREATE INDEX web_session_expires ON web_session (expires);

-- Accounts and hosts that were deleted, for sites of statistics to forget.
CREATE TABLE forgotten (
    kind        INTEGER NOT NULL CHECK (kind IN (1, 2)), -- 1 account, 2 computer
    id          INTEGER NOT NULL,
    cpid        TEXT    NOT NULL,
    create_time INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT;

CREATE TABLE host (
    id                   INTEGER PRIMARY KEY AUTOINCREMENT,
    create_time          INTEGER NOT NULL,
    userid               INTEGER NOT NULL, -- 0: merged into the host whose id rpc_seqno holds
    rpc_seqno            INTEGER NOT NULL DEFAULT 0,
    rpc_time             INTEGER NOT NULL DEFAULT 0,
    host_cpid            TEXT    NOT NULL DEFAULT '',
    total_credit         REAL    NOT NULL DEFAULT 0,
    expavg_credit        REAL    NOT NULL DEFAULT 0,
    expavg_time          INTEGER NOT NULL DEFAULT 0,
    venue                TEXT    NOT NULL DEFAULT '',
    timezone             INTEGER NOT NULL DEFAULT 0,
    domain_name          TEXT    NOT NULL DEFAULT '',
    last_ip_addr         TEXT    NOT NULL DEFAULT '',
    external_ip_addr     TEXT    NOT NULL DEFAULT '',
    on_frac              REAL    NOT NULL DEFAULT 0,
    connected_frac       REAL    NOT NULL DEFAULT 0,
    active_frac          REAL    NOT NULL DEFAULT 0,
    p_ncpus              INTEGER NOT NULL DEFAULT 0,
    p_vendor             TEXT    NOT NULL DEFAULT '',
    p_model              TEXT    NOT NULL DEFAULT '',
    p_fpops              REAL    NOT NULL DEFAULT 0,
    p_iops               REAL    NOT NULL DEFAULT 0,
    p_membw              REAL    NOT NULL DEFAULT 0,
    os_name              TEXT    NOT NULL DEFAULT '',
    os_version           TEXT    NOT NULL DEFAULT '',
    m_nbytes             REAL    NOT NULL DEFAULT 0,
    m_cache              REAL    NOT NULL DEFAULT 0,
    m_swap               REAL    NOT NULL DEFAULT 0,
    d_total              REAL    NOT NULL DEFAULT 0,
    d_free               REAL    NOT NULL DEFAULT 0,
    d_boinc_used_total   REAL    NOT NULL DEFAULT 0,
    d_boinc_used_project REAL    NOT NULL DEFAULT 0,
    n_bwup               REAL    NOT NULL DEFAULT 0,
    n_bwdown             REAL    NOT NULL DEFAULT 0,
    avg_turnaround       REAL    NOT NULL DEFAULT 0,
    max_results_day      INTEGER NOT NULL DEFAULT 0, -- -1: this host gets nothing
    nresults_today       INTEGER NOT NULL DEFAULT 0,
    sticky_hash          INTEGER NOT NULL DEFAULT 0, -- of the host's sticky files (host_file), 0: none
    file_orders          INTEGER NOT NULL DEFAULT 0 CHECK (file_orders >= 0), -- rows in file_order that are not done
    -- with spaces between them, the preferred one first; '': not known
    platforms            TEXT    NOT NULL DEFAULT '',
    m_usable             REAL    NOT NULL DEFAULT 0, -- bytes that its preferences let a task use
    d_usable             REAL    NOT NULL DEFAULT 0,
    unsuited             TEXT    NOT NULL DEFAULT '', -- plan classes that did not suit it, with spaces between them
    coprocs              TEXT    NOT NULL DEFAULT '', -- JSON list of its GPUs
    client_version       TEXT    NOT NULL DEFAULT '',
    label                TEXT    NOT NULL DEFAULT '', -- what its owner calls it
    hidden               INTEGER NOT NULL DEFAULT 0 CHECK (hidden IN (0, 1)) -- 1: left out of its owner's lists
) STRICT;
CREATE INDEX host_userid ON host (userid);

-- What each host has earned with each app version. et_… are elapsed seconds per estimated floating-point
-- operation of valid results, as in BOINC's table, and the last run of outliers: see package speed.
CREATE TABLE host_app_version (
    host_id           INTEGER NOT NULL,
    app_version_id    INTEGER NOT NULL,
    max_jobs_per_day  INTEGER NOT NULL DEFAULT 0 CHECK (max_jobs_per_day >= 0), -- a CPU; 0: not set yet
    n_jobs_today      INTEGER NOT NULL DEFAULT 0 CHECK (n_jobs_today >= 0),
    consecutive_valid INTEGER NOT NULL DEFAULT 0 CHECK (consecutive_valid >= 0),
    et_n              INTEGER NOT NULL DEFAULT 0 CHECK (et_n >= 0),
    et_avg            REAL    NOT NULL DEFAULT 0 CHECK (et_avg >= 0),
    et_var            REAL    NOT NULL DEFAULT 0 CHECK (et_var >= 0),
    et_odd            INTEGER NOT NULL DEFAULT 0, -- below 0: they were quick
    et_odd_avg        REAL    NOT NULL DEFAULT 0 CHECK (et_odd_avg >= 0),
    -- operations a second by the host's benchmark, when a result was last sent
    benchmark_flops   REAL    NOT NULL DEFAULT 0 CHECK (benchmark_flops >= 0),
    -- how long results take compared with the benchmark, in steps of 10 %: 100 as long, 0 not known
    vote              INTEGER NOT NULL DEFAULT 0 CHECK (vote BETWEEN 0 AND 199),
    error_rate        REAL    NOT NULL DEFAULT 0 CHECK (error_rate BETWEEN 0 AND 1), -- of recent results
    turnaround_n      INTEGER NOT NULL DEFAULT 0, -- valid results, and their mean seconds from sending to report
    turnaround_avg    REAL    NOT NULL DEFAULT 0,
    PRIMARY KEY (host_id, app_version_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX host_app_version_vote ON host_app_version (app_version_id, vote) WHERE vote > 0;

-- Sticky files that hosts have, as they reported.
CREATE TABLE host_file (
    host_id INTEGER NOT NULL,
    name    TEXT    NOT NULL,
    nbytes  REAL    NOT NULL,
    PRIMARY KEY (host_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX host_file_name ON host_file (name);

-- What hosts are to do with files that belong to no result.
CREATE TABLE file_order (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    create_time INTEGER NOT NULL,
    host_id     INTEGER NOT NULL,
    action      TEXT    NOT NULL CHECK (action IN ('put', 'get', 'delete')),
    name        TEXT    NOT NULL,
    xml         TEXT    NOT NULL DEFAULT '', -- its file_info
    done_time   INTEGER NOT NULL DEFAULT 0,
    status      INTEGER NOT NULL DEFAULT 0 -- BOINC's error number if the host failed, below 0
) STRICT;
CREATE INDEX file_order_host_id ON file_order (host_id, id) WHERE done_time = 0;

-- Work.

-- Each daemon's queue is an index of its own, which is empty when there is nothing to do.
CREATE TABLE workunit (
    id                   INTEGER PRIMARY KEY AUTOINCREMENT,
    create_time          INTEGER NOT NULL,
    appid                INTEGER NOT NULL REFERENCES app (id),
    name                 TEXT    NOT NULL UNIQUE CHECK (name <> ''),
    xml_doc              TEXT    NOT NULL,
    batch                INTEGER NOT NULL DEFAULT 0,
    priority             INTEGER NOT NULL DEFAULT 0,
    rsc_fpops_est        REAL    NOT NULL CHECK (rsc_fpops_est > 0),
    rsc_fpops_bound      REAL    NOT NULL CHECK (rsc_fpops_bound >= rsc_fpops_est),
    rsc_memory_bound     REAL    NOT NULL CHECK (rsc_memory_bound > 0),
    rsc_disk_bound       REAL    NOT NULL CHECK (rsc_disk_bound > 0),
    need_validate        INTEGER NOT NULL DEFAULT 0 CHECK (need_validate IN (0, 1)),
    canonical_resultid   INTEGER NOT NULL DEFAULT 0,
    canonical_credit     REAL    NOT NULL DEFAULT 0 CHECK (canonical_credit >= 0),
    transition_time      INTEGER NOT NULL,
    delay_bound          INTEGER NOT NULL CHECK (delay_bound > 0),
    error_mask           INTEGER NOT NULL DEFAULT 0,
    file_delete_state    INTEGER NOT NULL DEFAULT 0 CHECK (file_delete_state IN (0, 1, 2, 3)),
    assimilate_state     INTEGER NOT NULL DEFAULT 0 CHECK (assimilate_state IN (0, 1, 2)),
    hr_class             INTEGER NOT NULL DEFAULT 0,
    app_version_id       INTEGER NOT NULL DEFAULT 0,
    min_quorum           INTEGER NOT NULL CHECK (min_quorum > 0),
    target_nresults      INTEGER NOT NULL CHECK (target_nresults >= min_quorum),
    max_error_results    INTEGER NOT NULL CHECK (max_error_results > 0),
    max_total_results    INTEGER NOT NULL CHECK (max_total_results > 0),
    max_success_results  INTEGER NOT NULL CHECK (max_success_results > 0),
    result_template_file TEXT    NOT NULL,
    transitioner_flags   INTEGER NOT NULL DEFAULT 0,
    size_class           INTEGER NOT NULL DEFAULT -1,
    mod_time             INTEGER NOT NULL DEFAULT 0, -- when its files were deleted. The purger counts from there
    -- bytes a second at which its host must download; 0: any
    rsc_bandwidth_bound  REAL    NOT NULL DEFAULT 0 CHECK (rsc_bandwidth_bound >= 0),
    -- 1: input files are missing, so its results are inactive
    awaiting             INTEGER NOT NULL DEFAULT 0 CHECK (awaiting IN (0, 1)),
    predecessor          INTEGER NOT NULL DEFAULT 0, -- the workunit after which it comes in a chain, 0: none
    predecessor_pending  INTEGER NOT NULL DEFAULT 0 CHECK (predecessor_pending IN (0, 1)), -- 1: that has no outcome yet
    has_successor        INTEGER NOT NULL DEFAULT 0 CHECK (has_successor IN (0, 1)),
    reserved_until       INTEGER NOT NULL DEFAULT 0, -- for the hosts in affinity
    history              TEXT    NOT NULL DEFAULT '', -- a line for each move, with time, daemon and reason
    -- of each valid result, whatever the application says; 0: as the application says
    credit               REAL    NOT NULL DEFAULT 0 CHECK (credit >= 0),
    -- how often it was revived after it was given up
    retries              INTEGER NOT NULL DEFAULT 0 CHECK (retries >= 0),
    retried_resultid     INTEGER NOT NULL DEFAULT 0, -- its newest result at that time: failures up to it do not count
    last_chance          INTEGER NOT NULL DEFAULT 0 CHECK (last_chance IN (0, 1)), -- 1: one more failure gives it up
    target_id            INTEGER NOT NULL DEFAULT 0, -- whom its results are for
    -- 0 anyone, 1 this host, 2 this account's hosts, 3 this team's
    target_type          INTEGER NOT NULL DEFAULT 0 CHECK (target_type BETWEEN 0 AND 3),
    -- 1: its results are sent to trusted accounts only
    suspicious           INTEGER NOT NULL DEFAULT 0 CHECK (suspicious IN (0, 1)),
    tokenid              INTEGER NOT NULL DEFAULT 0, -- with which it was submitted, 0: none
    own_priority         INTEGER NOT NULL DEFAULT 0, -- its rank among all that were submitted with the token
    -- Files of a workunit go only when its outcome has been taken.
    CHECK (file_delete_state = 0 OR assimilate_state = 2)
) STRICT;
CREATE INDEX workunit_transition ON workunit (transition_time) WHERE transition_time < 253402300799;
CREATE INDEX workunit_file_delete ON workunit (id) WHERE file_delete_state = 1;
CREATE INDEX workunit_batch ON workunit (batch) WHERE batch <> 0;
CREATE INDEX workunit_purge ON workunit (mod_time, id) WHERE file_delete_state = 2;
CREATE INDEX workunit_delete_error ON workunit (id) WHERE file_delete_state = 3;
CREATE INDEX workunit_predecessor ON workunit (predecessor) WHERE predecessor_pending = 1;
CREATE INDEX workunit_need_validate ON workunit (id) WHERE need_validate = 1;
CREATE INDEX workunit_assimilate ON workunit (id) WHERE assimilate_state = 1;
CREATE INDEX workunit_batch_unfinished ON workunit (batch)
    WHERE batch <> 0 AND canonical_resultid = 0 AND error_mask = 0;
CREATE INDEX workunit_given_up ON workunit (id) WHERE error_mask <> 0;
CREATE INDEX workunit_finished ON workunit (id)
    WHERE file_delete_state <> 2 AND (canonical_resultid <> 0 OR error_mask <> 0);
CREATE INDEX workunit_open ON workunit (id) WHERE canonical_resultid + error_mask = 0;
CREATE INDEX workunit_suspicious ON workunit (id) WHERE suspicious = 1 AND canonical_resultid + error_mask = 0;

-- Which physical files a workunit needs, so that the file deleter keeps files that others need.
CREATE TABLE workunit_file (
    workunitid INTEGER NOT NULL REFERENCES workunit (id) ON DELETE CASCADE,
    name       TEXT    NOT NULL,
    PRIMARY KEY (name, workunitid)
) STRICT, WITHOUT ROWID;
CREATE INDEX workunit_file_workunitid ON workunit_file (workunitid);

-- Input files that are missing. A workunit without any is released.
CREATE TABLE awaited_file (
    workunitid INTEGER NOT NULL REFERENCES workunit (id) ON DELETE CASCADE,
    name       TEXT    NOT NULL,
    PRIMARY KEY (name, workunitid)
) STRICT, WITHOUT ROWID;
CREATE INDEX awaited_file_workunitid ON awaited_file (workunitid);

-- Outputs of other workunits that a workunit waits for.
CREATE TABLE awaited_output (
    workunitid  INTEGER NOT NULL REFERENCES workunit (id) ON DELETE CASCADE,
    predecessor INTEGER NOT NULL,
    output      TEXT    NOT NULL, -- its logical name, or '' if the workunit only comes after the other
    name        TEXT    NOT NULL, -- of the input file that it becomes, or ''
    ready       INTEGER NOT NULL DEFAULT 0 CHECK (ready IN (0, 1)), -- 1: the predecessor has an outcome
    PRIMARY KEY (workunitid, predecessor, output)
) STRICT, WITHOUT ROWID;
CREATE INDEX awaited_output_predecessor ON awaited_output (predecessor);
CREATE INDEX awaited_output_ready ON awaited_output (workunitid, predecessor, output) WHERE ready = 1;

-- The hosts for which a workunit of a chain is kept, and the result after which it comes there.
CREATE TABLE affinity (
    host_id    INTEGER NOT NULL,
    workunitid INTEGER NOT NULL REFERENCES workunit (id) ON DELETE CASCADE,
    resultid   INTEGER NOT NULL,
    PRIMARY KEY (host_id, workunitid)
) STRICT, WITHOUT ROWID;
CREATE INDEX affinity_workunitid ON affinity (workunitid);

-- Files that were made on hosts and that these were ordered to upload, so that other hosts can use them.
CREATE TABLE made_copy (
    name        TEXT    NOT NULL CHECK (name <> ''),
    host_id     INTEGER NOT NULL,
    create_time INTEGER NOT NULL,
    PRIMARY KEY (name, host_id)
) STRICT;

CREATE TABLE result (
    id                    INTEGER PRIMARY KEY AUTOINCREMENT,
    create_time           INTEGER NOT NULL,
    workunitid            INTEGER NOT NULL REFERENCES workunit (id),
    appid                 INTEGER NOT NULL,
    name                  TEXT    NOT NULL UNIQUE CHECK (name <> ''),
    server_state          INTEGER NOT NULL CHECK (server_state IN (1, 2, 4, 5)),
    outcome               INTEGER NOT NULL DEFAULT 0 CHECK (outcome BETWEEN 0 AND 7),
    client_state          INTEGER NOT NULL DEFAULT 0,
    hostid                INTEGER NOT NULL DEFAULT 0,
    userid                INTEGER NOT NULL DEFAULT 0,
    teamid                INTEGER NOT NULL DEFAULT 0,
    report_deadline       INTEGER NOT NULL DEFAULT 0,
    sent_time             INTEGER NOT NULL DEFAULT 0,
    received_time         INTEGER NOT NULL DEFAULT 0,
    cpu_time              REAL    NOT NULL DEFAULT 0,
    elapsed_time          REAL    NOT NULL DEFAULT 0,
    xml_doc_in            TEXT    NOT NULL,
    xml_doc_out           TEXT    NOT NULL DEFAULT '',
    stderr_out            TEXT    NOT NULL DEFAULT '',
    batch                 INTEGER NOT NULL DEFAULT 0,
    priority              INTEGER NOT NULL DEFAULT 0,
    file_delete_state     INTEGER NOT NULL DEFAULT 0 CHECK (file_delete_state IN (0, 1, 2, 3)),
    validate_state        INTEGER NOT NULL DEFAULT 0 CHECK (validate_state BETWEEN 0 AND 5),
    claimed_credit        REAL    NOT NULL DEFAULT 0,
    granted_credit        REAL    NOT NULL DEFAULT 0 CHECK (granted_credit >= 0),
    random                INTEGER NOT NULL DEFAULT 0,
    app_version_id        INTEGER NOT NULL DEFAULT 0,
    app_version_num       INTEGER NOT NULL DEFAULT 0,
    exit_status           INTEGER NOT NULL DEFAULT 0,
    flops_estimate        REAL    NOT NULL DEFAULT 0,
    runtime_outlier       INTEGER NOT NULL DEFAULT 0,
    size_class            INTEGER NOT NULL DEFAULT -1,
    peak_working_set_size REAL    NOT NULL DEFAULT 0,
    peak_swap_size        REAL    NOT NULL DEFAULT 0,
    peak_disk_usage       REAL    NOT NULL DEFAULT 0,
    history               TEXT    NOT NULL DEFAULT '', -- as a workunit's
    -- what decides which hosts may have it, as one number (Workunit.Kind); 0: not known yet
    kind                  INTEGER NOT NULL DEFAULT 0,
    energy_wh             REAL    NOT NULL DEFAULT 0 CHECK (energy_wh >= 0), -- watt-hours, if its host shares them
    CHECK ((server_state = 5) = (outcome <> 0)),
    CHECK (server_state <> 4 OR (hostid > 0 AND sent_time > 0 AND report_deadline > 0))
) STRICT;
CREATE INDEX result_workunitid ON result (workunitid);
CREATE INDEX result_file_delete ON result (id) WHERE file_delete_state = 1;
CREATE INDEX result_delete_error ON result (id) WHERE file_delete_state = 3;
CREATE INDEX result_unsent ON result (kind, priority DESC, id) WHERE server_state = 2;
CREATE INDEX result_over_hostid ON result (hostid, id) WHERE server_state = 5;
CREATE INDEX result_failed ON result (outcome, id) WHERE outcome > 1;
CREATE INDEX result_not_valid ON result (validate_state, id) WHERE validate_state > 1;
CREATE INDEX result_inactive ON result (appid) WHERE server_state = 1;
CREATE INDEX result_in_progress ON result (hostid, appid, app_version_id) WHERE server_state = 4;
CREATE INDEX result_over ON result (id)
    WHERE server_state = 5 AND file_delete_state <> 2 AND outcome <> 2 AND outcome <> 5;
CREATE INDEX result_valid ON result (received_time) WHERE validate_state = 1;
CREATE INDEX result_open ON result (id) WHERE server_state + 0 < 5;

-- Trickle-up messages. A client repeats one until it is acknowledged.
CREATE TABLE msg_from_host (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    create_time INTEGER NOT NULL,
    hostid      INTEGER NOT NULL,
    resultid    INTEGER NOT NULL,
    appid       INTEGER NOT NULL,
    result_name TEXT    NOT NULL,
    sent_time   INTEGER NOT NULL, -- by the host's clock
    variety     TEXT    NOT NULL,
    handled     INTEGER NOT NULL DEFAULT 0 CHECK (handled IN (0, 1)),
    xml         TEXT    NOT NULL,
    UNIQUE (resultid, hostid, sent_time, xml)
) STRICT;
CREATE INDEX msg_from_host_handled ON msg_from_host (id) WHERE handled = 0;

-- Trickle-down messages, each of which is sent once.
CREATE TABLE msg_to_host (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    create_time INTEGER NOT NULL,
    hostid      INTEGER NOT NULL,
    resultid    INTEGER NOT NULL,
    result_name TEXT    NOT NULL,
    handled     INTEGER NOT NULL DEFAULT 0 CHECK (handled IN (0, 1)),
    xml         TEXT    NOT NULL
) STRICT;
CREATE INDEX msg_to_host_hostid ON msg_to_host (hostid, id) WHERE handled = 0;

-- Work that is submitted over HTTP.

-- Programs that may submit work over HTTP.
CREATE TABLE token (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    create_time  INTEGER NOT NULL,
    name         TEXT    NOT NULL UNIQUE CHECK (name <> ''),
    hash         TEXT    NOT NULL UNIQUE,
    apps         TEXT    NOT NULL DEFAULT '', -- names with spaces between them; '': all
    quota        INTEGER NOT NULL DEFAULT 0 CHECK (quota >= 0), -- unfinished workunits; 0: any
    used_time    INTEGER NOT NULL DEFAULT 0,
    revoked_time INTEGER NOT NULL DEFAULT 0,
    max_bytes    INTEGER NOT NULL DEFAULT 0 CHECK (max_bytes >= 0), -- 0: any
    max_cpu_time INTEGER NOT NULL DEFAULT 0 CHECK (max_cpu_time >= 0), -- seconds in 30 days; 0: any
    weight       REAL    NOT NULL DEFAULT 1 CHECK (weight > 0) -- of its part of the computing time of an application
) STRICT;

-- The computing time of a token's finished results, by the day on which they were reported. A trigger adds
-- to it.
CREATE TABLE token_use (
    tokenid       INTEGER NOT NULL,
    day           INTEGER NOT NULL, -- since 1970
    cpu_time      REAL    NOT NULL, -- seconds
    elapsed_time  REAL    NOT NULL, -- seconds
    expected_time REAL    NOT NULL, -- seconds, by the estimates of their workunits
    PRIMARY KEY (tokenid, day)
) STRICT;

-- What the project stores for a token: input files by name, and the output of a batch as a whole, without a
-- name. A trigger keeps the sums in token_bytes.
CREATE TABLE token_file (
    tokenid INTEGER NOT NULL,
    batch   INTEGER NOT NULL, -- api_batch.id, 0 for an input file
    name    TEXT    NOT NULL,
    nbytes  INTEGER NOT NULL,
    PRIMARY KEY (tokenid, batch, name)
) STRICT;
CREATE INDEX token_file_name ON token_file (name) WHERE batch = 0;

CREATE TABLE token_bytes (
    tokenid INTEGER NOT NULL PRIMARY KEY,
    total   INTEGER NOT NULL
) STRICT;

-- Batches that were submitted with a token, each under a name that its sender chose. A repeated request makes
-- nothing twice.
CREATE TABLE api_batch (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    create_time    INTEGER NOT NULL,
    tokenid        INTEGER NOT NULL,
    name           TEXT    NOT NULL CHECK (name <> ''),
    appid          INTEGER NOT NULL,
    expected       INTEGER NOT NULL, -- workunits
    -- 1: all its workunits are made. They may be purged since
    made           INTEGER NOT NULL DEFAULT 0 CHECK (made IN (0, 1)),
    webhook        TEXT    NOT NULL DEFAULT '', -- the URL that is told when it is done
    webhook_time   INTEGER NOT NULL DEFAULT 0, -- of the next try, 0: none
    webhook_tries  INTEGER NOT NULL DEFAULT 0, -- so far, which failed
    retired_time   INTEGER NOT NULL DEFAULT 0, -- when its sender had its output deleted
    expire_time    INTEGER NOT NULL DEFAULT 0, -- when it is given up and its output deleted, 0: never
    promised_until INTEGER NOT NULL DEFAULT 0, -- when workunits that are not made yet stop counting against the quota
    content        TEXT    NOT NULL DEFAULT '', -- hash of what was submitted; '': not known
    UNIQUE (tokenid, name)
) STRICT;
CREATE INDEX api_batch_webhook ON api_batch (webhook_time) WHERE webhook_time > 0;
CREATE INDEX api_batch_expire ON api_batch (expire_time) WHERE expire_time > 0 AND retired_time = 0;

-- Counts, which triggers keep.

-- How many workunits and results there are. What waits is the rest after all others are counted, so that the
-- rows of a long queue are not read.
CREATE TABLE made_workunit (
    appid INTEGER NOT NULL,
    total INTEGER NOT NULL,
    PRIMARY KEY (appid)
) STRICT;

CREATE TABLE made_result (
    appid INTEGER NOT NULL,
    total INTEGER NOT NULL,
    PRIMARY KEY (appid)
) STRICT;

-- How many workunits and results are finished with everything.
CREATE TABLE settled_workunit (
    appid            INTEGER NOT NULL,
    canonical        INTEGER NOT NULL, -- 1: has a canonical result
    given_up         INTEGER NOT NULL, -- 1: has an error mask
    assimilate_state INTEGER NOT NULL,
    total            INTEGER NOT NULL,
    PRIMARY KEY (appid, canonical, given_up, assimilate_state)
) STRICT;

CREATE TABLE settled_result (
    appid          INTEGER NOT NULL,
    app_version_id INTEGER NOT NULL,
    outcome        INTEGER NOT NULL,
    validate_state INTEGER NOT NULL,
    granted        INTEGER NOT NULL, -- 1: has credit
    total          INTEGER NOT NULL,
    PRIMARY KEY (appid, app_version_id, outcome, validate_state, granted)
) STRICT;

-- Sums over the valid results of an application with a known energy, also purged ones.
CREATE TABLE credited_energy (
    appid     INTEGER NOT NULL PRIMARY KEY,
    results   INTEGER NOT NULL,
    energy_wh REAL    NOT NULL,
    credit    REAL    NOT NULL
) STRICT;

INSERT INTO catalog (stamp) VALUES (1);

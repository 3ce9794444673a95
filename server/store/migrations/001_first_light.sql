-- +goose Up

-- Tables and columns carry BOINC's names and numbers. Times are Unix seconds;
-- 0 means not yet, and the end of the year 9999 (253402300799) means never.

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
    assimilator             TEXT    NOT NULL
) STRICT;

CREATE TABLE app_version (
    id               INTEGER PRIMARY KEY,
    create_time      INTEGER NOT NULL,
    appid            INTEGER NOT NULL REFERENCES app (id),
    version_num      INTEGER NOT NULL CHECK (version_num > 0),
    platformid       INTEGER NOT NULL REFERENCES platform (id),
    plan_class       TEXT    NOT NULL DEFAULT '',
    xml_doc          TEXT    NOT NULL,
    min_core_version INTEGER NOT NULL DEFAULT 0,
    max_core_version INTEGER NOT NULL DEFAULT 0,
    deprecated       INTEGER NOT NULL DEFAULT 0 CHECK (deprecated IN (0, 1)),
    beta             INTEGER NOT NULL DEFAULT 0,
    plain            INTEGER NOT NULL DEFAULT 0 CHECK (plain IN (0, 1)),
    UNIQUE (appid, version_num, platformid, plan_class)
) STRICT;

CREATE TABLE "user" (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    create_time      INTEGER NOT NULL,
    email_addr       TEXT    NOT NULL UNIQUE CHECK (email_addr <> ''),
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
    expavg_time      INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE host (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    create_time      INTEGER NOT NULL,
    userid           INTEGER NOT NULL, -- 0: merged into the host whose id rpc_seqno holds
    rpc_seqno        INTEGER NOT NULL DEFAULT 0,
    rpc_time         INTEGER NOT NULL DEFAULT 0,
    host_cpid        TEXT    NOT NULL DEFAULT '',
    total_credit     REAL    NOT NULL DEFAULT 0,
    expavg_credit    REAL    NOT NULL DEFAULT 0,
    expavg_time      INTEGER NOT NULL DEFAULT 0,
    venue            TEXT    NOT NULL DEFAULT '',
    timezone         INTEGER NOT NULL DEFAULT 0,
    domain_name      TEXT    NOT NULL DEFAULT '',
    last_ip_addr     TEXT    NOT NULL DEFAULT '',
    external_ip_addr TEXT    NOT NULL DEFAULT '',
    on_frac          REAL    NOT NULL DEFAULT 0,
    connected_frac   REAL    NOT NULL DEFAULT 0,
    active_frac      REAL    NOT NULL DEFAULT 0,
    p_ncpus          INTEGER NOT NULL DEFAULT 0,
    p_vendor         TEXT    NOT NULL DEFAULT '',
    p_model          TEXT    NOT NULL DEFAULT '',
    p_fpops          REAL    NOT NULL DEFAULT 0,
    p_iops           REAL    NOT NULL DEFAULT 0,
    p_membw          REAL    NOT NULL DEFAULT 0,
    os_name          TEXT    NOT NULL DEFAULT '',
    os_version       TEXT    NOT NULL DEFAULT '',
    m_nbytes         REAL    NOT NULL DEFAULT 0,
    m_cache          REAL    NOT NULL DEFAULT 0,
    m_swap           REAL    NOT NULL DEFAULT 0,
    d_total          REAL    NOT NULL DEFAULT 0,
    d_free           REAL    NOT NULL DEFAULT 0,
    d_boinc_used_total   REAL NOT NULL DEFAULT 0,
    d_boinc_used_project REAL NOT NULL DEFAULT 0,
    n_bwup           REAL    NOT NULL DEFAULT 0,
    n_bwdown         REAL    NOT NULL DEFAULT 0,
    avg_turnaround   REAL    NOT NULL DEFAULT 0,
    max_results_day  INTEGER NOT NULL DEFAULT 0, -- -1: this host gets nothing
    nresults_today   INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX host_userid ON host (userid);

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
    -- Files of a workunit go only when its outcome has been taken.
    CHECK (file_delete_state = 0 OR assimilate_state = 2)
) STRICT;

-- Each daemon's queue is an index of its own, empty when there is nothing to do.
CREATE INDEX workunit_transition ON workunit (transition_time) WHERE transition_time < 253402300799;
CREATE INDEX workunit_need_validate ON workunit (appid, id) WHERE need_validate = 1;
CREATE INDEX workunit_assimilate ON workunit (appid, id) WHERE assimilate_state = 1;
CREATE INDEX workunit_file_delete ON workunit (id) WHERE file_delete_state = 1;
CREATE INDEX workunit_batch ON workunit (batch) WHERE batch <> 0;

-- Which physical files a workunit needs. BOINC keeps this in xml_doc alone; a
-- table lets the file deleter see whether another workunit shares a file.
CREATE TABLE workunit_file (
    workunitid INTEGER NOT NULL REFERENCES workunit (id) ON DELETE CASCADE,
    name       TEXT    NOT NULL,
    PRIMARY KEY (name, workunitid)
) STRICT, WITHOUT ROWID;

CREATE INDEX workunit_file_workunitid ON workunit_file (workunitid);

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
    CHECK ((server_state = 5) = (outcome <> 0)),
    CHECK (server_state <> 4 OR (hostid > 0 AND sent_time > 0 AND report_deadline > 0))
) STRICT;

CREATE INDEX result_workunitid ON result (workunitid);
CREATE INDEX result_unsent ON result (priority DESC, id) WHERE server_state = 2;
CREATE INDEX result_in_progress ON result (hostid) WHERE server_state = 4;
CREATE INDEX result_file_delete ON result (id) WHERE file_delete_state = 1;

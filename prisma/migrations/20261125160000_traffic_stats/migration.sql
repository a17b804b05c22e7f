CREATE TABLE "traffic_stat" (
    "resolution" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "subject_id" TEXT COLLATE "C" NOT NULL,
    "writer" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "unanswered" BIGINT NOT NULL,
    "informational" BIGINT NOT NULL,
    "success" BIGINT NOT NULL,
    "redirection" BIGINT NOT NULL,
    "client_error" BIGINT NOT NULL,
    "server_error" BIGINT NOT NULL,
    "failures" BIGINT NOT NULL,
    "connections" BIGINT NOT NULL,
    "bytes_in" BIGINT NOT NULL,
    "bytes_out" BIGINT NOT NULL,
    "open_connections" BIGINT NOT NULL,
    "duration_ms" DOUBLE PRECISION NOT NULL,
    "durations" BYTEA,
    "first_bytes" BYTEA,

    CONSTRAINT "traffic_stat_pkey" PRIMARY KEY ("resolution","at","subject_id","writer")
);

CREATE INDEX "traffic_stat_subject_id_resolution_at_idx" ON "traffic_stat"("subject_id", "resolution", "at");

CREATE TABLE "traffic_task" (
    "name" TEXT NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,
    "holder" TEXT COLLATE "C" NOT NULL,
    "lease_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "traffic_task_pkey" PRIMARY KEY ("name")
);

CREATE TABLE "endpoint_health" (
    "endpoint_id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "failing" BOOLEAN NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "visited_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "endpoint_health_pkey" PRIMARY KEY ("endpoint_id")
);

CREATE INDEX "endpoint_health_account_id_failing_since_idx" ON "endpoint_health"("account_id", "failing", "since");

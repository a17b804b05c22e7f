-- CreateEnum
CREATE TYPE "BulkJobState" AS ENUM ('QUEUED', 'RUNNING', 'SUCCEEDED', 'PARTLY_FAILED', 'FAILED', 'CANCELLED');

-- CreateEnum
CREATE TYPE "BulkItemState" AS ENUM ('PENDING', 'DONE', 'FAILED', 'SKIPPED');

-- CreateTable
CREATE TABLE "bulk_job" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "list" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "state" "BulkJobState" NOT NULL DEFAULT 'QUEUED',
    "total" INTEGER NOT NULL DEFAULT 0,
    "done" INTEGER NOT NULL DEFAULT 0,
    "failed" INTEGER NOT NULL DEFAULT 0,
    "skipped" INTEGER NOT NULL DEFAULT 0,
    "filter" TEXT NOT NULL DEFAULT '',
    "search" TEXT NOT NULL DEFAULT '',
    "owner_id" TEXT COLLATE "C",
    "set_labels" JSONB NOT NULL DEFAULT '{}',
    "remove_labels" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "undo_of_id" TEXT COLLATE "C",
    "actor_id" TEXT COLLATE "C" NOT NULL,
    "actor_subject" TEXT NOT NULL,
    "key_id" TEXT COLLATE "C",
    "session_id" TEXT COLLATE "C",
    "ip" TEXT NOT NULL DEFAULT '',
    "user_agent" TEXT NOT NULL DEFAULT '',
    "operation_id" TEXT COLLATE "C" NOT NULL DEFAULT '',
    "base_url" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "node_id" TEXT COLLATE "C",
    "lease_until" TIMESTAMPTZ(3),
    "epoch" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "bulk_job_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "bulk_job_item" (
    "job_id" TEXT COLLATE "C" NOT NULL,
    "object_id" TEXT COLLATE "C" NOT NULL,
    "state" "BulkItemState" NOT NULL DEFAULT 'PENDING',
    "before" JSONB,
    "code" TEXT NOT NULL DEFAULT '',
    "message" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "bulk_job_item_pkey" PRIMARY KEY ("job_id","object_id")
);

-- CreateIndex
CREATE INDEX "bulk_job_account_id_id_idx" ON "bulk_job"("account_id", "id");

-- CreateIndex
CREATE INDEX "bulk_job_state_id_idx" ON "bulk_job"("state", "id");

-- CreateIndex
CREATE INDEX "bulk_job_finished_at_idx" ON "bulk_job"("finished_at");

-- CreateIndex
CREATE INDEX "bulk_job_undo_of_id_idx" ON "bulk_job"("undo_of_id");

-- CreateIndex
CREATE INDEX "bulk_job_item_job_id_state_object_id_idx" ON "bulk_job_item"("job_id", "state", "object_id");

-- AddForeignKey
ALTER TABLE "bulk_job" ADD CONSTRAINT "bulk_job_undo_of_id_fkey" FOREIGN KEY ("undo_of_id") REFERENCES "bulk_job"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "bulk_job_item" ADD CONSTRAINT "bulk_job_item_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "bulk_job"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- CreateEnum
CREATE TYPE "LaneState" AS ENUM ('OK', 'RETRYING', 'FAILING');

-- AlterTable
ALTER TABLE "event_source" ADD COLUMN     "fields" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "filter" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "sample_rate" DOUBLE PRECISION NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "tunnel_session" ADD COLUMN     "arch" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "user_agent" TEXT NOT NULL DEFAULT '';

-- CreateTable
CREATE TABLE "event_lane" (
    "destination_id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "state" "LaneState" NOT NULL DEFAULT 'OK',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "lease_token" TEXT,
    "lease_until" TIMESTAMPTZ(3),
    "last_delivered_at" TIMESTAMPTZ(3),
    "last_error" JSONB,
    "last_error_at" TIMESTAMPTZ(3),
    "delivered" BIGINT NOT NULL DEFAULT 0,
    "dropped" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "event_lane_pkey" PRIMARY KEY ("destination_id")
);

-- CreateTable
CREATE TABLE "event_batch" (
    "id" BIGSERIAL NOT NULL,
    "destination_id" TEXT COLLATE "C" NOT NULL,
    "is_traffic" BOOLEAN NOT NULL,
    "count" INTEGER NOT NULL,
    "bytes" INTEGER NOT NULL,
    "body" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "event_batch_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "event_dead_letter" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "destination_id" TEXT COLLATE "C" NOT NULL,
    "event_id" TEXT COLLATE "C" NOT NULL,
    "event_type" TEXT NOT NULL,
    "event" TEXT NOT NULL,
    "error_code" TEXT NOT NULL,
    "error_message" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "event_dead_letter_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "event_lane_next_at_idx" ON "event_lane"("next_at");

-- CreateIndex
CREATE INDEX "event_batch_destination_id_id_idx" ON "event_batch"("destination_id", "id");

-- CreateIndex
CREATE INDEX "event_batch_created_at_idx" ON "event_batch"("created_at");

-- CreateIndex
CREATE INDEX "event_dead_letter_destination_id_id_idx" ON "event_dead_letter"("destination_id", "id");

-- AddForeignKey
ALTER TABLE "event_lane" ADD CONSTRAINT "event_lane_destination_id_fkey" FOREIGN KEY ("destination_id") REFERENCES "event_destination"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "event_batch" ADD CONSTRAINT "event_batch_destination_id_fkey" FOREIGN KEY ("destination_id") REFERENCES "event_destination"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "event_dead_letter" ADD CONSTRAINT "event_dead_letter_destination_id_fkey" FOREIGN KEY ("destination_id") REFERENCES "event_destination"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Destinations that are there already
INSERT INTO "event_lane" ("destination_id", "account_id") SELECT "id", "account_id" FROM "event_destination";

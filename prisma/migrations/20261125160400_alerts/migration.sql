-- CreateEnum
CREATE TYPE "AlertCondition" AS ENUM ('ENDPOINT_OFFLINE', 'ENDPOINT_FAILING', 'AGENT_OFFLINE', 'OFFLINE_SHARE', 'ERROR_SHARE', 'CERTIFICATE_EXPIRES', 'DESTINATION_FAILING', 'BACKLOG');

-- CreateEnum
CREATE TYPE "AlertSeverity" AS ENUM ('INFO', 'WARNING', 'CRITICAL');

-- CreateEnum
CREATE TYPE "AlertState" AS ENUM ('FIRING', 'ACKNOWLEDGED', 'RESOLVED');

-- CreateEnum
CREATE TYPE "AlertChannelKind" AS ENUM ('WEBHOOK', 'EMAIL', 'EVENTS');

-- CreateEnum
CREATE TYPE "AlertNotificationKind" AS ENUM ('FIRED', 'GREW', 'RESOLVED');

-- CreateTable
CREATE TABLE "alert_rule" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "condition" "AlertCondition" NOT NULL,
    "threshold" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "for_seconds" INTEGER NOT NULL,
    "resolve_seconds" INTEGER NOT NULL,
    "update_minutes" INTEGER NOT NULL,
    "severity" "AlertSeverity" NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "address_pattern" TEXT NOT NULL DEFAULT '',
    "credential_ids" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "certificate_ids" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "destination_ids" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "pending_since" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "alert_rule_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "alert_channel" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT NOT NULL,
    "kind" "AlertChannelKind" NOT NULL,
    "url" TEXT NOT NULL DEFAULT '',
    "signing_secret" TEXT NOT NULL DEFAULT '',
    "recipients" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "last_sent_at" TIMESTAMPTZ(3),
    "last_error" TEXT NOT NULL DEFAULT '',
    "last_error_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "alert_channel_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "alert_rule_channel" (
    "rule_id" TEXT COLLATE "C" NOT NULL,
    "channel_id" TEXT COLLATE "C" NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "alert_rule_channel_pkey" PRIMARY KEY ("rule_id","channel_id")
);

-- CreateTable
CREATE TABLE "alert" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "rule_id" TEXT COLLATE "C",
    "open_rule_id" TEXT COLLATE "C",
    "name" TEXT NOT NULL,
    "condition" "AlertCondition" NOT NULL,
    "severity" "AlertSeverity" NOT NULL,
    "state" "AlertState" NOT NULL DEFAULT 'FIRING',
    "since" TIMESTAMPTZ(3) NOT NULL,
    "fired_at" TIMESTAMPTZ(3) NOT NULL,
    "resolved_at" TIMESTAMPTZ(3),
    "subjects" JSONB NOT NULL DEFAULT '[]',
    "subject_count" INTEGER NOT NULL,
    "value" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "clear_since" TIMESTAMPTZ(3),
    "notified_at" TIMESTAMPTZ(3),
    "notified_count" INTEGER NOT NULL DEFAULT 0,
    "acknowledged_at" TIMESTAMPTZ(3),
    "acknowledged_by" TEXT NOT NULL DEFAULT '',
    "note" TEXT NOT NULL DEFAULT '',
    "remark" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "alert_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "alert_notification" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "alert_id" TEXT COLLATE "C" NOT NULL,
    "channel_id" TEXT COLLATE "C" NOT NULL,
    "kind" "AlertNotificationKind" NOT NULL,
    "body" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "next_at" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "lease_token" TEXT,
    "lease_until" TIMESTAMPTZ(3),
    "sent_at" TIMESTAMPTZ(3),
    "error" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "alert_notification_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "alert_silence" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "rule_id" TEXT COLLATE "C",
    "address_pattern" TEXT NOT NULL DEFAULT '',
    "credential_ids" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "certificate_ids" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "destination_ids" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "until" TIMESTAMPTZ(3) NOT NULL,
    "reason" TEXT NOT NULL DEFAULT '',
    "created_by" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "alert_silence_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "alert_evaluator" (
    "id" INTEGER NOT NULL,
    "node_id" TEXT COLLATE "C" NOT NULL,
    "lease_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "alert_evaluator_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "alert_rule_account_id_id_idx" ON "alert_rule"("account_id", "id");

-- CreateIndex
CREATE INDEX "alert_channel_account_id_id_idx" ON "alert_channel"("account_id", "id");

-- CreateIndex
CREATE INDEX "alert_rule_channel_channel_id_idx" ON "alert_rule_channel"("channel_id");

-- CreateIndex
CREATE UNIQUE INDEX "alert_open_rule_id_key" ON "alert"("open_rule_id");

-- CreateIndex
CREATE INDEX "alert_account_id_id_idx" ON "alert"("account_id", "id");

-- CreateIndex
CREATE INDEX "alert_account_id_state_idx" ON "alert"("account_id", "state");

-- CreateIndex
CREATE INDEX "alert_rule_id_idx" ON "alert"("rule_id");

-- CreateIndex
CREATE INDEX "alert_resolved_at_idx" ON "alert"("resolved_at");

-- CreateIndex
CREATE INDEX "alert_notification_next_at_idx" ON "alert_notification"("next_at");

-- CreateIndex
CREATE INDEX "alert_notification_alert_id_id_idx" ON "alert_notification"("alert_id", "id");

-- CreateIndex
CREATE INDEX "alert_notification_channel_id_idx" ON "alert_notification"("channel_id");

-- CreateIndex
CREATE INDEX "alert_silence_account_id_id_idx" ON "alert_silence"("account_id", "id");

-- CreateIndex
CREATE INDEX "alert_silence_rule_id_idx" ON "alert_silence"("rule_id");

-- CreateIndex
CREATE INDEX "alert_silence_until_idx" ON "alert_silence"("until");

-- AddForeignKey
ALTER TABLE "alert_rule_channel" ADD CONSTRAINT "alert_rule_channel_rule_id_fkey" FOREIGN KEY ("rule_id") REFERENCES "alert_rule"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "alert_rule_channel" ADD CONSTRAINT "alert_rule_channel_channel_id_fkey" FOREIGN KEY ("channel_id") REFERENCES "alert_channel"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "alert" ADD CONSTRAINT "alert_rule_id_fkey" FOREIGN KEY ("rule_id") REFERENCES "alert_rule"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "alert_notification" ADD CONSTRAINT "alert_notification_alert_id_fkey" FOREIGN KEY ("alert_id") REFERENCES "alert"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "alert_notification" ADD CONSTRAINT "alert_notification_channel_id_fkey" FOREIGN KEY ("channel_id") REFERENCES "alert_channel"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "alert_silence" ADD CONSTRAINT "alert_silence_rule_id_fkey" FOREIGN KEY ("rule_id") REFERENCES "alert_rule"("id") ON DELETE CASCADE ON UPDATE CASCADE;

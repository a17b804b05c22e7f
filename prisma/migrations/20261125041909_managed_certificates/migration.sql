-- CreateEnum
CREATE TYPE "certificate_state" AS ENUM ('waiting_dns', 'preflight', 'ordering', 'validating', 'finalizing', 'issued', 'failed_retrying', 'paused');

-- AlterTable
ALTER TABLE "tls_certificate" ADD COLUMN     "issued_at" TIMESTAMPTZ(3),
ADD COLUMN     "managed_certificate_id" TEXT COLLATE "C";

-- CreateTable
CREATE TABLE "managed_certificate" (
    "id" TEXT COLLATE "C" NOT NULL,
    "domain_id" TEXT COLLATE "C",
    "account_id" TEXT COLLATE "C" NOT NULL,
    "names" TEXT[],
    "private_key_type" TEXT NOT NULL,
    "state" "certificate_state" NOT NULL DEFAULT 'waiting_dns',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "next_at" TIMESTAMPTZ(3) DEFAULT CURRENT_TIMESTAMP,
    "blocked_until" TIMESTAMPTZ(3),
    "error_code" INTEGER,
    "message" TEXT NOT NULL DEFAULT '',
    "records" JSONB NOT NULL DEFAULT '[]',
    "order" JSONB,
    "renews_at" TIMESTAMPTZ(3),
    "renewal_info" JSONB,
    "lease_until" TIMESTAMPTZ(3),
    "lease_number" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "managed_certificate_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "certificate_order" (
    "id" TEXT COLLATE "C" NOT NULL,
    "managed_certificate_id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "directory_url" TEXT NOT NULL,
    "names" TEXT[],
    "registered_domain" TEXT NOT NULL,
    "is_renewal" BOOLEAN NOT NULL,
    "ordered_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),
    "outcome" TEXT,
    "error_code" INTEGER,
    "message" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "certificate_order_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "acme_challenge" (
    "id" TEXT COLLATE "C" NOT NULL,
    "managed_certificate_id" TEXT COLLATE "C" NOT NULL,
    "kind" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "token" TEXT NOT NULL DEFAULT '',
    "value" TEXT NOT NULL,
    "url" TEXT NOT NULL DEFAULT '',
    "triggered_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "acme_challenge_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "acme_account" (
    "directory_url" TEXT NOT NULL,
    "url" TEXT NOT NULL DEFAULT '',
    "private_key" TEXT NOT NULL,
    "blocked_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "acme_account_pkey" PRIMARY KEY ("directory_url")
);

-- CreateIndex
CREATE UNIQUE INDEX "managed_certificate_domain_id_key" ON "managed_certificate"("domain_id");

-- CreateIndex
CREATE INDEX "managed_certificate_next_at_idx" ON "managed_certificate"("next_at");

-- CreateIndex
CREATE INDEX "certificate_order_managed_certificate_id_ordered_at_idx" ON "certificate_order"("managed_certificate_id", "ordered_at");

-- CreateIndex
CREATE INDEX "certificate_order_registered_domain_ordered_at_idx" ON "certificate_order"("registered_domain", "ordered_at");

-- CreateIndex
CREATE INDEX "certificate_order_ordered_at_idx" ON "certificate_order"("ordered_at");

-- CreateIndex
CREATE INDEX "acme_challenge_managed_certificate_id_idx" ON "acme_challenge"("managed_certificate_id");

-- CreateIndex
CREATE INDEX "acme_challenge_name_kind_idx" ON "acme_challenge"("name", "kind");

-- CreateIndex
CREATE UNIQUE INDEX "tls_certificate_managed_certificate_id_key" ON "tls_certificate"("managed_certificate_id");

-- AddForeignKey
ALTER TABLE "tls_certificate" ADD CONSTRAINT "tls_certificate_managed_certificate_id_fkey" FOREIGN KEY ("managed_certificate_id") REFERENCES "managed_certificate"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "managed_certificate" ADD CONSTRAINT "managed_certificate_domain_id_fkey" FOREIGN KEY ("domain_id") REFERENCES "reserved_domain"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "acme_challenge" ADD CONSTRAINT "acme_challenge_managed_certificate_id_fkey" FOREIGN KEY ("managed_certificate_id") REFERENCES "managed_certificate"("id") ON DELETE CASCADE ON UPDATE CASCADE;

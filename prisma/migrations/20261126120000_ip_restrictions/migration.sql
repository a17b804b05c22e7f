-- CreateEnum
CREATE TYPE "IpRestrictionType" AS ENUM ('DASHBOARD', 'API', 'AGENT', 'ENDPOINTS');

-- CreateTable
CREATE TABLE "account_ip_restriction" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "type" "IpRestrictionType" NOT NULL,
    "enforced" BOOLEAN NOT NULL DEFAULT false,
    "description" TEXT NOT NULL DEFAULT '',
    "metadata" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "account_ip_restriction_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "account_ip_restriction_policy" (
    "restriction_id" TEXT COLLATE "C" NOT NULL,
    "policy_id" TEXT COLLATE "C" NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "account_ip_restriction_policy_pkey" PRIMARY KEY ("restriction_id","policy_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "account_ip_restriction_account_id_type_key" ON "account_ip_restriction"("account_id", "type");

-- CreateIndex
CREATE INDEX "account_ip_restriction_account_id_id_idx" ON "account_ip_restriction"("account_id", "id");

-- CreateIndex
CREATE INDEX "account_ip_restriction_account_id_created_at_id_idx" ON "account_ip_restriction"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "account_ip_restriction_account_id_description_id_idx" ON "account_ip_restriction"("account_id", "description", "id");

-- CreateIndex
CREATE INDEX "account_ip_restriction_policy_policy_id_idx" ON "account_ip_restriction_policy"("policy_id");

-- AddForeignKey
ALTER TABLE "account_ip_restriction_policy" ADD CONSTRAINT "account_ip_restriction_policy_restriction_id_fkey" FOREIGN KEY ("restriction_id") REFERENCES "account_ip_restriction"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "account_ip_restriction_policy" ADD CONSTRAINT "account_ip_restriction_policy_policy_id_fkey" FOREIGN KEY ("policy_id") REFERENCES "ip_policy"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

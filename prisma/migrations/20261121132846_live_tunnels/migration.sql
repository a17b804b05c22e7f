-- AlterTable
ALTER TABLE "endpoint" ADD COLUMN     "address" TEXT;

-- What is live ends with the process that serves it, so nothing is lost.
DELETE FROM "tunnel_session";

-- AlterTable
ALTER TABLE "tunnel_session" ADD COLUMN     "client_id" TEXT COLLATE "C" NOT NULL;

-- CreateTable
CREATE TABLE "claim" (
    "address" TEXT NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "credential_id" TEXT COLLATE "C" NOT NULL,
    "pooling" BOOLEAN NOT NULL,
    "held_until" TIMESTAMPTZ(3),

    CONSTRAINT "claim_pkey" PRIMARY KEY ("address")
);

-- CreateIndex
CREATE INDEX "claim_held_until_idx" ON "claim"("held_until");

-- CreateIndex
CREATE INDEX "endpoint_address_idx" ON "endpoint"("address");

-- CreateIndex
CREATE UNIQUE INDEX "tunnel_session_account_id_client_id_key" ON "tunnel_session"("account_id", "client_id");

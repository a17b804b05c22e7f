-- AlterEnum
ALTER TYPE "EdgeKind" ADD VALUE 'TCP';

-- CreateTable
CREATE TABLE "reserved_address" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "port" INTEGER NOT NULL,
    "addr" TEXT NOT NULL,
    "region" TEXT NOT NULL DEFAULT '',
    "description" TEXT NOT NULL DEFAULT '',
    "metadata" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "reserved_address_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "reserved_address_port_key" ON "reserved_address"("port");

-- CreateIndex
CREATE INDEX "reserved_address_account_id_id_idx" ON "reserved_address"("account_id", "id");

-- CreateIndex
CREATE INDEX "reserved_address_account_id_created_at_id_idx" ON "reserved_address"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "reserved_address_account_id_description_id_idx" ON "reserved_address"("account_id", "description", "id");

-- CreateIndex
CREATE INDEX "reserved_address_account_id_addr_id_idx" ON "reserved_address"("account_id", "addr", "id");

-- AlterTable
ALTER TABLE "edge_hostport" ADD COLUMN     "address_id" TEXT COLLATE "C",
ALTER COLUMN "domain_id" DROP NOT NULL;

-- AlterTable
ALTER TABLE "endpoint" ADD COLUMN     "address_id" TEXT COLLATE "C";

-- CreateIndex
CREATE INDEX "edge_hostport_address_id_idx" ON "edge_hostport"("address_id");

-- CreateIndex
CREATE INDEX "endpoint_address_id_idx" ON "endpoint"("address_id");

-- AddForeignKey
ALTER TABLE "edge_hostport" ADD CONSTRAINT "edge_hostport_address_id_fkey" FOREIGN KEY ("address_id") REFERENCES "reserved_address"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "endpoint" ADD CONSTRAINT "endpoint_address_id_fkey" FOREIGN KEY ("address_id") REFERENCES "reserved_address"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- CreateEnum
CREATE TYPE "BackendKind" AS ENUM ('TUNNEL_GROUP', 'WEIGHTED', 'FAILOVER', 'HTTP_RESPONSE');

-- AlterTable
ALTER TABLE "backend" ADD COLUMN     "kind" "BackendKind" NOT NULL DEFAULT 'TUNNEL_GROUP',
ADD COLUMN     "response" JSONB;

-- CreateTable
CREATE TABLE "backend_member" (
    "backend_id" TEXT COLLATE "C" NOT NULL,
    "member_id" TEXT COLLATE "C" NOT NULL,
    "position" INTEGER NOT NULL,
    "weight" INTEGER,

    CONSTRAINT "backend_member_pkey" PRIMARY KEY ("backend_id","member_id")
);

-- CreateIndex
CREATE INDEX "backend_member_member_id_idx" ON "backend_member"("member_id");

-- CreateIndex
CREATE INDEX "backend_account_id_kind_id_idx" ON "backend"("account_id", "kind", "id");

-- CreateIndex
CREATE INDEX "backend_account_id_kind_created_at_id_idx" ON "backend"("account_id", "kind", "created_at", "id");

-- CreateIndex
CREATE INDEX "backend_account_id_kind_description_id_idx" ON "backend"("account_id", "kind", "description", "id");

-- AddForeignKey
ALTER TABLE "backend_member" ADD CONSTRAINT "backend_member_backend_id_fkey" FOREIGN KEY ("backend_id") REFERENCES "backend"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "backend_member" ADD CONSTRAINT "backend_member_member_id_fkey" FOREIGN KEY ("member_id") REFERENCES "backend"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

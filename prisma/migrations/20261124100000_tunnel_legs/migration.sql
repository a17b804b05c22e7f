-- DropIndex
DROP INDEX "tunnel_session_account_id_client_id_key";

-- AlterTable
ALTER TABLE "tunnel_session" ADD COLUMN     "leg" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "tunnel_leg" (
    "tunnel_id" TEXT COLLATE "C" NOT NULL,
    "session_id" TEXT COLLATE "C" NOT NULL,
    "node_id" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "tunnel_leg_pkey" PRIMARY KEY ("tunnel_id","session_id")
);

-- CreateIndex
CREATE INDEX "tunnel_leg_session_id_idx" ON "tunnel_leg"("session_id");

-- CreateIndex
CREATE UNIQUE INDEX "tunnel_session_account_id_client_id_leg_key" ON "tunnel_session"("account_id", "client_id", "leg");

-- AddForeignKey
ALTER TABLE "tunnel_leg" ADD CONSTRAINT "tunnel_leg_tunnel_id_fkey" FOREIGN KEY ("tunnel_id") REFERENCES "tunnel"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tunnel_leg" ADD CONSTRAINT "tunnel_leg_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "tunnel_session"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- CreateTable
CREATE TABLE "traffic_capture" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "address" TEXT NOT NULL,
    "public_url" TEXT NOT NULL,
    "owner_id" TEXT COLLATE "C" NOT NULL,
    "body_bytes" INTEGER NOT NULL,
    "redact_headers" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "ends_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "traffic_capture_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "traffic_capture_account_id_ends_at_id_idx" ON "traffic_capture"("account_id", "ends_at", "id");

-- CreateIndex
CREATE INDEX "traffic_capture_owner_id_idx" ON "traffic_capture"("owner_id");

-- CreateIndex
CREATE INDEX "traffic_capture_ends_at_idx" ON "traffic_capture"("ends_at");

-- CreateIndex
CREATE UNIQUE INDEX "traffic_capture_account_id_address_key" ON "traffic_capture"("account_id", "address");

-- AddForeignKey
ALTER TABLE "traffic_capture" ADD CONSTRAINT "traffic_capture_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "owner"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- CreateTable
CREATE TABLE "cloud_url" (
    "edge_id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "proto" TEXT NOT NULL,
    "hostname" TEXT NOT NULL,
    "port" INTEGER NOT NULL,
    "address" TEXT NOT NULL,
    "written" TEXT,
    "pooling" BOOLEAN NOT NULL,
    "domain_id" TEXT COLLATE "C",
    "address_id" TEXT COLLATE "C",

    CONSTRAINT "cloud_url_pkey" PRIMARY KEY ("edge_id")
);

-- CreateIndex
CREATE INDEX "cloud_url_address_idx" ON "cloud_url"("address");

-- CreateIndex
CREATE INDEX "cloud_url_domain_id_idx" ON "cloud_url"("domain_id");

-- CreateIndex
CREATE INDEX "cloud_url_address_id_idx" ON "cloud_url"("address_id");

-- AddForeignKey
ALTER TABLE "cloud_url" ADD CONSTRAINT "cloud_url_edge_id_fkey" FOREIGN KEY ("edge_id") REFERENCES "edge"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "cloud_url" ADD CONSTRAINT "cloud_url_domain_id_fkey" FOREIGN KEY ("domain_id") REFERENCES "reserved_domain"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "cloud_url" ADD CONSTRAINT "cloud_url_address_id_fkey" FOREIGN KEY ("address_id") REFERENCES "reserved_address"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

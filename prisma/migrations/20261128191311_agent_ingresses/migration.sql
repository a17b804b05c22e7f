-- CreateTable
CREATE TABLE "agent_ingress" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "domain_id" TEXT COLLATE "C" NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "metadata" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "agent_ingress_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "agent_ingress_domain_id_key" ON "agent_ingress"("domain_id");

-- CreateIndex
CREATE INDEX "agent_ingress_account_id_id_idx" ON "agent_ingress"("account_id", "id");

-- CreateIndex
CREATE INDEX "agent_ingress_account_id_created_at_id_idx" ON "agent_ingress"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "agent_ingress_account_id_description_id_idx" ON "agent_ingress"("account_id", "description", "id");

-- AddForeignKey
ALTER TABLE "agent_ingress" ADD CONSTRAINT "agent_ingress_domain_id_fkey" FOREIGN KEY ("domain_id") REFERENCES "reserved_domain"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

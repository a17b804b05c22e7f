-- CreateTable
CREATE TABLE "vault" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "metadata" TEXT NOT NULL DEFAULT '',
    "created_by" TEXT COLLATE "C" NOT NULL,
    "last_updated_by" TEXT COLLATE "C" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "vault_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "secret" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "vault_id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "metadata" TEXT NOT NULL DEFAULT '',
    "created_by" TEXT COLLATE "C" NOT NULL,
    "last_updated_by" TEXT COLLATE "C" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "secret_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "vault_account_id_id_idx" ON "vault"("account_id", "id");

-- CreateIndex
CREATE INDEX "vault_account_id_created_at_id_idx" ON "vault"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "vault_account_id_updated_at_id_idx" ON "vault"("account_id", "updated_at", "id");

-- CreateIndex
CREATE INDEX "vault_account_id_name_id_idx" ON "vault"("account_id", "name", "id");

-- CreateIndex
CREATE INDEX "vault_account_id_description_id_idx" ON "vault"("account_id", "description", "id");

-- CreateIndex
CREATE UNIQUE INDEX "vault_account_id_name_key" ON "vault"("account_id", "name");

-- CreateIndex
CREATE INDEX "secret_account_id_id_idx" ON "secret"("account_id", "id");

-- CreateIndex
CREATE INDEX "secret_account_id_created_at_id_idx" ON "secret"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "secret_account_id_updated_at_id_idx" ON "secret"("account_id", "updated_at", "id");

-- CreateIndex
CREATE INDEX "secret_account_id_name_id_idx" ON "secret"("account_id", "name", "id");

-- CreateIndex
CREATE INDEX "secret_account_id_description_id_idx" ON "secret"("account_id", "description", "id");

-- CreateIndex
CREATE UNIQUE INDEX "secret_vault_id_name_key" ON "secret"("vault_id", "name");

-- AddForeignKey
ALTER TABLE "secret" ADD CONSTRAINT "secret_vault_id_fkey" FOREIGN KEY ("vault_id") REFERENCES "vault"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

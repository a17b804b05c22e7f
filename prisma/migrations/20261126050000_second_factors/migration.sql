-- CreateTable
CREATE TABLE "second_factor" (
    "owner_id" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "confirmed_at" TIMESTAMPTZ(3),
    "last_step" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "second_factor_pkey" PRIMARY KEY ("owner_id")
);

-- CreateTable
CREATE TABLE "recovery_code" (
    "digest" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,

    CONSTRAINT "recovery_code_pkey" PRIMARY KEY ("digest")
);

-- CreateIndex
CREATE INDEX "recovery_code_owner_id_idx" ON "recovery_code"("owner_id");

-- AddForeignKey
ALTER TABLE "second_factor" ADD CONSTRAINT "second_factor_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "owner"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "recovery_code" ADD CONSTRAINT "recovery_code_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "second_factor"("owner_id") ON DELETE CASCADE ON UPDATE CASCADE;

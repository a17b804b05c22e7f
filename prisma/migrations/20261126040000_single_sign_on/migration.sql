-- AlterTable
ALTER TABLE "owner" ADD COLUMN     "sso_issuer" TEXT,
ADD COLUMN     "sso_subject" TEXT;

-- CreateIndex
CREATE UNIQUE INDEX "owner_sso_issuer_sso_subject_key" ON "owner"("sso_issuer", "sso_subject");

-- AlterTable
ALTER TABLE "managed_certificate" ADD COLUMN     "revocation" JSONB;

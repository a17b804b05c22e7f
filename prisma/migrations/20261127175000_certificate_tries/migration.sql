-- AlterTable
ALTER TABLE "managed_certificate" ADD COLUMN     "away_count" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "lookups" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "backend" ADD COLUMN     "address" TEXT,
ADD COLUMN     "tls" BOOLEAN;

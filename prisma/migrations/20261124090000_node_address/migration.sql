-- AlterTable
ALTER TABLE "node" ADD COLUMN     "address" TEXT NOT NULL DEFAULT '';

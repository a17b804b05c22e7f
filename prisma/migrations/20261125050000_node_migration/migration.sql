-- AlterTable
ALTER TABLE "node" ADD COLUMN     "migration" TEXT NOT NULL DEFAULT '';
